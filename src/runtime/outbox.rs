//! The one way to an isolate: frames go out in the order in which they were handed in.
//!
//! Any thread may hand one in. It is written at once if the pipe takes it, and otherwise queued for the
//! run's thread, which waits for the pipe: nobody ever waits for a process that does not read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use carrel_wire::{ToIsolate, encode};

use super::child::Stdin;
use super::waker::Waker;
use crate::store::lock;

/// A buffer beyond this size is not kept for the next frame.
const KEPT_BYTES: usize = 64 * 1024;

/// See the module.
pub struct Outbox {
    state: Mutex<State>,
    waker: Waker,
}

#[derive(Default)]
struct State {
    pipe: Option<Arc<Stdin>>,
    /// What the pipe did not take yet, from `start` on.
    queue: Vec<u8>,
    start: usize,
    /// Bytes handed in and bytes written since the beginning.
    handed_in: u64,
    written: u64,
    /// Where each answer ends, of those that are not written.
    answers: VecDeque<u64>,
    last: Option<Instant>,
}

impl Outbox {
    /// Without a pipe so far.
    pub fn new(waker: Waker) -> Outbox {
        Outbox { state: Mutex::default(), waker }
    }

    /// Gives it the pipe.
    pub fn open(&self, pipe: Arc<Stdin>) {
        lock(&self.state).pipe = Some(pipe);
    }

    /// Ends it. What is handed in later is dropped.
    pub fn close(&self) {
        *lock(&self.state) = State::default();
    }

    /// Hands a frame in.
    pub fn send(&self, frame: &ToIsolate) {
        let mut state = lock(&self.state);
        if state.pipe.is_none() {
            return;
        }
        let was_empty = state.start == state.queue.len();
        let before = state.queue.len();
        encode(frame, &mut state.queue);
        state.handed_in += (state.queue.len() - before) as u64;
        state.last = Some(Instant::now());
        if matches!(frame, ToIsolate::Answer { .. }) {
            let end = state.handed_in;
            state.answers.push_back(end);
        }
        if was_empty {
            state.write();
            if state.start < state.queue.len() {
                drop(state);
                self.waker.wake();
            }
        }
    }

    /// Writes what the pipe takes.
    pub fn flush(&self) {
        lock(&self.state).write();
    }

    /// Whether all is written.
    pub fn is_empty(&self) -> bool {
        let state = lock(&self.state);
        state.start == state.queue.len()
    }

    /// Answers that were handed in and are not written: the isolate cannot know them yet.
    pub fn unread_answers(&self) -> usize {
        lock(&self.state).answers.len()
    }

    /// When the last frame was handed in.
    pub fn last_sent(&self) -> Option<Instant> {
        lock(&self.state).last
    }
}

impl State {
    #[cfg(unix)]
    fn write(&mut self) {
        use rustix::io::Errno;
        let Some(pipe) = &self.pipe else { return };
        while self.start < self.queue.len() {
            match rustix::io::write(pipe, &self.queue[self.start..]) {
                Ok(count) => {
                    self.start += count;
                    self.written += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    // Nobody reads any more; that the process has ended is seen at its other pipe.
                    self.pipe = None;
                    self.start = self.queue.len();
                    break;
                }
            }
        }
        while self.answers.front().is_some_and(|end| *end <= self.written) {
            self.answers.pop_front();
        }
        if self.start == self.queue.len() {
            self.start = 0;
            if self.queue.capacity() > KEPT_BYTES { self.queue = Vec::new() } else { self.queue.clear() }
        }
    }

    #[cfg(not(unix))]
    fn write(&mut self) {
        let _ = (&self.written, KEPT_BYTES);
    }
}
