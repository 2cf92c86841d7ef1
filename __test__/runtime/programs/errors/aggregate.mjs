throw new AggregateError([new Error("one"), new TypeError("two"), 3], "several");
