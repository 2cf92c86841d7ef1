// What users see of a failure. The words come from the core; here they get a class and a stack.

/** The fields of an error of the core, as they cross the binding. */
interface Failure {
  code: string;
  errno: number;
  message: string;
  path: string | null;
  dest: string | null;
  syscall: string | null;
}

/**
 * A failed call. Its shape is that of Node's own system errors.
 *
 * Arguments of a wrong type are a `TypeError` with `code: "ERR_INVALID_ARG_TYPE"` instead.
 */
export class WorkspaceError extends Error {
  override name = "WorkspaceError";
  /** A POSIX code such as `"ENOENT"`, or `"ECLOSED"` after `close()`. */
  readonly code: string;
  /** The negative number of the code on Linux; absent where POSIX has none. */
  declare readonly errno?: number;
  /** The path that the call was about. */
  declare readonly path?: string;
  /** The second path, of calls with two. */
  declare readonly dest?: string;
  /** The call, by the name that Node gives it: `"open"`, `"stat"`, `"scandir"`. */
  declare readonly syscall?: string;

  /** @param message one sentence, beginning with the code */
  constructor(
    code: string,
    message: string,
    fields: { errno?: number; path?: string; dest?: string; syscall?: string } = {},
  ) {
    super(message);
    this.code = code;
    if (fields.errno !== undefined) this.errno = fields.errno;
    if (fields.path !== undefined) this.path = fields.path;
    if (fields.dest !== undefined) this.dest = fields.dest;
    if (fields.syscall !== undefined) this.syscall = fields.syscall;
  }
}

/** A `TypeError` as Node throws it for an argument of a wrong type. */
export function argumentTypeError(message: string): TypeError & { code: string } {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE" });
}

/** Makes of what the binding threw what users see. Anything else passes as it is. */
export function userError(thrown: unknown): unknown {
  const failure = parse((thrown as Error | undefined)?.message);
  if (!failure) return thrown;
  if (failure.code === "ERR_INVALID_ARG_TYPE") return argumentTypeError(failure.message);
  return new WorkspaceError(failure.code, failure.message, {
    ...(failure.errno !== 0 && { errno: failure.errno }),
    ...(failure.path !== null && { path: failure.path }),
    ...(failure.dest !== null && { dest: failure.dest }),
    ...(failure.syscall !== null && { syscall: failure.syscall }),
  });
}

function parse(message: unknown): Failure | undefined {
  if (typeof message !== "string" || !message.startsWith('{"code":')) return undefined;
  try {
    return JSON.parse(message) as Failure;
  } catch {
    return undefined;
  }
}
