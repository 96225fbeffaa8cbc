use super::*;
use crate::samples;
use crate::sign::PrivateKey;

fn sample() -> Plan {
    let worker = PrivateKey::generate().unwrap();
    samples::plan(2, 3, &[&worker])
}

/// A change that makes a valid plan invalid, and its description.
type Change = (&'static str, fn(&mut Plan));

#[test]
fn a_plan_reads_back_from_its_only_text() {
    let plan = sample();
    let text = plan.to_text().unwrap();
    assert_eq!(Plan::parse(&text).unwrap(), plan);
    assert_eq!(
        plan.id(),
        blake3::hash(text.as_bytes()).to_hex().to_string()
    );
    for other in [
        text.trim_end().to_owned(),
        format!("{text}\n"),
        text.replace(",\"created", ", \"created"),
        text.replacen('{', "{\"more\":1,", 1),
    ] {
        assert!(matches!(Plan::parse(&other), Err(PlanError::Form { .. })));
    }
    assert!(matches!(Plan::parse("{}"), Err(PlanError::Form { .. })));
    let newer = text.replace("\"schema\":1,", "\"schema\":2,");
    let error = Plan::parse(&newer).unwrap_err().to_string();
    assert!(
        error.contains("schema 2, but this version reads schema 1\nhelp: "),
        "{error}"
    );
}

#[test]
fn every_field_is_checked() {
    let changes: [Change; 21] = [
        ("schema", |p| p.schema = 9),
        ("replicas", |p| p.replicas = 0),
        ("replicas", |p| p.replicas = 1000),
        ("claims", |p| p.claims = 0),
        ("shards", |p| p.shards = 0),
        ("expiry", |p| p.expires_unix_s = p.created_unix_s),
        ("package", |p| p.package = "a\nb".into()),
        ("package", |p| p.package = String::new()),
        ("strategy", |p| p.settings.strategy = "x".repeat(5000)),
        ("kinds", |p| p.kinds.clear()),
        ("kind", |p| p.kinds[0].device = "\u{7}".into()),
        ("kind", |p| p.kinds[1].name = p.kinds[0].name.clone()),
        ("kernel", |p| p.kernels.push(p.kernels[0].clone())),
        ("spec", |p| p.kernels[0].spec = "A".repeat(32)),
        ("kernel", |p| p.elements[0].tasks[0].kernel = "other".into()),
        ("element", |p| p.elements[0].kind = 2),
        ("shard", |p| p.elements[0].shard = 1),
        ("tasks", |p| p.elements[0].tasks.clear()),
        ("task", |p| {
            let task = p.elements[0].tasks[0].clone();
            p.elements[0].tasks.push(task);
        }),
        ("worker key", |p| {
            p.worker_keys = vec!["ssh-ed25519 AAAA".into()]
        }),
        ("previous", |p| p.previous = Some("none".into())),
    ];
    for (field, change) in changes {
        let mut plan = sample();
        change(&mut plan);
        let error = plan.to_text().unwrap_err().to_string();
        assert!(
            error.contains(field) && error.contains("help: "),
            "{field}: {error}"
        );
    }
}

#[test]
fn a_kind_is_the_start_of_a_device_by_whole_parts() {
    let kind = |device: &str| Kind {
        name: "kind".into(),
        device: device.into(),
    };
    for (start, device, covers) in [
        ("cuda/sm_8", "cuda/sm_89/NVIDIA L4", false),
        ("cuda/sm_89", "cuda/sm_89/NVIDIA L4", true),
        ("cuda", "cuda/sm_89/NVIDIA L4", true),
        ("cud", "cuda/sm_89/NVIDIA L4", false),
        ("cuda/sm_89/NVIDIA L4", "cuda/sm_89/NVIDIA L40", false),
        ("cuda/sm_89/NVIDIA L4", "cuda/sm_89/NVIDIA L4", true),
        ("cuda/sm_89/A/B", "cuda/sm_89/A/B", true),
        ("cuda/sm_89/A", "cuda/sm_89/A/B", false),
        ("cpu", "cuda/sm_89/NVIDIA L4", false),
    ] {
        assert_eq!(kind(start).covers(device), covers, "{start} {device}");
    }
}

#[test]
fn tasks_are_packed_by_kind_and_shard() {
    let task = |n: usize| TaskRef {
        kernel: "gemm".into(),
        problem: samples::problem(n),
        configs: Vec::new(),
    };
    let tasks: Vec<TaskRef> = (0..5).map(task).collect();
    let elements = pack(Stage::Search, 2, &tasks, 3, 2);
    assert_eq!(elements.len(), 2 * 3 * 3);
    let sizes: Vec<_> = elements
        .iter()
        .map(|e| (e.kind, e.shard, e.tasks.len()))
        .collect();
    assert_eq!(sizes[..4], [(0, 0, 2), (0, 0, 2), (0, 0, 1), (0, 1, 2)]);
    assert_eq!(pack(Stage::Search, 1, &tasks, 1, 0).len(), 5);
}
