import fs from "node:fs";

fs.open("f", "w+", (error, fd) => {
  console.log(error, typeof fd);
  fs.write(fd, "hello", (error, written, text) => {
    console.log(error, written, text);
    fs.write(fd, Buffer.from("HE"), 0, 2, 0, (error, written, buffer) => {
      console.log(error, written, buffer);
      fs.read(fd, { buffer: Buffer.alloc(8), position: 0 }, (error, read, buffer) => {
        console.log(error, read, buffer.toString("utf8", 0, read));
        fs.read(fd, (error, read, buffer) => {
          console.log(error, read, buffer.length);
          fs.ftruncate(fd, 2, (error) => {
            console.log(error);
            fs.readv(fd, [Buffer.alloc(1), Buffer.alloc(5)], 0, (error, read, buffers) => {
              console.log(error, read, buffers);
              fs.close(fd, (error) => console.log(error));
            });
          });
        });
      });
    });
  });
});
