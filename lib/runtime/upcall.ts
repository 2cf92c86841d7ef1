// What the core asks of JavaScript, as it comes: JSON of one of these, and bytes.

/** A request of the core, or something that it tells. */
export type Upcall =
  /** A function of a host module; the bytes are its arguments. */
  | { kind: "host"; run: string; call: number; module: string; function: string; deadline: number }
  /** A step of a request; the bytes are a piece of its body. */
  | { kind: "fetch"; run: string; call: number; step: string; args: unknown[] }
  /** Types are to be stripped; the bytes are the source. */
  | { kind: "strip"; run: string; call: number; path: string }
  /** Nobody waits for the answer of this call any more. */
  | { kind: "cancel"; run: string; call: number }
  /** The run is over: whatever it left open can go. */
  | { kind: "end"; run: string };
