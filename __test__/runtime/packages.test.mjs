// Packages of the npm registry in isolates: each is bundled into one module with a program that uses it, and what the
// program gives is what this process gets from the same bundle.
//
// `packages/package.json` names the packages with their exact versions; they are installed when they are missing.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { installPackages, packagesFolder } from "../support/packages.mjs";
import { cannotCompare } from "../support/same-program.mjs";

const { build } = createRequire(new URL("../../isolate/prelude/package.json", import.meta.url))("esbuild");

/** Programs by the package that they use. */
const PROGRAMS = {
  acorn: `
    import { parse, tokenizer } from "acorn";
    const tree = parse("const f = async (x) => x ** 2; class A { #p = 1; static { } }", { ecmaVersion: "latest" });
    export default () => ({ tree, tokens: [...tokenizer("a + b", { ecmaVersion: 2024 })].map(({ value }) => value) });`,
  ajv: `
    import Ajv from "ajv";
    const ajv = new Ajv({ allErrors: true });
    const validate = ajv.compile({
      type: "object",
      properties: { n: { type: "integer", minimum: 2 }, list: { type: "array", items: { type: "string" } } },
      required: ["n", "other"],
    });
    export default () => [validate({ n: 1, list: [1] }), validate.errors, validate({ n: 3, other: 1 }), validate.errors];`,
  "big.js": `
    import Big from "big.js";
    export default () => [new Big("0.1").plus("0.2").toString(), new Big(2).sqrt().toFixed(15), new Big("1e21").times(3).toString()];`,
  chalk: `
    import { Chalk } from "chalk";
    const chalk = new Chalk({ level: 3 });
    export default () => [chalk.red.bold("x"), chalk.hex("#ff8800")("y"), chalk.bgBlue(chalk.green("a") + "b")];`,
  cheerio: `
    import * as cheerio from "cheerio/slim";
    const $ = cheerio.load("<ul><li class=a>One<li>Two <b>bold</b></ul>", { xml: { xmlMode: false, decodeEntities: true } });
    $("li.a").text("Changed").after("<li>New</li>");
    export default () => [$("li").map((_, element) => $(element).text()).get(), $.html(), $("b").parent().index()];`,
  "csv-parse": `
    import { parse } from "csv-parse";
    import { parse as parseSync } from "csv-parse/sync";
    const text = 'a,b\\n1,"x, ""y"""\\n2,ü\\n';
    export default async () => {
      const rows = [];
      for await (const row of parse(text, { columns: true })) rows.push(row);
      let failure;
      try { parseSync('a\\n"x'); } catch (error) { failure = [error.code, error.message]; }
      return [rows, parseSync(text), parseSync("a;1", { delimiter: ";", cast: true }), failure];
    };`,
  "date-fns": `
    import { addMonths, differenceInDays, eachDayOfInterval, format, formatDistance, parseISO, startOfWeek } from "date-fns";
    import { de } from "date-fns/locale";
    const day = parseISO("2024-02-29T10:20:30");
    export default () => [
      format(addMonths(day, 12), "yyyy-MM-dd EEEE do"), format(day, "PPPP", { locale: de }),
      differenceInDays(parseISO("2025-01-01"), day), formatDistance(day, parseISO("2024-03-10"), { addSuffix: true }),
      eachDayOfInterval({ start: day, end: parseISO("2024-03-02") }).length, format(startOfWeek(day), "yyyy-MM-dd"),
    ];`,
  dayjs: `
    import dayjs from "dayjs";
    import duration from "dayjs/plugin/duration.js";
    import relativeTime from "dayjs/plugin/relativeTime.js";
    import utc from "dayjs/plugin/utc.js";
    dayjs.extend(utc); dayjs.extend(relativeTime); dayjs.extend(duration);
    const day = dayjs.utc("2024-02-29T12:00:00Z");
    export default () => [day.add(1, "year").format("YYYY-MM-DD dddd"), day.from(day.add(3, "day")), dayjs.duration(90, "minutes").toISOString(), day.diff("2023-01-01", "month", true)];`,
  "decimal.js": `
    import Decimal from "decimal.js";
    Decimal.set({ precision: 60 });
    export default () => [new Decimal(2).sqrt().toString(), Decimal.exp(1).toString(), new Decimal("1e-30").plus(1).toString(), Decimal.acos(-1).toString()];`,
  diff: `
    import { applyPatch, createPatch, diffChars, diffLines, diffWords, structuredPatch } from "diff";
    const [before, after] = ["a\\nb\\nc\\nd\\n", "a\\nB\\nc\\nd\\ne\\n"];
    const patch = createPatch("file", before, after);
    export default () => [diffChars("kitten", "sitting"), diffWords("a quick fox", "a slow fox"), diffLines(before, after), patch, applyPatch(before, patch), structuredPatch("x", "y", before, after).hunks];`,
  eventemitter3: `
    import EventEmitter from "eventemitter3";
    const [emitter, seen] = [new EventEmitter(), []];
    emitter.on("a", (...args) => seen.push(args)).once("a", () => seen.push("once"));
    emitter.emit("a", 1, 2); emitter.emit("a", 3);
    export default () => [seen, emitter.listenerCount("a"), emitter.eventNames()];`,
  "fast-deep-equal": `
    import equal from "fast-deep-equal/es6/index.js";
    export default () => [equal({ a: [1, { b: new Map([[1, new Set([2])]]) }] }, { a: [1, { b: new Map([[1, new Set([2])]]) }] }), equal([1, 2], [2, 1]), equal(NaN, NaN), equal(/a/g, /a/i)];`,
  "fast-xml-parser": `
    import { XMLBuilder, XMLParser, XMLValidator } from "fast-xml-parser";
    const xml = '<?xml version="1.0"?><r a="1"><i>x</i><i>2</i><c><![CDATA[<raw>]]></c></r>';
    const data = new XMLParser({ ignoreAttributes: false }).parse(xml);
    export default () => [data, new XMLBuilder({ ignoreAttributes: false, format: true }).build(data), XMLValidator.validate("<a><b></a>")];`,
  fflate: `
    import { gunzipSync, gzipSync, strFromU8, strToU8, unzipSync, zipSync } from "fflate";
    const text = "hello zip ".repeat(500);
    const zip = zipSync({ "a.txt": strToU8(text), "d/b.txt": strToU8("ü") }, { mtime: "2024-01-01" });
    export default () => [strFromU8(gunzipSync(gzipSync(strToU8(text)))) === text, Object.keys(unzipSync(zip)), strFromU8(unzipSync(zip)["d/b.txt"]), zip.length];`,
  graphql: `
    import { buildSchema, graphql, parse, print } from "graphql";
    const schema = buildSchema("type Query { hello(name: String = \\"you\\"): String! list: [Item!]! fails: Int } type Item { id: ID! }");
    const rootValue = { hello: ({ name }) => "hi " + name, list: async () => [{ id: 1 }, { id: 2 }], fails: () => { throw new Error("no"); } };
    export default async () => [await graphql({ schema, rootValue, source: '{ hello(name: "x") list { id } fails }' }), print(parse("query Q($a:Int){x(y:$a)}")), (await graphql({ schema, source: "{ nope }" })).errors.map(String)];`,
  handlebars: `
    import Handlebars from "handlebars";
    Handlebars.registerHelper("loud", (text) => text.toUpperCase());
    const template = Handlebars.compile("{{#each list}}{{@index}}: {{loud name}} {{#if big}}!{{else}}.{{/if}}{{{raw}}}{{raw}}\\n{{/each}}{{> part}}");
    Handlebars.registerPartial("part", "<{{title}}>");
    export default () => template({ title: "T", list: [{ name: "a", big: true, raw: "<b>" }, { name: "b" }] });`,
  htmlparser2: `
    import { DomUtils, Parser, parseDocument } from "htmlparser2";
    const events = [];
    const parser = new Parser({ onopentag: (name, attributes) => events.push([name, attributes]), ontext: (text) => events.push(text), onclosetag: (name) => events.push("/" + name) });
    parser.write("<p class='a'>Hi &amp; <br>"); parser.end("bye</p>");
    export default () => [events, DomUtils.getText(parseDocument("<div>a<span>b</span></div>"))];`,
  "iconv-lite": `
    import iconv from "iconv-lite";
    export default () => [["win1251", "shift_jis", "gbk", "utf-16be", "latin1", "euc-kr"].map((name) => { const bytes = iconv.encode("Привет 日本 é 한", name); return [...bytes, iconv.decode(bytes, name)]; }), iconv.encodingExists("nope")];`,
  immer: `
    import { enableMapSet, enablePatches, produce, produceWithPatches } from "immer";
    enableMapSet(); enablePatches();
    const base = { list: [{ n: 1 }, { n: 2 }], map: new Map([["a", 1]]) };
    const next = produce(base, (draft) => { draft.list[0].n = 5; draft.map.set("b", 2); draft.list.push({ n: 3 }); });
    const [, patches] = produceWithPatches(base, (draft) => { draft.list.pop(); });
    export default () => [next.list, [...next.map], base.list, next.list[1] === base.list[1], Object.isFrozen(next), patches];`,
  ini: `
    import { parse, stringify } from "ini";
    const data = parse("; c\\ntop = 1\\n[s]\\na[] = x\\na[] = y\\n[s.t]\\nflag = true\\n");
    export default () => [data, stringify({ a: 1, b: { c: [1, 2], d: "x=y" } })];`,
  "js-yaml": `
    import { dump, load, loadAll } from "js-yaml";
    export default () => [load("a: [1, 2.5, true, null]\\nb: &x {c: d}\\ne: *x\\nt: |\\n  l1\\n  l2\\n"), dump({ a: [{ b: 1 }], s: "multi\\nline", n: null }), loadAll("---\\na: 1\\n---\\nb: 2\\n")];`,
  jszip: `
    import JSZip from "jszip";
    export default async () => {
      const zip = new JSZip();
      zip.file("a.txt", "hello").folder("d").file("b.bin", new Uint8Array([1, 2, 3]));
      const bytes = await zip.generateAsync({ type: "uint8array", compression: "DEFLATE" });
      const back = await JSZip.loadAsync(bytes);
      return [Object.keys(back.files), await back.file("a.txt").async("string"), [...(await back.file("d/b.bin").async("uint8array"))]];
    };`,
  "lodash-es": `
    import { chunk, cloneDeep, debounce, get, groupBy, isEqual, merge, orderBy, set, sumBy, template, words, zipObject } from "lodash-es";
    const people = [{ n: "a", age: 3, tags: ["x"] }, { n: "b", age: 1, tags: ["y", "x"] }, { n: "c", age: 3, tags: [] }];
    export default () => [chunk([1, 2, 3, 4, 5], 2), groupBy(people, "age"), orderBy(people, ["age", "n"], ["desc", "asc"]), sumBy(people, "age"), get(people, "[1].tags[0]"), set({}, "a.b[2].c", 1), merge({ a: { b: 1 } }, { a: { c: 2 } }), isEqual(cloneDeep(people), people), template("hi <%= name %>")({ name: "you" }), words("fooBar baz-qux"), zipObject(["a", "b"], [1, 2]), typeof debounce(() => {}, 1)];`,
  "lru-cache": `
    import { LRUCache } from "lru-cache";
    const [gone, cache] = [[], new LRUCache({ max: 2, dispose: (value, key) => gone.push([key, value]) })];
    cache.set("a", 1); cache.set("b", 2); cache.get("a"); cache.set("c", 3);
    export default async () => [[...cache.keys()], gone, cache.has("b"), await new LRUCache({ max: 5, fetchMethod: async (key) => key + "!" }).fetch("k")];`,
  luxon: `
    import { DateTime, Duration, Interval } from "luxon";
    const day = DateTime.fromISO("2024-03-31T01:30:00", { zone: "Europe/Berlin" });
    export default () => [day.plus({ hours: 1 }).toISO(), day.setLocale("fr").toLocaleString(DateTime.DATE_HUGE), day.toUTC().toISO(), Duration.fromObject({ hours: 1.5 }).shiftTo("minutes").toHuman(), Interval.fromDateTimes(day, day.plus({ days: 3 })).count("days"), DateTime.fromFormat("31/12/2024", "dd/MM/yyyy").ordinal, DateTime.invalid("x").isValid];`,
  marked: `
    import { lexer, marked } from "marked";
    const text = "# T\\n\\n* a\\n* **b** \\\`c\\\`\\n\\n| x | y |\\n|---|--:|\\n| 1 | 2 |\\n\\n\\\`\\\`\\\`js\\nlet a;\\n\\\`\\\`\\\`\\n\\n[l](http://x 't') <b>raw</b> ~~s~~";
    export default () => [marked.parse(text), lexer("- [x] done").map(({ type }) => type)];`,
  mathjs: `
    import { all, create } from "mathjs";
    const math = create(all, {});
    export default () => [math.evaluate("sqrt(3^2 + 4^2)"), math.evaluate("2 inch to cm").toString(), math.derivative("x^2 + sin(x)", "x").toString(), math.inv([[1, 2], [3, 4]]), math.simplify("2x + 3x").toString(), math.format(math.complex("2+3i").mul(math.complex(1, 1))), math.fraction("1/3").add(1).toString()];`,
  mime: `
    import mime from "mime";
    export default () => [mime.getType("a/b.html"), mime.getType("x.unknownext"), mime.getExtension("image/jpeg"), mime.getType("svg")];`,
  minimatch: `
    import { minimatch } from "minimatch";
    export default () => [minimatch("a/b/c.js", "**/*.js"), minimatch(".hidden", "*"), minimatch.match(["a.ts", "b.js", "c.tsx"], "*.{ts,tsx}"), minimatch("x/y", "!(x)/*"), minimatch.match(["a/b/1x.md", "a/d/1.md"], "a/+(b|c)/[0-9]?.md")];`,
  minimist: `
    import minimist from "minimist";
    const args = ["-abc", "--n=5", "--no-x", "--list", "1", "--list", "2", "file", "--", "-z"];
    export default () => minimist(args, { string: ["list"], alias: { n: "num" }, "--": true });`,
  ms: `
    import ms from "ms";
    export default () => [ms("2 days"), ms("1.5h"), ms(60000), ms(2 * 60000, { long: true }), ms("nope") === undefined];`,
  mustache: `
    import Mustache from "mustache";
    export default () => Mustache.render("{{#list}}{{n}},{{/list}}{{^none}}empty{{/none}} {{{raw}}} {{raw}} {{> p}}", { list: [{ n: 1 }, { n: 2 }], raw: "<i>", none: [] }, { p: "part {{raw}}" });`,
  nanoid: `
    import { customAlphabet, nanoid } from "nanoid";
    export default () => [/^[\\w-]{21}$/.test(nanoid()), nanoid(5).length, customAlphabet("ab", 8)().replace(/[ab]/g, ""), new Set(Array.from({ length: 1000 }, () => nanoid())).size];`,
  "p-limit": `
    import pLimit from "p-limit";
    export default async () => {
      const limit = pLimit(2);
      let [live, most] = [0, 0];
      const results = await Promise.all([5, 1, 3, 2].map((wait) => limit(async () => {
        most = Math.max(most, ++live);
        await new Promise((resolve) => setTimeout(resolve, wait));
        live -= 1;
        return wait * 10;
      })));
      return [results, most];
    };`,
  pako: `
    import { deflate, gzip, inflate, ungzip } from "pako";
    const text = "pack me ".repeat(1000);
    export default () => [deflate(text).length, new TextDecoder().decode(inflate(deflate(text))) === text, gzip(text).length, new TextDecoder().decode(ungzip(gzip("ü"))), [...deflate("abc")]];`,
  papaparse: `
    import Papa from "papaparse";
    export default () => [Papa.parse('a,b\\n1,"x\\ny"\\n3', { header: true, dynamicTyping: true }), Papa.unparse([{ a: 1, b: 'q"' }, { a: 2, b: "c,d" }]), Papa.parse("a\\tb").meta.delimiter];`,
  picomatch: `
    import picomatch from "picomatch/posix.js";
    export default () => [picomatch("*.{js,ts}")("a.ts"), picomatch("!**/x/**")("a/x/b"), picomatch.scan("src/**/*.js"), picomatch.makeRe("a/{1..3}/*").source];`,
  qs: `
    import qs from "qs";
    export default () => [qs.parse("a[b][c]=1&d[]=x&d[]=y&e=%C3%BC"), qs.stringify({ a: { b: [1, 2] }, c: "ü &", d: new Date(0) }), qs.stringify({ a: [1, 2] }, { arrayFormat: "comma" }), qs.parse("?x=1", { ignoreQueryPrefix: true })];`,
  ramda: `
    import * as R from "ramda";
    export default () => [R.pipe(R.filter(R.gt(R.__, 1)), R.map(R.multiply(2)), R.sum)([1, 2, 3]), R.groupBy((x) => (x % 2 ? "odd" : "even"), [1, 2, 3]), R.assocPath(["a", "b"], 1, {}), R.curry((a, b, c) => a + b + c)(1)(2)(3), R.over(R.lensPath(["x", 0]), R.inc, { x: [1] }), R.transduce(R.compose(R.map(R.inc), R.take(2)), R.flip(R.append), [], [1, 2, 3])];`,
  rxjs: `
    import { bufferCount, debounceTime, filter, from, interval, lastValueFrom, map, mergeMap, of, reduce, take, toArray, zip } from "rxjs";
    export default async () => [
      await lastValueFrom(from([1, 2, 3, 4]).pipe(filter((x) => x % 2 === 0), map((x) => x * 10), toArray())),
      await lastValueFrom(interval(1).pipe(take(3), reduce((a, b) => a + b, 0))),
      await lastValueFrom(of(1, 2).pipe(mergeMap(async (x) => x + 1), toArray())),
      await lastValueFrom(zip(of("a", "b"), of(1, 2)).pipe(bufferCount(2))),
      await lastValueFrom(of("x").pipe(debounceTime(1))),
    ];`,
  sax: `
    import sax from "sax";
    const events = [];
    const parser = sax.parser(true, { trim: true });
    parser.onopentag = ({ name, attributes }) => events.push(["open", name, attributes]);
    parser.ontext = (text) => events.push(["text", text]);
    parser.onclosetag = (name) => events.push(["close", name]);
    parser.onerror = (error) => { events.push(["error", error.message]); parser.resume(); };
    parser.write('<a b="1">t &lt; <c/><!-- x --></a>').close();
    export default () => events;`,
  semver: `
    import semver from "semver";
    export default () => [semver.satisfies("1.2.3", "^1.0.0 || >=3"), semver.inc("1.2.3-beta.1", "prerelease"), semver.sort(["1.10.0", "1.2.0", "1.2.0-a"]), semver.maxSatisfying(["1.0.0", "1.5.0", "2.0.0"], "~1"), semver.coerce("v2.x").version, semver.diff("1.0.0", "1.1.0"), semver.validRange(">1 <2")];`,
  slugify: `
    import slugify from "slugify";
    export default () => [slugify("Ünïcode & Straße, ok?"), slugify("a B c", { lower: true, replacement: "_" }), slugify("x*y~z", { strict: true })];`,
  "smol-toml": `
    import { parse, stringify } from "smol-toml";
    const data = parse('t = "x"\\n[a.b]\\nn = [1, 2.5]\\nd = 1979-05-27T07:32:00Z\\n[[l]]\\nk = true\\n');
    export default () => [JSON.parse(JSON.stringify(data)), stringify({ a: { b: [1, "x"] }, c: new Date(0) })];`,
  uuid: `
    import { parse, stringify, v3, v4, v5, v7, validate, version } from "uuid";
    export default () => [validate(v4()), version(v4()), version(v7()), v5("name", v5.DNS), v3("name", v3.URL), stringify(parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")), new Set(Array.from({ length: 100 }, () => v4())).size];`,
  validator: `
    import validator from "validator";
    export default () => [validator.isEmail("a@b.co"), validator.isURL("http://x.y/z?q"), validator.isIBAN("DE89370400440532013000"), validator.escape("<a>"), validator.isISO8601("2024-02-30", { strict: true }), validator.isCreditCard("4111111111111111"), validator.normalizeEmail("A.B+c@gmail.com")];`,
  yaml: `
    import { parse, parseDocument, stringify } from "yaml";
    const document = parseDocument("a: 1 # keep\\nlist:\\n  - x\\n  - {y: z}\\n");
    document.set("a", 2); document.addIn(["list"], "new");
    export default () => [document.toString(), parse("k: !!set {a, b}\\n", { mapAsMap: true }) instanceof Map, stringify({ a: "multi\\nline", b: [], c: { d: null } }), parseDocument("a: [").errors.map(({ code }) => code)];`,
  zod: `
    import { z } from "zod";
    const schema = z.object({ name: z.string().min(2), age: z.number().int().optional(), tags: z.array(z.enum(["a", "b"])).default([]), when: z.coerce.date() });
    export default async () => [schema.parse({ name: "xy", when: "2024-01-01" }).tags, schema.safeParse({ name: "x", age: 1.5, tags: ["c"], when: "no" }).error.issues, z.union([z.string(), z.number()]).safeParse(true).success, await z.string().refine(async (x) => x === "ok").safeParseAsync("no").then(({ success }) => success), z.toJSONSchema(z.object({ a: z.string() }))];`,
};

/** Packages that are taken as they are for browsers: what they have for Node wants a terminal or threads. */
const FOR_BROWSERS = new Set(["chalk", "fflate"]);

/** Results are JSON: what is not, such as an instance of a class, becomes so inside. */
const asModule = (program) =>
  `${program.replace("export default", "const program =")}
  export default async () => JSON.parse(JSON.stringify(await program()));`;

/** What `require` of a built-in module becomes in a bundle: an import. */
const builtins = {
  name: "builtins",
  setup({ onLoad, onResolve }) {
    const names = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
    onResolve({ filter: /./ }, ({ path, kind, namespace }) => {
      if (!names.has(path)) return undefined;
      if (kind === "require-call") return { path, namespace: "builtin" };
      return { path: namespace === "builtin" && !path.startsWith("node:") ? `node:${path}` : path, external: true };
    });
    onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({
      contents: `export * from "${path}"; export { default } from "${path}";`,
      resolveDir: packagesFolder,
    }));
  },
};

async function bundle(contents, platform) {
  const { outputFiles } = await build({
    bundle: true,
    format: "esm",
    logLevel: "error",
    platform,
    plugins: [builtins],
    stdin: { contents, resolveDir: packagesFolder },
    write: false,
  });
  return outputFiles[0].text;
}

describe("a package does in an isolate what it does here", { skip: cannotCompare }, () => {
  const scratch = mkdtempSync(join(tmpdir(), "carrel-packages-"));
  let workspace;
  before(() => {
    installPackages();
    workspace = new Workspace({ storage: ":memory:", backends: [new JavaScriptBackend()] });
  });
  after(async () => {
    await workspace?.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  for (const [name, program] of Object.entries(PROGRAMS)) {
    test(name, async () => {
      const source = await bundle(asModule(program), FOR_BROWSERS.has(name) ? "browser" : "node");
      const file = join(scratch, `${name}.mjs`);
      writeFileSync(file, source);
      const { default: here } = await import(pathToFileURL(file).href);
      const run = await workspace.runtime.exec(source, { encoding: "utf8" });
      const { status, value, stderr, stdout } = await run.result();
      assert.deepEqual({ status, stdout, stderr }, { status: "completed", stdout: "", stderr: "" });
      assert.deepEqual(value, await here());
    });
  }
});
