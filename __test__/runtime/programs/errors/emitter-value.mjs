import { EventEmitter } from "node:events";

new EventEmitter().emit("error", { reason: "value" });
