console.log(
  atob("w7w="),
  btoa("ü"),
  encodeURIComponent("ü&"),
  decodeURIComponent("%C3%BC"),
  escape("ü"),
  unescape("%FC"),
);
