//! Digests and HMAC, chosen by the names that OpenSSL knows them by.
//!
//! One table holds every digest with the sizes that HMAC and the key derivations need. The engines are
//! RustCrypto's, behind `DynDigest`, so that nothing that takes a digest's name is compiled once per
//! digest.

use digest::DynDigest;

use super::failure::{Failure, Result};

/// One digest of the table.
pub struct Digest {
    /// The name that `getHashes()` and this folder use.
    pub name: &'static str,
    /// Other names of the same digest, in lower case.
    aliases: &'static [&'static str],
    /// Length of the result in bytes.
    pub size: usize,
    /// Length of a block in bytes: what HMAC pads its key to.
    pub block: usize,
    /// The DER bytes before the digest in a PKCS #1 v1.5 signature; empty when none is defined.
    pub prefix: &'static [u8],
    make: fn() -> Box<dyn DynDigest>,
}

/// The DER of `DigestInfo` up to the digest, for an object id below 2.16.840.1.101.3.4.2.
macro_rules! nist {
    ($arc:literal, $size:literal) => {
        &[
            0x30,
            0x11 + $size,
            0x30,
            0x0d,
            0x06,
            0x09,
            0x60,
            0x86,
            0x48,
            1,
            0x65,
            3,
            4,
            2,
            $arc,
            5,
            0,
            4,
            $size,
        ]
    };
}

macro_rules! digests {
    ($($name:literal $aliases:tt $engine:ty, $size:literal, $block:literal, $prefix:expr;)*) => {
        &[$(Digest {
            name: $name,
            aliases: &$aliases,
            size: $size,
            block: $block,
            prefix: $prefix,
            make: || Box::<$engine>::default(),
        },)*]
    };
}

const MD5_PREFIX: &[u8] =
    &[0x30, 0x20, 0x30, 0x0c, 6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5, 5, 0, 4, 0x10];
const SHA1_PREFIX: &[u8] = &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 0x14];
const RIPEMD160_PREFIX: &[u8] = &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x24, 3, 2, 1, 5, 0, 4, 0x14];

static DIGESTS: &[Digest] = digests! {
    "md5" ["rsa-md5", "md5withrsaencryption", "ssl3-md5"] md5::Md5, 16, 64, MD5_PREFIX;
    "sha1" ["rsa-sha1", "rsa-sha1-2", "sha-1", "sha1withrsaencryption", "ssl3-sha1"] sha1::Sha1, 20, 64, SHA1_PREFIX;
    "sha224" ["rsa-sha224", "sha-224", "sha2-224", "sha224withrsaencryption"] sha2::Sha224, 28, 64, nist!(4, 28);
    "sha256" ["rsa-sha256", "sha-256", "sha2-256", "sha256withrsaencryption"] sha2::Sha256, 32, 64, nist!(1, 32);
    "sha384" ["rsa-sha384", "sha-384", "sha2-384", "sha384withrsaencryption"] sha2::Sha384, 48, 128, nist!(2, 48);
    "sha512" ["rsa-sha512", "sha-512", "sha2-512", "sha512withrsaencryption"] sha2::Sha512, 64, 128, nist!(3, 64);
    "sha512-224" ["rsa-sha512/224", "sha-512/224", "sha2-512/224", "sha512-224withrsaencryption"]
        sha2::Sha512_224, 28, 128, nist!(5, 28);
    "sha512-256" ["rsa-sha512/256", "sha-512/256", "sha2-512/256", "sha512-256withrsaencryption"]
        sha2::Sha512_256, 32, 128, nist!(6, 32);
    "sha3-224" ["rsa-sha3-224", "id-rsassa-pkcs1-v1_5-with-sha3-224"] sha3::Sha3_224, 28, 144, nist!(7, 28);
    "sha3-256" ["rsa-sha3-256", "id-rsassa-pkcs1-v1_5-with-sha3-256"] sha3::Sha3_256, 32, 136, nist!(8, 32);
    "sha3-384" ["rsa-sha3-384", "id-rsassa-pkcs1-v1_5-with-sha3-384"] sha3::Sha3_384, 48, 104, nist!(9, 48);
    "sha3-512" ["rsa-sha3-512", "id-rsassa-pkcs1-v1_5-with-sha3-512"] sha3::Sha3_512, 64, 72, nist!(10, 64);
    "ripemd160" ["rsa-ripemd160", "ripemd", "ripemd-160", "rmd160", "ripemd160withrsa"]
        ripemd::Ripemd160, 20, 64, RIPEMD160_PREFIX;
    "blake2b512" ["blake2b-512"] blake2::Blake2b512, 64, 128, &[];
    "blake2s256" ["blake2s-256"] blake2::Blake2s256, 32, 64, &[];
};

impl Digest {
    /// The digest of this name, whatever its case.
    pub fn find(name: &str) -> Option<&'static Digest> {
        let name = name.to_ascii_lowercase();
        DIGESTS.iter().find(|digest| digest.name == name || digest.aliases.contains(&name.as_str()))
    }

    /// The digest of this name, or Node's error.
    pub fn named(name: &str) -> Result<&'static Digest> {
        Digest::find(name).ok_or_else(|| Failure::invalid_digest(name))
    }

    /// All names, for `getHashes()`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DIGESTS.iter().flat_map(|digest| std::iter::once(digest.name).chain(digest.aliases.iter().copied()))
    }

    /// A fresh engine.
    pub fn start(&self) -> Box<dyn DynDigest> {
        (self.make)()
    }

    /// The digest of one piece.
    pub fn of(&self, data: &[u8]) -> Box<[u8]> {
        let mut engine = self.start();
        engine.update(data);
        engine.finalize()
    }
}

/// A digest or an HMAC that is being fed.
pub struct Running {
    inner: Box<dyn DynDigest>,
    /// The outer half of an HMAC, already fed with its pad.
    outer: Option<Box<dyn DynDigest>>,
}

impl Clone for Running {
    fn clone(&self) -> Running {
        Running { inner: self.inner.box_clone(), outer: self.outer.as_ref().map(|outer| outer.box_clone()) }
    }
}

impl Running {
    /// A plain digest.
    pub fn digest(digest: &Digest) -> Running {
        Running { inner: digest.start(), outer: None }
    }

    /// RFC 2104.
    pub fn hmac(digest: &Digest, key: &[u8]) -> Running {
        let mut block = vec![0u8; digest.block];
        if key.len() > digest.block {
            let short = digest.of(key);
            block[..short.len()].copy_from_slice(&short);
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let mut inner = digest.start();
        inner.update(&block.iter().map(|byte| byte ^ 0x36).collect::<Vec<u8>>());
        let mut outer = digest.start();
        outer.update(&block.iter().map(|byte| byte ^ 0x5c).collect::<Vec<u8>>());
        Running { inner, outer: Some(outer) }
    }

    /// Feeds the next piece.
    pub fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    /// The result; this is fed no more.
    pub fn finish(self) -> Box<[u8]> {
        let inner = self.inner.finalize();
        match self.outer {
            None => inner,
            Some(mut outer) => {
                outer.update(&inner);
                outer.finalize()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_have_the_published_values_and_the_sizes_of_the_table() {
        for (name, expected) in [
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("SHA-1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("RSA-SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("sha512-256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            ("sha3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ] {
            assert_eq!(hex(&Digest::find(name).expect(name).of(b"abc")), expected, "{name}");
        }
        for digest in DIGESTS {
            assert_eq!(digest.of(b"").len(), digest.size, "{}", digest.name);
        }
        assert!(Digest::find("sha257").is_none());
    }

    #[test]
    fn hmac_follows_rfc_4231_for_short_and_long_keys() {
        let mac = |key: &[u8], data: &[u8]| {
            let mut running = Running::hmac(Digest::find("sha256").expect("sha256"), key);
            running.update(data);
            hex(&running.finish())
        };
        assert_eq!(
            mac(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            mac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
