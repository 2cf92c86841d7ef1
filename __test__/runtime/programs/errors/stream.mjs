import { Readable } from "node:stream";

const readable = new Readable({ read() {} });
readable.destroy(new Error("stream broke"));
