//! Names of objects in a store.
//!
//! ```text
//! kiln-fleet/1/plans/PLAN.plan                                  and .plan.sig
//! kiln-fleet/1/seg/PLAN/JOURNAL/FIRST-LAST-NAME.seg             and .seg.sig
//! kiln-fleet/1/proof/PLAN/NAME.proof                            and .proof.sig
//! ```
//! `PLAN` is a plan's identity, or `none` for what is shared without a plan; `JOURNAL` has 16 hexadecimal digits, `FIRST`
//! and `LAST` are the sequence numbers of a segment with 16 decimal digits; `NAME` is the BLAKE3 hash of the object's
//! bytes in 64 hexadecimal digits. Every part is a word of `[a-z0-9._-]`.

/// The folder of everything that this version writes.
pub const ROOT: &str = "kiln-fleet/1";
/// Stands for the plan's identity in the names of segments that belong to no plan.
pub const NO_PLAN: &str = "none";

/// The BLAKE3 hash of bytes, as 64 hexadecimal digits.
pub fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The name of a plan.
pub fn plan(id: &str) -> String {
    format!("{ROOT}/plans/{id}.plan")
}

/// What the names of a plan's segments begin with.
pub fn segments(plan: &str) -> String {
    format!("{ROOT}/seg/{plan}/")
}

/// The name of a segment.
pub fn segment(plan: &str, journal: u64, first: u64, last: u64, name: &str) -> String {
    format!("{ROOT}/seg/{plan}/{journal:016x}/{first:016}-{last:016}-{name}.seg")
}

/// What the names of a plan's statements begin with.
pub fn statements(plan: &str) -> String {
    format!("{ROOT}/proof/{plan}/")
}

/// The name of a statement.
pub fn statement(plan: &str, name: &str) -> String {
    format!("{ROOT}/proof/{plan}/{name}.proof")
}

/// The name of an object's signature.
pub fn signature(object: &str) -> String {
    format!("{object}.sig")
}
