//! What goes wrong in this folder, in Node's words.
//!
//! Programs decide on `error.code`, so each failure carries the code, the class and the text that Node 24
//! (OpenSSL 3) has for it. The texts of OpenSSL begin with `error:` and their number; from those the
//! binding also fills `library` and `reason`.

/// The JavaScript class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `Error`
    Error,
    /// `TypeError`
    Type,
    /// `RangeError`
    Range,
}

/// One failure of a cryptographic operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class of the error that JavaScript gets.
    pub class: Class,
    /// Its `code`; empty when Node gives none.
    pub code: &'static str,
    /// Its message.
    pub message: String,
}

/// The result of everything in this folder.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with its own class.
    pub fn new(class: Class, code: &'static str, message: impl Into<String>) -> Failure {
        Failure { class, code, message: message.into() }
    }

    /// A failure that OpenSSL words.
    pub fn openssl(code: &'static str, message: &'static str) -> Failure {
        Failure::new(Class::Error, code, message)
    }

    /// A digest that is not one of ours.
    pub fn invalid_digest(name: &str) -> Failure {
        Failure::new(Class::Type, "ERR_CRYPTO_INVALID_DIGEST", format!("Invalid digest: {name}"))
    }

    /// A cipher text whose padding is wrong, which is what a wrong key looks like.
    pub fn bad_decrypt() -> Failure {
        Failure::openssl("ERR_OSSL_BAD_DECRYPT", "error:1C800064:Provider routines::bad decrypt")
    }

    /// Bytes that are no key in the form they claim to be.
    pub fn bad_key() -> Failure {
        Failure::openssl("ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported")
    }

    /// DER that ends too early or has another tag than expected.
    pub fn bad_der() -> Failure {
        Failure::openssl("ERR_OSSL_ASN1_WRONG_TAG", "error:068000A8:asn1 encoding routines::wrong tag")
    }

    /// A curve that is not one of ours.
    pub fn invalid_curve() -> Failure {
        Failure::new(Class::Type, "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name")
    }

    /// Something that Node has and a run has not.
    pub fn unavailable(what: &str) -> Failure {
        Failure::new(
            Class::Error,
            "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
            format!("{what} is not available inside a run"),
        )
    }
}
