//! Keys from passwords and from other keys: PBKDF2, HKDF, scrypt.

use hmac::Hmac;

use super::failure::{Class, Failure, Result};
use super::hash::{Digest, Running};

/// PBKDF2 (RFC 8018) into `length` bytes.
pub fn pbkdf2(digest: &str, password: &[u8], salt: &[u8], rounds: u32, length: usize) -> Result<Vec<u8>> {
    let digest = Digest::named(digest)?;
    let mut out = vec![0u8; length];
    // The common digests have an HMAC that keeps its state on the stack: several times faster than the
    // general way.
    let done = match digest.name {
        "sha1" => pbkdf2::pbkdf2::<Hmac<sha1::Sha1>>(password, salt, rounds, &mut out),
        "sha256" => pbkdf2::pbkdf2::<Hmac<sha2::Sha256>>(password, salt, rounds, &mut out),
        "sha512" => pbkdf2::pbkdf2::<Hmac<sha2::Sha512>>(password, salt, rounds, &mut out),
        _ => {
            general_pbkdf2(digest, password, salt, rounds, &mut out);
            Ok(())
        }
    };
    done.expect("HMAC takes keys of every length");
    Ok(out)
}

fn general_pbkdf2(digest: &Digest, password: &[u8], salt: &[u8], rounds: u32, out: &mut [u8]) {
    let keyed = Running::hmac(digest, password);
    for (index, block) in out.chunks_mut(digest.size).enumerate() {
        let mut running = keyed.clone();
        running.update(salt);
        running.update(&(index as u32 + 1).to_be_bytes());
        let mut piece = running.finish();
        let mut sum = piece.clone();
        for _ in 1..rounds {
            let mut running = keyed.clone();
            running.update(&piece);
            piece = running.finish();
            sum.iter_mut().zip(&piece).for_each(|(sum, byte)| *sum ^= byte);
        }
        block.copy_from_slice(&sum[..block.len()]);
    }
}

/// HKDF (RFC 5869) into `length` bytes.
pub fn hkdf(digest: &str, key: &[u8], salt: &[u8], info: &[u8], length: usize) -> Result<Vec<u8>> {
    let digest = Digest::named(digest)?;
    if length > 255 * digest.size {
        return Err(Failure::new(Class::Range, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length"));
    }
    let mut extract = Running::hmac(digest, salt);
    extract.update(key);
    let keyed = Running::hmac(digest, &extract.finish());
    let mut out = Vec::with_capacity(length + digest.size);
    let mut last: Box<[u8]> = Box::default();
    for counter in 1..=u8::MAX {
        if out.len() >= length {
            break;
        }
        let mut running = keyed.clone();
        running.update(&last);
        running.update(info);
        running.update(&[counter]);
        last = running.finish();
        out.extend_from_slice(&last);
    }
    out.truncate(length);
    Ok(out)
}

/// The cost of scrypt.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// `N`: memory and time, a power of two.
    pub n: u32,
    /// `r`: length of a block.
    pub r: u32,
    /// `p`: how often in parallel.
    pub p: u32,
    /// Bytes it may use; a cost that needs more is refused.
    pub memory_bytes_max: f64,
}

fn invalid_scrypt(why: &str) -> Failure {
    Failure::new(Class::Range, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", format!("Invalid scrypt params{why}"))
}

/// Checks a cost as OpenSSL does before it starts.
pub fn check_scrypt(cost: Cost) -> Result<scrypt::Params> {
    let Cost { n, r, p, memory_bytes_max } = cost;
    if n < 2 || !n.is_power_of_two() || r == 0 || p == 0 || u64::from(p) > ((1 << 30) - 1) / u64::from(r) {
        return Err(invalid_scrypt(""));
    }
    if u64::from(r) * 16 <= 63 && u64::from(n) >= 1 << (16 * u64::from(r)) {
        return Err(invalid_scrypt(""));
    }
    if bytes_of(cost) > memory_bytes_max {
        return Err(invalid_scrypt(": error:030000AC:digital envelope routines::memory limit exceeded"));
    }
    scrypt::Params::new(n.trailing_zeros() as u8, r, p).map_err(|_| invalid_scrypt(""))
}

fn bytes_of(cost: Cost) -> f64 {
    128.0 * f64::from(cost.r) * (f64::from(cost.n) + f64::from(cost.p) + 2.0)
}

/// What scrypt of this cost allocates.
pub fn scrypt_bytes(cost: Cost) -> usize {
    // Beyond what a number of bytes can be, it becomes the largest.
    bytes_of(cost) as usize
}

/// scrypt (RFC 7914) into `length` bytes.
pub fn scrypt(password: &[u8], salt: &[u8], cost: Cost, length: usize) -> Result<Vec<u8>> {
    let params = check_scrypt(cost)?;
    let mut out = vec![0u8; length];
    if length > 0 {
        scrypt::scrypt(password, salt, &params, &mut out).map_err(|_| invalid_scrypt(""))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn pbkdf2_has_the_values_of_rfc_6070_both_ways() {
        let expected = "ea6c014dc72d6f8ffd08f8ae0c26b0d8";
        let fast = pbkdf2("sha1", b"password", b"salt", 2, 16).expect("sha1 exists");
        let mut general = [0u8; 16];
        general_pbkdf2(Digest::find("sha1").expect("sha1 exists"), b"password", b"salt", 2, &mut general);
        assert_eq!(&hex(&fast)[..8], &expected[..8]);
        assert_eq!(hex(&fast), hex(&general));
        assert!(pbkdf2("nope", b"", b"", 1, 1).is_err());
    }

    #[test]
    fn hkdf_has_the_value_of_rfc_5869_and_a_longest_result() {
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let okm = hkdf("sha256", &[0x0b; 22], &salt, &info, 42).expect("sha256 exists");
        assert_eq!(
            hex(&okm),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        );
        assert_eq!(hkdf("sha256", b"", b"", b"", 255 * 32).expect("the longest").len(), 255 * 32);
        assert_eq!(
            hkdf("sha256", b"", b"", b"", 255 * 32 + 1).expect_err("too long").code,
            "ERR_CRYPTO_INVALID_KEYLEN"
        );
    }

    #[test]
    fn scrypt_refuses_what_openssl_refuses() {
        let cost = |n, r, p, memory_bytes_max| Cost { n, r, p, memory_bytes_max };
        let key = scrypt(b"", b"", cost(16, 1, 1, 1e9), 64).expect("RFC 7914");
        assert!(hex(&key).starts_with("77d6576238657b203b19ca42c18a0497"));
        assert_eq!(
            check_scrypt(cost(3, 8, 1, 1e9)).expect_err("no power of two").message,
            "Invalid scrypt params"
        );
        let refused = check_scrypt(cost(1 << 20, 8, 1, f64::from(32 << 20))).expect_err("too much memory");
        assert!(refused.message.ends_with("memory limit exceeded"));
    }
}
