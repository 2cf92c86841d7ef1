console.log(
  new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234567.891),
  (1234.5).toLocaleString(),
  (0.256).toLocaleString("en", { style: "percent" }),
);
console.log(
  new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeStyle: "long", timeZone: "America/New_York" }).format(0),
  new Date(0).toLocaleString("fr-FR", { timeZone: "Asia/Tokyo" }),
  new Date(0).toString(),
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  Intl.DateTimeFormat().resolvedOptions().locale,
);
console.log(
  ["ä", "z", "a", "Z"].sort(new Intl.Collator("de").compare),
  ["a10", "a2"].sort(new Intl.Collator("en", { numeric: true }).compare),
  "İ".toLocaleLowerCase("tr"),
  "straße".localeCompare("strasse", "de"),
);
console.log(
  new Intl.PluralRules("ar").select(3),
  new Intl.RelativeTimeFormat("es").format(-2, "day"),
  new Intl.ListFormat("en", { type: "conjunction" }).format(["a", "b", "c"]),
  [...new Intl.Segmenter("ja", { granularity: "word" }).segment("今日は良い天気")].map(({ segment }) => segment),
  new Intl.DisplayNames("en", { type: "region" }).of("JP"),
);
console.log(
  "é".normalize("NFD").length,
  "ﬁ".normalize("NFKC"),
  new Intl.DurationFormat("en").format({ hours: 1, minutes: 2 }),
  new Intl.Locale("zh-Hans-CN").maximize().toString(),
);
