//! Elliptic curves: the Weierstrass curves of ECDSA and ECDH, and Curve25519.
//!
//! Scalars and points come and go as bytes of fixed length; points are uncompressed SEC 1. Each curve is
//! the same few lines over another crate, made by one macro, so the rest of the folder does not become
//! generic over curves. Signatures use the deterministic nonces of RFC 6979: no bad random number can leak
//! a key, and a replayed run signs the same bytes.

use super::failure::{Failure, Result};

/// A Weierstrass curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// NIST P-256
    P256,
    /// NIST P-384
    P384,
    /// NIST P-521
    P521,
    /// secp256k1
    K256,
}

/// Names and sizes of a curve.
pub struct About {
    /// OpenSSL's name.
    pub name: &'static str,
    /// JWK's name.
    pub jwk: &'static str,
    /// NIST's name, which OpenSSL also takes; empty: none.
    nist: &'static str,
    /// The object id in DER, without its tag.
    pub oid: &'static [u8],
    /// Length of a coordinate and of a scalar in bytes.
    pub size: usize,
}

/// All curves.
pub const CURVES: [Curve; 4] = [Curve::P256, Curve::P384, Curve::P521, Curve::K256];

macro_rules! operations {
    ($name:ident, $crate_:ident, $normalize:expr) => {
        mod $name {
            use $crate_::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
            use $crate_::ecdsa::{Signature, SigningKey, VerifyingKey};
            use $crate_::elliptic_curve::Generate;
            use $crate_::elliptic_curve::sec1::ToSec1Point;
            use $crate_::{PublicKey, SecretKey};

            pub fn generate(rng: &mut chacha20::ChaCha20Rng) -> Vec<u8> {
                SecretKey::generate_from_rng(rng).to_bytes().to_vec()
            }

            pub fn public(private: &[u8]) -> Option<Vec<u8>> {
                let key = SecretKey::from_slice(private).ok()?;
                Some(key.public_key().to_sec1_point(false).as_bytes().to_vec())
            }

            pub fn point(bytes: &[u8], compress: bool) -> Option<Vec<u8>> {
                let key = PublicKey::from_sec1_bytes(bytes).ok()?;
                Some(key.to_sec1_point(compress).as_bytes().to_vec())
            }

            pub fn agree(private: &[u8], public: &[u8]) -> Option<Vec<u8>> {
                let public = PublicKey::from_sec1_bytes(public).ok()?;
                let key = SecretKey::from_slice(private).ok()?;
                Some(key.diffie_hellman(&public).raw_secret_bytes().to_vec())
            }

            pub fn sign(private: &[u8], digest: &[u8]) -> Option<Vec<u8>> {
                let key = SigningKey::from_slice(private).ok()?;
                let signature: Signature = key.sign_prehash(digest).ok()?;
                Some(signature.to_vec())
            }

            pub fn verify(public: &[u8], digest: &[u8], signature: &[u8]) -> Option<()> {
                let key = VerifyingKey::from_sec1_bytes(public).ok()?;
                let signature = Signature::from_slice(signature).ok()?;
                let signature = if $normalize { signature.normalize_s() } else { signature };
                key.verify_prehash(digest, &signature).ok()
            }
        }
    };
}

operations!(p256_, p256, false);
operations!(p384_, p384, false);
operations!(p521_, p521, false);
// OpenSSL makes and takes both forms of a secp256k1 signature, the crate takes the lower one.
operations!(k256_, k256, true);

macro_rules! on {
    ($curve:expr, $operation:ident($($argument:expr),*)) => {
        match $curve {
            Curve::P256 => p256_::$operation($($argument),*),
            Curve::P384 => p384_::$operation($($argument),*),
            Curve::P521 => p521_::$operation($($argument),*),
            Curve::K256 => k256_::$operation($($argument),*),
        }
    };
}

impl Curve {
    /// Its names and sizes.
    pub fn about(self) -> About {
        match self {
            Curve::P256 => About {
                name: "prime256v1",
                jwk: "P-256",
                nist: "P-256",
                oid: &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
                size: 32,
            },
            Curve::P384 => About {
                name: "secp384r1",
                jwk: "P-384",
                nist: "P-384",
                oid: &[0x2b, 0x81, 4, 0, 0x22],
                size: 48,
            },
            Curve::P521 => About {
                name: "secp521r1",
                jwk: "P-521",
                nist: "P-521",
                oid: &[0x2b, 0x81, 4, 0, 0x23],
                size: 66,
            },
            Curve::K256 => About {
                name: "secp256k1",
                jwk: "secp256k1",
                nist: "",
                oid: &[0x2b, 0x81, 4, 0, 0x0a],
                size: 32,
            },
        }
    }

    /// The curve that OpenSSL or NIST calls so.
    pub fn named(name: &str) -> Result<Curve> {
        CURVES
            .into_iter()
            .find(|curve| curve.about().name == name || (!name.is_empty() && curve.about().nist == name))
            .ok_or_else(Failure::invalid_curve)
    }

    /// The curve that JWK calls so.
    pub fn from_jwk(name: &str) -> Result<Curve> {
        CURVES.into_iter().find(|curve| curve.about().jwk == name).ok_or_else(Failure::invalid_curve)
    }

    /// The curve with this object id.
    pub fn from_oid(oid: &[u8]) -> Option<Curve> {
        CURVES.into_iter().find(|curve| curve.about().oid == oid)
    }

    /// A new private scalar.
    pub fn generate(self, rng: &mut chacha20::ChaCha20Rng) -> Vec<u8> {
        on!(self, generate(rng))
    }

    /// A scalar padded to its fixed length; `None` when it is longer.
    pub fn pad(self, scalar: &[u8]) -> Option<Vec<u8>> {
        let zeros = scalar.iter().take_while(|byte| **byte == 0).count();
        let scalar = &scalar[zeros..];
        let room = self.about().size.checked_sub(scalar.len())?;
        Some([&vec![0; room], scalar].concat())
    }

    /// The uncompressed point of a private scalar; `None` when the scalar is out of range.
    pub fn public(self, private: &[u8]) -> Option<Vec<u8>> {
        on!(self, public(private))
    }

    /// A point of this curve in the other form; `None` when it is none.
    pub fn point(self, bytes: &[u8], compress: bool) -> Option<Vec<u8>> {
        // The hybrid form carries the point both ways, and its first byte must agree with the second
        // coordinate.
        if let [first @ (6 | 7), rest @ ..] = bytes {
            if rest.last().is_none_or(|last| last & 1 != first & 1) {
                return None;
            }
            let plain = [&[4], rest].concat();
            return on!(self, point(&plain, compress));
        }
        on!(self, point(bytes, compress))
    }

    /// ECDH; `None` when the point or the scalar is not of this curve.
    pub fn agree(self, private: &[u8], public: &[u8]) -> Option<Vec<u8>> {
        on!(self, agree(private, public))
    }

    /// ECDSA over a digest: `r` and `s`, each of fixed length.
    pub fn sign(self, private: &[u8], digest: &[u8]) -> Option<Vec<u8>> {
        let digest = self.whole_digest(digest);
        on!(self, sign(private, &digest))
    }

    /// Whether `r` and `s` are a signature of this digest.
    pub fn verify(self, public: &[u8], digest: &[u8], signature: &[u8]) -> bool {
        let digest = self.whole_digest(digest);
        on!(self, verify(public, &digest, signature)).is_some()
    }

    /// A digest that is shorter than the curve stands for the same number with zeros before it; the crates
    /// refuse it without them.
    fn whole_digest(self, digest: &[u8]) -> Vec<u8> {
        let room = self.about().size.saturating_sub(digest.len());
        [&vec![0; room], digest].concat()
    }
}

/// Ed25519 or X25519.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edwards {
    /// Signatures.
    Ed25519,
    /// Key agreement.
    X25519,
}

impl Edwards {
    /// Node's name of the key type.
    pub fn name(self) -> &'static str {
        match self {
            Edwards::Ed25519 => "ed25519",
            Edwards::X25519 => "x25519",
        }
    }

    /// JWK's name.
    pub fn jwk(self) -> &'static str {
        match self {
            Edwards::Ed25519 => "Ed25519",
            Edwards::X25519 => "X25519",
        }
    }

    /// The object id in DER, without its tag.
    pub fn oid(self) -> &'static [u8] {
        match self {
            Edwards::Ed25519 => &[0x2b, 0x65, 0x70],
            Edwards::X25519 => &[0x2b, 0x65, 0x6e],
        }
    }

    /// The one that either name means, whatever the case.
    pub fn named(name: &str) -> Option<Edwards> {
        [Edwards::Ed25519, Edwards::X25519].into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The public key of a private one.
    pub fn public(self, private: &[u8; 32]) -> [u8; 32] {
        match self {
            Edwards::Ed25519 => ed25519_dalek::SigningKey::from_bytes(private).verifying_key().to_bytes(),
            Edwards::X25519 => {
                x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(*private)).to_bytes()
            }
        }
    }
}

/// Signs with Ed25519.
pub fn sign_ed25519(private: &[u8; 32], data: &[u8]) -> Vec<u8> {
    use ed25519_dalek::Signer;
    ed25519_dalek::SigningKey::from_bytes(private).sign(data).to_bytes().to_vec()
}

/// Whether this is an Ed25519 signature of the data.
pub fn verify_ed25519(public: &[u8; 32], data: &[u8], signature: &[u8]) -> bool {
    use ed25519_dalek::Verifier;
    let Ok(key) = ed25519_dalek::VerifyingKey::from_bytes(public) else { return false };
    let Ok(signature) = ed25519_dalek::Signature::from_slice(signature) else { return false };
    key.verify(data, &signature).is_ok()
}

/// X25519; `None` when the other's key is a point of small order, which would make the secret known to all.
pub fn agree_x25519(private: &[u8; 32], public: &[u8; 32]) -> Option<Vec<u8>> {
    let secret =
        x25519_dalek::StaticSecret::from(*private).diffie_hellman(&x25519_dalek::PublicKey::from(*public));
    secret.was_contributory().then(|| secret.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::rand_core::SeedableRng;

    #[test]
    fn every_curve_signs_verifies_and_agrees_with_itself() {
        let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
        for curve in CURVES {
            let (left, right) = (curve.generate(&mut rng), curve.generate(&mut rng));
            let (left_public, right_public) =
                (curve.public(&left).expect("in range"), curve.public(&right).expect("in range"));
            assert_eq!(left.len(), curve.about().size);
            assert_eq!(curve.agree(&left, &right_public), curve.agree(&right, &left_public));
            for digest in [&[1u8; 16][..], &[2; 20], &[3; 32], &[4; 64]] {
                let mut signature = curve.sign(&left, digest).expect("a key in range");
                assert!(curve.verify(&left_public, digest, &signature), "{curve:?}");
                assert!(!curve.verify(&right_public, digest, &signature), "{curve:?}");
                signature[5] ^= 1;
                assert!(!curve.verify(&left_public, digest, &signature), "{curve:?}");
            }
            let short = curve.point(&left_public, true).expect("a point");
            assert_eq!(curve.point(&short, false).as_ref(), Some(&left_public));
            let mut hybrid = left_public.clone();
            hybrid[0] = 6 | (hybrid.last().expect("a coordinate") & 1);
            assert_eq!(curve.point(&hybrid, false).as_ref(), Some(&left_public));
            hybrid[0] ^= 1;
            assert_eq!(curve.point(&hybrid, false), None);
            assert_eq!(curve.public(&vec![0; curve.about().size]), None);
            assert_eq!(curve.public(&vec![0xff; curve.about().size]), None);
        }
    }

    #[test]
    fn curve25519_refuses_points_of_small_order() {
        let private = [9u8; 32];
        assert!(agree_x25519(&private, &[0; 32]).is_none());
        let public = Edwards::X25519.public(&[3; 32]);
        assert_eq!(
            agree_x25519(&private, &public),
            agree_x25519(&[3; 32], &Edwards::X25519.public(&private))
        );
        let signature = sign_ed25519(&private, b"data");
        assert!(verify_ed25519(&Edwards::Ed25519.public(&private), b"data", &signature));
        assert!(!verify_ed25519(&Edwards::Ed25519.public(&private), b"date", &signature));
    }
}
