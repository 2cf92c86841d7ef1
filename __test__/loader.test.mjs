// Which binary is loaded on which machine, and what is said when there is none.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { detectLibc, loadBinding, platformName, platforms, thisMachine } from "../loader.js";

const alpine = { platform: "linux", arch: "x64", libc: "musl" };
const debian = { platform: "linux", arch: "x64", libc: "gnu" };
const mac = { platform: "darwin", arch: "arm64" };

/** A `require` over `modules` (request to value, or an Error to throw). */
function fakeRequire(modules) {
  const find = (request) => {
    if (request in modules) return modules[request];
    throw Object.assign(new Error(`Cannot find module '${request}'`), { code: "MODULE_NOT_FOUND" });
  };
  const require = (request) => {
    const value = find(request);
    if (value instanceof Error) throw value;
    return value;
  };
  return Object.assign(require, { resolve: find });
}

function loadOn(machine, modules) {
  return loadBinding({ machine, version: "1.2.3", require: fakeRequire(modules) });
}

function refusal(machine, modules = {}) {
  try {
    loadOn(machine, modules);
  } catch (error) {
    assert.equal(error.code, "ERR_CARREL_BINARY");
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  assert.fail("a binding was loaded");
}

test("a platform has the name that napi-rs gives it", () => {
  assert.equal(platformName(debian), "linux-x64-gnu");
  assert.equal(platformName(alpine), "linux-x64-musl");
  assert.equal(platformName(mac), "darwin-arm64");
  assert.equal(platformName({ platform: "win32", arch: "x64" }), "win32-x64-msvc");
});

test("this machine is one of the platforms", () => {
  assert.ok(platforms.includes(platformName(thisMachine())));
});

test("the report of Node.js tells the C library, and ldd where there is no report", () => {
  const unread = () => assert.fail("ldd was read");
  const musl = "#!/bin/sh\nexec /lib/ld-musl-x86_64.so.1 --list";
  assert.equal(detectLibc({ report: { header: { glibcVersionRuntime: "2.36" } }, readLdd: unread }), "gnu");
  assert.equal(detectLibc({ report: { header: {} }, readLdd: unread }), "musl");
  assert.equal(detectLibc({ readLdd: () => musl }), "musl");
  assert.equal(detectLibc({ readLdd: () => "# the GNU C Library's ldd" }), "gnu");
  assert.equal(
    detectLibc({
      readLdd: () => {
        throw new Error("ENOENT");
      },
    }),
    "gnu",
  );
});

test("a local build is taken before an installed package", () => {
  const modules = {
    "./carrel.darwin-arm64.node": "local",
    "carrel-darwin-arm64/package.json": { version: "1.2.3" },
  };
  assert.equal(loadOn(mac, modules), "local");
});

test("the package of the platform is taken", () => {
  const modules = {
    "carrel-linux-x64-musl/package.json": { version: "1.2.3" },
    "carrel-linux-x64-musl": "binding",
  };
  assert.equal(loadOn(alpine, modules), "binding");
});

test("an unsupported platform is named, with those that are supported", () => {
  const message = refusal({ platform: "freebsd", arch: "x64" });
  assert.match(message, /^carrel has no binary for freebsd x64\. It runs on linux-x64-gnu, /);
  assert.match(refusal({ platform: "linux", arch: "riscv64", libc: "gnu" }), /no binary for linux riscv64 \(gnu\)\./);
});

test("a missing package is named, with the way to install it", () => {
  assert.equal(
    refusal(mac),
    "carrel's binary for darwin arm64 is not installed: run `npm install` on this machine without " +
      "--omit=optional, or add the package carrel-darwin-arm64@1.2.3.",
  );
});

test("the package of another C library is named", () => {
  const message = refusal(alpine, { "carrel-linux-x64-gnu/package.json": { version: "1.2.3" } });
  assert.match(message, /binary for linux x64 \(musl\) is not installed \(found: carrel-linux-x64-gnu, .*\): /);
});

test("a package of another release is refused", () => {
  const message = refusal(mac, { "carrel-darwin-arm64/package.json": { version: "1.2.2" } });
  assert.match(message, /^carrel 1\.2\.3 needs carrel-darwin-arm64 1\.2\.3, but 1\.2\.2 is installed: /);
});

test("a binary that cannot be loaded is named, with the reason of the system", () => {
  const cause = new Error("version `GLIBC_2.99' not found\nRequire stack:\n- index.js");
  const modules = {
    "carrel-linux-x64-gnu/package.json": { version: "1.2.3" },
    "carrel-linux-x64-gnu": cause,
  };
  assert.match(refusal(debian, modules), /carrel-linux-x64-gnu cannot be loaded on linux x64 \(gnu\): version `GLIBC/);
});

test("package.json builds exactly the platforms that the loader knows", () => {
  const { napi } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const arch = { x86_64: "x64", aarch64: "arm64" };
  const platform = { linux: "linux", darwin: "darwin", windows: "win32" };
  const built = napi.targets.map((target) => {
    const [cpu, , os, abi] = target.split("-");
    return [platform[os], arch[cpu], abi].filter(Boolean).join("-");
  });
  assert.deepEqual(built.sort(), [...platforms].sort());
});
