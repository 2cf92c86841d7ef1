import fs from "node:fs";

const show =
  (name) =>
  (error, ...values) =>
    console.log(name, error && [error.code, error.message], ...values);
fs.writeFile("a", "hello", (error) => {
  show("write")(error);
  fs.readFile("a", "utf8", (error, text) => {
    show("read")(error, text);
    fs.appendFile("a", " world", (error) => {
      show("append")(error);
      fs.stat("a", (error, stats) => {
        show("stat")(error, stats.size, stats.isFile());
        fs.mkdir("d/e", { recursive: true }, (error, first) => {
          show("mkdir")(error, first);
          fs.readdir(".", { withFileTypes: true }, (error, entries) => {
            show("readdir")(error, entries.map((entry) => entry.name).sort());
            fs.rename("a", "d/b", (error) => {
              show("rename")(error);
              fs.rm("d", { recursive: true }, (error) => {
                show("rm")(error);
                fs.readdir(".", show("left"));
              });
            });
          });
        });
      });
    });
  });
});
console.log("first");
