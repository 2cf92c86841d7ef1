//! V8's flags, the same when the snapshot is made and when it is used: V8 refuses a snapshot that was
//! made under others.

/// One list, a reason each.
pub const FLAGS: &[&str] = &[
    // No thread but the main one: fewer system calls to allow, and one order of events.
    "--single-threaded",
    // The order of nothing may differ between two executions of a run.
    "--hash-seed=1",
    "--random-seed=1",
    "--predictable-gc-schedule",
    // The depth at which recursion ends, the same everywhere.
    "--stack-size=984",
    // A stack as Node shows it.
    "--stack-trace-limit=10",
    // The code of a function that is not used any more is not thrown away: with no idle time
    // between runs it would only be compiled again.
    "--no-flush-bytecode",
    // The snapshot is a part of this executable: whoever could change it could change the check.
    "--no-verify-snapshot-checksum",
    // Small at the start; the heap's limit says how far it may go.
    "--min-semi-space-size=1",
];
