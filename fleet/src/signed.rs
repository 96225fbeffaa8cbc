//! Reads single objects from a store and verifies their signatures. No object is parsed before its signature is
//! verified.

use crate::object;
use crate::reject::RejectReason;
use crate::sign::{MAX_SIGNATURE_BYTES, PublicKey, signer, verify};
use crate::store::{ObjectStore, StoreError};

/// An object with a valid signature.
pub(crate) struct Signed {
    pub bytes: Vec<u8>,
    /// The signature, as it is stored.
    pub signature: String,
    /// The key that created the signature.
    pub key: PublicKey,
}

impl Signed {
    /// Reads and verifies an object of at most `most` bytes. `accept` decides whether the key may sign. If it returns
    /// an error, only the object's signature is fetched, not the object.
    pub fn read(
        store: &dyn ObjectStore,
        name: &str,
        most: usize,
        accept: &dyn Fn(&PublicKey) -> Result<(), RejectReason>,
    ) -> Result<Signed, RejectReason> {
        let signature = text(store, &object::signature(name), MAX_SIGNATURE_BYTES)?;
        let signature = signature.ok_or(RejectReason::Unsigned)?;
        let key = signer(&signature)?;
        accept(&key)?;
        let bytes = store.get(name, most)?.ok_or(RejectReason::Gone)?;
        verify(&bytes, &signature, &key)?;
        Ok(Signed {
            bytes,
            signature,
            key,
        })
    }
}

/// The hash in an object's name. The name must end with 64 hexadecimal digits and `ending`; any other name is an error.
pub(crate) fn hash_in<'n>(name: &'n str, ending: &str) -> Result<&'n str, RejectReason> {
    let stem = name.strip_suffix(ending);
    let hash = stem.and_then(|stem| stem.get(stem.len().checked_sub(64)?..));
    hash.filter(|hash| crate::text::is_hex(hash, 64))
        .ok_or_else(|| RejectReason::Name {
            expected: format!("…HASH{ending}"),
        })
}

/// The text of an object of at most `most` bytes; `None` if the store has no such object.
pub(crate) fn text(
    store: &dyn ObjectStore,
    name: &str,
    most: usize,
) -> Result<Option<String>, StoreError> {
    let bytes = store.get(name, most)?;
    // Kiln writes only UTF-8. If the object is not UTF-8, the replaced bytes make the parser report an error.
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
