//! The names of objects in a store.
//!
//! ```text
//! kiln-fleet/1/plans/PLAN.plan                                  and .plan.sig
//! kiln-fleet/1/seg/PLAN/JOURNAL/FIRST-LAST-NAME.seg             and .seg.sig
//! kiln-fleet/1/proof/PLAN/NAME.proof                            and .proof.sig
//! ```
//! `PLAN` is the identity of a plan, or `none` for segments that are shared without a plan. `JOURNAL` is the identity
//! of a journal as 16 hexadecimal digits. `FIRST` and `LAST` are the first and last sequence number of a segment as 16
//! decimal digits. `NAME` is the BLAKE3 hash of the object's bytes as 64 hexadecimal digits. Each part of a name has
//! only the characters `[a-z0-9._-]`.

/// The folder of all objects that this version of Kiln writes.
pub const ROOT: &str = "kiln-fleet/1";
/// Replaces the plan's identity in the names of segments that belong to no plan.
pub const NO_PLAN: &str = "none";

/// The BLAKE3 hash of bytes, as 64 hexadecimal digits.
pub fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The name of the plan with the identity `id`.
pub fn plan(id: &str) -> String {
    format!("{ROOT}/plans/{id}.plan")
}

/// The prefix of the names of a plan's segments.
pub fn segments(plan: &str) -> String {
    format!("{ROOT}/seg/{plan}/")
}

/// The name of a segment with the records `first` to `last` of a journal. `name` is the hash of its bytes.
pub fn segment(plan: &str, journal: u64, first: u64, last: u64, name: &str) -> String {
    format!("{ROOT}/seg/{plan}/{journal:016x}/{first:016}-{last:016}-{name}.seg")
}

/// The prefix of the names of a plan's statements.
pub fn statements(plan: &str) -> String {
    format!("{ROOT}/proof/{plan}/")
}

/// The name of a statement. `name` is the hash of its bytes.
pub fn statement(plan: &str, name: &str) -> String {
    format!("{ROOT}/proof/{plan}/{name}.proof")
}

/// The name of the signature of the object with the name `object`.
pub fn signature(object: &str) -> String {
    format!("{object}.sig")
}
