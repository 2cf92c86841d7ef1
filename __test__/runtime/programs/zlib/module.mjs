import zlib from "node:zlib";

console.log(
  Object.keys(zlib).sort().join(" "),
  Object.keys(zlib.constants).length,
  zlib.codes.Z_OK,
  zlib.createGzip().constructor.name,
);
