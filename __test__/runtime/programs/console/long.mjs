console.log(Array.from({ length: 200 }, (_, index) => index));
console.log(Array.from({ length: 30 }, (_, index) => `item number ${index}`));
console.log("x".repeat(300), ["y".repeat(200)], { long: "z".repeat(120), other: "w" });
console.log({
  alpha: "a".repeat(30),
  beta: "b".repeat(30),
  gamma: ["c".repeat(30), "d".repeat(30)],
  delta: { e: 1, f: [1, 2, 3] },
});
console.log(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key${index}`, index])));
console.log(
  new Set(Array.from({ length: 120 }, (_, index) => index)),
  new Map(Array.from({ length: 5 }, (_, index) => [`k${index}`, { index }])),
);
console.log(
  ["line\nbreak", "tab\t", "quote'", 'double"', "both'\"", "all'\"`", "\u0000\u001b\u007f", "ü€🎉", "\ud800"],
  "plain\nnewline",
);
console.log(
  [1.5, 22.25, 333],
  [100000, 1, 22, 333, 4444, 55555, 666666],
  ["aa", "b", "cccc", "dd", "e", "ffffff", "g"],
);
console.log(
  new Uint8Array(200),
  Buffer.alloc(100),
  "a".repeat(20000).length,
  [
    ["a", "b"],
    ["c", "d"],
  ],
  [[1, 2, [3, 4]], { a: [1, { b: 2 }] }],
);
