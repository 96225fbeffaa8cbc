//! One object at a time, from the store to a verified value. Nothing is parsed before its signature is verified.

use super::{RejectReason, Rejected, SignedStatement};
use crate::collect::CollectError;
use crate::object;
use crate::plan::Plan;
use crate::segment::{MAX_SEGMENT_BYTES, Segment};
use crate::sign::{MAX_SIGNATURE_BYTES, PublicKey, signer, verify};
use crate::statement::{MAX_STATEMENT_BYTES, Statement};
use crate::store::{ObjectStore, StoreError};

/// Reads objects of a plan.
pub(super) struct Reader<'a> {
    store: &'a dyn ObjectStore,
    plan: &'a Plan,
    id: String,
    keys: Vec<PublicKey>,
    now_unix_s: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        store: &'a dyn ObjectStore,
        plan: &'a Plan,
        now_unix_s: u64,
    ) -> Result<Reader<'a>, CollectError> {
        plan.check()?;
        let keys = plan.worker_keys.iter().map(|line| PublicKey::parse(line));
        Ok(Reader {
            store,
            plan,
            id: plan.id(),
            keys: keys.collect::<Result<_, _>>()?,
            now_unix_s,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn segment(&self, name: &str) -> Result<Segment, Rejected> {
        self.read_segment(name).map_err(rejected(name))
    }

    fn read_segment(&self, name: &str) -> Result<Segment, RejectReason> {
        let hash = self.hash_in(name, ".seg")?;
        let (bytes, _, author) = self.signed(name, MAX_SEGMENT_BYTES)?;
        let mut segment = Segment::parse(&bytes, hash)?;
        self.check_plan(&segment.header.plan, segment.header.element)?;
        if segment.object() != name {
            let expected = segment.object();
            return Err(RejectReason::Name { expected });
        }
        segment.author = author;
        Ok(segment)
    }

    pub(super) fn statement(&self, name: &str) -> Result<SignedStatement, Rejected> {
        self.read_statement(name).map_err(rejected(name))
    }

    fn read_statement(&self, name: &str) -> Result<SignedStatement, RejectReason> {
        self.hash_in(name, ".proof")?;
        let (bytes, signature, author) = self.signed(name, MAX_STATEMENT_BYTES)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| RejectReason::NotText)?;
        let statement = Statement::parse(text)?;
        self.check_plan(&statement.plan, statement.element)?;
        let expected = object::statement(&self.id, &object::name_of(&bytes));
        if expected != name {
            return Err(RejectReason::Name { expected });
        }
        self.check_task(&statement)?;
        Ok(SignedStatement {
            statement,
            signature,
            author,
        })
    }

    /// The hash in an object's name, before anything is fetched.
    fn hash_in<'n>(&self, name: &'n str, ending: &str) -> Result<&'n str, RejectReason> {
        let (expired_unix_s, now_unix_s) = (self.plan.expires_unix_s, self.now_unix_s);
        if now_unix_s >= expired_unix_s {
            return Err(RejectReason::Expired {
                expired_unix_s,
                now_unix_s,
            });
        }
        let stem = name.strip_suffix(ending);
        let hash = stem.and_then(|stem| stem.get(stem.len().checked_sub(64)?..));
        hash.filter(|hash| crate::text::is_hex(hash, 64))
            .ok_or_else(|| RejectReason::Name {
                expected: format!("…HASH{ending}"),
            })
    }

    /// An object, its signature, and the fingerprint of the worker key that it is by.
    fn signed(&self, name: &str, most: usize) -> Result<(Vec<u8>, String, String), RejectReason> {
        let signature = text(self.store, &object::signature(name), MAX_SIGNATURE_BYTES)?;
        let signature = signature.ok_or(RejectReason::Unsigned)?;
        let by = signer(&signature)?;
        let known = self.keys.iter().find(|key| **key == by);
        let key = known.ok_or_else(|| RejectReason::Signer {
            found: by.fingerprint(),
        })?;
        let bytes = self.store.get(name, most)?.ok_or(RejectReason::Gone)?;
        verify(&bytes, &signature, key)?;
        Ok((bytes, signature, key.fingerprint()))
    }

    fn check_plan(&self, plan: &str, element: u32) -> Result<(), RejectReason> {
        if plan != self.id {
            return Err(RejectReason::OtherPlan {
                found: plan.into(),
                expected: self.id.clone(),
            });
        }
        let elements = self.plan.elements.len();
        let found = self.plan.element(element).map(drop);
        found.ok_or(RejectReason::NoElement { element, elements })
    }

    /// A statement must be of something that its element was given.
    fn check_task(&self, said: &Statement) -> Result<(), RejectReason> {
        if said.is_of(self.plan) {
            return Ok(());
        }
        let (kernel, problem, device) = (&said.kernel, &said.problem, &said.device);
        Err(RejectReason::OtherTask {
            element: said.element,
            what: format!("{kernel} on {problem} with {} on {device}", said.config),
        })
    }
}

fn rejected(name: &str) -> impl FnOnce(RejectReason) -> Rejected {
    |why| Rejected {
        name: name.into(),
        why,
    }
}

/// The text of an object; nothing if there is none.
pub(super) fn text(
    store: &dyn ObjectStore,
    name: &str,
    most: usize,
) -> Result<Option<String>, StoreError> {
    let bytes = store.get(name, most)?;
    // What is not UTF-8 is not text of Kiln's: the replaced characters are refused by whoever parses it.
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
