//! One smoke test: a launch of the receipt entry, a launch of the release entry, and the checks of both.

use std::sync::Arc;

use kiln_spec::{Access, ArgSpec, ElemType, LaunchPlan, Problem};

use super::compared_with::ComparedWith;
use super::expected::expected;
use super::orders;
use super::report::{Check, CheckOutcome, Failure};
use crate::compare::compare_output;
use crate::data::reference::{ArgData, Wide, make_data_for};
use crate::device::stream::Stream;
use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::launch::call::LaunchCall;
use crate::prepare::{self, Prepared};
use crate::receipt::{ExpectedReceipt, RECEIPT_BYTES, Receipt};
use crate::rig::{Content, Expected, Layout, Rig, RigError};
use crate::selection::Choice;
use crate::selection::forced::{Forced, ReceiptSlot};

/// The byte that fills outputs before a launch. In every real type, an element of such bytes is NaN.
const POISON: u8 = 0xFF;

pub(super) fn check(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    problem: Problem,
    seed: u64,
) -> Check {
    let subject = CheckedLaunch::new(kernel, device, choice, &problem, seed);
    let outcome = match subject.and_then(|subject| subject.check()) {
        Ok(passed) => passed,
        Err(failure) => {
            CheckOutcome::Failed(explained(kernel, device, choice, &problem, seed, failure))
        }
    };
    Check::new(kernel, choice, problem, outcome)
}

/// Replaces a failure that a fault of the kernel may have caused by the fault that a check build finds, if it finds one:
/// it names the threads and the lines.
fn explained(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    problem: &Problem,
    seed: u64,
    failure: Failure,
) -> Failure {
    let vague = match &failure {
        Failure::Rig(RigError::Device(DeviceError::KernelFault { .. })) => false,
        failure => matches!(
            failure,
            Failure::Output { .. }
                | Failure::InputChanged { .. }
                | Failure::Footprint { .. }
                | Failure::Rig(_)
        ),
    };
    let fault = vague.then(|| orders::fault(kernel, device, choice, problem, seed));
    fault.flatten().unwrap_or(failure)
}

/// A choice that is launched for one problem on one device.
struct CheckedLaunch<'a> {
    kernel: &'static Kernel,
    choice: Choice,
    problem: &'a Problem,
    seed: u64,
    stream: Stream,
    data: Vec<ArgData>,
    /// The expected outputs.
    want: Expected,
    compared_with: ComparedWith,
}

impl<'a> CheckedLaunch<'a> {
    fn new(
        kernel: &'static Kernel,
        device: &Device,
        choice: Choice,
        problem: &'a Problem,
        seed: u64,
    ) -> Result<CheckedLaunch<'a>, Failure> {
        let spec = kernel.spec();
        crate::data::inputs::provide(kernel);
        let data = make_data_for(spec, &kernel.config(choice), problem, seed)?;
        let stream = Stream::default_of(device.clone());
        let (want, compared_with) = expected(kernel, &stream, choice, problem, seed)?;
        Ok(CheckedLaunch {
            kernel,
            choice,
            problem,
            seed,
            stream,
            data,
            want,
            compared_with,
        })
    }

    fn check(&self) -> Result<CheckOutcome, Failure> {
        let plan = self.intended_plan()?;
        let receipt_error = self.launch_for_receipt(&plan)?;
        let release_error = self.launch_release(&plan)?;
        let rig = self.rig()?;
        self.check_written(&rig, &plan)?;
        self.compare_footprints(&rig, &plan)?;
        let orders = orders::check(
            self.kernel,
            &self.stream,
            self.choice,
            self.problem,
            self.seed,
        )?;
        let ratios = receipt_error.into_iter().chain(release_error);
        Ok(CheckOutcome::Passed {
            plan,
            max_error_ratio: ratios.reduce(f64::max),
            compared_with: self.compared_with,
            not_checked: orders.not_checked,
            remark: orders.remark,
        })
    }

    /// The launch plan that the spec gives for the problem. For a row, this also checks that the spec's plan for the
    /// row's own problem equals the plan in the generated code.
    fn intended_plan(&self) -> Result<LaunchPlan, Failure> {
        let limits = &self.stream.device().info().limits;
        let refused = |error| Failure::Launch(crate::LaunchError::new(self.kernel.name(), error));
        let plan = self
            .kernel
            .plan(self.choice, self.problem, Some(limits))
            .map_err(|error| refused(crate::LaunchCause::Plan(error)))?;
        if let Choice::Row(row) = self.choice {
            let row = &self.kernel.rows()[row];
            // The plan without a device. If geometry depends on the device, only the receipt can confirm it.
            let own = self.kernel.row_problem(row);
            let own = self.kernel.plan(self.choice, &own, None);
            if let Ok(found) = own
                && found != row.plan
            {
                return Err(Failure::Plan {
                    what: "the row's own problem",
                    expected: row.plan,
                    found,
                });
            }
        }
        Ok(plan)
    }

    /// The symbol of the release entry in the generated code.
    fn symbol(&self) -> &'static str {
        let backend = crate::prepare::dialect(&self.stream.device().info().key);
        self.kernel.symbol(self.choice, backend, self.problem)
    }

    /// Launches the receipt entry through the launch function. Returns the largest error of an output as a fraction
    /// of its bound; `None` if nothing was compared.
    fn launch_for_receipt(&self, plan: &LaunchPlan) -> Result<Option<f64>, Failure> {
        let device = self.stream.device();
        let record = device.alloc(RECEIPT_BYTES, 256)?;
        let nonce = nonce(self.seed, self.symbol());
        let handle = self.stream.handle();
        record.write(handle, 0, &Receipt::blank(nonce))?;
        let slot = ReceiptSlot {
            address: record.address(),
        };
        let forced = Forced::with_receipt(self.kernel, self.choice, slot);
        let ratio = self.launch(
            forced,
            "in the launch that writes a receipt",
            &format!("{}_receipt", self.symbol()),
            plan,
        )?;
        let mut written = [0; RECEIPT_BYTES];
        record.read(handle, 0, &mut written)?;
        let (_, digits) = self.symbol().rsplit_once('_').unwrap_or_default();
        Receipt::decode(&written).check(&ExpectedReceipt {
            nonce,
            symbol_hash: u64::from_str_radix(digits, 16).unwrap_or_default(),
            config_hash: self.kernel.config_hash(self.choice).0.short(),
            plan: *plan,
        })?;
        // A wrong receipt is reported before wrong outputs, because it explains more if both have the same cause.
        ratio
    }

    fn launch_release(&self, plan: &LaunchPlan) -> Result<Option<f64>, Failure> {
        let forced = Forced::new(self.kernel, self.choice);
        self.launch(
            forced,
            "in the launch without a receipt",
            self.symbol(),
            plan,
        )?
    }

    /// Launches through the launch function, and checks the outputs.
    ///
    /// The outer error means that the launch failed. The inner error means that its outputs are wrong.
    fn launch(
        &self,
        forced: Forced,
        entry: &'static str,
        symbol: &str,
        plan: &LaunchPlan,
    ) -> Result<Result<Option<f64>, Failure>, Failure> {
        let forced = Arc::new(forced);
        let stream = self.stream.forced(forced.clone());
        let mut call = LaunchCall::new(self.kernel.spec(), &stream, self.problem, &self.data)?;
        for (argument, arg) in self.kernel.spec().args.iter().enumerate() {
            if let ArgSpec::Slice(slice) = arg
                && slice.access == Access::Out
            {
                let bytes = self.data[argument].bytes().len();
                call.write(argument, &vec![POISON; bytes])?;
            }
        }
        self.kernel.launch_fn()(&mut call)?;
        stream.synchronize()?;
        let launched = forced.take_launched();
        let [record] = launched.as_slice() else {
            return Err(Failure::Launches {
                launches: launched.len(),
            });
        };
        if record.symbol != symbol {
            return Err(Failure::Symbol {
                expected: symbol.into(),
                found: record.symbol.clone(),
            });
        }
        if record.plan != *plan {
            return Err(Failure::Plan {
                what: "the launch function",
                expected: *plan,
                found: record.plan,
            });
        }
        Ok(self.outputs(&call, entry))
    }

    /// Compares every slice after a launch.
    fn outputs(&self, call: &LaunchCall<'_>, entry: &'static str) -> Result<Option<f64>, Failure> {
        let spec = self.kernel.spec();
        let mut worst = None;
        for (argument, arg) in spec.args.iter().enumerate() {
            let ArgSpec::Slice(slice) = arg else { continue };
            let got = call.read(argument)?;
            if slice.access == Access::In {
                if got != self.data[argument].bytes() {
                    return Err(Failure::InputChanged {
                        entry,
                        argument: slice.name.clone(),
                    });
                }
                continue;
            }
            let Some(want) = self.want.output(argument) else {
                continue;
            };
            let max = compare_output(spec, slice, &got, want);
            if let Some(error) =
                max.map(|max| max.loosened(self.want.slack(&spec.tolerance_of(slice))))
            {
                if !error.passes() {
                    return Err(Failure::Output { entry, error });
                }
                worst = Some(error.ratio().max(worst.unwrap_or(0.0)));
            }
        }
        Ok(worst)
    }

    /// Checks that the kernel writes every element of every output that is compared. An element that it does not write
    /// would be undefined in a program. Also checks that the outputs do not depend on what they contained before.
    fn check_written(&self, rig: &Rig, plan: &LaunchPlan) -> Result<(), Failure> {
        let release = &self.prepared()?.release;
        rig.launch(release, plan)?;
        rig.check_written(release, plan)?;
        let outputs = rig.outputs()?;
        for content in Content::FINITE {
            if self.compared_with == ComparedWith::Nothing {
                rig.check_independent(content, release, plan, &outputs)?;
            } else {
                rig.check_on(content, release, plan, &self.want)?;
            }
        }
        Ok(())
    }

    fn rig(&self) -> Result<Rig, Failure> {
        let spec = Arc::new(self.kernel.spec().clone());
        let config = self.kernel.config(self.choice);
        let (stream, problem, seed) = (&self.stream, self.problem, self.seed);
        let rig = Rig::of_config(stream, &spec, &config, problem, seed, Layout::Zones)?;
        Ok(rig)
    }

    fn prepared(&self) -> Result<&'static Prepared, Failure> {
        let device = self.stream.device();
        Ok(prepare::get(
            self.kernel,
            device,
            self.choice,
            self.problem,
        )?)
    }

    /// Launches one block of each entry, and checks that both write the same elements.
    ///
    /// The release entry writes no receipt, so only its symbol shows that it belongs to the same kernel and config as
    /// the receipt entry. This check confirms that by observation: an entry with another config normally has other
    /// tiles and writes other elements.
    fn compare_footprints(&self, rig: &Rig, plan: &LaunchPlan) -> Result<(), Failure> {
        if plan.blocks() == 1 {
            return Ok(());
        }
        let prepared = self.prepared()?;
        let one_block = LaunchPlan {
            grid: [1; 3],
            ..*plan
        };
        rig.reset()?;
        rig.launch(&prepared.release, &one_block)?;
        let release = rig.outputs()?;
        rig.reset()?;
        rig.launch_for_receipt(&prepared.receipt, &one_block, self.seed)?;
        let receipt = rig.outputs()?;
        for (argument, arg) in self.kernel.spec().args.iter().enumerate() {
            let (Some(release), Some(receipt)) =
                (release.output(argument), receipt.output(argument))
            else {
                continue;
            };
            let (release, receipt) = (untouched(release), untouched(receipt));
            if let Some(element) = release.iter().zip(&receipt).position(|(a, b)| a != b) {
                return Err(Failure::Footprint {
                    argument: arg.name().into(),
                    element,
                });
            }
        }
        Ok(())
    }
}

/// Whether each element still contains the poison.
fn untouched(output: &Wide) -> Vec<bool> {
    let poison = |ty: ElemType| Wide::of_bytes(ty, &vec![POISON; ty.bytes()]).to_f64s()[0];
    let poison = poison(output.elem_type());
    let same = |value: f64| value == poison || (value.is_nan() && poison.is_nan());
    output.to_f64s().into_iter().map(same).collect()
}

/// A nonce for this launch, which differs from the nonces of earlier launches.
fn nonce(seed: u64, symbol: &str) -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAUNCHES: AtomicU64 = AtomicU64::new(1);
    let launch = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    kiln_spec::hash::Hasher::new("kiln nonce")
        .field(&seed.to_le_bytes())
        .field(&launch.to_le_bytes())
        .field(symbol.as_bytes())
        .finish()
        .short()
}
