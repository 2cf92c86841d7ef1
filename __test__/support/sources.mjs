// Sources of bytes of every kind that behave as they are told, and record what is done to them.
//
// A script is a list of steps: `{ piece }` delivers something, `{ run }` is called and waited for
// before the next step, `{ fail }` ends the source with this reason. Without it the source ends
// well after the last step.

import assert from "node:assert/strict";
import { Readable } from "node:stream";

/** What was done to a source: how often it was asked, how it was let go of. */
function newLog() {
  return { asked: 0, letGo: [] };
}

/** Takes steps until one delivers: `{ done }`, `{ value }`; or fails. */
function player(script) {
  const rest = [...script];
  return async () => {
    for (;;) {
      const step = rest.shift();
      if (step === undefined) return { done: true, value: undefined };
      if ("run" in step) await step.run();
      else if ("fail" in step) throw step.fail;
      else return { done: false, value: step.piece };
    }
  };
}

/**
 * By kind, what makes a source of a script. The source comes with `log`, and `isLetGo()`: whether
 * it was told that nobody will read on, with which an unread rest costs nothing any more.
 */
export const SOURCES = {
  "web stream": (script) => {
    const log = newLog();
    const next = player(script);
    const source = new ReadableStream(
      {
        async pull(controller) {
          log.asked += 1;
          const { done, value } = await next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel(reason) {
          log.letGo.push(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return { source, log, isLetGo: () => !source.locked && log.letGo.length === 1 };
  },
  "byte stream": (script) => {
    const log = newLog();
    const next = player(script);
    const source = new ReadableStream({
      type: "bytes",
      async pull(controller) {
        log.asked += 1;
        const { done, value } = await next();
        if (done) controller.close();
        else if (value.byteLength > 0) controller.enqueue(Uint8Array.from(value));
        // A byte stream has no empty pieces and asks again by itself only after a piece.
        else await this.pull(controller);
      },
      cancel(reason) {
        log.letGo.push(reason);
      },
    });
    return { source, log, isLetGo: () => !source.locked && log.letGo.length === 1 };
  },
  "async iterable": (script) => {
    const log = newLog();
    const play = player(script);
    let isAsked = false;
    const iterator = {
      async next() {
        assert.equal(isAsked, false, "asked for a piece before the one before was delivered");
        isAsked = true;
        log.asked += 1;
        try {
          return await play();
        } finally {
          isAsked = false;
        }
      },
      async return() {
        log.letGo.push("returned");
        return { done: true, value: undefined };
      },
    };
    return { source: { [Symbol.asyncIterator]: () => iterator }, log, isLetGo: () => log.letGo.length === 1 };
  },
  "async generator": (script) => {
    const log = newLog();
    const next = player(script);
    let isOver = false;
    const generate = async function* () {
      try {
        for (;;) {
          log.asked += 1;
          const { done, value } = await next().catch((reason) => {
            isOver = true;
            throw reason;
          });
          isOver = done;
          if (done) return;
          yield value;
        }
      } finally {
        if (!isOver) log.letGo.push("returned");
      }
    };
    // One that was not asked yet, or has ended, has nothing to let go of.
    return { source: generate(), log, isLetGo: () => log.asked === 0 || isOver || log.letGo.length === 1 };
  },
  "Node stream": (script) => {
    const log = newLog();
    const next = player(script);
    const source = new Readable({
      objectMode: true,
      highWaterMark: 1,
      read() {
        log.asked += 1;
        next().then(
          ({ done, value }) => this.push(done ? null : value),
          (error) => this.destroy(error),
        );
      },
      destroy(error, done) {
        log.letGo.push(error);
        done(error);
      },
    });
    return { source, log, isLetGo: () => source.destroyed };
  },
};
