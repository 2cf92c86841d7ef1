//! Wakes a thread that waits for pipes: one more pipe, whose other end any thread may write to.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The end for those who wake. Clones share it.
#[derive(Clone)]
pub struct Waker(Arc<Shared>);

struct Shared {
    pipe: PipeWriter,
    /// Whether a byte is in the pipe: more would say nothing more.
    is_awake: AtomicBool,
}

/// The end for the one who waits.
pub struct Sleeper {
    pipe: PipeReader,
    shared: Arc<Shared>,
}

/// Both ends.
pub fn waker() -> io::Result<(Waker, Sleeper)> {
    let (reader, writer) = io::pipe()?;
    #[cfg(unix)]
    {
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
    }
    let shared = Arc::new(Shared { pipe: writer, is_awake: AtomicBool::new(false) });
    Ok((Waker(Arc::clone(&shared)), Sleeper { pipe: reader, shared }))
}

impl Waker {
    /// Wakes, or keeps awake.
    pub fn wake(&self) {
        if !self.0.is_awake.swap(true, Ordering::AcqRel) {
            // A pipe with one byte has room; and if nobody listens any more, nobody is to be woken.
            let _ = io::Write::write(&mut &self.0.pipe, &[1]);
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
        let _ = io::Read::read(&mut &self.pipe, &mut [0; 8]);
    }
}
