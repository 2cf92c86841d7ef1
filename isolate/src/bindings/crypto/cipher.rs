//! Symmetric ciphers as streams: AES in the modes CBC, ECB, CTR and GCM, ChaCha20-Poly1305, and AES key
//! wrap.
//!
//! The modes are written here, over the block cipher and the two universal hashes, because Node's
//! `cipher.update()` hands out plain text before the tag is checked and because WebCrypto's CTR counts in a
//! part of the block only. The one-shot AEAD crates do neither. What leaves `update` before `finish` has
//! succeeded is not authenticated: that is Node's contract, and WebCrypto's decryption throws it away when
//! `finish` fails.

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek,
};
use aes::{Aes128, Aes192, Aes256, Block};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use poly1305::Poly1305;

use super::failure::{Class, Failure, Result};

/// Length of an AES block, and of the longest tag.
const BLOCK: usize = 16;
/// Blocks that the key stream is made in at once: the width at which the processor's AES unit is full.
const WIDE: usize = 8;

/// How a cipher works on more than one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Cipher block chaining.
    Cbc,
    /// Each block alone.
    Ecb,
    /// Counter.
    Ctr,
    /// Galois counter mode.
    Gcm,
    /// ChaCha20 with Poly1305 (RFC 8439).
    ChaCha20Poly1305,
}

/// One cipher that `createCipheriv` knows.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name in `getCiphers()`.
    pub name: &'static str,
    /// Other names.
    aliases: &'static [&'static str],
    /// OpenSSL's number for it.
    pub nid: u32,
    /// Its mode.
    pub mode: Mode,
    /// Length of the key in bytes.
    pub key: usize,
}

macro_rules! suites {
    ($($name:literal $aliases:tt $nid:literal, $mode:ident, $key:literal;)*) => {
        &[$(Suite { name: $name, aliases: &$aliases, nid: $nid, mode: Mode::$mode, key: $key },)*]
    };
}

static SUITES: &[Suite] = suites! {
    "aes-128-cbc" ["aes128"] 419, Cbc, 16;
    "aes-192-cbc" ["aes192"] 423, Cbc, 24;
    "aes-256-cbc" ["aes256"] 427, Cbc, 32;
    "aes-128-ecb" [] 418, Ecb, 16;
    "aes-192-ecb" [] 422, Ecb, 24;
    "aes-256-ecb" [] 426, Ecb, 32;
    "aes-128-ctr" [] 904, Ctr, 16;
    "aes-192-ctr" [] 905, Ctr, 24;
    "aes-256-ctr" [] 906, Ctr, 32;
    "id-aes128-gcm" ["aes-128-gcm"] 895, Gcm, 16;
    "id-aes192-gcm" ["aes-192-gcm"] 898, Gcm, 24;
    "id-aes256-gcm" ["aes-256-gcm"] 901, Gcm, 32;
    "chacha20-poly1305" [] 1018, ChaCha20Poly1305, 32;
};

impl Suite {
    /// The cipher of this name, whatever its case.
    pub fn find(name: &str) -> Option<&'static Suite> {
        let name = name.to_ascii_lowercase();
        SUITES.iter().find(|suite| suite.name == name || suite.aliases.contains(&name.as_str()))
    }

    /// The cipher of this number.
    pub fn numbered(nid: u32) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.nid == nid)
    }

    /// All names, for `getCiphers()`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SUITES.iter().flat_map(|suite| std::iter::once(suite.name).chain(suite.aliases.iter().copied()))
    }

    /// The mode as `getCipherInfo()` spells it.
    pub fn mode_name(&self) -> &'static str {
        match self.mode {
            Mode::Cbc => "cbc",
            Mode::Ecb => "ecb",
            Mode::Ctr => "ctr",
            Mode::Gcm => "gcm",
            Mode::ChaCha20Poly1305 => "stream",
        }
    }

    /// Length of the initialization vector when the caller has no wish; 0: takes none.
    pub fn iv(&self) -> usize {
        match self.mode {
            Mode::Cbc | Mode::Ctr => BLOCK,
            Mode::Ecb => 0,
            Mode::Gcm | Mode::ChaCha20Poly1305 => 12,
        }
    }

    /// Whether this length of an initialization vector will do.
    pub fn takes_iv(&self, length: usize) -> bool {
        match self.mode {
            Mode::Gcm => length > 0,
            _ => length == self.iv(),
        }
    }

    /// Whether the result is authenticated by a tag.
    pub fn has_tag(&self) -> bool {
        matches!(self.mode, Mode::Gcm | Mode::ChaCha20Poly1305)
    }

    /// Length of a block as OpenSSL reports it: 1 for what works byte by byte.
    pub fn block(&self) -> usize {
        if matches!(self.mode, Mode::Cbc | Mode::Ecb) { BLOCK } else { 1 }
    }
}

/// AES with a key of any of its three lengths.
enum Aes {
    K128(Box<Aes128>),
    K192(Box<Aes192>),
    K256(Box<Aes256>),
}

macro_rules! with_aes {
    ($self:expr, $aes:ident => $body:expr) => {
        match $self {
            Aes::K128($aes) => $body,
            Aes::K192($aes) => $body,
            Aes::K256($aes) => $body,
        }
    };
}

impl Aes {
    fn new(key: &[u8]) -> Result<Aes> {
        let wrong = |_| Failure::new(Class::Range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
        Ok(match key.len() {
            24 => Aes::K192(Box::new(Aes192::new_from_slice(key).map_err(wrong)?)),
            32 => Aes::K256(Box::new(Aes256::new_from_slice(key).map_err(wrong)?)),
            _ => Aes::K128(Box::new(Aes128::new_from_slice(key).map_err(wrong)?)),
        })
    }

    fn encrypt(&self, blocks: &mut [Block]) {
        with_aes!(self, aes => aes.encrypt_blocks(blocks));
    }

    fn decrypt(&self, blocks: &mut [Block]) {
        with_aes!(self, aes => aes.decrypt_blocks(blocks));
    }

    fn encrypt_one(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut blocks = [Block::from(block)];
        self.encrypt(&mut blocks);
        blocks[0].into()
    }
}

/// The key stream of CTR; GCM uses it with a counter of 32 bits.
struct Counter {
    value: u128,
    /// The bits that count; the others stay as they are.
    counting: u128,
    stream: [u8; BLOCK * WIDE],
    /// Where the unused part of `stream` begins.
    used: usize,
}

impl Counter {
    fn new(start: [u8; BLOCK], bits: u32) -> Counter {
        let counting = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        Counter { value: u128::from_be_bytes(start), counting, stream: [0; BLOCK * WIDE], used: BLOCK * WIDE }
    }

    fn step(&mut self) {
        self.value = (self.value & !self.counting) | (self.value.wrapping_add(1) & self.counting);
    }

    fn apply(&mut self, aes: &Aes, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.used == self.stream.len() {
                let mut blocks = [Block::default(); WIDE];
                for block in &mut blocks {
                    *block = self.value.to_be_bytes().into();
                    self.step();
                }
                aes.encrypt(&mut blocks);
                for (target, block) in self.stream.chunks_exact_mut(BLOCK).zip(&blocks) {
                    target.copy_from_slice(block);
                }
                self.used = 0;
            }
            let count = data.len().min(self.stream.len() - self.used);
            let (now, rest) = data.split_at_mut(count);
            now.iter_mut().zip(&self.stream[self.used..]).for_each(|(byte, key)| *byte ^= key);
            self.used += count;
            data = rest;
        }
    }
}

/// A universal hash fed with pieces of any length, each part padded with zeros to whole blocks.
struct Blocks<H> {
    hash: H,
    pending: [u8; BLOCK],
    filled: usize,
}

impl<H: UniversalHash<BlockSize = aes::cipher::consts::U16>> Blocks<H> {
    fn new(hash: H) -> Blocks<H> {
        Blocks { hash, pending: [0; BLOCK], filled: 0 }
    }

    fn feed(&mut self, mut data: &[u8]) {
        if self.filled > 0 {
            let count = data.len().min(BLOCK - self.filled);
            self.pending[self.filled..self.filled + count].copy_from_slice(&data[..count]);
            self.filled += count;
            data = &data[count..];
            if self.filled < BLOCK {
                return;
            }
            self.pad();
        }
        let whole = data.len() - data.len() % BLOCK;
        self.hash.update_padded(&data[..whole]);
        self.filled = data.len() - whole;
        self.pending[..self.filled].copy_from_slice(&data[whole..]);
    }

    fn pad(&mut self) {
        if self.filled > 0 {
            self.hash.update_padded(&self.pending[..self.filled]);
            self.filled = 0;
        }
    }
}

enum State {
    /// CBC and ECB: whole blocks, with what is left of the last one.
    Blocks {
        aes: Aes,
        chain: Option<[u8; BLOCK]>,
        pending: Vec<u8>,
    },
    Ctr {
        aes: Aes,
        counter: Counter,
    },
    Gcm {
        aes: Aes,
        counter: Counter,
        hash: Blocks<GHash>,
        mask: [u8; BLOCK],
    },
    ChaCha {
        stream: Box<chacha20::ChaCha20>,
        hash: Box<Blocks<Poly1305>>,
    },
}

/// A cipher at work.
pub struct Cipher {
    state: State,
    encrypts: bool,
    /// PKCS #7 padding of the last block, in the modes that have blocks.
    pub padding: bool,
    /// Bytes of additional data and of text so far, which the tag covers.
    lengths: (u64, u64),
}

impl Cipher {
    /// Starts a cipher. `counter_bits` is the part of the block that CTR counts in.
    pub fn new(suite: &Suite, encrypts: bool, key: &[u8], iv: &[u8], counter_bits: u32) -> Result<Cipher> {
        if !suite.takes_iv(iv.len()) {
            return Err(Failure::new(Class::Type, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector"));
        }
        if key.len() != suite.key {
            return Err(Failure::new(Class::Range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length"));
        }
        let block = || <[u8; BLOCK]>::try_from(iv).expect("its length was checked");
        let state = match suite.mode {
            Mode::Cbc => State::Blocks { aes: Aes::new(key)?, chain: Some(block()), pending: Vec::new() },
            Mode::Ecb => State::Blocks { aes: Aes::new(key)?, chain: None, pending: Vec::new() },
            Mode::Ctr => State::Ctr { aes: Aes::new(key)?, counter: Counter::new(block(), counter_bits) },
            Mode::Gcm => {
                let aes = Aes::new(key)?;
                let hash_key = aes.encrypt_one([0; BLOCK]);
                let mut start = [0u8; BLOCK];
                if iv.len() == 12 {
                    start[..12].copy_from_slice(iv);
                    start[15] = 1;
                } else {
                    let mut hash = GHash::new(&hash_key.into());
                    hash.update_padded(iv);
                    hash.update_padded(&(u128::from(iv.len() as u64) * 8).to_be_bytes());
                    start = hash.finalize().into();
                }
                let mask = aes.encrypt_one(start);
                let mut counter = Counter::new(start, 32);
                counter.step();
                State::Gcm { aes, counter, hash: Blocks::new(GHash::new(&hash_key.into())), mask }
            }
            Mode::ChaCha20Poly1305 => {
                let wrong = |_| Failure::new(Class::Range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
                let mut stream = Box::new(chacha20::ChaCha20::new_from_slices(key, iv).map_err(wrong)?);
                let mut hash_key = [0u8; 32];
                stream.apply_keystream(&mut hash_key);
                stream.seek(64u32);
                State::ChaCha { stream, hash: Box::new(Blocks::new(Poly1305::new(&hash_key.into()))) }
            }
        };
        Ok(Cipher { state, encrypts, padding: true, lengths: (0, 0) })
    }

    /// Feeds data that the tag covers and that is not encrypted; before the first `update`.
    pub fn additional(&mut self, data: &[u8]) {
        match &mut self.state {
            State::Gcm { hash, .. } => hash.feed(data),
            State::ChaCha { hash, .. } => hash.feed(data),
            State::Blocks { .. } | State::Ctr { .. } => return,
        }
        self.lengths.0 += data.len() as u64;
    }

    /// The next piece of text; what can be given back already comes back.
    pub fn update(&mut self, data: &[u8]) -> Vec<u8> {
        let encrypts = self.encrypts;
        match &mut self.state {
            State::Blocks { aes, chain, pending } => {
                pending.extend_from_slice(data);
                let mut whole = pending.len() - pending.len() % BLOCK;
                // The last block of a padded text is told from the others by its padding: it waits for
                // `finish`.
                if !encrypts && self.padding && whole == pending.len() {
                    whole = whole.saturating_sub(BLOCK);
                }
                let rest = pending.split_off(whole);
                let mut text = std::mem::replace(pending, rest);
                run_blocks(aes, chain, encrypts, &mut text);
                text
            }
            State::Ctr { aes, counter } => {
                let mut text = data.to_vec();
                counter.apply(aes, &mut text);
                text
            }
            State::Gcm { aes, counter, hash, .. } => {
                if self.lengths.1 == 0 {
                    hash.pad();
                }
                self.lengths.1 += data.len() as u64;
                let mut text = data.to_vec();
                if !encrypts {
                    hash.feed(data);
                }
                counter.apply(aes, &mut text);
                if encrypts {
                    hash.feed(&text);
                }
                text
            }
            State::ChaCha { stream, hash } => {
                if self.lengths.1 == 0 {
                    hash.pad();
                }
                self.lengths.1 += data.len() as u64;
                let mut text = data.to_vec();
                if !encrypts {
                    hash.feed(data);
                }
                stream.apply_keystream(&mut text);
                if encrypts {
                    hash.feed(&text);
                }
                text
            }
        }
    }

    /// The end of the text: the last bytes, and the tag of a mode that has one.
    pub fn finish(self) -> Result<(Vec<u8>, Option<[u8; BLOCK]>)> {
        let (additional, length) = self.lengths;
        match self.state {
            State::Blocks { aes, mut chain, mut pending } => {
                let wrong_length = || {
                    Failure::openssl(
                        "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH",
                        "error:1C80006B:Provider routines::wrong final block length",
                    )
                };
                if !self.padding {
                    return if pending.is_empty() { Ok((pending, None)) } else { Err(wrong_length()) };
                }
                if self.encrypts {
                    let padding = BLOCK - pending.len();
                    pending.resize(BLOCK, padding as u8);
                    run_blocks(&aes, &mut chain, true, &mut pending);
                    return Ok((pending, None));
                }
                if pending.len() != BLOCK {
                    return Err(wrong_length());
                }
                run_blocks(&aes, &mut chain, false, &mut pending);
                let padding = usize::from(pending[BLOCK - 1]);
                let right = (1..=BLOCK).contains(&padding)
                    && pending[BLOCK - padding..].iter().all(|byte| usize::from(*byte) == padding);
                if !right {
                    return Err(Failure::bad_decrypt());
                }
                pending.truncate(BLOCK - padding);
                Ok((pending, None))
            }
            State::Ctr { .. } => Ok((Vec::new(), None)),
            State::Gcm { mut hash, mask, .. } => {
                hash.pad();
                hash.feed(&(additional * 8).to_be_bytes());
                hash.feed(&(length * 8).to_be_bytes());
                let mut tag: [u8; BLOCK] = hash.hash.finalize().into();
                tag.iter_mut().zip(&mask).for_each(|(byte, mask)| *byte ^= mask);
                Ok((Vec::new(), Some(tag)))
            }
            State::ChaCha { mut hash, .. } => {
                hash.pad();
                hash.feed(&additional.to_le_bytes());
                hash.feed(&length.to_le_bytes());
                Ok((Vec::new(), Some(hash.hash.finalize().into())))
            }
        }
    }
}

/// Whole blocks of CBC or ECB, in place.
fn run_blocks(aes: &Aes, chain: &mut Option<[u8; BLOCK]>, encrypts: bool, text: &mut [u8]) {
    match (chain, encrypts) {
        (Some(chain), true) => {
            for block in text.chunks_exact_mut(BLOCK) {
                chain.iter_mut().zip(block.iter()).for_each(|(chain, byte)| *chain ^= byte);
                *chain = aes.encrypt_one(*chain);
                block.copy_from_slice(chain);
            }
        }
        (chain, encrypts) => {
            for wide in text.chunks_mut(BLOCK * WIDE) {
                let mut blocks = [Block::default(); WIDE];
                let count = wide.len() / BLOCK;
                for (block, bytes) in blocks.iter_mut().zip(wide.chunks_exact(BLOCK)) {
                    block.copy_from_slice(bytes);
                }
                if encrypts {
                    aes.encrypt(&mut blocks[..count]);
                } else {
                    aes.decrypt(&mut blocks[..count]);
                }
                for (bytes, block) in wide.chunks_exact_mut(BLOCK).zip(&mut blocks) {
                    if let Some(chain) = chain.as_mut() {
                        block.iter_mut().zip(chain.iter()).for_each(|(byte, chain)| *byte ^= chain);
                        chain.copy_from_slice(bytes);
                    }
                    bytes.copy_from_slice(block);
                }
            }
        }
    }
}

/// Compares without telling by the time it takes where the difference is.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}

/// The check value of RFC 3394.
const WRAP_CHECK: [u8; 8] = [0xa6; 8];

/// AES key wrap (RFC 3394).
pub fn wrap(key: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key).ok()?;
    if text.len() < BLOCK || !text.len().is_multiple_of(8) {
        return None;
    }
    let mut out = [&WRAP_CHECK, text].concat();
    let count = text.len() / 8;
    for step in 1..=6 * count as u64 {
        let at = ((step as usize - 1) % count + 1) * 8;
        let mut block = [0u8; BLOCK];
        block[..8].copy_from_slice(&out[..8]);
        block[8..].copy_from_slice(&out[at..at + 8]);
        let block = aes.encrypt_one(block);
        let head = u64::from_be_bytes(block[..8].try_into().expect("eight bytes")) ^ step;
        out[..8].copy_from_slice(&head.to_be_bytes());
        out[at..at + 8].copy_from_slice(&block[8..]);
    }
    Some(out)
}

/// Takes a key out of its wrap; `None` when the check value is wrong.
pub fn unwrap(key: &[u8], wrapped: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key).ok()?;
    if wrapped.len() < 24 || !wrapped.len().is_multiple_of(8) {
        return None;
    }
    let mut out = wrapped.to_vec();
    let count = wrapped.len() / 8 - 1;
    for step in (1..=6 * count as u64).rev() {
        let at = ((step as usize - 1) % count + 1) * 8;
        let head = u64::from_be_bytes(out[..8].try_into().expect("eight bytes")) ^ step;
        let mut block = [Block::default()];
        block[0][..8].copy_from_slice(&head.to_be_bytes());
        block[0][8..].copy_from_slice(&out[at..at + 8]);
        aes.decrypt(&mut block);
        out[..8].copy_from_slice(&block[0][..8]);
        out[at..at + 8].copy_from_slice(&block[0][8..]);
    }
    same(&out[..8], &WRAP_CHECK).then(|| out.split_off(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
    }

    fn run(
        name: &str,
        encrypts: bool,
        key: &[u8],
        iv: &[u8],
        aad: &[u8],
        text: &[u8],
        piece: usize,
    ) -> (Vec<u8>, Option<[u8; 16]>) {
        let mut cipher =
            Cipher::new(Suite::find(name).expect(name), encrypts, key, iv, 128).expect("right lengths");
        cipher.additional(aad);
        let mut out = Vec::new();
        for piece in text.chunks(piece) {
            out.extend(cipher.update(piece));
        }
        let (rest, tag) = cipher.finish().expect("right padding");
        out.extend(rest);
        (out, tag)
    }

    #[test]
    fn gcm_has_the_value_of_its_specification_whatever_the_pieces() {
        let key = unhex("feffe9928665731c6d6a8f9467308308");
        let iv = unhex("cafebabefacedbaddecaf888");
        let aad = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let text = unhex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        for piece in [1, 15, 16, 17, 200] {
            let (out, tag) = run("aes-128-gcm", true, &key, &iv, &aad, &text, piece);
            assert_eq!(out[..4], unhex("42831ec2")[..], "pieces of {piece}");
            assert_eq!(
                tag.expect("a tag")[..],
                unhex("5bc94fbc3221a5db94fae95ae7121a47")[..],
                "pieces of {piece}"
            );
            assert_eq!(run("aes-128-gcm", false, &key, &iv, &aad, &out, piece), (text.clone(), tag));
        }
    }

    #[test]
    fn chacha20_poly1305_has_the_value_of_rfc_8439() {
        let key: Vec<u8> = (0x80..=0x9f).collect();
        let iv = unhex("070000004041424344454647");
        let aad = unhex("50515253c0c1c2c3c4c5c6c7");
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let (out, tag) = run("chacha20-poly1305", true, &key, &iv, &aad, text, 13);
        assert_eq!(out[..8], unhex("d31a8d34648e60db")[..]);
        assert_eq!(tag.expect("a tag")[..], unhex("1ae10b594f09e26a7e902ecbd0600691")[..]);
    }

    #[test]
    fn every_cipher_undoes_itself_for_every_length_and_piece() {
        let text: Vec<u8> = (0..300u32).map(|value| (value * 7 + 3) as u8).collect();
        for suite in SUITES {
            let key: Vec<u8> = (0..suite.key as u8).collect();
            let iv = vec![9; suite.iv()];
            for length in [0, 1, 15, 16, 17, 31, 32, 128, 129, 300] {
                let (whole, tag) = run(suite.name, true, &key, &iv, b"a", &text[..length], 1000);
                for piece in [1, 16, 33] {
                    assert_eq!(
                        run(suite.name, true, &key, &iv, b"a", &text[..length], piece),
                        (whole.clone(), tag),
                        "{}",
                        suite.name
                    );
                    assert_eq!(
                        run(suite.name, false, &key, &iv, b"a", &whole, piece).0,
                        text[..length],
                        "{}",
                        suite.name
                    );
                }
            }
        }
    }

    #[test]
    fn a_wrong_key_and_a_cut_text_are_told_apart() {
        let suite = Suite::find("aes-128-cbc").expect("aes-128-cbc");
        let mut cipher = Cipher::new(suite, false, &[0; 16], &[0; 16], 128).expect("right lengths");
        assert!(cipher.update(&[0; 16]).is_empty());
        assert_eq!(cipher.finish().expect_err("no padding").code, "ERR_OSSL_BAD_DECRYPT");
        let mut cipher = Cipher::new(suite, false, &[0; 16], &[0; 16], 128).expect("right lengths");
        cipher.update(&[0; 15]);
        assert_eq!(cipher.finish().expect_err("cut").code, "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH");
        assert!(Cipher::new(suite, true, &[0; 15], &[0; 16], 128).is_err());
        assert!(Cipher::new(suite, true, &[0; 16], &[0; 15], 128).is_err());
    }

    #[test]
    fn key_wrap_has_the_value_of_rfc_3394() {
        let key = unhex("000102030405060708090A0B0C0D0E0F");
        let text = unhex("00112233445566778899AABBCCDDEEFF");
        let wrapped = wrap(&key, &text).expect("whole halves");
        assert_eq!(wrapped, unhex("1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"));
        assert_eq!(unwrap(&key, &wrapped), Some(text));
        let mut broken = wrapped;
        broken[9] ^= 1;
        assert_eq!(unwrap(&key, &broken), None);
    }
}
