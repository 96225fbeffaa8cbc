use super::*;
use crate::collect::{SignedPlan, SignedStatement};
use crate::plan::{Distinct, Stage};
use crate::samples::{NOW, continued, device, element, key, place, plan, problem, winner};
use crate::sign::{AllowedSigners, PrivateKey};
use crate::{Plan, PublicKey};

/// A person, two workers, a plan with two problems, and statements by two devices and two keys about problem 0.
struct World {
    person: PrivateKey,
    workers: [PrivateKey; 2],
    plan: Plan,
}

fn world() -> World {
    let [person, one, two] = [(); 3].map(|()| PrivateKey::generate().unwrap());
    let plan = Plan {
        distinct: Distinct::Key,
        ..plan(1, 2, &[&one, &two])
    };
    World {
        person,
        workers: [one, two],
        plan,
    }
}

fn allowed(key: &PublicKey, options: &str) -> AllowedSigners {
    let line = format!("ana {options} {}\n", key.to_openssh().unwrap());
    AllowedSigners::parse(&line).unwrap()
}

fn row() -> RowClaim {
    let winner = winner(&key(0, &problem(0)), "A=1", Ok(1_100_000));
    RowClaim {
        device: device(0).to_string(),
        problem: problem(0),
        config: "A=1".into(),
        symbol: winner.symbol,
    }
}

impl World {
    fn signed_plan(&self) -> SignedPlan {
        let text = self.plan.to_text().unwrap();
        SignedPlan {
            signature: self.person.sign(text.as_bytes()).unwrap(),
            plan: self.plan.clone(),
            text,
        }
    }

    fn statement(&self, device: usize, worker: &PrivateKey) -> SignedStatement {
        self.changed(device, worker, |_| {})
    }

    fn changed(
        &self,
        device: usize,
        worker: &PrivateKey,
        change: impl FnOnce(&mut Statement),
    ) -> SignedStatement {
        let winner = winner(&key(0, &problem(0)), "A=1", Ok(1_100_000));
        let mut statement = Statement::of(&winner, &place(&self.plan, 0, device)).unwrap();
        change(&mut statement);
        let text = statement.to_text().unwrap();
        SignedStatement {
            signature: worker.sign(text.as_bytes()).unwrap(),
            author: worker.public().fingerprint(),
            statement,
        }
    }

    fn proof(&self, statements: &[SignedStatement]) -> Proof {
        let mut proof = Proof::new("gemm");
        let plan = self.signed_plan();
        proof.add_plan(&plan.plan, &plan.signature).unwrap();
        for signed in statements {
            proof
                .add_statement(&signed.statement, &signed.signature)
                .unwrap();
        }
        proof
    }

    fn honest(&self) -> [SignedStatement; 2] {
        [0, 1].map(|n| self.statement(n, &self.workers[n]))
    }

    fn problems(&self, proof: &Proof) -> Vec<ProofProblem> {
        self.problems_of(proof, &[row()])
    }

    fn problems_of(&self, proof: &Proof, rows: &[RowClaim]) -> Vec<ProofProblem> {
        let signers = allowed(&self.person.public(), "namespaces=\"kiln-fleet\"");
        check("gemm", &proof.to_text(), rows, &signers, 2, NOW)
    }
}

#[test]
fn a_row_with_two_signed_statements_is_borne_out_and_the_text_reads_back() {
    let world = world();
    let proof = world.proof(&world.honest());
    assert_eq!(Proof::parse(&proof.to_text()).unwrap(), proof);
    let problems = world.problems(&proof);
    assert!(problems.is_empty(), "{problems:?}");
    let rows = [row()];
    let made = Proof::of_rows("gemm", &rows, &[world.signed_plan()], &world.honest()).unwrap();
    assert_eq!(made, proof);
    let mut kept = Proof::new("gemm");
    kept.keep(&proof, &rows).unwrap();
    assert_eq!(kept, proof);
    let other = RowClaim {
        config: "B=1".into(),
        ..row()
    };
    let made = Proof::of_rows("gemm", &[other], &[world.signed_plan()], &world.honest()).unwrap();
    assert!(made.is_empty());
}

#[test]
fn a_row_without_its_own_statements_is_a_problem() {
    let world = world();
    let proof = world.proof(&world.honest());
    let changes: [fn(&mut RowClaim); 4] = [
        |row| row.device = device(1).to_string(),
        |row| row.problem = problem(1),
        |row| row.config = "B=1".into(),
        |row| row.symbol = "gemm_0".into(),
    ];
    for change in changes {
        let mut row = row();
        change(&mut row);
        let problems = world.problems_of(&proof, &[row]);
        assert!(
            matches!(
                problems[..],
                [ProofProblem::TooFew {
                    have: 0,
                    wanted: 2,
                    ..
                }]
            ),
            "{problems:?}"
        );
    }
    let one = world.proof(&world.honest()[..1]);
    assert!(matches!(
        world.problems(&one)[..],
        [ProofProblem::TooFew { have: 1, .. }]
    ));
}

#[test]
fn one_device_or_one_key_twice_is_one_observer() {
    let world = world();
    let [one, two] = &world.workers;
    for statements in [
        [
            world.statement(0, one),
            world.changed(0, one, |s| s.series = 1),
        ],
        [world.statement(0, one), world.statement(0, two)],
        [world.statement(0, one), world.statement(1, one)],
        // Observers with two different drivers are not added up.
        [
            world.statement(0, one),
            world.changed(1, two, |s| s.key = "0".repeat(32)),
        ],
    ] {
        let problems = world.problems(&world.proof(&statements));
        assert!(
            matches!(problems[..], [ProofProblem::TooFew { have: 1, .. }]),
            "{problems:?}"
        );
    }
}

#[test]
fn statements_that_were_forged_or_moved_are_named() {
    let world = world();
    let stranger = PrivateKey::generate().unwrap();
    let two = &world.workers[1];
    let [first, second] = world.honest();
    let swapped = |from: &SignedStatement, change: fn(&mut Statement)| {
        let mut moved = from.clone();
        change(&mut moved.statement);
        moved
    };
    let mut other_plan = world.statement(1, two);
    other_plan.statement.plan = "0".repeat(64);
    let mut signature_of_other = second.clone();
    signature_of_other.signature = first.signature.clone();
    for forged in [
        world.statement(1, &stranger),
        swapped(&second, |s| s.problem = problem(1)),
        swapped(&second, |s| s.kernel = "other".into()),
        swapped(&second, |s| s.config = "B=1".into()),
        swapped(&second, |s| s.symbol = "gemm_0".into()),
        swapped(&second, |s| s.speedup_ppm += 1),
        swapped(&second, |s| {
            drop(s.observer.insert("uuid".into(), "x".into()))
        }),
        world.changed(1, two, |s| s.element = 1),
        world.changed(1, two, |s| s.element = 99),
        world.changed(1, two, |s| s.device = "fake/fake/Other".into()),
        other_plan,
        signature_of_other,
    ] {
        let problems = world.problems(&world.proof(&[first.clone(), forged]));
        let too_few = |p: &&ProofProblem| matches!(p, ProofProblem::TooFew { have: 1, .. });
        assert_eq!(problems.iter().filter(too_few).count(), 1, "{problems:?}");
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}

#[test]
fn a_config_that_an_element_was_not_given_is_named() {
    let mut world = world();
    let elements = vec![element(Stage::Replicate, 0, &["B=1"])];
    world.plan = continued(&world.plan, elements);
    let problems = world.problems(&world.proof(&world.honest()));
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(matches!(
        problems[0],
        ProofProblem::OtherTask { element: 0, .. }
    ));
}

#[test]
fn a_plan_must_be_signed_by_somebody_who_may() {
    let world = world();
    let proof = world.proof(&world.honest()).to_text();
    let person = world.person.public();
    let stranger = PrivateKey::generate().unwrap().public();
    let good = |signers: &AllowedSigners| {
        let problems = check("gemm", &proof, &[row()], signers, 2, NOW);
        problems.is_empty()
    };
    assert!(good(&allowed(&person, "")));
    assert!(!good(&allowed(&stranger, "")));
    assert!(!good(&allowed(&person, "namespaces=\"git\"")));
    assert!(!good(&allowed(&person, "valid-before=\"20200101\"")));
    assert!(!good(&AllowedSigners::default()));
    // A plan that a worker signed is not accepted.
    let mut by_worker = Proof::new("gemm");
    let text = world.plan.to_text().unwrap();
    let signature = world.workers[0].sign(text.as_bytes()).unwrap();
    by_worker.add_plan(&world.plan, &signature).unwrap();
    for signed in world.honest() {
        by_worker
            .add_statement(&signed.statement, &signed.signature)
            .unwrap();
    }
    let problems = world.problems(&by_worker);
    assert!(
        matches!(problems[0], ProofProblem::PlanSigner { .. }),
        "{problems:?}"
    );
    // The signature is of other bytes.
    let mut other = Proof::new("gemm");
    other
        .add_plan(&world.plan, &world.person.sign(b"other").unwrap())
        .unwrap();
    let problems = world.problems_of(&other, &[]);
    assert!(
        matches!(problems[..], [ProofProblem::PlanSignature { .. }]),
        "{problems:?}"
    );
}

#[test]
fn a_proof_of_another_kernel_or_of_any_text_is_a_problem() {
    let world = world();
    let signers = allowed(&world.person.public(), "");
    let text = world.proof(&world.honest()).to_text();
    let problems = check("other", &text, &[], &signers, 2, NOW);
    assert!(
        matches!(problems[..], [ProofProblem::Kernel { .. }]),
        "{problems:?}"
    );
    let line = text.lines().nth(2).unwrap();
    for bad in [
        String::new(),
        "kiln proof 2\nkernel gemm\n".into(),
        "kiln proof 1\n".into(),
        text.replace("signature ", "sign "),
        text.replacen(line, "plan {}", 1),
        text.replacen("statement {", "statement  {", 1),
        text[..text.len() / 2].into(),
    ] {
        let problems = check("gemm", &bad, &[row()], &signers, 2, NOW);
        assert!(!problems.is_empty(), "{bad}");
        assert!(
            problems.iter().all(|p| p.to_string().contains("help: ")),
            "{problems:?}"
        );
    }
}

#[test]
fn every_flipped_bit_of_a_proof_is_a_problem() {
    let world = world();
    let text = world.proof(&world.honest()).to_text();
    let signers = allowed(&world.person.public(), "");
    let mut random = crate::samples::Random(9);
    for _ in 0..crate::samples::cases(100, 1000) {
        let at = random.below(text.len() as u64) as usize;
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1 << random.below(7);
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        let problems = check("gemm", &changed, &[row()], &signers, 2, NOW);
        // Line ends, and white space at the end of a signature, have no meaning.
        let same = Proof::parse(&changed).is_ok_and(|proof| proof == Proof::parse(&text).unwrap());
        let blank = changed.as_bytes()[at].is_ascii_whitespace();
        assert!(!problems.is_empty() || same || blank, "byte {at}");
    }
}
