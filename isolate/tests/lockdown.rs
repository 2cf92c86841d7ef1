//! What the process can still ask of the system once it is locked in: nothing that matters.
//!
//! The test starts itself again as a child that locks itself in and then tries system calls, as model
//! code would that has broken out of V8.

#![cfg(target_os = "linux")]

use std::io;
use std::process::Command;

#[expect(dead_code, reason = "only locking in is tried here")]
#[path = "../src/lockdown/mod.rs"]
mod lockdown;

const CHILD: &str = "CARREL_TEST_LOCKED_IN";

type Attempt = (&'static str, fn() -> libc::c_long);

/// Makes a system call with no more than numbers and texts that live as long as the program.
macro_rules! attempts {
    ($($name:literal: $($argument:expr),+;)*) => {
        // SAFETY: every pointer is to a constant that ends in NUL, or null, which the call refuses.
        &[$(($name, || unsafe { libc::syscall($($argument),+) })),*]
    };
}

fn text(text: &'static std::ffi::CStr) -> *const libc::c_char {
    text.as_ptr()
}

const NULL: *const libc::c_void = std::ptr::null();

static FORBIDDEN: &[Attempt] = attempts! {
    "open a file": libc::SYS_openat, libc::AT_FDCWD, text(c"/etc/passwd"), libc::O_RDONLY;
    "open its memory": libc::SYS_openat, libc::AT_FDCWD, text(c"/proc/self/mem"), libc::O_RDWR;
    "open its maps": libc::SYS_openat, libc::AT_FDCWD, text(c"/proc/self/maps"), libc::O_RDONLY;
    "open the parent's environment": libc::SYS_openat, libc::AT_FDCWD, text(c"/proc/1/environ"), libc::O_RDONLY;
    "create a file": libc::SYS_openat, libc::AT_FDCWD, text(c"/tmp/x"), libc::O_CREAT | libc::O_WRONLY, 0o600;
    "open by openat2": libc::SYS_openat2, libc::AT_FDCWD, text(c"/etc/passwd"), NULL, 0;
    "stat": libc::SYS_newfstatat, libc::AT_FDCWD, text(c"/"), NULL, 0;
    "read a link": libc::SYS_readlinkat, libc::AT_FDCWD, text(c"/proc/self/exe"), NULL, 0;
    "unlink": libc::SYS_unlinkat, libc::AT_FDCWD, text(c"/tmp/x"), 0;
    "mount": libc::SYS_mount, NULL, text(c"/"), NULL, 0, NULL;
    "socket": libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0;
    "unix socket": libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0;
    "netlink socket": libc::SYS_socket, libc::AF_NETLINK, libc::SOCK_RAW, 0;
    "socket pair": libc::SYS_socketpair, libc::AF_UNIX, libc::SOCK_STREAM, 0, NULL;
    "connect": libc::SYS_connect, 0, NULL, 0;
    "execve": libc::SYS_execve, text(c"/bin/sh"), NULL, NULL;
    "execveat": libc::SYS_execveat, libc::AT_FDCWD, text(c"/bin/sh"), NULL, NULL, 0;
    "clone": libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0;
    "clone3": libc::SYS_clone3, NULL, 0;
    "unshare": libc::SYS_unshare, libc::CLONE_NEWUSER;
    "setns": libc::SYS_setns, 0, 0;
    "ptrace": libc::SYS_ptrace, libc::PTRACE_TRACEME, 0, 0, 0;
    "read another process": libc::SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0;
    "write another process": libc::SYS_process_vm_writev, 1, NULL, 0, NULL, 0, 0;
    "kill": libc::SYS_kill, 1, 0;
    "kill everything": libc::SYS_kill, -1, 0;
    "signal a thread of another process": libc::SYS_tgkill, 1, 1, 0;
    "pidfd": libc::SYS_pidfd_open, 1, 0;
    "memory file": libc::SYS_memfd_create, text(c"x"), 0;
    "map the input": libc::SYS_mmap, NULL, 4096, libc::PROT_READ, libc::MAP_PRIVATE, 0, 0;
    "duplicate a descriptor": libc::SYS_dup, 0;
    "fcntl": libc::SYS_fcntl, 0, libc::F_GETFL;
    "ioctl": libc::SYS_ioctl, 0, libc::TIOCSTI, NULL;
    "io_uring": libc::SYS_io_uring_setup, 1, NULL;
    "bpf": libc::SYS_bpf, 0, NULL, 0;
    "perf": libc::SYS_perf_event_open, NULL, 0, 0, 0, 0;
    "userfaultfd": libc::SYS_userfaultfd, 0;
    "keys": libc::SYS_add_key, NULL, NULL, NULL, 0, 0;
    "raise a limit": libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, NULL, NULL;
    "become dumpable": libc::SYS_prctl, libc::PR_SET_DUMPABLE, 1;
    "stop the clock of the CPU": libc::SYS_setitimer, libc::ITIMER_PROF, NULL, NULL;
    "install a filter": libc::SYS_seccomp, 1, 0, NULL;
    "chroot": libc::SYS_chroot, text(c"/");
    "change user": libc::SYS_setuid, 0;
    "reboot": libc::SYS_reboot, 0, 0, 0, NULL;
    "load a module": libc::SYS_finit_module, 0, NULL, 0;
    "set the time": libc::SYS_clock_settime, 0, NULL;
    "uname": libc::SYS_uname, NULL;
};

#[test]
fn a_process_that_is_locked_in_reaches_nothing() {
    if std::env::var_os(CHILD).is_some() {
        return try_everything();
    }
    let this = std::env::current_exe().expect("a test has a program");
    let output = Command::new(this)
        .args(["--exact", "a_process_that_is_locked_in_reaches_nothing", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("a process can be started");
    let report = String::from_utf8_lossy(&output.stdout);
    let refused = report.matches(": refused").count();
    assert!(!report.contains(": done"), "something is still possible:\n{report}");
    assert_eq!(
        refused,
        FORBIDDEN.len(),
        "not all was tried:\n{report}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn try_everything() {
    lockdown::close_descriptors();
    lockdown::lock_in();
    lockdown::limit_cpu(10_000);
    let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid `pollfd`, for the length of the call.
    let waited = unsafe { libc::poll(&raw mut input, 1, 0) };
    println!("wait for input: {}", if waited >= 0 { "allowed" } else { "not allowed" });
    for (name, attempt) in FORBIDDEN {
        let outcome = attempt();
        let error = io::Error::last_os_error().raw_os_error();
        let verdict = if outcome == -1 && error == Some(libc::EPERM) { "refused" } else { "done" };
        println!("{name}: {verdict}");
    }
    // SAFETY: ends the process, whose test harness could not go on here.
    unsafe { libc::_exit(0) }
}

#[test]
fn the_clock_of_the_cpu_ends_the_process_by_its_signal() {
    use std::os::unix::process::ExitStatusExt;
    const NAME: &str = "the_clock_of_the_cpu_ends_the_process_by_its_signal";
    if std::env::var_os(CHILD).is_some() {
        lockdown::lock_in();
        lockdown::limit_cpu(50);
        loop {
            std::hint::spin_loop();
        }
    }
    let this = std::env::current_exe().expect("a test has a program");
    let status = Command::new(this)
        .args(["--exact", NAME])
        .env(CHILD, "1")
        .status()
        .expect("a process can be started");
    assert_eq!(status.signal(), Some(libc::SIGPROF));
}
