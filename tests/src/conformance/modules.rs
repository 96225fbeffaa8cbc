//! Checks of modules: which images load, which are rejected, and how long a module stays loaded.

use std::sync::Arc;

use kiln::backend::fake::{FakeDevice, Script};
use kiln::compiler::{Artifact, BuildKind};
use kiln::device::DeviceError;
use kiln::rig::{Layout, Rig, RigError};
use kiln::spec::Backend;
use kiln::{Choice, ErrorClass, Kernel, prepare};

use super::kernels::{add_one, mirror};
use super::{Outcome, Subject, checks, first_problem};

checks! {
    an_image_loads_more_than_once,
    an_image_that_was_damaged_is_refused,
    an_image_for_something_else_is_refused,
    a_symbol_that_is_not_there_is_not_found,
    a_function_keeps_its_module_loaded,
    a_function_of_another_device_is_refused,
    the_compiler_is_the_same_at_every_call_and_says_what_it_is,
}

/// The compiled image of a kernel's baseline, and the symbol of the kernel.
fn image(
    subject: &Subject,
    kernel: &'static Kernel,
) -> Result<(Artifact, String), Box<dyn std::error::Error>> {
    let unit = subject.unit(kernel)?;
    let artifact = prepare::compile(&*subject.device, &unit, BuildKind::Release)?;
    Ok((artifact, unit.release.to_string()))
}

/// A copy of an artifact with a different image.
fn with_image(artifact: &Artifact, image: Vec<u8>) -> Artifact {
    let log = String::new();
    Artifact::new(
        artifact.backend,
        &artifact.target,
        artifact.build,
        image,
        log,
    )
}

fn an_image_loads_more_than_once(subject: &Subject) -> Outcome {
    let kernel = &mirror::KERNEL;
    let (artifact, symbol) = image(subject, kernel)?;
    let spec = Arc::new(kernel.spec().clone());
    let problem = first_problem(kernel);
    let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Zones)?;
    let plan = kernel.plan(Choice::Baseline, &problem, None)?;
    for _ in 0..3 {
        let first = subject.device.load(&artifact)?.function(&symbol)?;
        let second = subject.device.load(&artifact)?.function(&symbol)?;
        drop(first);
        rig.launch(&second, &plan)?;
    }
    Ok(())
}

fn an_image_that_was_damaged_is_refused(subject: &Subject) -> Outcome {
    let (artifact, symbol) = image(subject, &mirror::KERNEL)?;
    let whole = artifact.image.to_vec();
    let mut damaged: Vec<Vec<u8>> = [0, 1, 4, 63, 64, 200, whole.len() / 2, whole.len() - 1]
        .map(|bytes| whole[..bytes].to_vec())
        .into();
    // Damages bytes near the beginning, which identify the format and the machine.
    for place in [0, 1, 4, 18] {
        let mut image = whole.clone();
        image[place] ^= 0xff;
        damaged.push(image);
    }
    for image in damaged {
        let bytes = image.len();
        let loaded = subject.device.load(&with_image(&artifact, image));
        let Err(DeviceError::Load { .. }) = loaded else {
            return Err(format!("{bytes} of {} bytes: {loaded:?}", whole.len()).into());
        };
    }
    // The device is still usable afterwards.
    subject.device.load(&artifact)?.function(&symbol)?;
    Ok(())
}

fn an_image_for_something_else_is_refused(subject: &Subject) -> Outcome {
    let (artifact, _) = image(subject, &mirror::KERNEL)?;
    for backend in Backend::ALL {
        if backend != artifact.backend {
            let foreign = Artifact {
                backend,
                ..artifact.clone()
            };
            refused(subject, &foreign);
        }
    }
    for target in ["sm_1", "gfx1", "x86-64-v99", "toaster"] {
        let foreign = Artifact {
            target: target.into(),
            ..artifact.clone()
        };
        let error = refused(subject, &foreign);
        assert!(error.to_string().contains(target), "{error}");
    }
    Ok(())
}

/// The error with which a device rejects an artifact.
fn refused(subject: &Subject, foreign: &Artifact) -> DeviceError {
    let (backend, target) = (foreign.backend, &foreign.target);
    let loaded = subject.device.load(foreign).map(drop);
    let error = loaded.expect_err("it should be refused");
    assert!(
        matches!(error, DeviceError::Load { .. }),
        "{backend} {target}: {error}"
    );
    error
}

fn a_symbol_that_is_not_there_is_not_found(subject: &Subject) -> Outcome {
    let (artifact, symbol) = image(subject, &mirror::KERNEL)?;
    let module = subject.device.load(&artifact)?;
    let near = symbol[..symbol.len() - 1].to_owned();
    for wrong in [
        "",
        "mirror",
        "a\0b",
        &near,
        &format!("{symbol}_"),
        "__kiln_nothing",
    ] {
        let error = module
            .clone()
            .function(wrong)
            .map(drop)
            .expect_err("it should be refused");
        assert_eq!(error.class(), ErrorClass::NotFound, "{wrong:?}: {error}");
    }
    let found = module.function(&symbol)?;
    assert_eq!(found.symbol(), symbol);
    assert_eq!(found.device_index(), subject.device.index());
    Ok(())
}

fn a_function_keeps_its_module_loaded(subject: &Subject) -> Outcome {
    let kernel = &mirror::KERNEL;
    let (artifact, symbol) = image(subject, kernel)?;
    let module = subject.device.load(&artifact)?;
    let function = module.function(&symbol)?;
    let again = function.clone();
    drop(function);
    let spec = Arc::new(kernel.spec().clone());
    let problem = first_problem(kernel);
    let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Zones)?;
    rig.launch(&again, &kernel.plan(Choice::Baseline, &problem, None)?)?;
    Ok(())
}

fn a_function_of_another_device_is_refused(subject: &Subject) -> Outcome {
    let kernel = &add_one::KERNEL;
    let other = Subject {
        device: FakeDevice::new(Script::default()).into(),
        stream: subject.stream.clone(),
    };
    let (artifact, symbol) = image(&other, kernel)?;
    let function = other.device.load(&artifact)?.function(&symbol)?;
    let spec = Arc::new(kernel.spec().clone());
    let problem = first_problem(kernel);
    let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Zones)?;
    let plan = kernel.plan(Choice::Baseline, &problem, None)?;
    let launched = rig.launch(&function, &plan);
    let refused = matches!(
        &launched,
        Err(RigError::Device(DeviceError::LaunchRefused { .. }))
    );
    assert!(refused, "{launched:?}");
    assert!(rig.time(&function, &plan, 1).is_err());
    Ok(())
}

fn the_compiler_is_the_same_at_every_call_and_says_what_it_is(subject: &Subject) -> Outcome {
    let compiler = subject.device.compiler()?;
    let again = subject.device.compiler()?;
    assert!(std::ptr::addr_eq(compiler, again));
    let identity = compiler.identity();
    assert!(!identity.name.is_empty() && !identity.version.is_empty());
    let (artifact, _) = image(subject, &mirror::KERNEL)?;
    assert_eq!(artifact.target, compiler.target_arch());
    assert_eq!(artifact.backend, subject.device.info().key.backend);
    assert_eq!(
        compiler.flags(BuildKind::Release),
        again.flags(BuildKind::Release)
    );
    Ok(())
}
