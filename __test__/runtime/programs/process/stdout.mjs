console.log(
  process.stdout.write("text\n"),
  process.stdout.write(Buffer.from("buffer\n")),
  process.stdout.write(new Uint8Array([104, 105, 10])),
  process.stdout.write("68690a", "hex"),
  process.stdout.fd,
  process.stderr.fd,
  process.stdout.writable,
);
process.stdout.write("with callback\n", (error) => {
  console.log("callback", error);
  process.stderr.write("err\n", "utf8", () => console.log("err callback"));
});
for (const call of [() => process.stdout.write(5), () => process.stdout.write(null)]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
process.stdout.write(Buffer.from("grü").subarray(0, 3));
process.stdout.write(Buffer.from([0xbc, 10]));
process.stdout.cork();
process.stdout.write("corked ");
process.stdout.write("text\n");
process.stdout.uncork();
