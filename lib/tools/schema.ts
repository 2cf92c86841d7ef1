// The arguments of a tool as a Standard Schema with JSON Schema, which the agent libraries accept
// as they accept one of zod: https://standardschema.dev

/** Anything that JSON can say. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

/** An object of JSON. */
export type JSONObject = { [key: string]: JSONValue };

/** The JSON Schema of a tool's arguments: an object, without `$ref` and without unions. */
export interface ToolJSONSchema {
  type: "object";
  properties: Record<string, JSONObject>;
  required: string[];
  additionalProperties: false;
}

/** What is wrong with arguments. */
export interface SchemaIssue {
  /** A sentence that names the field, what came and what is wanted. */
  readonly message: string;
  readonly path?: readonly (string | number)[];
}

/** Right arguments, or what is wrong with them. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A Standard Schema (version 1) that also gives its JSON Schema. */
export interface ToolSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "carrel";
    readonly validate: (value: unknown) => SchemaResult<Input>;
    readonly jsonSchema: {
      readonly input: (options?: unknown) => Record<string, unknown>;
      readonly output: (options?: unknown) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Input };
  };
}

/** The schema of a tool. */
export function toolSchema<Input>(
  jsonSchema: ToolJSONSchema,
  validate: (value: unknown) => SchemaResult<Input>,
): ToolSchema<Input> {
  const json = () => structuredClone(jsonSchema) as unknown as Record<string, unknown>;
  return { "~standard": { version: 1, vendor: "carrel", validate, jsonSchema: { input: json, output: json } } };
}
