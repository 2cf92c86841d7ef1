//! The two pipes of the process: frames in, frames out.
//!
//! - Frames from the host are taken in order. While a sync call waits for its answer, others that
//!   arrive are kept for later, in order.
//! - What is written goes out in order: calls at the end of a turn, output and sync calls at once,
//!   with all that was written before them.
//! - The end of the input is the end of the process: whoever started it is gone.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use carrel_wire::{FrameBuffer, ToHost, ToIsolate, Value, encode};

/// The host keeps calls and answers to a limit of its own; this one only says that a length is none.
const FRAME_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Written frames that may wait for the end of a turn.
const UNSENT_BYTES_MAX: usize = 64 * 1024;
/// How often an empty pipe is asked again before the process sleeps. An answer that is on its way
/// comes within 20 µs; to be woken up takes longer than that.
const SPINS: u32 = 60;

/// See the module.
pub struct Pipe {
    input: FrameBuffer,
    early: VecDeque<ToIsolate>,
    unsent: Vec<u8>,
    chunk: Vec<u8>,
}

impl Pipe {
    /// Standard input and output.
    pub fn new() -> Self {
        set_nonblocking();
        Pipe {
            input: FrameBuffer::new(FRAME_BYTES_MAX),
            early: VecDeque::new(),
            unsent: Vec::new(),
            chunk: vec![0; 64 * 1024],
        }
    }

    /// Writes a frame, at the latest when the turn ends.
    pub fn write(&mut self, frame: &ToHost) {
        encode(frame, &mut self.unsent);
        if self.unsent.len() >= UNSENT_BYTES_MAX {
            self.flush();
        }
    }

    /// Sends what was written.
    pub fn flush(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        if io::stdout().lock().write_all(&self.unsent).and_then(|()| io::stdout().flush()).is_err() {
            leave();
        }
        self.unsent.clear();
        // Room for a large frame is not kept.
        if self.unsent.capacity() > 1024 * 1024 {
            self.unsent = Vec::new();
        }
    }

    /// The next frame.
    pub fn next(&mut self) -> ToIsolate {
        self.flush();
        match self.early.pop_front() {
            Some(frame) => frame,
            None => self.receive(),
        }
    }

    /// The answer to call `id`; what arrives before it is kept.
    pub fn answer_to(&mut self, id: u32) -> Result<Value, Value> {
        self.flush();
        loop {
            match self.receive() {
                ToIsolate::Answer { id: other, outcome, epoch_ms } if other == id => {
                    crate::clock::set(epoch_ms);
                    return outcome;
                }
                other => self.early.push_back(other),
            }
        }
    }

    fn receive(&mut self) -> ToIsolate {
        let mut spins_left = SPINS;
        loop {
            match self.input.next_frame() {
                Ok(Some(frame)) => return frame,
                Ok(None) => {}
                Err(_) => leave(),
            }
            match io::stdin().lock().read(&mut self.chunk) {
                Ok(0) => leave(),
                Ok(count) => self.input.push(&self.chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if spins_left == 0 {
                        wait_for_input();
                        spins_left = SPINS;
                    } else {
                        spins_left -= 1;
                        std::hint::spin_loop();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => leave(),
            }
        }
    }
}

/// Ends the process without a word: nobody listens.
pub fn leave() -> ! {
    // SAFETY: `_exit` takes any status and does not return; no destructor has to run.
    unsafe { libc::_exit(0) }
}

fn set_nonblocking() {
    // SAFETY: two calls on a descriptor that is open for the life of the process.
    unsafe {
        let flags = libc::fcntl(0, libc::F_GETFL);
        libc::fcntl(0, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

fn wait_for_input() {
    let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid `pollfd`, for the length of the call.
    let waited = unsafe { libc::poll(&raw mut input, 1, -1) };
    // Not to be able to wait would mean to ask for ever.
    if waited < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
        leave();
    }
}
