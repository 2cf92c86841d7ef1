//! RSA: the paddings of PKCS #1 (signatures v1.5 and PSS, encryption v1.5 and OAEP) over the raw operation.
//!
//! The paddings are written here and take any digest of the table by name, with another digest for the mask
//! if wanted; the arithmetic, with its blinding and its check of the result, is the crate's. Decryption
//! with v1.5 padding goes through the crate wholly, because it must not tell by its answer whether the
//! padding was right.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::Rng;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BoxedUint, PrivateKey, PublicKey, hazmat};

use super::cipher::same;
use super::failure::{Class, Failure, Result};
use super::hash::Digest;

/// Longest modulus in bits: OpenSSL's own limit.
const MODULUS_BITS_MAX: u32 = 16_384;
/// Shortest modulus in bits: OpenSSL's own limit.
const MODULUS_BITS_MIN: u32 = 512;

/// How a signature is padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturePadding {
    /// PKCS #1 v1.5
    Pkcs1,
    /// PSS with a salt of this length; `None`: any when verifying, the longest when signing.
    Pss(Option<usize>),
}

/// How a message is padded.
pub enum MessagePadding<'a> {
    /// PKCS #1 v1.5
    Pkcs1,
    /// OAEP with this digest, this digest for the mask, and this label.
    Oaep(&'static Digest, &'static Digest, &'a [u8]),
    /// None: the message is as long as the modulus.
    None,
}

fn number(bytes: &[u8]) -> Option<BoxedUint> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.is_empty() || bytes.len() * 8 > MODULUS_BITS_MAX as usize {
        return None;
    }
    BoxedUint::from_be_slice(bytes, (bytes.len() * 8) as u32).ok()
}

/// A public key of its numbers.
pub fn public(n: &[u8], e: &[u8]) -> Option<PublicKey> {
    let limits = MODULUS_BITS_MIN as usize..=MODULUS_BITS_MAX as usize;
    PublicKey::new_with_size_limits(number(n)?, number(e)?, limits).ok()
}

/// A private key of its numbers.
pub fn private(n: &[u8], e: &[u8], d: &[u8], p: &[u8], q: &[u8]) -> Option<PrivateKey> {
    PrivateKey::from_components(number(n)?, number(e)?, number(d)?, vec![number(p)?, number(q)?]).ok()
}

/// A new private key.
pub fn generate(bits: u32, exponent: u32, rng: &mut ChaCha20Rng) -> Result<PrivateKey> {
    if !(MODULUS_BITS_MIN..=MODULUS_BITS_MAX).contains(&bits) {
        return Err(Failure::openssl("", "error:1C8000AB:Provider routines::key size too small"));
    }
    if exponent < 3 || exponent.is_multiple_of(2) {
        return Err(Failure::openssl("", "error:020000B2:rsa routines::pub exponent out of range"));
    }
    PrivateKey::new_with_exp_unchecked(rng, bits as usize, BoxedUint::from(u64::from(exponent)))
        .map_err(|_| Failure::new(Class::Error, "ERR_CRYPTO_OPERATION_FAILED", "Key generation job failed"))
}

/// The numbers of a private key: n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p.
pub fn numbers(key: &PrivateKey) -> Vec<Vec<u8>> {
    let trimmed = |number: &BoxedUint| number.to_be_bytes_trimmed_vartime().to_vec();
    let (p, q) = (key.primes()[0].as_ref(), key.primes()[1].as_ref());
    let dp = key.dp().map(trimmed).unwrap_or_default();
    let dq = key.dq().map(trimmed).unwrap_or_default();
    let qi = key.crt_coefficient().map(|qi| trimmed(&qi)).unwrap_or_default();
    vec![trimmed(key.n()), trimmed(key.e()), trimmed(key.d()), trimmed(p), trimmed(q), dp, dq, qi]
}

fn raw_public(key: &PublicKey, message: &[u8]) -> Result<Vec<u8>> {
    let number = BoxedUint::from_be_slice(message, key.n_bits_precision()).map_err(|_| too_large())?;
    if number >= *key.n().as_ref() {
        return Err(too_large());
    }
    let result = hazmat::rsa_encrypt(key, &number).map_err(|_| failed())?;
    Ok(padded(&result.to_be_bytes(), key.size()))
}

fn raw_private(key: &PrivateKey, rng: &mut ChaCha20Rng, message: &[u8]) -> Result<Vec<u8>> {
    let number = BoxedUint::from_be_slice(message, key.n_bits_precision()).map_err(|_| too_large())?;
    if number >= *key.n().as_ref() {
        return Err(too_large());
    }
    let result = hazmat::rsa_decrypt_and_check(key, Some(rng), &number).map_err(|_| failed())?;
    Ok(padded(&result.to_be_bytes(), key.size()))
}

/// The last `size` bytes, with zeros before them if there are fewer.
fn padded(bytes: &[u8], size: usize) -> Vec<u8> {
    let tail = &bytes[bytes.len().saturating_sub(size)..];
    [&vec![0; size - tail.len()], tail].concat()
}

fn too_large() -> Failure {
    Failure::openssl(
        "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_MODULUS",
        "error:02000084:rsa routines::data too large for modulus",
    )
}

fn too_long() -> Failure {
    Failure::openssl(
        "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE",
        "error:0200006E:rsa routines::data too large for key size",
    )
}

fn too_short_key() -> Failure {
    Failure::openssl(
        "ERR_OSSL_RSA_DIGEST_TOO_BIG_FOR_RSA_KEY",
        "error:02000070:rsa routines::digest too big for rsa key",
    )
}

fn failed() -> Failure {
    Failure::new(Class::Error, "ERR_CRYPTO_OPERATION_FAILED", "The RSA operation failed")
}

/// MGF1: xors a mask of the seed over the data.
fn mask(digest: &Digest, seed: &[u8], data: &mut [u8]) {
    for (counter, part) in data.chunks_mut(digest.size).enumerate() {
        let mut engine = digest.start();
        engine.update(seed);
        engine.update(&(counter as u32).to_be_bytes());
        part.iter_mut().zip(&engine.finalize()).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// What a v1.5 signature of this digest decrypts to.
fn pkcs1_signed(digest: &Digest, hashed: &[u8], size: usize) -> Result<Vec<u8>> {
    if digest.prefix.is_empty() {
        return Err(Failure::openssl(
            "ERR_OSSL_INVALID_DIGEST",
            "error:1C80007A:Provider routines::invalid digest",
        ));
    }
    let info = [digest.prefix, hashed].concat();
    if size < info.len() + 11 {
        return Err(too_short_key());
    }
    Ok([&[0, 1], &vec![0xff; size - info.len() - 3][..], &[0], &info].concat())
}

/// Signs a digest.
pub fn sign(
    key: &PrivateKey,
    digest: &Digest,
    hashed: &[u8],
    padding: SignaturePadding,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>> {
    let encoded = match padding {
        SignaturePadding::Pkcs1 => pkcs1_signed(digest, hashed, key.size())?,
        SignaturePadding::Pss(salt) => pss_encode(key.n().bit_width() - 1, digest, hashed, salt, rng)?,
    };
    raw_private(key, rng, &encoded)
}

/// Whether this is a signature of the digest.
pub fn verify(
    key: &PublicKey,
    digest: &Digest,
    hashed: &[u8],
    padding: SignaturePadding,
    signature: &[u8],
) -> bool {
    if signature.len() != key.size() {
        return false;
    }
    let Ok(encoded) = raw_public(key, signature) else { return false };
    match padding {
        SignaturePadding::Pkcs1 => {
            pkcs1_signed(digest, hashed, key.size()).is_ok_and(|expected| expected == encoded)
        }
        SignaturePadding::Pss(salt) => pss_verify(key.n().bit_width() - 1, digest, hashed, salt, &encoded),
    }
}

fn pss_encode(
    bits: u32,
    digest: &Digest,
    hashed: &[u8],
    salt: Option<usize>,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>> {
    let size = bits.div_ceil(8) as usize;
    let longest = size.checked_sub(digest.size + 2).ok_or_else(too_short_key)?;
    let mut salt_bytes = vec![0u8; salt.unwrap_or(longest)];
    if salt_bytes.len() > longest {
        return Err(too_long());
    }
    rng.fill_bytes(&mut salt_bytes);
    let hash = pss_hash(digest, hashed, &salt_bytes);
    let mut block = vec![0u8; size - digest.size - 1];
    let start = block.len() - salt_bytes.len() - 1;
    block[start] = 1;
    block[start + 1..].copy_from_slice(&salt_bytes);
    mask(digest, &hash, &mut block);
    block[0] &= 0xff >> (8 * size as u32 - bits);
    Ok([&block[..], &hash, &[0xbc]].concat())
}

fn pss_hash(digest: &Digest, hashed: &[u8], salt: &[u8]) -> Box<[u8]> {
    digest.of(&[&[0; 8], hashed, salt].concat())
}

fn pss_verify(bits: u32, digest: &Digest, hashed: &[u8], salt: Option<usize>, encoded: &[u8]) -> bool {
    let size = bits.div_ceil(8) as usize;
    // A modulus of 8n + 1 bits has a signature that is one byte longer than what is encoded.
    let (zeros, encoded) = encoded.split_at(encoded.len() - size);
    if zeros.iter().any(|byte| *byte != 0) || size < digest.size + 2 || encoded[size - 1] != 0xbc {
        return false;
    }
    let (block, hash) = encoded[..size - 1].split_at(size - 1 - digest.size);
    let unused = 8 * size as u32 - bits;
    if block[0] & !(0xffu8.checked_shr(unused).unwrap_or(0)) != 0 {
        return false;
    }
    let mut block = block.to_vec();
    mask(digest, hash, &mut block);
    block[0] &= 0xff >> unused;
    let Some(start) = block.iter().position(|byte| *byte != 0) else { return false };
    let found = &block[start + 1..];
    if block[start] != 1 || salt.is_some_and(|salt| salt != found.len()) {
        return false;
    }
    same(&pss_hash(digest, hashed, found), hash)
}

/// Encrypts for the holder of the private key.
pub fn encrypt(
    key: &PublicKey,
    padding: &MessagePadding,
    message: &[u8],
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>> {
    let size = key.size();
    let encoded = match padding {
        MessagePadding::None => {
            if message.len() > size {
                return Err(too_long());
            }
            if message.len() < size {
                return Err(Failure::openssl(
                    "ERR_OSSL_RSA_DATA_TOO_SMALL_FOR_KEY_SIZE",
                    "error:0200007A:rsa routines::data too small for key size",
                ));
            }
            message.to_vec()
        }
        MessagePadding::Pkcs1 => {
            if message.len() + 11 > size {
                return Err(too_long());
            }
            let mut filling = vec![0u8; size - message.len() - 3];
            rng.fill_bytes(&mut filling);
            for byte in &mut filling {
                while *byte == 0 {
                    rng.fill_bytes(std::slice::from_mut(byte));
                }
            }
            [&[0, 2], &filling[..], &[0], message].concat()
        }
        MessagePadding::Oaep(digest, mask_digest, label) => {
            if message.len() + 2 * digest.size + 2 > size {
                return Err(too_long());
            }
            let mut seed = vec![0u8; digest.size];
            rng.fill_bytes(&mut seed);
            let filling = vec![0u8; size - message.len() - 2 * digest.size - 2];
            let mut block = [&digest.of(label)[..], &filling, &[1], message].concat();
            mask(mask_digest, &seed, &mut block);
            mask(mask_digest, &block, &mut seed);
            [&[0], &seed[..], &block].concat()
        }
    };
    raw_public(key, &encoded)
}

/// Decrypts with the private key.
pub fn decrypt(
    key: &PrivateKey,
    padding: &MessagePadding,
    message: &[u8],
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>> {
    match padding {
        MessagePadding::None => {
            if message.len() > key.size() {
                return Err(too_long());
            }
            raw_private(key, rng, message)
        }
        MessagePadding::Pkcs1 => key.pkcs1v15_decrypt_with_rng(rng, message).map_err(|_| failed()),
        MessagePadding::Oaep(digest, mask_digest, label) => {
            let wrong = || {
                Failure::openssl(
                    "ERR_OSSL_RSA_OAEP_DECODING_ERROR",
                    "error:02000079:rsa routines::oaep decoding error",
                )
            };
            let size = key.size();
            if message.len() != size || size < 2 * digest.size + 2 {
                return Err(wrong());
            }
            let encoded = raw_private(key, rng, message).map_err(|_| wrong())?;
            let mut seed = encoded[1..=digest.size].to_vec();
            let mut block = encoded[digest.size + 1..].to_vec();
            mask(mask_digest, &block, &mut seed);
            mask(mask_digest, &seed, &mut block);
            // All checks run whatever the first finds: which one failed must not show.
            let (hash, rest) = block.split_at(digest.size);
            let start = rest.iter().position(|byte| *byte != 0).unwrap_or(0);
            let right = same(hash, &digest.of(label)) & (encoded[0] == 0) & (rest[start] == 1);
            if right { Ok(rest[start + 1..].to_vec()) } else { Err(wrong()) }
        }
    }
}

/// The private operation with v1.5 padding over plain bytes: Node's `privateEncrypt`.
pub fn sign_bytes(key: &PrivateKey, message: &[u8], rng: &mut ChaCha20Rng) -> Result<Vec<u8>> {
    let size = key.size();
    if message.len() + 11 > size {
        return Err(too_long());
    }
    let encoded = [&[0, 1], &vec![0xff; size - message.len() - 3][..], &[0], message].concat();
    raw_private(key, rng, &encoded)
}

/// The way back: Node's `publicDecrypt`.
pub fn recover_bytes(key: &PublicKey, message: &[u8]) -> Result<Vec<u8>> {
    let wrong = || {
        Failure::openssl(
            "ERR_OSSL_RSA_PADDING_CHECK_FAILED",
            "error:02000072:rsa routines::padding check failed",
        )
    };
    if message.len() != key.size() {
        return Err(wrong());
    }
    let encoded = raw_public(key, message)?;
    let filling = encoded.get(2..).unwrap_or_default().iter().take_while(|byte| **byte == 0xff).count();
    if encoded[..2] != [0, 1] || filling < 8 || encoded.get(2 + filling) != Some(&0) {
        return Err(wrong());
    }
    Ok(encoded[3 + filling..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::rand_core::SeedableRng;

    #[test]
    fn every_padding_comes_back_and_refuses_what_was_changed() {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        // 1025 bits: the encoded PSS block is one byte shorter than the modulus.
        for bits in [1024, 1025] {
            let key = generate(bits, 65_537, &mut rng).expect("a key");
            let numbers = numbers(&key);
            let again = private(&numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4])
                .expect("the same key");
            assert_eq!(super::numbers(&again), numbers);
            let public = public(&numbers[0], &numbers[1]).expect("its public key");
            let sha256 = Digest::find("sha256").expect("sha256");
            let sha1 = Digest::find("sha1").expect("sha1");
            let hashed = sha256.of(b"data");
            for padding in [
                SignaturePadding::Pkcs1,
                SignaturePadding::Pss(None),
                SignaturePadding::Pss(Some(32)),
                SignaturePadding::Pss(Some(0)),
            ] {
                let mut signature = sign(&key, sha256, &hashed, padding, &mut rng).expect("a signature");
                assert!(verify(&public, sha256, &hashed, padding, &signature), "{padding:?}");
                assert!(!verify(&public, sha256, &sha256.of(b"date"), padding, &signature), "{padding:?}");
                signature[9] ^= 1;
                assert!(!verify(&public, sha256, &hashed, padding, &signature), "{padding:?}");
            }
            let signature =
                sign(&key, sha256, &hashed, SignaturePadding::Pss(Some(20)), &mut rng).expect("a signature");
            assert!(verify(&public, sha256, &hashed, SignaturePadding::Pss(None), &signature));
            assert!(!verify(&public, sha256, &hashed, SignaturePadding::Pss(Some(32)), &signature));
            for padding in [
                MessagePadding::Pkcs1,
                MessagePadding::Oaep(sha1, sha1, b""),
                MessagePadding::Oaep(sha256, sha1, b"label"),
            ] {
                let secret = encrypt(&public, &padding, b"message", &mut rng).expect("short enough");
                assert_eq!(decrypt(&key, &padding, &secret, &mut rng).expect("its own"), b"message");
                assert!(encrypt(&public, &padding, &[1; 200], &mut rng).is_err());
            }
            let secret = encrypt(&public, &MessagePadding::Oaep(sha1, sha1, b""), b"message", &mut rng)
                .expect("short enough");
            assert!(decrypt(&key, &MessagePadding::Oaep(sha1, sha1, b"x"), &secret, &mut rng).is_err());
            let bytes = sign_bytes(&key, b"bytes", &mut rng).expect("short enough");
            assert_eq!(recover_bytes(&public, &bytes).expect("its own"), b"bytes");
        }
    }
}
