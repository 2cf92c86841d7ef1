import { Readable } from "node:stream";
import { arrayBuffer, blob, buffer, json, text } from "node:stream/consumers";

const make = (value) => Readable.from([Buffer.from(value)]);
console.log(
  await arrayBuffer(make("ab")),
  await buffer(make("cd")),
  await json(make('{"a":1}')),
  await text(make("ü")),
  (await blob(make("blob"))).size,
);
console.log(await text(new Blob(["web"]).stream()), await json(new Response("[1]").body));
try {
  await json(make("{"));
} catch (error) {
  console.log(error.name, error.message);
}
