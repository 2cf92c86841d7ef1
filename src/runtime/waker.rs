//! Wakes a thread that waits for pipes: one more pipe, whose other end any thread may write to.
//!
//! The pipe is there only while the thread is: a thousand runs that wait for a place take no descriptor.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::store::lock;

/// The end for those who wake. Clones share it.
#[derive(Clone, Default)]
pub struct Waker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pipe: Mutex<Option<PipeWriter>>,
    /// Whether a byte is in the pipe: more would say nothing more.
    is_awake: AtomicBool,
}

/// The end for the one who waits. Dropped, there is nobody to wake any more.
pub struct Sleeper {
    pipe: PipeReader,
    shared: Arc<Shared>,
}

impl Waker {
    /// The end for the thread that is to be woken from now on. Being woken before says nothing.
    pub fn sleeper(&self) -> io::Result<Sleeper> {
        let (reader, writer) = io::pipe()?;
        #[cfg(unix)]
        {
            rustix::io::ioctl_fionbio(&reader, true)?;
            rustix::io::ioctl_fionbio(&writer, true)?;
        }
        self.0.is_awake.store(false, Ordering::Release);
        *lock(&self.0.pipe) = Some(writer);
        Ok(Sleeper { pipe: reader, shared: Arc::clone(&self.0) })
    }

    /// Wakes, or keeps awake.
    pub fn wake(&self) {
        if !self.0.is_awake.swap(true, Ordering::AcqRel)
            && let Some(pipe) = &*lock(&self.0.pipe)
        {
            // A pipe with one byte has room.
            let _ = (&mut &*pipe).write(&[1]);
        }
    }
}

impl Sleeper {
    /// The pipe to wait for.
    pub fn pipe(&self) -> &PipeReader {
        &self.pipe
    }

    /// Takes note of having been woken. What was done before waking is seen after this.
    pub fn wake_up(&self) {
        // First the mark: whoever wakes after this writes again.
        self.shared.is_awake.store(false, Ordering::Release);
        let _ = (&mut &self.pipe).read(&mut [0; 8]);
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        *lock(&self.shared.pipe) = None;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn is_woken(sleeper: &Sleeper) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(sleeper.pipe(), PollFlags::IN)], Some(&at_once)) == Ok(1)
    }

    #[test]
    fn whoever_is_woken_notices_it_until_it_wakes_up() {
        let waker = Waker::default();
        waker.wake();
        let sleeper = waker.sleeper().unwrap();
        assert!(!is_woken(&sleeper));
        for _ in 0..3 {
            waker.wake();
            waker.clone().wake();
            assert!(is_woken(&sleeper));
            sleeper.wake_up();
            assert!(!is_woken(&sleeper));
        }
        drop(sleeper);
        waker.wake();
    }
}
