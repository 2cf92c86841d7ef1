//! The events of one run while it goes on: what it printed, and its end.
//!
//! ```text
//!   run's thread ──push──▶ log ──▶ readers that wait for it
//!                           │ in pieces
//!                           └────▶ store ──▶ readers that are behind, or come later
//! ```
//!
//! - Events are numbered from 1 without gaps. An event that was handed out or stored never changes;
//!   one that was not may take in what is printed to the same stream next, when readers are far behind.
//! - Memory holds what is not stored yet, and a little more.
//! - The end comes last and once.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::error::{Code, FsError, Result};
use crate::store::{RunEvent, lock};

/// Stored events that stay in memory for readers, in bytes.
const KEPT_BYTES: usize = 256 * 1024;
/// Most bytes that are handed out at one time, except of one event.
pub const BATCH_BYTES: usize = 1024 * 1024;
/// How far readers have to be behind before events are merged.
const MERGE_BEHIND: u64 = 256;
/// Largest merged event.
const MERGED_BYTES_MAX: usize = 64 * 1024;
/// What an event costs in memory besides its bytes.
const EVENT_BYTES: usize = 64;

/// What a reader gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Printed bytes.
    Output(RunEvent),
    /// The end.
    Exit {
        /// One more than the last event's.
        seq: u64,
        /// JSON.
        json: String,
    },
}

/// Gets the next items, at least one.
type Reader = Box<dyn FnOnce(Result<Vec<Item>>) + Send>;
/// Is told of the end.
type Watcher = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub struct EventLog(Mutex<State>);

#[derive(Default)]
struct State {
    events: VecDeque<RunEvent>,
    bytes: usize,
    /// Bytes that are not on their way to the store yet.
    unstored: usize,
    last: u64,
    /// The last one that a reader has.
    handed_out: u64,
    /// The last one on its way to the store, and the last one there.
    storing: u64,
    stored: u64,
    exit: Option<String>,
    readers: Vec<(u64, Reader)>,
    watchers: Vec<Watcher>,
}

/// What [`EventLog::next`] found.
pub enum Next {
    /// Items, or the promise to call the reader.
    Done,
    /// What comes next is in the store only.
    InStore(Reader),
}

impl EventLog {
    /// Adds an event.
    pub fn push(&self, stream: u8, bytes: &[u8]) {
        let mut state = lock(&self.0);
        let is_sealed = state.last <= state.handed_out.max(state.storing);
        let is_behind = state.last - state.handed_out.min(state.last) > MERGE_BEHIND;
        state.bytes += bytes.len();
        state.unstored += bytes.len() + EVENT_BYTES;
        match state.events.back_mut() {
            Some(event)
                if is_behind
                    && !is_sealed
                    && event.stream == stream
                    && event.bytes.len() + bytes.len() <= MERGED_BYTES_MAX =>
            {
                event.bytes.extend_from_slice(bytes);
            }
            _ => {
                state.last += 1;
                state.bytes += EVENT_BYTES;
                let seq = state.last;
                state.events.push_back(RunEvent { seq, stream, bytes: bytes.to_vec() });
            }
        }
        state.serve().call(state);
    }

    /// Adds the end.
    pub fn end(&self, json: String) {
        let mut state = lock(&self.0);
        if state.exit.is_none() {
            state.exit = Some(json);
        }
        let mut calls = state.serve();
        calls.watchers = std::mem::take(&mut state.watchers);
        calls.call(state);
    }

    /// The last event so far; the end counts as one.
    pub fn last(&self) -> u64 {
        let state = lock(&self.0);
        state.last + u64::from(state.exit.is_some())
    }

    /// Whether the end is there.
    pub fn is_ended(&self) -> bool {
        lock(&self.0).exit.is_some()
    }

    /// Whether readers find all of it here.
    pub fn is_whole(&self) -> bool {
        let state = lock(&self.0);
        state.events.front().map_or(state.last == 0, |event| event.seq == 1)
    }

    /// All events, if [they are here](EventLog::is_whole).
    pub fn all(&self) -> Option<Vec<RunEvent>> {
        let state = lock(&self.0);
        let is_whole = state.events.front().map_or(state.last == 0, |event| event.seq == 1);
        is_whole.then(|| state.events.iter().cloned().collect())
    }

    /// Calls back after the end.
    pub fn when_ended(&self, watcher: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.0);
        if state.exit.is_none() {
            state.watchers.push(Box::new(watcher));
            return;
        }
        drop(state);
        watcher();
    }

    /// Hands out what comes after an event: now, or when it is there. After the end that is nothing.
    pub fn next(
        &self,
        after: u64,
        readers_max: usize,
        reader: impl FnOnce(Result<Vec<Item>>) + Send + 'static,
    ) -> Next {
        let mut state = lock(&self.0);
        if state.events.front().is_some_and(|event| event.seq > after + 1)
            || (state.events.is_empty() && after < state.last)
        {
            return Next::InStore(Box::new(reader));
        }
        if let Some(items) = state.after(after) {
            drop(state);
            reader(Ok(items));
        } else if state.readers.len() >= readers_max {
            drop(state);
            reader(Err(FsError::with_detail(
                Code::ExecBusy,
                format!(
                    "the run has {readers_max} readers already, as many as maxExecutionSubscribers allows"
                ),
            )));
        } else {
            state.readers.push((after, Box::new(reader)));
        }
        Next::Done
    }

    /// Notes that a reader has events, which come from the store.
    pub fn handed_out(&self, seq: u64) {
        let mut state = lock(&self.0);
        state.handed_out = state.handed_out.max(seq);
    }

    /// Whether that many bytes are not on their way to the store yet.
    pub fn unstored_bytes_at_least(&self, bytes: usize) -> bool {
        lock(&self.0).unstored >= bytes
    }

    /// The events that are not in the store. They are on their way now, and do not change any more.
    pub fn begin_storing(&self) -> Vec<RunEvent> {
        let mut state = lock(&self.0);
        let stored = state.stored;
        state.storing = state.last;
        state.unstored = 0;
        state.events.iter().filter(|event| event.seq > stored).cloned().collect()
    }

    /// Whether some are on their way.
    pub fn is_storing(&self) -> bool {
        let state = lock(&self.0);
        state.storing > state.stored
    }

    /// The events up to one are in the store, or did not get there.
    pub fn end_storing(&self, stored: Option<u64>) {
        let mut state = lock(&self.0);
        match stored {
            Some(seq) => state.stored = state.stored.max(seq),
            None => state.storing = state.stored,
        }
        while state.bytes > KEPT_BYTES && state.events.front().is_some_and(|event| event.seq <= state.stored)
        {
            if let Some(event) = state.events.pop_front() {
                state.bytes -= (event.bytes.len() + EVENT_BYTES).min(state.bytes);
            }
        }
    }
}

/// Calls to make without the lock.
#[derive(Default)]
struct Calls {
    readers: Vec<(Reader, Vec<Item>)>,
    watchers: Vec<Watcher>,
}

impl Calls {
    fn call(self, state: std::sync::MutexGuard<'_, State>) {
        drop(state);
        for (reader, items) in self.readers {
            reader(Ok(items));
        }
        for watcher in self.watchers {
            watcher();
        }
    }
}

impl State {
    /// What comes after an event, if something does or the end was handed out.
    fn after(&mut self, after: u64) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        let mut bytes = 0;
        let first = self.events.front().map_or(0, |event| event.seq);
        let skipped = usize::try_from((after + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        for event in self.events.iter().skip(skipped) {
            if bytes >= BATCH_BYTES {
                break;
            }
            bytes += event.bytes.len() + EVENT_BYTES;
            self.handed_out = self.handed_out.max(event.seq);
            items.push(Item::Output(event.clone()));
        }
        let reached = match items.last() {
            Some(Item::Output(event)) => event.seq,
            _ => after,
        };
        match &self.exit {
            Some(json) if reached == self.last => {
                items.push(Item::Exit { seq: self.last + 1, json: json.clone() });
            }
            // Beyond the end there is nothing to wait for.
            Some(_) if after > self.last => return Some(items),
            _ => {}
        }
        (!items.is_empty()).then_some(items)
    }

    fn serve(&mut self) -> Calls {
        let mut calls = Calls::default();
        for (after, reader) in std::mem::take(&mut self.readers) {
            match self.after(after) {
                Some(items) => calls.readers.push((reader, items)),
                None => self.readers.push((after, reader)),
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(log: &EventLog, after: u64) -> Vec<Item> {
        let (send, receive) = std::sync::mpsc::channel();
        let next = log.next(after, 8, move |items| {
            let _ = send.send(items);
        });
        assert!(matches!(next, Next::Done));
        receive.try_recv().map(|items| items.unwrap()).unwrap_or_default()
    }

    fn output(seq: u64, stream: u8, text: &str) -> Item {
        Item::Output(RunEvent { seq, stream, bytes: text.as_bytes().to_vec() })
    }

    #[test]
    fn events_come_in_order_and_the_end_last() {
        let log = EventLog::default();
        assert_eq!(take(&log, 0), []);
        log.push(1, b"a");
        log.push(2, b"b");
        assert_eq!(take(&log, 0), [output(1, 1, "a"), output(2, 2, "b")]);
        assert_eq!(take(&log, 1), [output(2, 2, "b")]);
        log.end("{}".to_owned());
        let exit = Item::Exit { seq: 3, json: "{}".to_owned() };
        assert_eq!(take(&log, 1), [output(2, 2, "b"), exit.clone()]);
        assert_eq!(take(&log, 2), [exit]);
        assert_eq!((take(&log, 3), take(&log, 99), log.last()), (vec![], vec![], 3));
    }

    #[test]
    fn whoever_waits_is_called_once_with_what_comes() {
        let log = EventLog::default();
        let (send, receive) = std::sync::mpsc::channel();
        for _ in 0..2 {
            let send = send.clone();
            log.next(0, 2, move |items| drop(send.send(items)));
        }
        let third = send.clone();
        log.next(0, 2, move |items| drop(third.send(items)));
        assert_eq!(receive.recv().unwrap().unwrap_err().code(), Code::ExecBusy);
        log.push(1, b"a");
        log.push(1, b"b");
        assert_eq!(receive.recv().unwrap(), Ok(vec![output(1, 1, "a")]));
        assert_eq!(receive.recv().unwrap(), Ok(vec![output(1, 1, "a")]));
        assert!(receive.try_recv().is_err());
    }

    #[test]
    fn events_merge_only_where_nobody_has_seen_them() {
        let log = EventLog::default();
        for _ in 0..1000 {
            log.push(1, b"ab");
        }
        assert_eq!(log.last(), MERGE_BEHIND + 1);
        let items = take(&log, 0);
        let bytes: usize =
            items.iter().map(|item| if let Item::Output(event) = item { event.bytes.len() } else { 0 }).sum();
        assert_eq!((items.len() as u64, bytes), (MERGE_BEHIND + 1, 2000));
        log.push(1, b"c");
        assert_eq!(log.last(), MERGE_BEHIND + 2);
        assert_eq!(take(&log, MERGE_BEHIND + 1), [output(MERGE_BEHIND + 2, 1, "c")]);
    }

    #[test]
    fn memory_lets_go_of_what_is_stored() {
        let log = EventLog::default();
        let piece = vec![7; KEPT_BYTES / 4];
        for _ in 0..8 {
            log.push(1, &piece);
        }
        assert_eq!(log.begin_storing().len(), 8);
        log.push(2, b"later");
        log.end_storing(Some(8));
        assert!(!log.is_whole());
        assert!(matches!(log.next(0, 8, |_| ()), Next::InStore(_)));
        assert_eq!(log.begin_storing(), [RunEvent { seq: 9, stream: 2, bytes: b"later".to_vec() }]);
        assert_eq!(take(&log, 8), [output(9, 2, "later")]);
    }

    #[test]
    fn what_did_not_reach_the_store_is_tried_again() {
        let log = EventLog::default();
        log.push(1, b"a");
        assert_eq!(log.begin_storing().len(), 1);
        assert!(log.is_storing());
        log.end_storing(None);
        assert!(!log.is_storing());
        assert_eq!(log.begin_storing().len(), 1);
    }
}
