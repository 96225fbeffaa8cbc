//! The keys of the store as text: the kind of entry, then its identity.

use kiln_spec::Hash;

use crate::record::{ConfirmProcess, TrialId};

pub fn run(run: u64) -> String {
    format!("run/{run:016x}")
}

pub fn key(key: Hash) -> String {
    format!("key/{key}")
}

pub fn trials(key: Hash) -> String {
    format!("trial/{key}/")
}

pub fn trial(id: &TrialId) -> String {
    format!("trial/{}/{}", id.key, id.config_hash())
}

pub fn all_strikes(key: Hash) -> String {
    format!("strike/{key}/")
}

pub fn strikes(id: &TrialId) -> String {
    format!("strike/{}/{}", id.key, id.config_hash())
}

pub fn all_confirms(key: Hash) -> String {
    format!("confirm/{key}/")
}

pub fn confirms(id: &TrialId) -> String {
    format!("confirm/{}/{}/", id.key, id.config_hash())
}

pub fn confirm(process: &ConfirmProcess) -> String {
    let id = TrialId {
        key: process.key,
        config: process.config.clone(),
    };
    let (series, process) = (process.series, process.process);
    format!("{}{series:016x}/{process:08x}", confirms(&id))
}

pub fn winner(key: Hash) -> String {
    format!("winner/{key}")
}

pub fn done(key: Hash) -> String {
    format!("done/{key}")
}
