// options: {"stdin": "line one\nline two ü\nlast"}
process.stdin.setEncoding("utf8");
let text = "";
process.stdin.on("data", (piece) => {
  text += piece;
});
process.stdin.on("end", () => console.log(JSON.stringify(text), process.stdin.readableEnded));
