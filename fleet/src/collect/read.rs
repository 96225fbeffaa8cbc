//! Reads and verifies the objects of a plan.

use super::{Rejected, SignedStatement};
use crate::collect::CollectError;
use crate::object;
use crate::plan::Plan;
use crate::reject::RejectReason;
use crate::segment::{MAX_SEGMENT_BYTES, Segment};
use crate::sign::PublicKey;
use crate::signed::{Signed, hash_in};
use crate::statement::{MAX_STATEMENT_BYTES, Statement};
use crate::store::ObjectStore;

/// Reads and verifies the objects of one plan.
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
        let hash = self.current_hash_in(name, ".seg")?;
        let signed = self.signed(name, MAX_SEGMENT_BYTES)?;
        let mut segment = Segment::parse(&signed.bytes, hash)?;
        self.check_plan(&segment.header.plan, segment.header.element)?;
        if segment.object() != name {
            let expected = segment.object();
            return Err(RejectReason::Name { expected });
        }
        segment.author = signed.key.fingerprint();
        Ok(segment)
    }

    pub(super) fn statement(&self, name: &str) -> Result<SignedStatement, Rejected> {
        self.read_statement(name).map_err(rejected(name))
    }

    fn read_statement(&self, name: &str) -> Result<SignedStatement, RejectReason> {
        self.current_hash_in(name, ".proof")?;
        let Signed {
            bytes,
            signature,
            key,
        } = self.signed(name, MAX_STATEMENT_BYTES)?;
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
            author: key.fingerprint(),
        })
    }

    /// Returns the hash in an object's name. Returns an error if the plan has expired, so no object of an expired plan
    /// is fetched.
    fn current_hash_in<'n>(&self, name: &'n str, ending: &str) -> Result<&'n str, RejectReason> {
        let (expired_unix_s, now_unix_s) = (self.plan.expires_unix_s, self.now_unix_s);
        if now_unix_s >= expired_unix_s {
            return Err(RejectReason::Expired {
                expired_unix_s,
                now_unix_s,
            });
        }
        hash_in(name, ending)
    }

    /// Reads an object that one of the plan's workers signed.
    fn signed(&self, name: &str, most: usize) -> Result<Signed, RejectReason> {
        Signed::read(self.store, name, most, &|key| {
            let known = self.keys.contains(key).then_some(());
            known.ok_or_else(|| RejectReason::Signer {
                found: key.fingerprint(),
            })
        })
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

    /// Returns an error if the statement does not match its element.
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
