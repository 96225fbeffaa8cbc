//! Attacks by somebody who can write to the store, has a worker's key, or can change a proof. None of them produces a
//! row.
#![allow(clippy::unwrap_used)]

mod samples;

use std::collections::BTreeMap;

use kiln_cache::record::{Confirm, KeptReason, Verdict};
use kiln_cache::{Record, TuningKey, Winner};
use kiln_fleet::collect::{Seen, collect, get_plan, put_plan};
use kiln_fleet::decide::{Decision, decide};
use kiln_fleet::segment::{Header, MAX_SEGMENT_BYTES, Segment};
use kiln_fleet::{Distinct, ObjectStore, Plan, PrivateKey, Stage, fold, object};
use samples::{
    Memory, NOW, collected, continued, element, frames, header, key, observer, plan, problem,
    publish, put, session, winner,
};
use ssh_key::{HashAlg, LineEnding};

/// A store in which an honest worker has proven `A=1` for one task on device 0, and keys that an attacker may have.
struct World {
    store: Memory,
    plan: Plan,
    /// The plan's first worker key.
    worker: PrivateKey,
    /// The plan's second worker key.
    other_worker: PrivateKey,
    /// A key that is not in the plan.
    stranger: PrivateKey,
    /// Name of the honest segment.
    honest: String,
}

fn world(distinct: Distinct) -> World {
    let [worker, other_worker, stranger] = [(); 3].map(|()| PrivateKey::generate().unwrap());
    let plan = Plan {
        distinct,
        ..plan(2, 2, &[&worker, &other_worker])
    };
    let store = Memory::default();
    let honest = publish(&store, &other_worker, &plan, (0, 0), &proof_of("A=1"));
    World {
        store,
        plan,
        worker,
        other_worker,
        stranger,
        honest,
    }
}

fn gemm() -> TuningKey {
    key(0, &problem(0))
}

fn proof_of(config: &str) -> Vec<Record> {
    session(&gemm(), config, Ok(1_500_000))
}

impl World {
    fn bytes(&self, name: &str) -> Vec<u8> {
        self.store.0.lock().unwrap()[name].clone()
    }

    fn insert(&self, name: &str, bytes: &[u8]) {
        self.store
            .0
            .lock()
            .unwrap()
            .insert(name.into(), bytes.into());
    }

    fn signature(&self) -> Vec<u8> {
        self.bytes(&object::signature(&self.honest))
    }

    /// The bytes of a segment with these records of a device.
    fn forged(&self, device: usize, records: &[Record]) -> Vec<u8> {
        let header = header(&self.plan.id(), 0, observer(device), device as u64);
        Segment::build(&header, &frames(device as u64 + 1, records))
            .unwrap()
            .1
    }

    fn name(&self, bytes: &[u8]) -> String {
        Segment::parse(bytes, &object::name_of(bytes))
            .unwrap()
            .object()
    }

    /// Puts a forged segment into the store, under its right name and with a signature.
    fn put_with(&self, bytes: &[u8], signature: &[u8]) {
        let name = self.name(bytes);
        self.insert(&name, bytes);
        self.insert(&object::signature(&name), signature);
    }

    /// The configs that a merge would write as rows.
    fn baked(&self, plan: &Plan, continued: &[Plan], now: u64) -> Vec<String> {
        let mut segments = Vec::new();
        for plan in continued.iter().chain([plan]) {
            segments.extend(
                collect(&self.store, plan, now, &mut Seen::default())
                    .unwrap()
                    .segments,
            );
        }
        let decisions = decide(plan, continued, &fold(&segments)).into_iter();
        let proven = decisions.filter_map(|task| match task.decision {
            Decision::Proven { config, winner, .. } => Some(format!("{config} {}", winner.symbol)),
            _ => None,
        });
        proven.collect()
    }

    /// The bytes of the honest segment with a changed header.
    fn with_header(&self, change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
        let bytes = self.bytes(&self.honest);
        let line = bytes.iter().position(|b| *b == b'\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_slice(&bytes[..line]).unwrap();
        change(&mut header);
        // Keys are sorted again, as in the canonical text.
        let header: BTreeMap<String, serde_json::Value> = serde_json::from_value(header).unwrap();
        let mut text = serde_json::to_vec(&header).unwrap();
        text.extend_from_slice(&bytes[line..]);
        text
    }
}

/// An attack: its name, and its effect on the store.
type Attack = (&'static str, fn(&World));

const WITHOUT_A_KEY: [Attack; 22] = [
    ("an unsigned segment", |w| {
        let bytes = w.forged(1, &proof_of("A=1"));
        w.insert(&w.name(&bytes), &bytes);
    }),
    ("a segment signed by a stranger", |w| {
        put(&w.store, &w.stranger, &w.forged(1, &proof_of("A=1")));
    }),
    ("a foreign signature copied to a forged segment", |w| {
        w.put_with(&w.forged(1, &proof_of("A=1")), &w.signature());
    }),
    ("a worker's signature for another purpose", |w| {
        let bytes = w.forged(1, &proof_of("A=1"));
        let key = ssh_key::PrivateKey::from_openssh(w.worker.to_openssh().unwrap()).unwrap();
        let signature = key.sign("git", HashAlg::Sha512, &bytes).unwrap();
        w.put_with(&bytes, signature.to_pem(LineEnding::LF).unwrap().as_bytes());
    }),
    ("an honest segment under another journal's name", |w| {
        let name = w.honest.replace("0000000000000001/", "0000000000000002/");
        w.insert(&name, &w.bytes(&w.honest));
        w.insert(&object::signature(&name), &w.signature());
    }),
    ("an honest segment under other sequence numbers", |w| {
        let name = w.honest.replace("/0000000000000001-", "/0000000000000000-");
        w.insert(&name, &w.bytes(&w.honest));
        w.insert(&object::signature(&name), &w.signature());
    }),
    ("another device in an honest header", |w| {
        let bytes = w.with_header(|h| h["observer"]["uuid"] = "GPU-1".into());
        w.put_with(&bytes, &w.signature());
    }),
    (
        "another device and host in an honest header, signed by a stranger",
        |w| {
            let bytes =
                w.with_header(|h| h["observer"] = serde_json::json!({"host": "x", "uuid": "y"}));
            put(&w.store, &w.stranger, &bytes);
        },
    ),
    ("another attempt in an honest header", |w| {
        for n in 1..20 {
            let bytes = w.with_header(|h| h["attempt"] = format!("{n:032x}").into());
            w.put_with(&bytes, &w.signature());
        }
    }),
    ("changed bytes under an honest name", |w| {
        w.insert(&w.honest, &w.forged(1, &proof_of("EVIL=1")));
    }),
    ("records appended to an honest segment", |w| {
        let mut bytes = w.bytes(&w.honest);
        bytes.extend(frames(9, &proof_of("EVIL=1")));
        w.insert(&w.honest, &bytes);
    }),
    ("an honest segment cut short", |w| {
        let bytes = w.bytes(&w.honest);
        w.insert(&w.honest, &bytes[..bytes.len() / 2]);
    }),
    ("signatures of two segments swapped", |w| {
        let second = publish(
            &w.store,
            &w.worker,
            &w.plan,
            (1, 1),
            &session(&key(0, &problem(1)), "B=1", Ok(1_500_000)),
        );
        let signature = w.bytes(&object::signature(&second));
        w.insert(&object::signature(&second), &w.signature());
        w.insert(&object::signature(&w.honest), &signature);
    }),
    ("a segment of another plan, by the same worker", |w| {
        let other = continued(&w.plan, vec![element(Stage::Search, 0, &[])]);
        publish(&w.store, &w.worker, &other, (0, 1), &proof_of("A=1"));
    }),
    ("a segment of another plan in this plan's folder", |w| {
        let other = continued(&w.plan, vec![element(Stage::Search, 0, &[])]);
        let name = publish(&w.store, &w.worker, &other, (0, 1), &proof_of("A=1"));
        let copied = name.replace(&other.id(), &w.plan.id());
        w.insert(&copied, &w.bytes(&name));
        w.insert(
            &object::signature(&copied),
            &w.bytes(&object::signature(&name)),
        );
    }),
    ("a segment without a plan in this plan's folder", |w| {
        let header = header(object::NO_PLAN, 0, observer(1), 1);
        let (_, bytes) = Segment::build(&header, &frames(2, &proof_of("A=1"))).unwrap();
        let name = put(&w.store, &w.worker, &bytes);
        let copied = name.replace("/none/", &format!("/{}/", w.plan.id()));
        w.insert(&copied, &bytes);
        w.insert(
            &object::signature(&copied),
            &w.bytes(&object::signature(&name)),
        );
    }),
    ("huge segments", |w| {
        let name = format!(
            "{}0/1-2-{}.seg",
            object::segments(&w.plan.id()),
            "0".repeat(64)
        );
        w.insert(&name, &vec![b'x'; MAX_SEGMENT_BYTES * 2]);
        w.insert(&object::signature(&name), &w.signature());
    }),
    ("huge signatures", |w| {
        let bytes = w.forged(1, &proof_of("A=1"));
        w.put_with(&bytes, &vec![b'A'; 1 << 22]);
    }),
    ("empty and binary signatures", |w| {
        w.put_with(&w.forged(1, &proof_of("A=1")), b"");
        w.put_with(&w.forged(2, &proof_of("A=1")), &[0xff; 100]);
    }),
    ("names that lead elsewhere", |w| {
        let bytes = w.forged(1, &proof_of("A=1"));
        for name in [
            "../../x.seg",
            "x.seg",
            ".seg",
            "\u{1b}[2J.seg",
            "x.sig",
            "ü.seg",
        ] {
            w.insert(&format!("{}{name}", object::segments(&w.plan.id())), &bytes);
        }
    }),
    (
        "a plan with the attacker's key under the plan's name",
        |w| {
            let evil = Plan {
                worker_keys: vec![w.stranger.public().to_openssh().unwrap()],
                ..w.plan.clone()
            };
            w.insert(
                &object::plan(&w.plan.id()),
                evil.to_text().unwrap().as_bytes(),
            );
            w.insert(
                &object::signature(&object::plan(&w.plan.id())),
                b"signature",
            );
            get_plan(&w.store, &w.plan.id()).unwrap_err();
            publish(&w.store, &w.stranger, &evil, (0, 1), &proof_of("A=1"));
        },
    ),
    ("a statement signed by a stranger", |w| {
        let mut winner = winner(&gemm(), "A=1", Ok(1_500_000));
        winner.symbol = "gemm_evil".into();
        let place = samples::place(&w.plan, 0, 1);
        let statement = kiln_fleet::Statement::of(&winner, &place).unwrap();
        statement.publish(&w.store, &w.stranger).unwrap();
        assert_eq!(collected(&w.store, &w.plan).statements.len(), 0);
    }),
];

#[test]
fn whoever_writes_to_the_store_without_a_key_bakes_nothing() {
    for (name, attack) in WITHOUT_A_KEY {
        let world = world(Distinct::Device);
        let before = collected(&world.store, &world.plan);
        assert_eq!((before.segments.len(), before.rejected.len()), (1, 0));
        attack(&world);
        let baked = world.baked(&world.plan, &[], NOW);
        assert_eq!(baked, Vec::<String>::new(), "{name}");
        // At most the honest segment is accepted. Every other object is reported.
        let after = collected(&world.store, &world.plan);
        assert!(after.segments.len() <= 1, "{name}");
        let listed = world
            .store
            .list(&object::segments(&world.plan.id()))
            .unwrap()
            .names;
        let objects = listed.iter().filter(|name| !name.ends_with(".sig")).count();
        let strays = after
            .rejected
            .iter()
            .filter(|r| r.name.ends_with(".sig"))
            .count();
        let statements = after
            .rejected
            .iter()
            .filter(|r| r.name.ends_with(".proof"))
            .count();
        let named = after.segments.len() + after.rejected.len() - strays - statements;
        assert_eq!(named, objects, "{name}: {:?}", after.rejected);
        assert!(
            after.rejected.iter().all(|r| !r.why.to_string().is_empty()),
            "{name}"
        );
    }
}

#[test]
fn nothing_counts_after_the_expiry_whatever_the_workers_clocks_say() {
    let world = world(Distinct::Device);
    publish(
        &world.store,
        &world.worker,
        &world.plan,
        (0, 1),
        &proof_of("A=1"),
    );
    assert_eq!(world.baked(&world.plan, &[], NOW).len(), 1);
    let late = world.plan.expires_unix_s;
    assert_eq!(world.baked(&world.plan, &[], late), Vec::<String>::new());
    let collected = collect(&world.store, &world.plan, late, &mut Seen::default()).unwrap();
    assert_eq!((collected.segments.len(), collected.rejected.len()), (0, 2));
    assert!(collected.rejected[0].why.to_string().contains("expired"));
}

#[test]
fn a_store_that_is_set_back_is_noticed() {
    let world = world(Distinct::Device);
    let mut seen = Seen::default();
    let at = |seen: &mut Seen| {
        collect(&world.store, &world.plan, NOW, seen)
            .unwrap()
            .rollbacks
    };
    assert_eq!(at(&mut seen), []);
    world.store.0.lock().unwrap().remove(&world.honest);
    let rollbacks = at(&mut seen);
    assert_eq!(
        (rollbacks.len(), rollbacks[0].seen, rollbacks[0].found),
        (1, 5, 0)
    );
}

#[test]
fn a_plan_reads_back_from_a_store_with_its_signature() {
    let world = world(Distinct::Device);
    let signature = world
        .stranger
        .sign(world.plan.to_text().unwrap().as_bytes())
        .unwrap();
    put_plan(&world.store, &world.plan, &signature).unwrap();
    let read = get_plan(&world.store, &world.plan.id()).unwrap();
    assert_eq!((read.plan, read.signature), (world.plan, signature));
    get_plan(&world.store, &"0".repeat(64)).unwrap_err();
}

/// Attacks by the holder of the first worker key, in a store that has an honest proof with the second key.
const WITH_ONE_KEY: [Attack; 14] = [
    ("ten devices of its own", |w| {
        for n in 1..=10 {
            put(&w.store, &w.worker, &w.forged(n, &proof_of("EVIL=1")));
        }
    }),
    (
        "the fingerprint of the other key as a property of its device",
        |w| {
            for n in 1..=3 {
                let mut header = header(&w.plan.id(), 0, observer(n), n as u64);
                header
                    .observer
                    .insert("key".into(), w.other_worker.public().fingerprint());
                header
                    .observer
                    .insert("author".into(), w.other_worker.public().fingerprint());
                let frames = frames(n as u64 + 1, &proof_of("EVIL=1"));
                put(
                    &w.store,
                    &w.worker,
                    &Segment::build(&header, &frames).unwrap().1,
                );
            }
        },
    ),
    ("the other domain's device", |w| {
        put(&w.store, &w.worker, &w.forged(0, &proof_of("EVIL=1")));
        put(&w.store, &w.worker, &w.forged(0, &proof_of("A=1")));
    }),
    ("the other domain's journal, continued", |w| {
        let mut records = proof_of("A=1");
        records.extend(proof_of("EVIL=1"));
        let header = header(&w.plan.id(), 0, observer(0), 1);
        let (_, bytes) = Segment::build(&header, &frames(1, &records)).unwrap();
        put(&w.store, &w.worker, &bytes);
    }),
    ("another kind's element", |w| {
        // Element 2 has problem 0 on kind 1.
        let header = header(&w.plan.id(), 2, observer(3), 3);
        let (_, bytes) = Segment::build(&header, &frames(4, &proof_of("A=1"))).unwrap();
        put(&w.store, &w.worker, &bytes);
    }),
    ("another problem's element", |w| {
        let header = header(&w.plan.id(), 1, observer(3), 3);
        let (_, bytes) = Segment::build(&header, &frames(4, &proof_of("A=1"))).unwrap();
        put(&w.store, &w.worker, &bytes);
    }),
    ("an element that there is not", |w| {
        let header = header(&w.plan.id(), 77, observer(3), 3);
        let (_, bytes) = Segment::build(&header, &frames(4, &proof_of("A=1"))).unwrap();
        put(&w.store, &w.worker, &bytes);
    }),
    ("a kind that only claims the name", |w| {
        put(
            &w.store,
            &w.worker,
            &w.forged(3, &session(&key(1, &problem(0)), "A=1", Ok(1_500_000))),
        );
    }),
    ("a proof without its key in clear", |w| {
        put(&w.store, &w.worker, &w.forged(3, &proof_of("A=1")[1..]));
    }),
    ("another driver", |w| {
        let key = samples::key_with(0, &problem(0), "evil");
        for n in 3..9 {
            put(
                &w.store,
                &w.worker,
                &w.forged(n, &session(&key, "EVIL=1", Ok(9_000_000))),
            );
        }
    }),
    ("another symbol for the honest config", |w| {
        let mut evil = winner(&gemm(), "A=1", Ok(1_500_000));
        evil.symbol = "gemm_evil".into();
        put(
            &w.store,
            &w.worker,
            &w.forged(3, &[Record::Key(gemm()), Record::Sealed(evil)]),
        );
    }),
    ("another launch for the honest config", |w| {
        let mut evil = winner(&gemm(), "A=1", Ok(1_500_000));
        evil.plan.grid = [1; 3];
        put(
            &w.store,
            &w.worker,
            &w.forged(3, &[Record::Key(gemm()), Record::Sealed(evil)]),
        );
    }),
    (
        "a refutation of the honest config, and a proof of its own",
        |w| {
            put(
                &w.store,
                &w.worker,
                &w.forged(3, &session(&gemm(), "A=1", Err(KeptReason::NotProven))),
            );
            put(&w.store, &w.worker, &w.forged(4, &proof_of("EVIL=1")));
        },
    ),
    ("sources of another plan", |w| {
        let other = continued(&w.plan, vec![element(Stage::Search, 0, &["A=1", "EVIL=1"])]);
        publish(&w.store, &w.worker, &other, (0, 3), &proof_of("A=1"));
    }),
];

#[test]
fn whoever_has_one_of_two_domains_keys_bakes_nothing_alone() {
    for (name, attack) in WITH_ONE_KEY {
        let world = world(Distinct::Key);
        attack(&world);
        assert_eq!(
            world.baked(&world.plan, &[], NOW),
            Vec::<String>::new(),
            "{name}"
        );
    }
    // Two honest proofs with different keys prove the config.
    let world = world(Distinct::Key);
    put(
        &world.store,
        &world.worker,
        &world.forged(3, &proof_of("A=1")),
    );
    assert_eq!(world.baked(&world.plan, &[], NOW).len(), 1);
}

#[test]
fn records_that_claim_more_than_their_evidence_are_refused() {
    let changes: [fn(&mut Winner); 4] = [
        |w| w.confirm = None,
        |w| {
            w.confirm = w.confirm.map(|c| Confirm {
                wins: c.processes + 1,
                ..c
            });
        },
        |w| {
            w.verdict = Verdict::Proven {
                speedup_ppm: 9_000_000,
                low_ppm: 1_000_000,
                high_ppm: 2_000_000,
            };
        },
        |w| w.symbol = "a\nb".into(),
    ];
    for change in changes {
        let world = world(Distinct::Device);
        let mut evil = winner(&gemm(), "A=1", Ok(1_500_000));
        change(&mut evil);
        // The journal rejects such a record, so the test changes the payload of a frame instead.
        let payload = serde_json::to_string(&Record::Sealed(evil)).unwrap();
        let bytes = samples::raw_segment(&header(&world.plan.id(), 0, observer(3), 3), &payload);
        let (header, name): (Header, _) = (bytes.0, object::name_of(&bytes.1));
        Segment::parse(&bytes.1, &name).unwrap_err();
        let name = object::segment(&header.plan, 9, 1, 1, &name);
        world.insert(&name, &bytes.1);
        let signature = world.worker.sign(&bytes.1).unwrap();
        world.insert(&object::signature(&name), signature.as_bytes());
        assert_eq!(world.baked(&world.plan, &[], NOW), Vec::<String>::new());
        let rejected = collected(&world.store, &world.plan).rejected;
        assert_eq!((rejected.len(), &rejected[0].name), (1, &name));
    }
}

#[test]
fn a_replica_of_another_config_than_was_asked_for_counts_for_neither() {
    let world = world(Distinct::Device);
    let replica = continued(&world.plan, vec![element(Stage::Replicate, 0, &["A=1"]); 2]);
    for n in [1, 2] {
        publish(
            &world.store,
            &world.worker,
            &replica,
            (n - 1, n as usize),
            &proof_of("EVIL=1"),
        );
    }
    let plans = [world.plan.clone()];
    assert_eq!(world.baked(&replica, &plans, NOW), Vec::<String>::new());
    publish(
        &world.store,
        &world.worker,
        &replica,
        (0, 3),
        &proof_of("A=1"),
    );
    assert_eq!(world.baked(&replica, &plans, NOW).len(), 1);
}
