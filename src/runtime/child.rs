//! One isolate process and its pipes.
//!
//! - Whoever drops a [`Child`] ends the process and waits until the kernel has let go of it, so none is
//!   left behind. It is waited for by its own number, never through `SIGCHLD`, which belongs to Node.
//! - Our ends of the pipes never block.
//!
//! Only Unix has this so far; elsewhere [`start`] says so.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use carrel_wire::{FrameBuffer, ToHost, VERSION};

use crate::error::{Code, FsError, Result};

/// How long a process may take until it is ready. On a machine at its limits it takes seconds.
const READY_MAX: Duration = Duration::from_secs(30);
/// Longest frame of a process that is not ready yet.
const READY_FRAME_BYTES_MAX: usize = 64;
/// Size of the pipes, where the system allows it: large output in few switches between processes.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1024 * 1024;
/// What the kernel lets a process have beyond the limit that V8 keeps by itself: stacks, compiled code,
/// and frames on their way in and out.
#[cfg(target_os = "linux")]
const MEMORY_SLACK_BYTES: u64 = 256 * 1024 * 1024;

/// See the module.
pub struct Child {
    process: std::process::Child,
    memory_bytes_max: usize,
    /// To the isolate.
    pub stdin: Option<Stdin>,
    /// From the isolate.
    pub stdout: Stdout,
    /// How it ended, once it was waited for.
    status: Option<ExitStatus>,
}

/// Our end of the pipe to a process.
pub type Stdin = std::process::ChildStdin;
/// Our end of the pipe from a process.
pub type Stdout = std::process::ChildStdout;

/// Starts a process and calls back when it is there, on the thread that started it; it may not be
/// [ready](Child::wait_ready) yet.
#[cfg(unix)]
pub fn start(program: &Path, memory_bytes_max: usize, done: impl FnOnce(Result<Child>) + Send + 'static) {
    let path = program.to_owned();
    let reply = move |spawned: io::Result<std::process::Child>| {
        let child = spawned.and_then(|process| Child::new(process, memory_bytes_max));
        done(child.map_err(|error| cannot_start(&path, &error)));
    };
    super::spawner::start(program.to_owned(), memory_bytes_max, Box::new(reply));
}

/// The same where it cannot be done.
#[cfg(not(unix))]
pub fn start(_program: &Path, _memory_bytes_max: usize, done: impl FnOnce(Result<Child>) + Send + 'static) {
    done(Err(FsError::with_detail(Code::NoExec, "code cannot be run on this operating system yet")));
}

fn cannot_start(program: &Path, error: &io::Error) -> FsError {
    let what = match error.kind() {
        io::ErrorKind::NotFound => "it is not there; install carrel again, or build it with npm run build",
        io::ErrorKind::PermissionDenied => "it may not be executed; give it the permission",
        io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock => {
            "the machine has no memory or no process left for it; try again later"
        }
        _ => {
            return FsError::with_detail(
                Code::NoExec,
                format!("the isolate program {} cannot be started: {error}", program.display()),
            );
        }
    };
    FsError::with_detail(
        Code::NoExec,
        format!("the isolate program {} cannot be started: {what}", program.display()),
    )
}

#[cfg(unix)]
impl Child {
    fn new(mut process: std::process::Child, memory_bytes_max: usize) -> io::Result<Child> {
        let missing = || io::Error::other("a new process has no pipe");
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let child =
            Child { stdin, stdout: stdout.ok_or_else(missing)?, process, memory_bytes_max, status: None };
        let stdin = child.stdin.as_ref().ok_or_else(missing)?;
        let (stdin, stdout) = (rustix::fd::AsFd::as_fd(stdin), rustix::fd::AsFd::as_fd(&child.stdout));
        rustix::io::ioctl_fionbio(stdin, true)?;
        rustix::io::ioctl_fionbio(stdout, true)?;
        #[cfg(target_os = "linux")]
        {
            // Refused beyond the share of pipes that a user may have; then they stay as they are.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE_BYTES);
            let _ = rustix::pipe::fcntl_setpipe_size(stdout, PIPE_BYTES);
        }
        Ok(child)
    }

    /// The backstop behind V8's own limit. What the process has set apart already, for V8 hundreds of
    /// megabytes of address space for code, is not counted.
    #[cfg(target_os = "linux")]
    fn limit_memory(&self) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let Some(used) = kilobytes_of(&status, "VmData:") else { return };
        let bytes = used * 1024 + self.memory_bytes_max as u64 + MEMORY_SLACK_BYTES;
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        // It may have ended already, which is found out when it is talked to.
        let _ = prlimit(pid, Resource::Data, limit);
    }

    /// The backstop behind the timer that the isolate sets for itself.
    pub fn limit_cpu(&self, cpu_ms_max: f64) {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, Resource, Rlimit, prlimit};
            // In whole seconds, and what it used to start counts too.
            let seconds = (cpu_ms_max / 1000.0).ceil() as u64 + 2;
            let limit = Rlimit { current: Some(seconds), maximum: Some(seconds + 5) };
            let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
            // It may have ended already, which is found out when it is talked to.
            let _ = prlimit(pid, Resource::Cpu, limit);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = cpu_ms_max;
    }

    /// Waits until the process says that it is locked in and of our version.
    pub fn wait_ready(&mut self) -> Result<()> {
        let give_up = Instant::now() + READY_MAX;
        let mut frames = FrameBuffer::new(READY_FRAME_BYTES_MAX);
        let mut bytes = [0; 256];
        loop {
            match frames.next_frame::<ToHost>() {
                Ok(Some(ToHost::Ready { version: VERSION })) => {
                    #[cfg(target_os = "linux")]
                    self.limit_memory();
                    return Ok(());
                }
                Ok(Some(ToHost::Ready { version })) => {
                    return Err(FsError::with_detail(
                        Code::NoExec,
                        format!(
                            "the isolate program is of version {version}, this addon needs {VERSION}; install both together"
                        ),
                    ));
                }
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => {
                    return Err(FsError::with_detail(
                        Code::NoExec,
                        "the isolate program is another program: it does not say that it is ready",
                    ));
                }
            }
            if !wait_readable(&self.stdout, give_up) {
                return Err(FsError::with_detail(
                    Code::NoExec,
                    format!("the isolate program was not ready after {} s", READY_MAX.as_secs()),
                ));
            }
            match rustix::io::read(&self.stdout, &mut bytes) {
                Ok(0) => {
                    let status = self.end();
                    return Err(FsError::with_detail(
                        Code::NoExec,
                        format!("the isolate program ended before it was ready ({})", describe(status)),
                    ));
                }
                Ok(count) => frames.push(&bytes[..count]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(FsError::with_detail(
                        Code::NoExec,
                        format!("the isolate cannot be read: {error}"),
                    ));
                }
            }
        }
    }
}

#[cfg(unix)]
fn wait_readable(stdout: &Stdout, until: Instant) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: 0 };
        let timeout = Timespec { tv_sec: timeout.tv_sec.max(1), ..timeout };
        if let Ok(1..) = poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&timeout)) {
            return true;
        }
    }
}

#[cfg(not(unix))]
impl Child {
    /// There is none here.
    pub fn wait_ready(&mut self) -> Result<()> {
        Err(FsError::new(Code::NoExec))
    }
}

impl Child {
    /// Its number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.status.is_none() && matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends it; that it has ended is waited for later.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            // Fails if it has ended by itself.
            let _ = self.process.kill();
        }
    }

    /// How it ends by itself within `patience`; after that, it is ended.
    pub fn end_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let give_up = Instant::now() + patience;
        while self.status.is_none() && Instant::now() < give_up {
            match self.process.try_wait() {
                Ok(Some(status)) => self.status = Some(status),
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
        }
        self.end()
    }

    /// Ends it at once and waits for that; how it ended.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            // Fails if it has ended by itself.
            let _ = self.process.kill();
            self.status = self.process.wait().ok();
        }
        self.status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a process ended, in words.
pub fn describe(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "nobody knows how".to_owned() };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| "nobody knows how".to_owned(), |code| format!("exit code {code}"))
}

/// The signal that ended a process.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// What a process uses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Memory that it shares with nobody.
    pub memory_bytes: Option<u64>,
    /// CPU time.
    pub cpu_ms: Option<f64>,
}

/// Asks the kernel what a process uses. Nothing is known where there is no `/proc`.
pub fn usage(pid: u32) -> Usage {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let memory_bytes = read("smaps_rollup")
        .and_then(|text| private_bytes(&text))
        // Of a process that may not be looked into, its resident pages without those of files.
        .or_else(|| {
            let text = read("statm")?;
            let mut fields = text.split_whitespace().skip(1).map(str::parse::<u64>);
            let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
            Some(resident.saturating_sub(shared) * PAGE_BYTES)
        });
    Usage { memory_bytes, cpu_ms: read("stat").and_then(|text| cpu_ms(&text)) }
}

/// Size of a page in `statm`.
const PAGE_BYTES: u64 = 4096;
/// Length of a tick in `stat`: Linux reports hundredths of a second whatever its own clock does.
const TICK_MS: f64 = 10.0;

fn private_bytes(smaps: &str) -> Option<u64> {
    let clean = kilobytes_of(smaps, "Private_Clean:")?;
    Some((clean + kilobytes_of(smaps, "Private_Dirty:")?) * 1024)
}

/// A number of `/proc` in kilobytes, by its name.
fn kilobytes_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn cpu_ms(stat: &str) -> Option<f64> {
    // The name, in parentheses, may have anything in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) * TICK_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_of_a_process_is_understood() {
        let smaps = "55 [rollup]\nRss: 100 kB\nPrivate_Clean:  8 kB\nPrivate_Dirty:       16 kB\n";
        assert_eq!(private_bytes(smaps), Some(24 * 1024));
        assert_eq!(private_bytes("Rss: 1 kB"), None);
        assert_eq!(cpu_ms("1 (a) b) S 1 1 1 0 -1 4 0 0 0 0 7 5 0 0 20 0 1"), Some(120.0));
        assert_eq!(cpu_ms("1 (a) S"), None);
    }

    #[cfg(unix)]
    fn started(program: &str) -> Result<Child> {
        let (send, receive) = std::sync::mpsc::channel();
        start(Path::new(program), 1024 * 1024 * 1024, move |child| {
            let _ = send.send(child);
        });
        receive.recv().unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_is_missing_or_another_is_refused() {
        let code =
            |program| started(program).and_then(|mut child| child.wait_ready()).map_err(|error| error.code());
        assert_eq!(code("/nowhere/carrel-isolate"), Err(Code::NoExec));
        assert_eq!(code("/bin/sh"), Err(Code::NoExec));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_process_is_left() {
        let child = started("/bin/cat").unwrap();
        let folder = format!("/proc/{}", child.pid());
        assert!(Path::new(&folder).exists());
        drop(child);
        assert!(!Path::new(&folder).exists());
    }
}
