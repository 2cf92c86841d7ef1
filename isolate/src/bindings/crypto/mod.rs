//! What `node:crypto` does in C++, as a small set of functions on bytes.
//!
//! - `natives.crypto.open()` makes the functions at the first use of the module, so that a run without it
//!   pays nothing. The classes that Node's library expects are JavaScript over these functions, in
//!   `prelude/bindings/crypto.js`.
//! - The folder below this file knows no V8: bytes and numbers in, bytes or a [`Failure`] out.
//! - All chance comes from the run's one seeded stream ([`crate::random`]).
//! - Not here: TLS, X.509, PKCS #12, DSA, finite-field Diffie-Hellman, post-quantum algorithms, engines,
//!   FIPS.

pub mod cipher;
pub mod curve;
pub mod der;
pub mod failure;
pub mod hash;
pub mod kdf;
pub mod key;
pub mod rsa;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use crypto_bigint::BoxedUint;
use crypto_primes::Flavor;

use self::cipher::{Cipher, Suite};
use self::curve::{Curve, Edwards};
use self::failure::{Class, Failure, Result};
use self::hash::{Digest, Running};
use self::key::{Encoding, Key, Protection};
use self::rsa::{MessagePadding, SignaturePadding};
use super::bytes::{STORAGE, new_bytes, view_bytes};
use super::{handle, set_function};
use crate::memory;

type Scope<'s, 'i> = v8::PinScope<'s, 'i>;
type Args<'s> = v8::FunctionCallbackArguments<'s>;
type Return<'s> = v8::ReturnValue<'s>;

/// About what a digest, a cipher or a key holds outside of V8's heap.
const HANDLE_BYTES: usize = 1024;
/// OpenSSL's numbers of paddings.
const RSA_PKCS1_PADDING: i32 = 1;
const RSA_NO_PADDING: i32 = 3;
const RSA_PKCS1_OAEP_PADDING: i32 = 4;
const RSA_PKCS1_PSS_PADDING: i32 = 6;
/// OpenSSL's names for lengths of a PSS salt.
const SALT_DIGEST: i32 = -1;
const SALT_AUTO: i32 = -2;

/// Puts `open` on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "open", open);
}

/// `open()`: an object with the other functions.
fn open(scope: &mut Scope<'_, '_>, _: Args<'_>, mut result: Return<'_>) {
    let target = v8::Object::new(scope);
    macro_rules! functions {
        ($($name:literal $function:ident),* $(,)?) => { $(set_function(scope, target, $name, $function);)* };
    }
    functions!(
        "agree" agree,
        "cipher" start_cipher,
        "cipherAdditional" cipher_additional,
        "cipherFinish" cipher_finish,
        "cipherInfo" cipher_info,
        "cipherNames" cipher_names,
        "cipherPadding" cipher_padding,
        "cipherUpdate" cipher_update,
        "curveAgree" curve_agree,
        "curveGenerate" curve_generate,
        "curvePoint" curve_point,
        "curvePublic" curve_public,
        "digest" digest,
        "digestInfo" digest_info,
        "digestNames" digest_names,
        "hash" start_hash,
        "hashCopy" hash_copy,
        "hashFinish" hash_finish,
        "hashUpdate" hash_update,
        "hkdf" hkdf,
        "isPrime" is_prime,
        "keyFromDer" key_from_der,
        "keyFromParts" key_from_parts,
        "keyFromPem" key_from_pem,
        "keyGenerate" key_generate,
        "keyInfo" key_info,
        "keyNumbers" key_numbers,
        "keyPublic" key_public,
        "keySame" key_same,
        "keyToDer" key_to_der,
        "keyToPem" key_to_pem,
        "pbkdf2" pbkdf2,
        "prime" prime,
        "rsaCrypt" rsa_crypt,
        "same" same,
        "scrypt" scrypt,
        "scryptCheck" scrypt_check,
        "sign" sign,
        "verify" verify,
        "wrap" wrap,
    );
    result.set(target.into());
}

/// Room that an operation takes for itself, given back when it is dropped.
struct Room(usize);

impl Room {
    fn take(bytes: usize) -> Result<Room> {
        if memory::take(bytes) {
            Ok(Room(bytes))
        } else {
            Err(Failure::new(Class::Error, "ERR_MEMORY_ALLOCATION_FAILED", "Failed to allocate memory"))
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        memory::give_back(self.0);
    }
}

/// A generator of random numbers for one operation.
fn rng() -> ChaCha20Rng {
    let mut seed = [0u8; 32];
    crate::random::fill(&mut seed);
    ChaCha20Rng::from_seed(seed)
}

fn bytes(args: &Args<'_>, at: i32) -> Vec<u8> {
    view_bytes(args.get(at), &mut STORAGE.clone()).unwrap_or_default().to_vec()
}

fn optional_bytes(args: &Args<'_>, at: i32) -> Option<Vec<u8>> {
    view_bytes(args.get(at), &mut STORAGE.clone()).map(<[u8]>::to_vec)
}

fn text(scope: &mut Scope<'_, '_>, args: &Args<'_>, at: i32) -> String {
    args.get(at).to_rust_string_lossy(scope)
}

fn number(scope: &mut Scope<'_, '_>, args: &Args<'_>, at: i32) -> u32 {
    args.get(at).uint32_value(scope).unwrap_or(0)
}

fn integer(scope: &mut Scope<'_, '_>, args: &Args<'_>, at: i32) -> i32 {
    args.get(at).int32_value(scope).unwrap_or(0)
}

fn string<'s>(scope: &mut Scope<'s, '_>, text: &str) -> v8::Local<'s, v8::Value> {
    v8::String::new(scope, text).unwrap_or_else(|| v8::String::empty(scope)).into()
}

fn array_of<'s>(scope: &mut Scope<'s, '_>, bytes: &[u8]) -> v8::Local<'s, v8::Value> {
    // Without room there is an exception, or the end of the run.
    new_bytes(scope, bytes).map_or_else(|| v8::undefined(scope).into(), Into::into)
}

fn throw(scope: &mut Scope<'_, '_>, failure: &Failure) {
    let message = v8::String::new(scope, &failure.message).unwrap_or_else(|| v8::String::empty(scope));
    let error = match failure.class {
        Class::Error => v8::Exception::error(scope, message),
        Class::Type => v8::Exception::type_error(scope, message),
        Class::Range => v8::Exception::range_error(scope, message),
    };
    if let Ok(object) = v8::Local::<v8::Object>::try_from(error) {
        // `error:1C800064:Provider routines::bad decrypt`: number, library, function (empty), reason.
        let parts: Vec<&str> = failure.message.splitn(5, ':').collect();
        let openssl = match parts[..] {
            ["error", _, library, _, reason] if !failure.code.is_empty() => [library, reason],
            _ => ["", ""],
        };
        for (name, value) in [("library", openssl[0]), ("reason", openssl[1]), ("code", failure.code)] {
            if !value.is_empty() {
                let (name, value) = (string(scope, name), string(scope, value));
                object.set(scope, name, value);
            }
        }
    }
    scope.throw_exception(error);
}

fn give(scope: &mut Scope<'_, '_>, mut result: Return<'_>, outcome: Result<Vec<u8>>) {
    match outcome {
        Ok(bytes) => result.set(array_of(scope, &bytes)),
        Err(failure) => throw(scope, &failure),
    }
}

/// Gives bytes, or nothing at all: what is wrong then is worded by the caller.
fn give_optional(scope: &mut Scope<'_, '_>, mut result: Return<'_>, outcome: Option<Vec<u8>>) {
    if let Some(bytes) = outcome {
        result.set(array_of(scope, &bytes));
    }
}

fn give_list(scope: &mut Scope<'_, '_>, mut result: Return<'_>, values: &[v8::Local<'_, v8::Value>]) {
    result.set(v8::Array::new_with_elements(scope, values).into());
}

fn give_names(scope: &mut Scope<'_, '_>, result: Return<'_>, names: impl Iterator<Item = &'static str>) {
    let names: Vec<_> = names.map(|name| string(scope, name)).collect();
    give_list(scope, result, &names);
}

fn give_handle<T: 'static>(scope: &mut Scope<'_, '_>, mut result: Return<'_>, outcome: Result<T>) {
    match outcome {
        Ok(value) => {
            if let Some(object) = handle::make(scope, value, HANDLE_BYTES) {
                result.set(object.into());
            }
        }
        Err(failure) => throw(scope, &failure),
    }
}

fn closed() -> Failure {
    Failure::new(Class::Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state")
}

/// A copy of the key behind an argument.
fn key_of(scope: &mut Scope<'_, '_>, args: &Args<'_>, at: i32) -> Result<Key> {
    handle::with(scope, args.get(at), |key: &mut Key| key.clone()).ok_or_else(closed)
}

/// `digestNames()`
fn digest_names(scope: &mut Scope<'_, '_>, _: Args<'_>, result: Return<'_>) {
    give_names(scope, result, Digest::names());
}

/// `digestInfo(name)` gives `[name, size, block]`, or undefined.
fn digest_info(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    if let Some(digest) = Digest::find(&name) {
        let values = [
            string(scope, digest.name),
            v8::Integer::new(scope, digest.size as i32).into(),
            v8::Integer::new(scope, digest.block as i32).into(),
        ];
        give_list(scope, result, &values);
    }
}

/// `digest(name, bytes)`
fn digest(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    let mut storage = STORAGE;
    let data = view_bytes(args.get(1), &mut storage).unwrap_or_default();
    let outcome = Digest::named(&name).map(|digest| digest.of(data).into_vec());
    give(scope, result, outcome);
}

/// `hash(name, key)`: a digest, or with a key an HMAC.
fn start_hash(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    let key = optional_bytes(&args, 1);
    let outcome = Digest::named(&name).map(|digest| match key {
        Some(key) => Running::hmac(digest, &key),
        None => Running::digest(digest),
    });
    give_handle(scope, result, outcome);
}

/// `hashCopy(hash)`
fn hash_copy(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let copy = handle::with(scope, args.get(0), |running: &mut Running| running.clone()).ok_or_else(closed);
    give_handle(scope, result, copy);
}

/// `hashUpdate(hash, bytes)`
fn hash_update(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let mut storage = STORAGE;
    let data = view_bytes(args.get(1), &mut storage).unwrap_or_default();
    if handle::with(scope, args.get(0), |running: &mut Running| running.update(data)).is_none() {
        throw(scope, &closed());
    }
}

/// `hashFinish(hash)`: the result; the hash is gone.
fn hash_finish(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let outcome = handle::take::<Running>(scope, args.get(0)).map(|running| running.finish().into_vec());
    give(scope, result, outcome.ok_or_else(closed));
}

/// `pbkdf2(digest, password, salt, rounds, length)`
fn pbkdf2(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let (name, rounds, length) = (text(scope, &args, 0), number(scope, &args, 3), number(scope, &args, 4));
    let outcome = Room::take(length as usize)
        .and_then(|_room| kdf::pbkdf2(&name, &bytes(&args, 1), &bytes(&args, 2), rounds, length as usize));
    give(scope, result, outcome);
}

/// `hkdf(digest, key, salt, info, length)`
fn hkdf(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let (name, length) = (text(scope, &args, 0), number(scope, &args, 4));
    let outcome = kdf::hkdf(&name, &bytes(&args, 1), &bytes(&args, 2), &bytes(&args, 3), length as usize);
    give(scope, result, outcome);
}

fn cost(scope: &mut Scope<'_, '_>, args: &Args<'_>, at: i32) -> kdf::Cost {
    kdf::Cost {
        n: number(scope, args, at),
        r: number(scope, args, at + 1),
        p: number(scope, args, at + 2),
        memory_bytes_max: args.get(at + 3).number_value(scope).unwrap_or(0.0),
    }
}

/// `scryptCheck(n, r, p, maxmem)` throws what is wrong with the cost.
fn scrypt_check(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let cost = cost(scope, &args, 0);
    if let Err(failure) = kdf::check_scrypt(cost) {
        throw(scope, &failure);
    }
}

/// `scrypt(n, r, p, maxmem, password, salt, length)`
fn scrypt(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let (cost, length) = (cost(scope, &args, 0), number(scope, &args, 6));
    let needed = kdf::scrypt_bytes(cost).saturating_add(length as usize);
    let outcome = Room::take(needed)
        .and_then(|_room| kdf::scrypt(&bytes(&args, 4), &bytes(&args, 5), cost, length as usize));
    give(scope, result, outcome);
}

/// `cipherNames()`
fn cipher_names(scope: &mut Scope<'_, '_>, _: Args<'_>, result: Return<'_>) {
    give_names(scope, result, Suite::names());
}

/// `cipherInfo(nameOrNumber)` gives `[name, mode, nid, block, iv, key, hasTag]`, or undefined.
fn cipher_info(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let suite = if args.get(0).is_number() {
        Suite::numbered(number(scope, &args, 0))
    } else {
        Suite::find(&text(scope, &args, 0))
    };
    if let Some(suite) = suite {
        let values = [
            string(scope, suite.name),
            string(scope, suite.mode_name()),
            v8::Integer::new_from_unsigned(scope, suite.nid).into(),
            v8::Integer::new(scope, suite.block() as i32).into(),
            v8::Integer::new(scope, suite.iv() as i32).into(),
            v8::Integer::new(scope, suite.key as i32).into(),
            v8::Boolean::new(scope, suite.has_tag()).into(),
        ];
        give_list(scope, result, &values);
    }
}

/// `cipher(name, encrypts, key, iv, counterBits)`
fn start_cipher(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let (name, bits) = (text(scope, &args, 0), number(scope, &args, 4));
    let outcome = match Suite::find(&name) {
        Some(suite) => Cipher::new(suite, args.get(1).is_true(), &bytes(&args, 2), &bytes(&args, 3), bits),
        None => Err(Failure::new(Class::Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher")),
    };
    give_handle(scope, result, outcome);
}

/// `cipherPadding(cipher, isPadded)`
fn cipher_padding(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let is_padded = args.get(1).is_true();
    handle::with(scope, args.get(0), |cipher: &mut Cipher| cipher.padding = is_padded);
}

/// `cipherAdditional(cipher, bytes)`
fn cipher_additional(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let mut storage = STORAGE;
    let data = view_bytes(args.get(1), &mut storage).unwrap_or_default();
    handle::with(scope, args.get(0), |cipher: &mut Cipher| cipher.additional(data));
}

/// `cipherUpdate(cipher, bytes)`
fn cipher_update(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let mut storage = STORAGE;
    let data = view_bytes(args.get(1), &mut storage).unwrap_or_default();
    let outcome =
        handle::with(scope, args.get(0), |cipher: &mut Cipher| cipher.update(data)).ok_or_else(closed);
    give(scope, result, outcome);
}

/// `cipherFinish(cipher)` gives `[bytes, tag]`; the cipher is gone.
fn cipher_finish(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    match handle::take::<Cipher>(scope, args.get(0)).ok_or_else(closed).and_then(Cipher::finish) {
        Ok((rest, tag)) => {
            let rest = array_of(scope, &rest);
            let tag = match tag {
                Some(tag) => array_of(scope, &tag),
                None => v8::undefined(scope).into(),
            };
            give_list(scope, result, &[rest, tag]);
        }
        Err(failure) => throw(scope, &failure),
    }
}

/// `wrap(wraps, key, bytes)`: AES key wrap and back, or undefined.
fn wrap(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let work = if args.get(0).is_true() { cipher::wrap } else { cipher::unwrap };
    let outcome = work(&bytes(&args, 1), &bytes(&args, 2));
    give_optional(scope, result, outcome);
}

/// `same(left, right)`: whether they are equal, in constant time.
fn same(_: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let (mut left, mut right) = (STORAGE, STORAGE);
    let left = view_bytes(args.get(0), &mut left).unwrap_or_default();
    let right = view_bytes(args.get(1), &mut right).unwrap_or_default();
    result.set_bool(cipher::same(left, right));
}

/// `curveGenerate(curve)`: a private scalar.
fn curve_generate(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    let outcome = Curve::named(&name).map(|curve| curve.generate(&mut rng()));
    give(scope, result, outcome);
}

/// `curvePublic(curve, private)`: its point, or undefined.
fn curve_public(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    let outcome = Curve::named(&name).ok().and_then(|curve| curve.public(&curve.pad(&bytes(&args, 1))?));
    give_optional(scope, result, outcome);
}

/// `curvePoint(curve, point, isCompressed)`: the point in that form, or undefined.
fn curve_point(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    match Curve::named(&name) {
        Ok(curve) => give_optional(scope, result, curve.point(&bytes(&args, 1), args.get(2).is_true())),
        Err(failure) => throw(scope, &failure),
    }
}

/// `curveAgree(curve, private, point)`: the shared secret, or undefined.
fn curve_agree(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let name = text(scope, &args, 0);
    let outcome = Curve::named(&name).ok().and_then(|curve| {
        let public = curve.point(&bytes(&args, 2), false)?;
        curve.agree(&curve.pad(&bytes(&args, 1))?, &public)
    });
    give_optional(scope, result, outcome);
}

/// `agree(private, public)` of two keys, or undefined.
fn agree(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let keys = key_of(scope, &args, 0).and_then(|left| Ok((left, key_of(scope, &args, 1)?)));
    let outcome = match keys {
        Ok((Key::Ec { curve, private: Some(private), .. }, Key::Ec { curve: other, public, .. }))
            if curve == other =>
        {
            curve.agree(&private, &public)
        }
        Ok((
            Key::Edwards { kind: Edwards::X25519, private: Some(private), .. },
            Key::Edwards { kind: Edwards::X25519, public, .. },
        )) => curve::agree_x25519(&private, &public),
        _ => None,
    };
    give_optional(scope, result, outcome);
}

fn encoding(value: u32) -> Encoding {
    // Node's `kKeyEncoding…`.
    match value {
        0 => Encoding::Pkcs1,
        1 => Encoding::Pkcs8,
        2 => Encoding::Spki,
        _ => Encoding::Sec1,
    }
}

/// `keyFromPem(text, passphrase)`
fn key_from_pem(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let pem = String::from_utf8_lossy(&bytes(&args, 0)).into_owned();
    let outcome = Key::from_pem(&pem, optional_bytes(&args, 1).as_deref());
    give_handle(scope, result, outcome);
}

/// `keyFromDer(bytes, encoding, passphrase)`
fn key_from_der(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let encoding = encoding(number(scope, &args, 1));
    let outcome = Key::from_der(&bytes(&args, 0), encoding, optional_bytes(&args, 2).as_deref());
    give_handle(scope, result, outcome);
}

/// `keyFromParts(type, parts…)` gives a key, or undefined when the parts make none. Parts: `ec` curve,
/// private, point; `ed25519` and `x25519` private, public; `rsa` n, e, d, p, q.
fn key_from_parts(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let kind = text(scope, &args, 0);
    let part = |at| optional_bytes(&args, at);
    let key = match kind.as_str() {
        "ec" => {
            let name = text(scope, &args, 1);
            match Curve::named(&name).or_else(|_| Curve::from_jwk(&name)) {
                Ok(curve) => Key::ec(curve, part(2).as_deref(), part(3).as_deref()),
                Err(failure) => return throw(scope, &failure),
            }
        }
        "rsa" => match (part(1), part(2), part(3), part(4), part(5)) {
            (Some(n), Some(e), Some(d), Some(p), Some(q)) => {
                rsa::private(&n, &e, &d, &p, &q).map(|key| Key::RsaPrivate(Box::new(key)))
            }
            (Some(n), Some(e), None, ..) => rsa::public(&n, &e).map(|key| Key::RsaPublic(Box::new(key))),
            _ => None,
        },
        kind => {
            Edwards::named(kind).and_then(|kind| Key::edwards(kind, part(1).as_deref(), part(2).as_deref()))
        }
    };
    if let Some(key) = key {
        give_handle(scope, result, Ok(key));
    }
}

/// `keyGenerate(type, curve | bits, exponent)`: a private key.
fn key_generate(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let kind = text(scope, &args, 0);
    let key = match kind.as_str() {
        "ec" => {
            let name = text(scope, &args, 1);
            Curve::named(&name).and_then(|curve| {
                Key::ec(curve, Some(&curve.generate(&mut rng())), None).ok_or_else(Failure::bad_key)
            })
        }
        "rsa" => rsa::generate(number(scope, &args, 1), number(scope, &args, 2), &mut rng())
            .map(|key| Key::RsaPrivate(Box::new(key))),
        name => match Edwards::named(name) {
            Some(kind) => {
                let mut private = [0u8; 32];
                crate::random::fill(&mut private);
                Key::edwards(kind, Some(&private), None).ok_or_else(Failure::bad_key)
            }
            None => Err(Failure::unavailable(&format!("The key type {name}"))),
        },
    };
    give_handle(scope, result, key);
}

/// `keyInfo(key)` gives `[type, isPrivate, curve, jwkCurve]`; the curves are empty when there is none.
fn key_info(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    match key_of(scope, &args, 0) {
        Ok(key) => {
            let (curve, jwk) = match &key {
                Key::Ec { curve, .. } => (curve.about().name, curve.about().jwk),
                Key::Edwards { kind, .. } => ("", kind.jwk()),
                _ => ("", ""),
            };
            let values = [
                string(scope, key.type_name()),
                v8::Boolean::new(scope, key.is_private()).into(),
                string(scope, curve),
                string(scope, jwk),
            ];
            give_list(scope, result, &values);
        }
        Err(failure) => throw(scope, &failure),
    }
}

/// `keyNumbers(key)`: see [`Key::numbers`].
fn key_numbers(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    match key_of(scope, &args, 0) {
        Ok(key) => {
            let numbers: Vec<_> = key.numbers().into_iter().map(|number| array_of(scope, &number)).collect();
            give_list(scope, result, &numbers);
        }
        Err(failure) => throw(scope, &failure),
    }
}

/// `keyPublic(key)`: its public half.
fn key_public(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let outcome = key_of(scope, &args, 0).map(|key| key.to_public());
    give_handle(scope, result, outcome);
}

/// `keySame(left, right)`
fn key_same(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let keys = key_of(scope, &args, 0).and_then(|left| Ok((left, key_of(scope, &args, 1)?)));
    result.set_bool(keys.is_ok_and(|(left, right)| left.same(&right)));
}

/// `keyToDer(key, encoding, cipher, passphrase)`
fn key_to_der(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let (encoding, cipher, passphrase) =
        (encoding(number(scope, &args, 1)), text(scope, &args, 2), optional_bytes(&args, 3));
    let protection = passphrase.as_ref().map(|passphrase| Protection { cipher: &cipher, passphrase });
    let outcome = key_of(scope, &args, 0)
        .and_then(|key| key.to_protected_der(encoding, protection.as_ref(), &mut rng()));
    give(scope, result, outcome);
}

/// `keyToPem(key, encoding, cipher, passphrase)`
fn key_to_pem(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let (encoding, cipher, passphrase) =
        (encoding(number(scope, &args, 1)), text(scope, &args, 2), optional_bytes(&args, 3));
    let protection = passphrase.as_ref().map(|passphrase| Protection { cipher: &cipher, passphrase });
    match key_of(scope, &args, 0).and_then(|key| key.to_pem(encoding, protection.as_ref(), &mut rng())) {
        Ok(pem) => result.set(string(scope, &pem)),
        Err(failure) => throw(scope, &failure),
    }
}

fn signature_padding(
    scope: &mut Scope<'_, '_>,
    args: &Args<'_>,
    at: i32,
    digest: &Digest,
    signs: bool,
) -> Result<SignaturePadding> {
    if args.get(at).is_undefined() {
        return Ok(SignaturePadding::Pkcs1);
    }
    match integer(scope, args, at) {
        RSA_PKCS1_PADDING => Ok(SignaturePadding::Pkcs1),
        RSA_PKCS1_PSS_PADDING => {
            let salt = if args.get(at + 1).is_undefined() { SALT_AUTO } else { integer(scope, args, at + 1) };
            Ok(SignaturePadding::Pss(match salt {
                SALT_DIGEST => Some(digest.size),
                SALT_AUTO => None,
                // The longest, which verifying also takes.
                -3 => None,
                salt => Some(usize::try_from(salt).map_err(|_| {
                    let message = if signs { "invalid salt length" } else { "salt length check failed" };
                    Failure::new(Class::Error, "ERR_OSSL_INVALID_SALT_LENGTH", message)
                })?),
            }))
        }
        _ => Err(Failure::openssl(
            "ERR_OSSL_RSA_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE",
            "error:1C8000A5:Provider routines::illegal or unsupported padding mode",
        )),
    }
}

fn not_for_this_key() -> Failure {
    Failure::openssl(
        "ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE",
        "error:03000096:digital envelope routines::operation not supported for this keytype",
    )
}

/// The digest that a signature is over: of the data, or what has been computed already.
fn hashed(scope: &mut Scope<'_, '_>, args: &Args<'_>) -> Result<(&'static Digest, Vec<u8>)> {
    let name = if args.get(1).is_string() { text(scope, args, 1) } else { "sha256".to_owned() };
    let digest = Digest::named(&name)?;
    let data = bytes(args, 2);
    Ok((digest, if args.get(3).is_true() { data } else { digest.of(&data).into_vec() }))
}

/// Ed25519 hashes on its own.
fn check_no_digest(args: &Args<'_>) -> Result<()> {
    if args.get(3).is_true() {
        return Err(Failure::new(
            Class::Error,
            "ERR_CRYPTO_UNSUPPORTED_OPERATION",
            "Unsupported crypto operation",
        ));
    }
    if args.get(1).is_string() {
        return Err(Failure::openssl(
            "ERR_OSSL_INVALID_DIGEST",
            "error:1C80007A:Provider routines::invalid digest",
        ));
    }
    Ok(())
}

/// `sign(key, digest, data, isHashed, isRaw, padding, saltLength)`; `isRaw`: `r` and `s` without DER.
fn sign(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let outcome = key_of(scope, &args, 0).and_then(|key| match key {
        Key::Edwards { kind: Edwards::Ed25519, private: Some(private), .. } => {
            check_no_digest(&args)?;
            Ok(curve::sign_ed25519(&private, &bytes(&args, 2)))
        }
        Key::Ec { curve, private: Some(private), .. } => {
            let (_, hashed) = hashed(scope, &args)?;
            let signature = curve.sign(&private, &hashed).ok_or_else(not_for_this_key)?;
            Ok(if args.get(4).is_true() { signature } else { key::signature_to_der(&signature) })
        }
        Key::RsaPrivate(key) => {
            let (digest, hashed) = hashed(scope, &args)?;
            let padding = signature_padding(scope, &args, 5, digest, true)?;
            rsa::sign(&key, digest, &hashed, padding, &mut rng())
        }
        _ => Err(not_for_this_key()),
    });
    give(scope, result, outcome);
}

/// `verify(key, digest, data, isHashed, isRaw, padding, saltLength, signature)`
fn verify(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let signature = bytes(&args, 7);
    let outcome = key_of(scope, &args, 0).and_then(|key| match &key {
        Key::Edwards { kind: Edwards::Ed25519, public, .. } => {
            check_no_digest(&args)?;
            Ok(curve::verify_ed25519(public, &bytes(&args, 2), &signature))
        }
        Key::Ec { curve, public, .. } => {
            let (_, hashed) = hashed(scope, &args)?;
            let signature = if args.get(4).is_true() {
                Some(signature)
            } else {
                key::signature_from_der(*curve, &signature)
            };
            Ok(signature.is_some_and(|signature| curve.verify(public, &hashed, &signature)))
        }
        Key::RsaPublic(_) | Key::RsaPrivate(_) => {
            let (digest, hashed) = hashed(scope, &args)?;
            let padding = signature_padding(scope, &args, 5, digest, false)?;
            let public = key.rsa_public().ok_or_else(not_for_this_key)?;
            Ok(rsa::verify(&public, digest, &hashed, padding, &signature))
        }
        Key::Edwards { .. } => Err(not_for_this_key()),
    });
    match outcome {
        Ok(is_right) => result.set_bool(is_right),
        Err(failure) => throw(scope, &failure),
    }
}

/// `rsaCrypt(key, operation, padding, digest, maskDigest, label, data)`; operations: 0 publicEncrypt, 1
/// privateDecrypt, 2 privateEncrypt, 3 publicDecrypt.
fn rsa_crypt(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let operation = number(scope, &args, 1);
    let padding = integer(scope, &args, 2);
    let digest = if args.get(3).is_string() { text(scope, &args, 3) } else { "sha1".to_owned() };
    let mask = if args.get(4).is_string() { text(scope, &args, 4) } else { digest.clone() };
    let (label, data) = (bytes(&args, 5), bytes(&args, 6));
    let outcome = key_of(scope, &args, 0).and_then(|key| {
        let public = key.rsa_public().ok_or_else(not_for_this_key)?;
        let message = match padding {
            RSA_PKCS1_PADDING => MessagePadding::Pkcs1,
            RSA_NO_PADDING => MessagePadding::None,
            RSA_PKCS1_OAEP_PADDING if operation < 2 => {
                MessagePadding::Oaep(Digest::named(&digest)?, Digest::named(&mask)?, &label)
            }
            _ => {
                return Err(Failure::openssl(
                    "ERR_OSSL_RSA_UNKNOWN_PADDING_TYPE",
                    "error:02000076:rsa routines::unknown padding type",
                ));
            }
        };
        match (operation, &key) {
            (0, _) => rsa::encrypt(&public, &message, &data, &mut rng()),
            (1, Key::RsaPrivate(key)) => rsa::decrypt(key, &message, &data, &mut rng()),
            (2, Key::RsaPrivate(key)) if padding == RSA_NO_PADDING => {
                rsa::decrypt(key, &MessagePadding::None, &data, &mut rng())
            }
            (2, Key::RsaPrivate(key)) => rsa::sign_bytes(key, &data, &mut rng()),
            (3, _) if padding == RSA_NO_PADDING => {
                rsa::encrypt(&public, &MessagePadding::None, &data, &mut rng())
            }
            (3, _) => rsa::recover_bytes(&public, &data),
            _ => Err(not_for_this_key()),
        }
    });
    give(scope, result, outcome);
}

/// Longest prime in bits that is looked for: what OpenSSL takes minutes for is not begun.
const PRIME_BITS_MAX: u32 = 16_384;

/// `prime(bits, isSafe)`: a random prime, big-endian, or undefined.
fn prime(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    let bits = number(scope, &args, 0);
    let (flavor, shortest) = if args.get(1).is_true() { (Flavor::Safe, 3) } else { (Flavor::Any, 2) };
    let outcome = (shortest..=PRIME_BITS_MAX).contains(&bits).then(|| {
        let prime: BoxedUint = crypto_primes::random_prime(&mut rng(), flavor, bits);
        let bytes = prime.to_be_bytes();
        bytes[bytes.len() - bits.div_ceil(8) as usize..].to_vec()
    });
    give_optional(scope, result, outcome);
}

/// `isPrime(bytes)`
fn is_prime(_: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let candidate = bytes(&args, 0);
    let zeros = candidate.iter().take_while(|byte| **byte == 0).count();
    let candidate = &candidate[zeros..];
    let is_prime = !candidate.is_empty()
        && candidate.len() <= (PRIME_BITS_MAX / 8) as usize
        && BoxedUint::from_be_slice(candidate, candidate.len() as u32 * 8)
            .is_ok_and(|candidate| crypto_primes::is_prime(Flavor::Any, &candidate));
    result.set_bool(is_prime);
}
