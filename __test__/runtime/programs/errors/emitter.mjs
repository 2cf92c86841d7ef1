import { EventEmitter } from "node:events";

new EventEmitter().emit("error", new Error("nobody listens"));
