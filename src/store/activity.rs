//! Counts the calls under way, so that `close()` lets them finish.

use std::sync::{Arc, Mutex};

use super::pool::lock;

type Callback = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub struct Activity(Mutex<State>);

#[derive(Default)]
struct State {
    calls: usize,
    when_idle: Vec<Callback>,
}

/// One call under way, until dropped.
pub struct Call(Arc<Activity>);

impl Activity {
    /// A call begins.
    pub fn enter(self: &Arc<Self>) -> Call {
        lock(&self.0).calls += 1;
        Call(Arc::clone(self))
    }

    /// Calls back when no call is under way: now, or after the last.
    pub fn when_idle(&self, then: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.0);
        if state.calls > 0 {
            state.when_idle.push(Box::new(then));
            return;
        }
        drop(state);
        then();
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.calls -= 1;
        let callbacks = if state.calls == 0 { std::mem::take(&mut state.when_idle) } else { Vec::new() };
        drop(state);
        for callback in callbacks {
            callback();
        }
    }
}
