//! carrel-isolate: one run of one module in one V8 isolate, and in one process.
//!
//! The process starts, restores the start-up snapshot, locks itself in, says `Ready` on its standard
//! output and waits for `Start` on its standard input. It has no environment, no files, no network and
//! no other process; all that the code in it can reach is what the host answers (`carrel_wire`).
//!
//! - One thread, one isolate, one run. Whatever happens, the end is the end of the process.
//! - Everything from outside arrives in frames, one at a time, and JavaScript runs until nothing is
//!   left to run before the next one is taken (`run`).
//! - Not here: file systems, limits in time, deciding how a run ended. That is the host's.

mod bindings;
mod clock;
mod engine;
mod flags;
mod lockdown;
mod memory;
mod modules;
mod natives;
mod pipe;
mod random;
mod run;
mod value;

fn main() {
    let memory_bytes_max = std::env::args()
        .find_map(|argument| argument.strip_prefix("--memory=")?.parse().ok())
        .unwrap_or(128 * 1024 * 1024);
    lockdown::close_descriptors();
    lockdown::end_with_parent();
    memory::watch_breakdowns();
    let mut isolate = engine::start(memory_bytes_max);
    run::run(&mut isolate);
}
