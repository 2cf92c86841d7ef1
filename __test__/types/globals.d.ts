// Types of browsers that libraries take for granted, as Node.js has them.

type HeadersInit = import("undici-types").HeadersInit;
