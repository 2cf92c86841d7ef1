// A disk that takes no more in the middle of a write: what failed has not happened, what succeeded
// is there, and nothing else is touched. The disk is played by the limit on the size of files.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seed, uniqueBytes } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { openAt, startProcess } from "../support/process.mjs";
import { bytesOf } from "../support/workspace.mjs";

const UPLOADS = 6;
const LIVES = 6;
const ROUNDS = 3;
const addresses = { chance: new URL("../support/chance.mjs", import.meta.url).href };

/** A process in which no file can become longer than `mib` MiB: neither the WAL nor the database. */
function startLimited(t, storage, mib) {
  return startProcess(t, {
    storage,
    fork: {
      execPath: "/bin/sh",
      execArgv: ["-c", `ulimit -f ${mib * 2_048} && exec "$0" "$@"`, process.execPath],
    },
  });
}

for (const durability of ["full", "normal"]) {
  test(`a transaction in which the disk fails is undone whole, whatever its body does (${durability})`, async (t) => {
    const storage = { path: join(folderFor(t), "transaction.db"), durability };
    const other = await startLimited(t, storage, 5);
    const told = await other.run(async ({ workspace }) => {
      await workspace.fs.writeFile("/workspace/kept", "kept");
      const codes = [];
      const outcome = await workspace
        .transaction(async (fs) => {
          await fs.writeFile("/workspace/before", "before");
          for (let index = 0; codes.length === 0; index++) {
            const bytes = crypto.getRandomValues(new Uint8Array(60_000));
            await fs.writeFile(`/workspace/large${index}`, bytes).catch(({ code }) => codes.push(code));
          }
          for (const name of ["after", "later"]) {
            await fs.writeFile(`/workspace/${name}`, name).catch(({ code }) => codes.push(code));
          }
          await fs.readFile("/workspace/kept", "utf8").catch(({ code }) => codes.push(code));
        })
        .then(
          () => "committed",
          ({ code }) => code,
        );
      await workspace.fs.writeFile("/workspace/next", "works again");
      return { codes, outcome, problems: (await workspace.check()).problems, names: await workspace.fs.ls("/") };
    });
    assert.ok(
      told.codes.every((code) => code === "EIO" || code === "ENOSPC"),
      told.codes.join(),
    );
    assert.equal(told.codes.length, 4, "after the failure nothing works in this transaction");
    assert.equal(told.outcome, told.codes.at(-1));
    assert.deepEqual(told.names, ["/workspace/kept", "/workspace/next"]);
    assert.deepEqual(told.problems, []);
    await other.end();

    const workspace = openAt(t, storage);
    assert.deepEqual(await workspace.fs.ls("/"), told.names);
    assert.deepEqual((await workspace.check()).problems, []);
  });

  test(`of writes that are committed together, those that fail have not happened (${durability})`, async (t) => {
    const storage = { path: join(folderFor(t), "together.db"), durability };
    const other = await startLimited(t, storage, 5);
    let failures = 0;
    for (let round = 0; round < 4; round++) {
      const told = await other.run(
        async ({ workspace }, round, addresses) => {
          const { uniqueBytes } = await import(addresses.chance);
          const { fs } = workspace;
          // Together more than SQLite keeps in memory: it writes to the disk before the commit.
          const sizes = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? 260_000 : 10 + index));
          const outcomes = await Promise.all(
            sizes.map((size, index) =>
              fs.writeFile(`/workspace/${round}-${index}`, uniqueBytes(`${round} ${index}`, size)).then(
                () => "there",
                ({ code }) => code,
              ),
            ),
          );
          const names = new Set(await fs.ls("/workspace"));
          const facts = outcomes.map((outcome, index) => [outcome, names.has(`/workspace/${round}-${index}`)]);
          return { facts, problems: (await workspace.check()).problems };
        },
        round,
        addresses,
      );
      for (const [outcome, isThere] of told.facts) {
        assert.match(outcome, /^(there|EIO|ENOSPC)$/);
        assert.equal(isThere, outcome === "there");
        if (!isThere) failures += 1;
      }
      assert.deepEqual(told.problems, []);
    }
    assert.ok(failures > 0, "the disk failed");
    await other.kill();
    const workspace = openAt(t, storage);
    assert.deepEqual((await workspace.check()).problems, []);
  });

  test(`of uploads at the same time, those that fail harm no other (${durability})`, async (t) => {
    t.diagnostic(`SEED=${seed}`);
    const storage = { path: join(folderFor(t), "uploads.db"), durability };
    const contents = {};
    let failures = 0;
    for (let life = 0; life < LIVES; life++) {
      // The WAL of each of these processes meets the limit in its second or third round.
      const other = await startLimited(t, storage, 8);
      for (let round = 0; round < ROUNDS; round++) {
        const told = await other.run(
          async ({ workspace }, life, round, addresses, UPLOADS) => {
            const { chance, inPieces, uniqueBytes } = await import(addresses.chance);
            const dice = chance("upload", life, round);
            const pause = (most) => new Promise((resolve) => setTimeout(resolve, dice.below(most)));
            // It may learn of the failure of its first chunk long after, when others have begun.
            const slowly = async function* (bytes) {
              for await (const piece of inPieces(bytes, 60_000 + dice.below(500_000))) {
                yield piece;
                await pause(dice.happens(0.3) ? 40 : 2);
              }
            };
            return Promise.all(
              Array.from({ length: UPLOADS }, async (_, index) => {
                const name = `/workspace/${index}`;
                const id = `upload ${life} ${round} ${index}`;
                const bytes = uniqueBytes(id, 530_000 + dice.below(700_000));
                await pause(30);
                const failure = await workspace.fs.writeFile(name, slowly(bytes)).catch(({ code }) => code);
                return { name, id, size: bytes.length, failure };
              }),
            );
          },
          life,
          round,
          addresses,
          UPLOADS,
        );
        for (const { name, id, size, failure } of told) {
          if (failure === undefined) contents[name] = [id, size];
          else assert.match(failure, /^(EIO|ENOSPC)$/);
          failures += failure === undefined ? 0 : 1;
        }
        const { problems } = await other.run(({ workspace }) => workspace.check());
        assert.deepEqual(problems, []);
      }
      if (life % 2) await other.kill();
      else await other.end();

      const workspace = openAt(t, storage);
      for (const [name, [id, size]] of Object.entries(contents)) {
        assert.ok(
          (await bytesOf(workspace.fs.readFile(name))).equals(uniqueBytes(id, size)),
          `${name} of life ${life}`,
        );
      }
      await workspace.compact();
      const { bytes, storedBytes } = await workspace.fs.statfs();
      assert.equal(
        bytes,
        Object.values(contents).reduce((sum, [, size]) => sum + size, 0),
      );
      assert.equal(storedBytes, bytes, "what failed has left nothing");
      assert.deepEqual((await workspace.check()).problems, []);
      await workspace.close();
    }
    const all = LIVES * ROUNDS * UPLOADS;
    t.diagnostic(`${failures} of ${all} failed`);
    assert.ok(failures > 0 && failures < all, `${failures} of ${all} failed`);
  });
}
