// options: {"input": {"a": [1, 2.5, "x", null, true], "b": {"c": "ü\u0000"}}}
export default (input) => ({ input, keys: Object.keys(input), type: typeof input });
