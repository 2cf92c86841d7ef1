//! Keys of public-key algorithms and the forms they are written in.
//!
//! A key is held as its numbers, checked once when it comes in: a point is on its curve, a private scalar
//! is in range and fits its public half. Forms: SPKI, PKCS #8 (plain and with PBES2), SEC 1 and PKCS #1 in
//! DER and PEM, PEM with the old `DEK-Info` encryption, and the numbers alone for JWK and raw keys. X.509
//! certificates and PKCS #12 are not read.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::Rng;
use rsa::traits::PublicKeyParts;

use super::cipher::{Cipher, Mode, Suite};
use super::curve::{Curve, Edwards};
use super::der::{self, Reader};
use super::failure::{Class, Failure, Result};
use super::hash::Digest;
use super::{kdf, rsa as rsa_};

/// A key, private or public.
#[derive(Clone)]
pub enum Key {
    /// A point of a curve and perhaps its scalar.
    Ec {
        /// Which curve.
        curve: Curve,
        /// The scalar, of the curve's length.
        private: Option<Vec<u8>>,
        /// The uncompressed point.
        public: Vec<u8>,
    },
    /// Ed25519 or X25519.
    Edwards {
        /// Which of the two.
        kind: Edwards,
        /// The seed or scalar.
        private: Option<[u8; 32]>,
        /// The point.
        public: [u8; 32],
    },
    /// RSA, only the public half.
    RsaPublic(Box<rsa::PublicKey>),
    /// RSA, both halves.
    RsaPrivate(Box<rsa::PrivateKey>),
}

/// How a key is put into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RSA's own.
    Pkcs1,
    /// Any private key.
    Pkcs8,
    /// Any public key.
    Spki,
    /// The private keys of curves.
    Sec1,
}

/// With what an exported private key is encrypted.
pub struct Protection<'a> {
    /// The name of the cipher; one of AES-CBC.
    pub cipher: &'a str,
    /// The passphrase.
    pub passphrase: &'a [u8],
}

const OID_EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const OID_RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const OID_PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 0x0d];
const OID_PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 0x0c];
/// Object ids of the HMACs that PBKDF2 may use; the last byte tells which.
const OID_HMAC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2];
/// Object ids of AES; the last byte tells length and mode.
const OID_AES: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1];
/// Rounds of PBKDF2 in what is exported: OpenSSL's default.
const EXPORT_ROUNDS: u32 = 2048;
/// Most rounds of PBKDF2 that an import may ask for.
const IMPORT_ROUNDS_MAX: u32 = 100_000_000;

impl Key {
    /// A key of a curve from its parts; the point may be missing when the scalar is there.
    pub fn ec(curve: Curve, private: Option<&[u8]>, public: Option<&[u8]>) -> Option<Key> {
        let public = match public {
            Some(public) => Some(curve.point(public, false)?),
            None => None,
        };
        let Some(private) = private else { return Some(Key::Ec { curve, private: None, public: public? }) };
        let private = curve.pad(private)?;
        let derived = curve.public(&private)?;
        if public.is_some_and(|public| public != derived) {
            return None;
        }
        Some(Key::Ec { curve, private: Some(private), public: derived })
    }

    /// A key of Curve25519 from its bytes.
    pub fn edwards(kind: Edwards, private: Option<&[u8]>, public: Option<&[u8]>) -> Option<Key> {
        match private {
            Some(private) => {
                let private = private.try_into().ok()?;
                Some(Key::Edwards { kind, private: Some(private), public: kind.public(&private) })
            }
            None => Some(Key::Edwards { kind, private: None, public: public?.try_into().ok()? }),
        }
    }

    /// Whether the private half is there.
    pub fn is_private(&self) -> bool {
        match self {
            Key::Ec { private, .. } => private.is_some(),
            Key::Edwards { private, .. } => private.is_some(),
            Key::RsaPublic(_) => false,
            Key::RsaPrivate(_) => true,
        }
    }

    /// The public half alone.
    pub fn to_public(&self) -> Key {
        match self {
            Key::Ec { curve, public, .. } => Key::Ec { curve: *curve, private: None, public: public.clone() },
            Key::Edwards { kind, public, .. } => Key::Edwards { kind: *kind, private: None, public: *public },
            Key::RsaPublic(key) => Key::RsaPublic(key.clone()),
            Key::RsaPrivate(key) => Key::RsaPublic(Box::new(key.to_public_key())),
        }
    }

    /// Node's name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Key::Ec { .. } => "ec",
            Key::Edwards { kind, .. } => kind.name(),
            Key::RsaPublic(_) | Key::RsaPrivate(_) => "rsa",
        }
    }

    /// RSA's public half.
    pub fn rsa_public(&self) -> Option<rsa::PublicKey> {
        match self {
            Key::RsaPublic(key) => Some((**key).clone()),
            Key::RsaPrivate(key) => Some(key.to_public_key()),
            _ => None,
        }
    }

    /// Whether both are the same key.
    pub fn same(&self, other: &Key) -> bool {
        self.is_private() == other.is_private()
            && self.to_der(self.natural()).ok() == other.to_der(other.natural()).ok()
    }

    /// The encoding that every key of its half has.
    fn natural(&self) -> Encoding {
        if self.is_private() { Encoding::Pkcs8 } else { Encoding::Spki }
    }

    fn rsa_numbers(&self) -> Vec<Vec<u8>> {
        match self {
            Key::RsaPrivate(key) => rsa_::numbers(key),
            Key::RsaPublic(key) => vec![key.n_bytes().to_vec(), key.e_bytes().to_vec()],
            _ => Vec::new(),
        }
    }

    /// The numbers of the key in the order in which JWK names them: RSA n, e, d, p, q, dp, dq, qi; curves
    /// x, y, d; Curve25519 x, d.
    pub fn numbers(&self) -> Vec<Vec<u8>> {
        match self {
            Key::Ec { curve, private, public } => {
                let (x, y) = public[1..].split_at(curve.about().size);
                [x.to_vec(), y.to_vec()].into_iter().chain(private.clone()).collect()
            }
            Key::Edwards { private, public, .. } => {
                [public.to_vec()].into_iter().chain(private.map(|private| private.to_vec())).collect()
            }
            Key::RsaPublic(_) | Key::RsaPrivate(_) => self.rsa_numbers(),
        }
    }

    /// The key in DER.
    pub fn to_der(&self, encoding: Encoding) -> Result<Vec<u8>> {
        let incompatible = || {
            Failure::new(
                Class::Error,
                "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS",
                "The selected key encoding does not fit the type of the key",
            )
        };
        match encoding {
            Encoding::Pkcs1 => {
                let numbers = self.rsa_numbers();
                match numbers.len() {
                    0 => Err(incompatible()),
                    2 => Ok(rsa_public_der(&numbers)),
                    _ => Ok(rsa_private_der(&numbers)),
                }
            }
            Encoding::Sec1 => match self {
                Key::Ec { curve, private: Some(private), public } => {
                    Ok(sec1_der(*curve, private, public, true))
                }
                _ => Err(incompatible()),
            },
            Encoding::Spki => {
                let key = match self {
                    Key::Ec { public, .. } => public.clone(),
                    Key::Edwards { public, .. } => public.to_vec(),
                    _ => rsa_public_der(&self.to_public().rsa_numbers()),
                };
                Ok(der::sequence(&[&self.algorithm(), &der::bits(&key)]))
            }
            Encoding::Pkcs8 => {
                let key = match self {
                    Key::Ec { curve, private: Some(private), public } => {
                        sec1_der(*curve, private, public, false)
                    }
                    Key::Edwards { private: Some(private), .. } => der::value(der::OCTET_STRING, &[private]),
                    Key::RsaPrivate(_) => rsa_private_der(&self.rsa_numbers()),
                    _ => return Err(incompatible()),
                };
                Ok(der::sequence(&[
                    &der::unsigned(&[0]),
                    &self.algorithm(),
                    &der::value(der::OCTET_STRING, &[&key]),
                ]))
            }
        }
    }

    /// The `AlgorithmIdentifier` of its type.
    fn algorithm(&self) -> Vec<u8> {
        match self {
            Key::Ec { curve, .. } => {
                let curve = der::value(der::OBJECT_ID, &[curve.about().oid]);
                der::sequence(&[&der::value(der::OBJECT_ID, &[OID_EC]), &curve])
            }
            Key::Edwards { kind, .. } => der::sequence(&[&der::value(der::OBJECT_ID, &[kind.oid()])]),
            Key::RsaPublic(_) | Key::RsaPrivate(_) => {
                der::sequence(&[&der::value(der::OBJECT_ID, &[OID_RSA]), &der::value(der::NULL, &[])])
            }
        }
    }

    /// The key in DER, encrypted if wanted.
    pub fn to_protected_der(
        &self,
        encoding: Encoding,
        protection: Option<&Protection>,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<u8>> {
        let plain = self.to_der(encoding)?;
        match protection {
            Some(protection) if encoding == Encoding::Pkcs8 => encrypt_pkcs8(&plain, protection, rng),
            _ => Ok(plain),
        }
    }

    /// The key in PEM, encrypted if wanted.
    pub fn to_pem(
        &self,
        encoding: Encoding,
        protection: Option<&Protection>,
        rng: &mut ChaCha20Rng,
    ) -> Result<String> {
        let der = self.to_protected_der(encoding, protection, rng)?;
        let label = match (encoding, self.is_private()) {
            (Encoding::Spki, _) => "PUBLIC KEY",
            (Encoding::Pkcs8, _) if protection.is_some() => "ENCRYPTED PRIVATE KEY",
            (Encoding::Pkcs8, _) => "PRIVATE KEY",
            (Encoding::Sec1, _) => "EC PRIVATE KEY",
            (Encoding::Pkcs1, true) => "RSA PRIVATE KEY",
            (Encoding::Pkcs1, false) => "RSA PUBLIC KEY",
        };
        match protection {
            Some(protection) if encoding != Encoding::Pkcs8 => {
                let suite = export_suite(protection.cipher)?;
                let mut iv = [0u8; 16];
                rng.fill_bytes(&mut iv);
                let key = bytes_to_key(protection.passphrase, &iv[..8], suite.key);
                let body = run_cipher(suite, true, &key, &iv, &der)?;
                let hex: String = iv.iter().map(|byte| format!("{byte:02X}")).collect();
                let head = format!(
                    "Proc-Type: 4,ENCRYPTED\nDEK-Info: {},{hex}\n\n",
                    suite.name.to_ascii_uppercase()
                );
                Ok(der::write_pem(label, &head, &body))
            }
            _ => Ok(der::write_pem(label, "", &der)),
        }
    }

    /// Any key in PEM: public, private or encrypted.
    pub fn from_pem(text: &str, passphrase: Option<&[u8]>) -> Result<Key> {
        let pem = der::read_pem(text).ok_or_else(Failure::bad_key)?;
        let mut body = pem.body;
        if let Some(encryption) = pem.encryption {
            let (cipher, iv) = encryption.split_once(',').ok_or_else(Failure::bad_key)?;
            let suite =
                Suite::find(cipher).filter(|suite| suite.mode == Mode::Cbc).ok_or_else(Failure::bad_key)?;
            let iv: Vec<u8> = (0..iv.len() / 2)
                .map(|at| iv.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
                .collect::<Option<_>>()
                .filter(|iv: &Vec<u8>| iv.len() == 16)
                .ok_or_else(Failure::bad_key)?;
            let key = bytes_to_key(passphrase.ok_or_else(no_passphrase)?, &iv[..8], suite.key);
            body = run_cipher(suite, false, &key, &iv, &body)?;
        }
        match pem.label.as_str() {
            "PUBLIC KEY" => Key::from_der(&body, Encoding::Spki, passphrase),
            "PRIVATE KEY" | "ENCRYPTED PRIVATE KEY" => Key::from_der(&body, Encoding::Pkcs8, passphrase),
            "EC PRIVATE KEY" => Key::from_der(&body, Encoding::Sec1, passphrase),
            "RSA PRIVATE KEY" => rsa_private_from(Reader::new(&body)),
            "RSA PUBLIC KEY" => rsa_public_from(Reader::new(&body)),
            "CERTIFICATE" | "X509 CERTIFICATE" => Err(Failure::unavailable("Reading an X.509 certificate")),
            _ => Err(Failure::bad_key()),
        }
    }

    /// A key in DER. PKCS #1 takes both halves: they are told apart by the number of their numbers.
    pub fn from_der(bytes: &[u8], encoding: Encoding, passphrase: Option<&[u8]>) -> Result<Key> {
        match encoding {
            Encoding::Spki => {
                let mut outer = Reader::new(bytes).sequence()?;
                let algorithm = outer.sequence()?;
                public_of(algorithm, outer.bits()?)
            }
            Encoding::Pkcs8 => {
                let outer = Reader::new(bytes).sequence()?;
                if outer.peek() == Some(der::SEQUENCE) {
                    let plain = decrypt_pkcs8(outer, passphrase)?;
                    return private_of(Reader::new(&plain).sequence()?);
                }
                private_of(outer)
            }
            Encoding::Sec1 => ec_private_from(Reader::new(bytes), None),
            Encoding::Pkcs1 => {
                let mut outer = Reader::new(bytes).sequence()?;
                let first = outer.unsigned()?;
                if first.is_empty() {
                    rsa_private_from(Reader::new(bytes))
                } else {
                    rsa_public_from(Reader::new(bytes))
                }
            }
        }
    }
}

fn public_of(mut algorithm: Reader, key: &[u8]) -> Result<Key> {
    let oid = algorithm.take(der::OBJECT_ID)?;
    if oid == OID_RSA {
        return rsa_public_from(Reader::new(key));
    }
    if oid == OID_EC {
        let curve = Curve::from_oid(algorithm.take(der::OBJECT_ID)?).ok_or_else(Failure::bad_key)?;
        return Key::ec(curve, None, Some(key)).ok_or_else(Failure::bad_key);
    }
    let kind = [Edwards::Ed25519, Edwards::X25519].into_iter().find(|kind| kind.oid() == oid);
    Key::edwards(kind.ok_or_else(Failure::bad_key)?, None, Some(key)).ok_or_else(Failure::bad_key)
}

fn private_of(mut outer: Reader) -> Result<Key> {
    outer.small()?;
    let mut algorithm = outer.sequence()?;
    let key = outer.take(der::OCTET_STRING)?;
    let oid = algorithm.take(der::OBJECT_ID)?;
    if oid == OID_RSA {
        return rsa_private_from(Reader::new(key));
    }
    if oid == OID_EC {
        let curve = Curve::from_oid(algorithm.take(der::OBJECT_ID)?).ok_or_else(Failure::bad_key)?;
        return ec_private_from(Reader::new(key), Some(curve));
    }
    let kind = [Edwards::Ed25519, Edwards::X25519].into_iter().find(|kind| kind.oid() == oid);
    let kind = kind.ok_or_else(Failure::bad_key)?;
    let private = Reader::new(key).take(der::OCTET_STRING)?;
    Key::edwards(kind, Some(private), None).ok_or_else(Failure::bad_key)
}

fn ec_private_from(mut outer: Reader, curve: Option<Curve>) -> Result<Key> {
    let mut inner = outer.sequence()?;
    inner.small()?;
    let private = inner.take(der::OCTET_STRING)?;
    let named = match inner.optional(0xa0)? {
        Some(named) => Curve::from_oid(Reader::new(named).take(der::OBJECT_ID)?),
        None => None,
    };
    let public = match inner.optional(0xa1)? {
        Some(public) => Some(Reader::new(public).bits()?),
        None => None,
    };
    let curve = curve.or(named).ok_or_else(Failure::bad_key)?;
    Key::ec(curve, Some(private), public).ok_or_else(Failure::bad_key)
}

fn rsa_public_from(mut outer: Reader) -> Result<Key> {
    let mut inner = outer.sequence()?;
    let (n, e) = (inner.unsigned()?, inner.unsigned()?);
    rsa_::public(n, e).map(|key| Key::RsaPublic(Box::new(key))).ok_or_else(Failure::bad_key)
}

fn rsa_private_from(mut outer: Reader) -> Result<Key> {
    let mut inner = outer.sequence()?;
    inner.small()?;
    let (n, e, d) = (inner.unsigned()?, inner.unsigned()?, inner.unsigned()?);
    let (p, q) = (inner.unsigned()?, inner.unsigned()?);
    rsa_::private(n, e, d, p, q).map(|key| Key::RsaPrivate(Box::new(key))).ok_or_else(Failure::bad_key)
}

fn rsa_public_der(numbers: &[Vec<u8>]) -> Vec<u8> {
    der::sequence(&[&der::unsigned(&numbers[0]), &der::unsigned(&numbers[1])])
}

fn rsa_private_der(numbers: &[Vec<u8>]) -> Vec<u8> {
    let all: Vec<u8> = numbers.iter().flat_map(|number| der::unsigned(number)).collect();
    der::sequence(&[&der::unsigned(&[0]), &all])
}

fn sec1_der(curve: Curve, private: &[u8], public: &[u8], with_curve: bool) -> Vec<u8> {
    let named = if with_curve {
        der::value(0xa0, &[&der::value(der::OBJECT_ID, &[curve.about().oid])])
    } else {
        Vec::new()
    };
    der::sequence(&[
        &der::unsigned(&[1]),
        &der::value(der::OCTET_STRING, &[private]),
        &named,
        &der::value(0xa1, &[&der::bits(public)]),
    ])
}

fn no_passphrase() -> Failure {
    Failure::openssl(
        "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED",
        "error:07880109:common libcrypto routines::interrupted or cancelled",
    )
}

fn export_suite(name: &str) -> Result<&'static Suite> {
    Suite::find(name)
        .filter(|suite| suite.mode == Mode::Cbc)
        .ok_or_else(|| Failure::new(Class::Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher"))
}

fn run_cipher(suite: &Suite, encrypts: bool, key: &[u8], iv: &[u8], text: &[u8]) -> Result<Vec<u8>> {
    let mut cipher = Cipher::new(suite, encrypts, key, iv, 128)?;
    let mut out = cipher.update(text);
    // A cut text is as wrong as a wrong passphrase: OpenSSL says the same of both here.
    out.extend(cipher.finish().map_err(|_| Failure::bad_decrypt())?.0);
    Ok(out)
}

/// OpenSSL's `EVP_BytesToKey` with MD5 and one round: the key of a PEM text that is encrypted the old way.
fn bytes_to_key(passphrase: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let md5 = Digest::find("md5").expect("the table has it");
    let mut out = Vec::new();
    let mut last: Box<[u8]> = Box::default();
    while out.len() < length {
        last = md5.of(&[&last[..], passphrase, salt].concat());
        out.extend_from_slice(&last);
    }
    out.truncate(length);
    out
}

/// The last byte of the object id of AES-CBC with this length of key.
fn aes_cbc_arc(key: usize) -> u8 {
    match key {
        16 => 2,
        24 => 22,
        _ => 42,
    }
}

fn encrypt_pkcs8(plain: &[u8], protection: &Protection, rng: &mut ChaCha20Rng) -> Result<Vec<u8>> {
    let suite = export_suite(protection.cipher)?;
    let (mut salt, mut iv) = ([0u8; 16], [0u8; 16]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut iv);
    let key = kdf::pbkdf2("sha256", protection.passphrase, &salt, EXPORT_ROUNDS, suite.key)?;
    let body = run_cipher(suite, true, &key, &iv, plain)?;
    let oid = |bytes: &[u8], last: &[u8]| der::value(der::OBJECT_ID, &[bytes, last]);
    let hmac = der::sequence(&[&oid(OID_HMAC, &[9]), &der::value(der::NULL, &[])]);
    let derivation = der::sequence(&[
        &oid(OID_PBKDF2, &[]),
        &der::sequence(&[
            &der::value(der::OCTET_STRING, &[&salt]),
            &der::unsigned(&EXPORT_ROUNDS.to_be_bytes()),
            &hmac,
        ]),
    ]);
    let scheme =
        der::sequence(&[&oid(OID_AES, &[aes_cbc_arc(suite.key)]), &der::value(der::OCTET_STRING, &[&iv])]);
    let algorithm = der::sequence(&[&oid(OID_PBES2, &[]), &der::sequence(&[&derivation, &scheme])]);
    Ok(der::sequence(&[&algorithm, &der::value(der::OCTET_STRING, &[&body])]))
}

fn decrypt_pkcs8(mut outer: Reader, passphrase: Option<&[u8]>) -> Result<Vec<u8>> {
    let mut algorithm = outer.sequence()?;
    let body = outer.take(der::OCTET_STRING)?;
    if algorithm.take(der::OBJECT_ID)? != OID_PBES2 {
        return Err(Failure::bad_key());
    }
    let mut schemes = algorithm.sequence()?;
    let (mut derivation, mut scheme) = (schemes.sequence()?, schemes.sequence()?);
    if derivation.take(der::OBJECT_ID)? != OID_PBKDF2 {
        return Err(Failure::bad_key());
    }
    let mut parameters = derivation.sequence()?;
    let salt = parameters.take(der::OCTET_STRING)?;
    let rounds = parameters.small()?;
    parameters.optional(der::INTEGER)?;
    let mut digest = "sha1";
    if let Some(hmac) = parameters.optional(der::SEQUENCE)? {
        let oid = Reader::new(hmac).take(der::OBJECT_ID)?;
        digest = match oid.strip_prefix(OID_HMAC) {
            Some([7]) => "sha1",
            Some([8]) => "sha224",
            Some([9]) => "sha256",
            Some([10]) => "sha384",
            Some([11]) => "sha512",
            _ => return Err(Failure::bad_key()),
        };
    }
    let suite = match scheme.take(der::OBJECT_ID)?.strip_prefix(OID_AES) {
        Some([2]) => "aes-128-cbc",
        Some([22]) => "aes-192-cbc",
        Some([42]) => "aes-256-cbc",
        _ => return Err(Failure::bad_key()),
    };
    let suite = export_suite(suite)?;
    let iv = scheme.take(der::OCTET_STRING)?;
    if rounds == 0 || rounds > IMPORT_ROUNDS_MAX || iv.len() != 16 {
        return Err(Failure::bad_key());
    }
    let key = kdf::pbkdf2(digest, passphrase.ok_or_else(no_passphrase)?, salt, rounds, suite.key)?;
    run_cipher(suite, false, &key, iv, body)
}

/// A signature of ECDSA as DER from `r` and `s` of fixed length.
pub fn signature_to_der(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    der::sequence(&[&der::unsigned(r), &der::unsigned(s)])
}

/// The way back; `None` when it is no signature of this curve.
pub fn signature_from_der(curve: Curve, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut outer = Reader::new(bytes);
    let mut inner = outer.sequence().ok()?;
    let (r, s) = (inner.unsigned().ok()?, inner.unsigned().ok()?);
    if !outer.is_empty() || !inner.is_empty() {
        return None;
    }
    Some([curve.pad(r)?, curve.pad(s)?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::crypto::curve::CURVES;
    use chacha20::rand_core::SeedableRng;

    fn keys(rng: &mut ChaCha20Rng) -> Vec<Key> {
        let mut keys: Vec<Key> = CURVES
            .into_iter()
            .map(|curve| Key::ec(curve, Some(&curve.generate(rng)), None).expect("in range"))
            .collect();
        for kind in [Edwards::Ed25519, Edwards::X25519] {
            keys.push(Key::edwards(kind, Some(&[5; 32]), None).expect("32 bytes"));
        }
        keys.push(Key::RsaPrivate(Box::new(rsa_::generate(1024, 3, rng).expect("a key"))));
        keys
    }

    #[test]
    fn every_key_comes_back_from_every_form_that_takes_it() {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        for key in keys(&mut rng) {
            for encoding in [Encoding::Pkcs8, Encoding::Sec1, Encoding::Pkcs1] {
                let Ok(bytes) = key.to_der(encoding) else {
                    assert!(encoding != Encoding::Pkcs8);
                    continue;
                };
                assert!(
                    Key::from_der(&bytes, encoding, None).expect("its own DER").same(&key),
                    "{}",
                    key.type_name()
                );
                let pem = key.to_pem(encoding, None, &mut rng).expect("the same encoding");
                assert!(Key::from_pem(&pem, None).expect("its own PEM").same(&key), "{}", key.type_name());
                let protection = Protection { cipher: "aes-192-cbc", passphrase: b"secret" };
                let pem = key.to_pem(encoding, Some(&protection), &mut rng).expect("the same encoding");
                assert!(
                    Key::from_pem(&pem, Some(b"secret")).expect("its own PEM").same(&key),
                    "{}",
                    key.type_name()
                );
                assert!(Key::from_pem(&pem, Some(b"Secret")).is_err());
                assert_eq!(Key::from_pem(&pem, None).err(), Some(no_passphrase()));
            }
            let public = key.to_public();
            assert!(!public.same(&key) && !public.is_private());
            let bytes = key.to_der(Encoding::Spki).expect("every key has one");
            assert!(Key::from_der(&bytes, Encoding::Spki, None).expect("its own DER").same(&public));
            let pem = public.to_pem(Encoding::Spki, None, &mut rng).expect("every key has one");
            assert!(Key::from_pem(&pem, None).expect("its own PEM").same(&public));
            assert!(public.to_der(Encoding::Pkcs8).is_err());
        }
    }

    #[test]
    fn no_cut_or_changed_key_makes_a_panic() {
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        for key in keys(&mut rng) {
            for (encoding, bytes) in [Encoding::Pkcs8, Encoding::Spki]
                .map(|encoding| (encoding, key.to_der(encoding).expect("every key")))
            {
                for end in 0..bytes.len().min(80) {
                    assert!(Key::from_der(&bytes[..end], encoding, None).is_err());
                    let mut changed = bytes.clone();
                    changed[end] ^= 0x55;
                    let _ = Key::from_der(&changed, encoding, None);
                }
            }
        }
    }

    #[test]
    fn a_point_that_is_not_of_the_scalar_is_refused() {
        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let (left, right) = (Curve::P256.generate(&mut rng), Curve::P256.generate(&mut rng));
        let point = Curve::P256.public(&right).expect("in range");
        assert!(Key::ec(Curve::P256, Some(&left), Some(&point)).is_none());
        assert!(Key::ec(Curve::P384, None, Some(&point)).is_none());
    }
}
