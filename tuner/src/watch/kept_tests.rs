use kiln_spec::Problem;
use kiln_spec::codegen::Target;

use super::*;
use crate::watch::least;

/// The empty kernel, as a draft for the fake device and as a saved kernel in a file.
fn kept() -> (Saved, Section, TunedKernel, Draft) {
    let kernel = least::kernel().unwrap();
    let problem = &kernel.spec.problems[0];
    let draft = draft(&kernel, problem);
    let device = kiln::open("fake").unwrap();
    let mut saved = Saved::new(0);
    let compiler = device.compiler().unwrap();
    let mut section = section(&mut saved, device.info(), compiler, Regime::Hot);
    let one = keep(&mut saved, &kernel, &problem.to_string(), &draft, None);
    section.kernels.push(one);
    (saved, section, kernel, draft)
}

fn draft(kernel: &TunedKernel, problem: &Problem) -> Draft {
    let (spec, config) = (&kernel.spec, kernel.spec.baseline.config.clone());
    let (source, scan) = (&kernel.source, &kernel.scan);
    let target = Target::Cpu;
    let unit = TranslationUnit::new(source, scan, spec, &spec.entry, &config, problem, target);
    Draft {
        unit: unit.unwrap(),
        plan: spec.baseline_plan(problem, None).unwrap(),
        config,
        baseline: true,
        recipe: None,
    }
}

fn revived(saved: &Saved, section: &Section) -> Result<Revived, ReviveError> {
    let device = kiln::open("fake").unwrap();
    let compiler = device.compiler().unwrap();
    revive(saved, section, &section.kernels[0], compiler)
}

#[test]
fn what_is_kept_comes_back_as_it_was_and_is_identical() {
    let (saved, section, kernel, draft) = kept();
    let back = revived(&saved, &section).unwrap();
    assert_eq!(back.spec, kernel.spec);
    assert_eq!(back.draft.unit, draft.unit);
    let device = kiln::open("fake").unwrap();
    let compiler = device.compiler().unwrap();
    let identical = |then: &Draft, now: &Draft| is_identical(then, now, Backend::Fake, compiler);
    assert!(identical(&back.draft, &draft));
    let mut other = draft.clone();
    other.plan.grid[0] += 1;
    assert!(!identical(&back.draft, &other));
    let mut other = section.clone();
    other.flags.push("-O0".into());
    let back = revived(&saved, &other).unwrap();
    assert!(!identical(&back.draft, &draft));
    // Another compiler uses its own flags instead of the saved flags.
    other.compiler = "another".into();
    let back = revived(&saved, &other).unwrap();
    assert!(identical(&back.draft, &draft));
}

#[test]
fn what_does_not_fit_together_is_refused_in_words() {
    let (saved, section, ..) = kept();
    type Edit = fn(&mut Saved, &mut Section);
    let outside: Edit = |saved, section| {
        let text = saved.keep_text("");
        let headers = vec![("../../up.h".to_owned(), text)];
        saved.preludes.insert("outside".into(), headers);
        section.prelude = "outside".into();
    };
    let edits: [(Edit, &str); 7] = [
        (|_, of| of.kernels[0].config = "LEAST=1".into(), "LEAST"),
        (
            |_, of| of.kernels[0].config_hash = "1".into(),
            "does not have the hash",
        ),
        (|_, of| of.kernels[0].symbol_hash = "x".into(), "not a hash"),
        (
            |_, of| of.kernels[0].unit = "none".into(),
            "not contain text none",
        ),
        (
            |_, of| of.prelude = "none".into(),
            "not contain prelude none",
        ),
        (
            |_, of| of.kernels[0].spec = serde_json::json!({}),
            "another version",
        ),
        (outside, "a header is named `../../up.h`"),
    ];
    for (edit, says) in edits {
        let (mut saved, mut section) = (saved.clone(), section.clone());
        edit(&mut saved, &mut section);
        let error = revived(&saved, &section).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn arguments_that_cannot_be_given_the_same_data_are_named() {
    let spec = least::kernel().unwrap().spec;
    assert_eq!(other_arguments(&spec, &spec), None);
    let mut fewer = spec.clone();
    fewer.args.pop();
    let said = other_arguments(&spec, &fewer).unwrap();
    assert_eq!(said, "it has 1 arguments, but the saved kernel has 2");
    let edited = |edit: &dyn Fn(&mut kiln_spec::SliceArg)| {
        let mut other = spec.clone();
        for arg in &mut other.args {
            if let ArgSpec::Slice(slice) = arg {
                edit(slice);
            }
        }
        other_arguments(&spec, &other)
    };
    let renamed = edited(&|slice| slice.name = "result".into());
    assert_eq!(renamed.unwrap(), "argument `out` is now `result`");
    let read = edited(&|slice| slice.access = kiln_spec::Access::In);
    assert!(read.unwrap().starts_with("argument `out` has another type"));
    // The tolerance of an output does not affect the inputs.
    assert_eq!(
        edited(&|slice| slice.tolerance = Some(spec.tolerance)),
        None
    );
}
