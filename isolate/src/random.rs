//! All chance of the run: one ChaCha20 stream from the seed in `Start`.

use std::cell::RefCell;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};

thread_local! {
    static STREAM: RefCell<Option<ChaCha20>> = const { RefCell::new(None) };
}

/// Begins the stream.
pub fn seed(seed: &[u8; 32]) {
    STREAM.set(Some(ChaCha20::new(seed.into(), &[0; 12].into())));
}

/// The next bytes of the stream.
pub fn fill(bytes: &mut [u8]) {
    bytes.fill(0);
    STREAM.with_borrow_mut(|stream| {
        stream.as_mut().expect("a run has a seed before its code runs").apply_keystream(bytes);
    });
}
