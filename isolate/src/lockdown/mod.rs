//! What the operating system forbids the process, before the first byte of model code.
//!
//! | | Linux | macOS | other |
//! | --- | --- | --- | --- |
//! | descriptors beyond the pipes | closed | closed | closed on exec |
//! | files, network, processes | seccomp allow-list; Landlock | sandbox profile | nothing |
//! | new privileges | `no_new_privs` | – | – |
//! | core dumps, file sizes, descriptors, processes | rlimits | rlimits | – |
//! | CPU time | interval timer | interval timer | the host's wall time |
//! | end of the parent | signal, end of input | end of input | end of input |
//!
//! Locking in can only fail on a system that does not have the means; what is there is used, and a
//! means that is there but fails ends the process.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;

/// Closes what the process inherited beyond its pipes and standard error.
pub fn close_descriptors() {
    #[cfg(unix)]
    unix::close_descriptors();
}

/// Sees to it that the process does not outlive the one that started it.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    linux::end_with_parent();
}

/// Gives up all that is not needed to run JavaScript.
pub fn lock_in() {
    #[cfg(target_os = "linux")]
    linux::lock_in();
    #[cfg(target_os = "macos")]
    macos::lock_in();
    #[cfg(all(unix, not(target_os = "linux")))]
    unix::lower_limits();
}

/// Starts the clock of the CPU: after so many milliseconds of the process's own time it is ended by
/// `SIGPROF`, by which the host knows why. Then nothing can change it any more.
pub fn limit_cpu(ms: u32) {
    #[cfg(unix)]
    unix::limit_cpu(ms);
    #[cfg(target_os = "linux")]
    linux::seal();
}

/// Ends the process: a means against model code is there and does not work.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn give_up(what: &str) -> ! {
    eprintln!("carrel-isolate: cannot lock itself in: {what}");
    std::process::exit(126);
}
