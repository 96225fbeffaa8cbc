//! Tests of the pages of runs, which are parsed as browsers parse them.

mod samples;

use kiln_cache::Outcome;
use kiln_cache::record::Verdict;
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

use self::samples::{KEPT, PROVEN, SampleCache, failure, measured, spent, trials};
use super::{
    CurveFigures, Records, RunFigures, RunSelector, curves_page, page, plan_page, profiles_page,
};
use kiln_exchange::curves::{Curves, SearchRun};
use kiln_exchange::fleet::PlanStatus;
use kiln_exchange::profiles::ProfileRow;
use kiln_exchange::recording::RecordedTrial;

fn select<'p>(page: &'p Html, selector: &str) -> Vec<ElementRef<'p>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    let elements = select(page, selector);
    elements
        .iter()
        .map(|element| element.text().collect())
        .collect()
}

/// The page of a run, parsed and checked.
fn sound(figures: &RunFigures) -> Html {
    checked(&page(figures))
}

/// Parses a page, and checks the properties that every page must have: it is well formed, refers to no other file, and
/// has no script except its own.
fn checked(text: &str) -> Html {
    let html = Html::parse_document(text);
    assert_eq!(html.errors, Vec::<std::borrow::Cow<'static, str>>::new());
    let scripts = select(&html, "script");
    assert_eq!(scripts.len(), 1, "one script, the page's own");
    assert_eq!(
        scripts[0].text().collect::<String>(),
        include_str!("../sort.js")
    );
    let style: String = texts(&html, "style").concat();
    for outside in ["url(", "@import", "http:", "https:"] {
        assert!(!style.contains(outside) && !include_str!("../sort.js").contains(outside));
    }
    let elements = select(
        &html,
        "link, img, iframe, object, embed, form, base, audio, video, image, use, foreignObject",
    );
    assert!(elements.is_empty(), "{elements:?}");
    for element in select(&html, "*") {
        for (name, value) in element.value().attrs() {
            assert!(
                !name.starts_with("on") && name != "src" && name != "style",
                "{name}={value}"
            );
            assert!(
                !name.ends_with("href") || value.starts_with('#'),
                "{name}={value}"
            );
            assert!(!name.starts_with("xmlns"), "{name}={value}");
        }
    }
    for link in select(&html, "a") {
        let to = link.attr("href").unwrap().trim_start_matches('#');
        assert_eq!(select(&html, &format!("[id='{to}']")).len(), 1, "{to}");
    }
    for number in select(&html, "svg *") {
        let attrs = number.value().attrs();
        assert!(
            attrs
                .into_iter()
                .all(|(_, value)| !value.contains("NaN") && !value.contains("inf"))
        );
    }
    html
}

#[test]
fn a_page_of_a_plain_run_is_well_formed_and_needs_nothing_else() {
    let sample = SampleCache::new();
    let run = sample.run("gemm", &trials(200), Some(PROVEN));
    let figures = sample.figures(run);
    let page = sound(&figures);
    assert_eq!(texts(&page, "h1"), ["Run 1"]);
    assert_eq!(
        texts(&page, "p.verdict"),
        ["proven 1.10× the baseline [1.05, 1.20]"]
    );
    let policy = select(&page, "meta[http-equiv]")[0]
        .attr("content")
        .unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(
        select(&page, "svg")
            .iter()
            .all(|svg| svg.attr("aria-label").is_some())
    );
}

#[test]
fn runs_with_little_in_them_render() {
    let sample = SampleCache::new();
    let nothing = sample.run("nothing", &[], Some(KEPT));
    let one = sample.run("one", &[("A=1".into(), measured(5000))], Some(KEPT));
    let without_parameters = sample.run("plain", &[(String::new(), measured(5000))], None);
    let failures: Vec<_> = (0..12).map(|n| (format!("A={n}"), failure(n))).collect();
    let none_valid = sample.run("broken", &failures, None);
    let same: Vec<_> = (0..30).map(|n| (format!("A={n}"), measured(700))).collect();
    let all_alike = sample.run("alike", &same, Some(KEPT));
    let zero: Vec<_> = (0..3)
        .map(|n| {
            (
                format!("A={n}"),
                Outcome::Measured(kiln_cache::Summary {
                    samples: 0,
                    median_ns: 0,
                    min_ns: 0,
                    ratio_ppm: Some(0),
                }),
            )
        })
        .collect();
    let no_time_at_all = sample.run("zero", &zero, None);
    for run in [
        nothing,
        one,
        without_parameters,
        none_valid,
        all_alike,
        no_time_at_all,
    ] {
        sound(&sample.figures(run));
    }
    let says = |run: u64, text: &str| {
        let page = sound(&sample.figures(run));
        let said = texts(&page, ".none");
        assert!(said.iter().any(|said| said.contains(text)), "{said:?}");
    };
    says(nothing, "No config was tried");
    says(one, "Too few valid trials to tell: 1,");
    says(none_valid, "No config was valid");
    says(all_alike, "Cannot be told");
}

#[test]
fn a_run_that_was_cut_off_shows_what_is_on_disk() {
    let sample = SampleCache::new();
    let run = sample.begin("gemm", &trials(40));
    let figures = sample.figures(run);
    assert!(!figures.ended && figures.elapsed_ns.is_none());
    assert_eq!(figures.tasks[0].convergence.points.len(), 40);
    assert!(sound(&figures).html().contains("was cut off"));
}

#[test]
fn a_run_of_an_earlier_version_shows_all_but_the_curves() {
    let sample = SampleCache::new();
    let run = sample.cache().start_run("0.0.9", 1_600_000_000, 1).unwrap();
    sample.store("gemm", None, &trials(60));
    sample.cache().end_run(run, 1_600_000_060).unwrap();
    let figures = sample.figures(run);
    let task = &figures.tasks[0];
    assert_eq!(
        (task.trials, task.earlier_trials, figures.elapsed_ns),
        (0, 60, Some(60_000_000_000))
    );
    assert!(task.convergence.points.is_empty() && !task.best.is_empty());
    let page = sound(&figures);
    assert!(texts(&page, ".warn")[0].contains("earlier version"));
}

#[test]
fn a_later_run_begins_its_curve_with_the_best_of_the_earlier_and_an_earlier_one_stays_as_it_was() {
    let sample = SampleCache::new();
    let first = sample.run(
        "gemm",
        &[
            ("A=1".into(), measured(9000)),
            ("A=2".into(), measured(7000)),
        ],
        Some(KEPT),
    );
    let before = sample.figures(first);
    let second = sample.run(
        "gemm",
        &[
            ("A=3".into(), measured(8000)),
            ("A=4".into(), measured(4000)),
        ],
        Some(PROVEN),
    );
    let task = &sample.figures(second).tasks[0];
    assert_eq!((task.trials, task.earlier_trials), (2, 2));
    assert_eq!(task.convergence.before_ns, Some(7000));
    let best: Vec<_> = task
        .convergence
        .points
        .iter()
        .map(|point| point.best_ns)
        .collect();
    assert_eq!(best, [Some(7000), Some(4000)]);
    let json = |figures: &RunFigures| serde_json::to_value(figures).unwrap();
    assert_eq!(json(&sample.figures(first)), json(&before));
}

#[test]
fn hostile_names_are_text_and_nothing_else() {
    let kernel = "</title></style><script>alert(1)</script>";
    let values = [
        "\"><img src=x onerror=alert(1)>",
        "'/><svg onload=alert(2)>",
        "</script><!--",
        "&lt;b&gt;",
        "javascript:alert(3)",
        "]]>",
    ];
    let mut hostile: Vec<_> = values
        .iter()
        .zip(1..)
        .map(|(value, n)| (format!("<b>A</b>={value}"), measured(1000 * n)))
        .collect();
    let text = "<iframe src=http://example.org></iframe>";
    hostile.push((
        "A=1".into(),
        Outcome::LaunchRefused {
            reason: text.into(),
        },
    ));
    let sample = SampleCache::new();
    let run = sample.run(kernel, &hostile, Some(PROVEN));
    let page = sound(&sample.figures(run));
    let body: String = select(&page, "body")[0].text().collect();
    for shown in values
        .iter()
        .chain([&kernel, &text, &"<b>A</b>", &"a <machine>"])
    {
        assert!(body.contains(shown), "{shown} is not shown as it is");
    }
    assert!(select(&page, "main b").is_empty());
}

/// The sort keys of the selected table cells.
fn numbers(page: &Html, selector: &str) -> Vec<String> {
    let cells = select(page, selector);
    cells
        .iter()
        .map(|cell| cell.attr("data-v").unwrap().to_owned())
        .collect()
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one page is compared with one document"
)]
fn the_page_and_the_json_say_the_same() {
    let sample = SampleCache::new();
    let run = sample.run("gemm", &trials(340), Some(PROVEN));
    let figures = sample.figures(run);
    let page = sound(&figures);
    let json: Value = serde_json::from_str(&serde_json::to_string(&figures).unwrap()).unwrap();
    let task = &json["tasks"][0];
    let strings = |list: &Value, field: &str| -> Vec<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|entry| entry[field].to_string())
            .collect()
    };
    assert_eq!(
        numbers(&page, ".task table.sortable tbody td:nth-child(2)"),
        strings(&task["best"], "median_ns")
    );
    assert_eq!(
        numbers(&page, ".task table.sortable tbody td:nth-child(3)"),
        strings(&task["best"], "min_ns")
    );
    assert_eq!(
        texts(&page, ".task table:not(.sortable) td:nth-child(2)"),
        strings(&task["outcomes"], "count")
    );
    let phases = [
        "strategy_ns",
        "compile_ns",
        "verify_ns",
        "race_ns",
        "confirm_ns",
    ];
    let phases: Vec<String> = phases
        .iter()
        .map(|phase| json["spent"][phase].to_string())
        .collect();
    assert_eq!(numbers(&page, "tfoot td[data-v]")[..5], phases);
    assert_eq!(json["spent"]["strategy_ns"], spent().strategy_ns);

    let points = task["convergence"]["points"].as_array().unwrap();
    let valid = points
        .iter()
        .filter(|point| point["time_ns"].is_u64())
        .count();
    // Each trial has a mark in both charts. The dots of the confirming processes are not counted.
    let dots = select(&page, "figure:not(.evidence) circle.valid").len()
        + select(&page, "figure path.failed").len();
    assert_eq!(dots, 2 * points.len());
    assert_eq!(
        select(&page, "figure:not(.evidence) circle.valid").len(),
        2 * valid
    );
    assert_eq!(
        select(&page, ".evidence circle.valid").len(),
        task["evidence"]["process_speedups"]
            .as_array()
            .unwrap()
            .len()
    );

    let cells = task["heat_maps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|map| map["cells"].as_array().unwrap());
    let cells: Vec<&Value> = cells.flat_map(|row| row.as_array().unwrap()).collect();
    let empty = cells
        .iter()
        .filter(|cell| cell["best_ns"].is_null())
        .count();
    assert!(empty > 0 && empty < cells.len());
    assert_eq!(select(&page, "rect.empty").len(), empty);

    assert_eq!(task["importance"]["verdict"], "told");
    let titles = texts(
        &page,
        "svg[aria-label='Importance of the parameters'] rect title",
    );
    let told = task["importance"]["params"]
        .as_array()
        .unwrap()
        .iter()
        .map(|param| {
            let number = |field: &str| param[field].as_f64().unwrap();
            format!(
                "{}: {:.3} ± {:.3}",
                param["name"].as_str().unwrap(),
                number("importance"),
                number("deviation")
            )
        });
    assert_eq!(titles, told.collect::<Vec<_>>());
    assert_eq!(task["importance"]["params"][0]["name"], "TILE");
}

#[test]
fn every_trial_is_counted_once_in_outcomes_histogram_and_heat_maps() {
    let sample = SampleCache::new();
    let run = sample.run("gemm", &trials(300), Some(KEPT));
    let figures = sample.figures(run);
    let task = &figures.tasks[0];
    let all: u64 = task.outcomes.iter().map(|count| count.count).sum();
    let valid: u64 = task.histogram.as_ref().unwrap().counts.iter().sum();
    assert_eq!((all, valid), (300, task.outcomes[0].count));
    assert_eq!(task.baseline_ns, Some(50_000));
    assert!(task.heat_maps.len() == 3);
    for map in &task.heat_maps {
        let cells = map.cells.iter().flatten();
        assert_eq!(cells.map(|cell| cell.trials).sum::<u64>(), 300);
    }
}

#[test]
fn a_page_of_two_thousand_trials_stays_below_two_megabytes() {
    let sample = SampleCache::new();
    for count in [2_000, 5_000] {
        let run = sample.run(&format!("gemm{count}"), &trials(count), Some(PROVEN));
        let figures = sample.figures(run);
        assert_eq!(figures.tasks[0].convergence.points.len() as u64, count);
        sound(&figures);
        let bytes = page(&figures).len();
        println!("{count} trials: {bytes} bytes");
        assert!(bytes < 2_000_000, "{bytes}");
    }
}

#[test]
fn the_same_records_give_the_same_page() {
    let sample = SampleCache::new();
    let run = sample.run("gemm", &trials(100), Some(PROVEN));
    assert_eq!(page(&sample.figures(run)), page(&sample.figures(run)));
}

#[test]
fn the_run_that_is_meant_is_found_or_said_to_be_missing() {
    let sample = SampleCache::new();
    let find = |wanted: RunSelector| {
        let records = Records::read(sample.cache()).unwrap();
        let found = records.find(&wanted).map(|run| run.started.run);
        found.map_err(|failure| failure.to_string())
    };
    let empty = find(RunSelector::default()).unwrap_err();
    assert!(
        empty.contains("contains no runs") && empty.contains("help: run `tune run`"),
        "{empty}"
    );
    sample.run("gemm", &trials(3), None);
    sample.run("softmax", &trials(3), None);
    let of = |kernel: &str| RunSelector {
        kernels: vec![kernel.into()],
        ..RunSelector::default()
    };
    assert_eq!(find(RunSelector::default()), Ok(2));
    assert_eq!(find(of("gemm")), Ok(1));
    let device = |device: &str| RunSelector {
        device: Some(device.into()),
        ..RunSelector::default()
    };
    assert_eq!(find(device("fake")), Ok(2));
    for (wanted, says) in [
        (
            RunSelector {
                run: Some(9),
                ..RunSelector::default()
            },
            "there is no run 9; the cache contains runs 1 to 2",
        ),
        (of("conv"), "with a task of the kernel conv"),
        (device("cuda:0"), "on the device `cuda:0`"),
        (
            RunSelector {
                run: Some(2),
                ..of("gemm")
            },
            "run 2 is not a run with a task of the kernel gemm",
        ),
    ] {
        let said = find(wanted).unwrap_err();
        assert!(said.contains(says) && said.contains("\nhelp: "), "{said}");
    }
}

#[test]
fn recorded_searches_are_drawn_by_space_and_strategy() {
    let mut runs = Vec::new();
    for (strategy, speed) in [("auto", 2.0), ("<b>random</b>", 1.0)] {
        for seed in 1..=3 {
            let mut run = SearchRun::new("gemm@A", strategy, seed);
            for n in 0..20 {
                run.count(RecordedTrial {
                    time_ms: (n > 2).then(|| 50.0 / (speed * f64::from(n))),
                    cost_ms: 1.0,
                    ..RecordedTrial::default()
                });
            }
            runs.push(run);
        }
    }
    runs.push(SearchRun {
        status: "error: no".into(),
        ..SearchRun::new("empty@A", "auto", 1)
    });
    let text = serde_json::to_string(&Curves::new(20, runs)).unwrap();
    let figures = CurveFigures::new(&Curves::parse(&text).unwrap());
    let gemm = &figures.spaces[1];
    let best = |place: usize| gemm.strategies[place].points.last().unwrap().median_ns;
    assert_eq!(
        (gemm.strategies[0].strategy.as_str(), best(0), best(1)),
        ("auto", Some(1_315_789), Some(2_631_579))
    );
    assert_eq!(gemm.strategies[0].points[1].median_ns, None);
    let page = checked(&curves_page(&figures));
    assert_eq!(texts(&page, "h2"), ["empty@A", "gemm@A"]);
    assert_eq!(select(&page, "figure path.curve").len(), 3);
    assert!(texts(&page, "td").contains(&"<b>random</b>".to_owned()));
    assert!(
        Curves::parse(&text.replace("curves/1", "curves/9"))
            .unwrap_err()
            .to_string()
            .contains("curves/9")
    );
}

#[test]
fn profiles_are_drawn_by_class_with_the_worst_lines_and_what_failed() {
    let text = r#"[
        {"target": "sm_86", "kernel": "gemm", "problem": "m=64,n=64", "what": "baseline", "config": "A=<1>", "error": null,
         "profile": {"symbol": "gemm", "blocks": 10, "executed_blocks": 2, "warp_instructions": 100,
            "by_class": {"scalar": 10, "matrix": 25, "later": 5, "shared memory": 60}, "matrix_per_100": 25.0,
            "multiply_adds_per_100": 0.0, "active_lanes": 32.0, "barriers": 1, "global_requests": 0,
            "sectors_per_request": null, "sector_use_percent": null, "shared_requests": 60, "conflicts_per_request": 1.5,
            "private_requests": 0, "moved_bytes": 1048576.0, "moved_over_least": 1.25, "hot_loop": null,
            "worst": [{"kind": "shared", "instruction": "ld.shared", "line": {"file": "a/k.cu", "number": 7},
                "detail": "1.50 bank conflicts per request", "share_percent": 80.0}],
            "machine_code": {"read_by": "nvdisasm 13.5", "instructions": 900, "main_loop": {"instructions": 235,
                "by_class": {"matrix": 64}, "matrix_per_100": 27.2, "multiply_adds_per_100": 0.0, "inner_loops": 0}}}},
        {"target": "sm_86", "kernel": "other", "problem": "", "what": "corner", "config": "A=2", "profile": null,
         "error": "<does not compile>"}
    ]"#;
    let rows = ProfileRow::parse_all(text).unwrap();
    let page = checked(&profiles_page(&rows));
    assert_eq!(texts(&page, "h2"), ["gemm m=64,n=64", "other "]);
    // The segments of the bar are in order and in proportion. An unknown class comes last.
    let bar = select(&page, "svg.bar rect");
    let drawn: Vec<_> = bar
        .iter()
        .map(|part| (part.attr("class").unwrap(), part.attr("width").unwrap()))
        .collect();
    assert_eq!(
        drawn,
        [
            ("p-confirm", "140"),
            ("p-compile", "336"),
            ("p-other", "56"),
            ("p-other", "28")
        ]
    );
    let cells = texts(&page, "td");
    for cell in [
        "sm_86, baseline, 2 of 10 blocks",
        "1.50",
        "1.0 MiB, 1.2 times the least",
        "k.cu:7",
        "80 %",
        "235 a pass",
        "27.2",
    ] {
        assert!(cells.iter().any(|one| one == cell), "{cell}: {cells:?}");
    }
    assert!(texts(&page, ".warn")[0].ends_with(": <does not compile>"));
    assert!(ProfileRow::parse_all("[{}]").is_err());
}

#[test]
fn problems_are_drawn_by_their_speed_ups_and_open_ones_last() {
    let sample = SampleCache::new();
    let faster = Verdict::Proven {
        speedup_ppm: 12_000_000,
        low_ppm: 11_000_000,
        high_ppm: 13_000_000,
    };
    let runs = [
        sample.begin("open", &trials(40)),
        sample.run("kept", &trials(40), Some(KEPT)),
        sample.run("proven", &trials(40), Some(PROVEN)),
        sample.run("faster", &trials(40), Some(faster)),
    ];
    let mut figures = sample.figures(runs[0]);
    figures.tasks = runs
        .iter()
        .flat_map(|&run| sample.figures(run).tasks)
        .collect();
    let page = sound(&figures);
    let names = texts(&page, "svg.speedups a text");
    let order = ["faster", "proven", "kept", "open"];
    assert_eq!(names.len(), order.len());
    for (name, kernel) in names.iter().zip(order) {
        assert!(name.starts_with(kernel), "{names:?}");
    }
    let said = texts(&page, "svg.speedups g text.mark");
    assert_eq!(said[..3], ["12.00×", "1.10×", "baseline"]);
    assert!(said[3].starts_with("open, "), "{said:?}");
    assert!(said[3].ends_with("× in the race"), "{said:?}");
    assert_eq!(select(&page, "svg.speedups g.s-open").len(), 1);
    let intervals = select(&page, "svg.speedups line.whisker");
    assert_eq!(intervals.len(), 2, "only what is proven has an interval");
    // The sections of the page are in the same order, and links lead to them.
    let headings = texts(&page, "section.task h2");
    assert!(headings[3].starts_with("open"), "{headings:?}");
    let overview = texts(&page, "h2");
    assert_eq!(overview[0], "Speed-up of every problem");
    assert_eq!(overview[1], "Where the time went");
}

#[test]
fn problems_that_were_not_searched_fold_away() {
    let sample = SampleCache::new();
    let run = sample.run("proven", &trials(40), Some(PROVEN));
    let mut figures = sample.figures(run);
    let mut untouched = figures.tasks[0].clone();
    untouched.kernel = "untouched".into();
    (untouched.trials, untouched.earlier_trials) = (0, 0);
    untouched.evidence.winner = None;
    figures.tasks.push(untouched);
    let page = sound(&figures);
    let names = texts(&page, "svg.speedups a text");
    assert_eq!(names.len(), 1, "{names:?}");
    let folded = texts(&page, "details.others");
    let [folded] = &folded[..] else {
        panic!("{folded:?}")
    };
    assert!(
        folded.starts_with("Problems that were not searched: 1"),
        "{folded}"
    );
    assert!(
        folded.contains("untouched") && !folded.contains("proven"),
        "{folded}"
    );
}

#[test]
fn a_plan_shows_its_kinds_side_by_side_and_the_devices_that_disagree() {
    let text = r#"{"plan": "0123456789abcdef", "elements": 4, "finished": [0, 1, 3], "replicas": 2, "journals": 4, "records": 90,
        "root": "ff", "complaints": ["rejected <object>: unsigned"], "tasks": [
        {"kind": "cuda/sm_89", "kernel": "gemm", "problem": "m=8,n=8", "state": "proven", "config": "A=1", "why": null, "devices": 2,
         "speedup": {"ppm": 2000000, "low_ppm": 1900000, "high_ppm": 2100000}, "unfinished_elements": [], "sessions": [
            {"host": "node1", "uuid": "GPU-1", "stage": "search", "element": 0, "config": "A=1",
             "speedup": {"ppm": 2050000, "low_ppm": 1950000, "high_ppm": 2100000}},
            {"host": "node2", "uuid": "GPU-2", "stage": "replicate", "element": 0, "config": "A=1",
             "speedup": {"ppm": 2000000, "low_ppm": 1900000, "high_ppm": 2080000}}]},
        {"kind": "cuda/sm_89", "kernel": "softmax", "problem": "rows=8", "state": "stopped", "config": "B=<2>",
         "why": "its confirmation on node2 did not prove it", "devices": 0, "speedup": null, "unfinished_elements": [], "sessions": [
            {"host": "node1", "uuid": null, "stage": "search", "element": 1, "config": "B=<2>",
             "speedup": {"ppm": 1100000, "low_ppm": 1050000, "high_ppm": 1200000}},
            {"host": "node2", "uuid": null, "stage": "replicate", "element": 1, "config": "B=1", "speedup": null}]},
        {"kind": "cuda/sm_86", "kernel": "gemm", "problem": "m=8,n=8", "state": "missing", "config": null, "why": null, "devices": 0,
         "speedup": null, "unfinished_elements": [2], "sessions": []}]}"#;
    let status = PlanStatus::parse(text).unwrap();
    let page = checked(&plan_page(&status));
    assert_eq!(
        texts(&page, "figcaption"),
        ["cuda/sm_89: 1 proven, 1 stopped", "cuda/sm_86: 1 missing"]
    );
    assert_eq!(
        texts(&page, "tbody td"),
        [
            "gemm",
            "m=8,n=8",
            "2.00x (1.90x to 2.10x), 2 devices",
            "missing",
            "softmax",
            "rows=8",
            "stopped",
            ""
        ]
    );
    assert_eq!(texts(&page, "h3"), ["softmax rows=8 on cuda/sm_89"]);
    // First the two sessions of the disputed problem, then all sessions of the kind that made a decision.
    let marks = ["search: 1.10×", "replicate: baseline"];
    let all = ["search: 2.05×", "replicate: 2.00×", marks[0], marks[1]];
    assert_eq!(texts(&page, "text.mark"), [&marks[..], &all[..]].concat());
    assert_eq!(texts(&page, ".warn"), ["rejected <object>: unsigned"]);

    let agreed = PlanStatus {
        tasks: status.tasks[..1].to_vec(),
        ..status
    };
    let page = checked(&plan_page(&agreed));
    assert_eq!(
        texts(&page, ".none"),
        ["No two sessions contradict each other."]
    );
}
