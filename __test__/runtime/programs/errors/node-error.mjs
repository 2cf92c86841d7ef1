Buffer.alloc("x");
