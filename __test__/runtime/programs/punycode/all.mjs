import punycode from "node:punycode";

console.log(
  punycode.encode("mañana"),
  punycode.decode("maana-pta"),
  punycode.toASCII("mañana.com"),
  punycode.toUnicode("xn--maana-pta.com"),
  punycode.ucs2.decode("a🎉"),
  punycode.version,
);
