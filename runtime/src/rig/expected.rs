//! Expected outputs, and the file format in which they are stored.

use std::collections::BTreeMap;

use kiln_spec::{ArgSpec, ElemType, Hash, KernelSpec, Problem, Tolerance};
use thiserror::Error;

use super::RigError;
use super::passed::Passed;
use crate::compare::{Unjudged, few_unjudged, unjudged};
use crate::data::reference::{DataError, ReferenceCall, Wide, make_data};
use crate::data::unusual;
use crate::kernel::ReferenceFn;

/// The error of a file that does not contain valid expected outputs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a file of expected outputs is damaged: {what}")]
pub struct ExpectedError {
    /// Why the file is not valid.
    what: &'static str,
}

/// The first byte of a file. Bit 0 is set if a launch produced the outputs, and bit 1 if floating-point inputs have unusual
/// values. The other bits are the version of the format.
const FORMAT: u8 = 4;
const LAUNCHED: u8 = 1;
const UNUSUAL: u8 = 2;

/// The relative tolerance if floating-point inputs have unusual values, and the largest one for large problems. A right
/// config may lose accuracy where values cancel, for example if it subtracts the mean of equal numbers. A wrong one is
/// wrong by much more.
const WIDER_TOLERANCE: f64 = 1e-3;
/// The least and the largest factor by which the tolerance is widened for unusual values.
const WIDER: [f64; 2] = [8.0, 128.0];

/// The expected outputs of one launch. The key of an output is the index of its argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    outputs: BTreeMap<usize, Wide>,
    /// Whether a launch produced these outputs. If so, they may differ from the true values by as much as the outputs
    /// that are compared with them.
    launched: bool,
    /// Whether floating-point inputs have unusual values of their range or large ones.
    unusual: bool,
    /// By which factor a size of the problem exceeds that of the problem for which the tolerance was declared; 0 if unknown.
    growth: f64,
    /// Outputs that were compared with these. All comparisons are for one kernel spec.
    pub(super) passed: Passed,
}

impl Expected {
    /// The outputs of a plain-Rust reference.
    ///
    /// # Errors
    /// If the data cannot be generated for this problem.
    pub fn by_reference(
        reference: ReferenceFn,
        spec: &KernelSpec,
        problem: &Problem,
        seed: u64,
    ) -> Result<Expected, DataError> {
        let mut call = ReferenceCall::new(spec, problem, make_data(spec, problem, seed)?);
        reference(&mut call);
        let output = |argument: usize| Some((argument, call.output(argument)?.clone()));
        Ok(Expected {
            outputs: (0..spec.args.len()).filter_map(output).collect(),
            ..Expected::default()
        }
        .of_inputs(seed))
    }

    /// Sets whether the floating-point inputs of this seed have unusual values of their range or large ones.
    pub fn of_inputs(self, seed: u64) -> Expected {
        Expected {
            unusual: seed & unusual::INACCURATE != 0,
            ..self
        }
    }

    /// Sets by which factor a size of the problem exceeds that of the problem for which the tolerance was declared. The
    /// rounding error of a sum grows with the square root of the number of its addends (N. J. Higham and T. Mary, "A new
    /// approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019).
    pub fn of_growth(self, growth: f64) -> Expected {
        Expected { growth, ..self }
    }

    /// Expected outputs that a launch will produce. Empty at first; [`Self::insert`] adds each output.
    pub fn of_launch() -> Expected {
        Expected {
            launched: true,
            ..Expected::default()
        }
    }

    /// The factor by which a comparison with these outputs widens the tolerance. It is 1 if a reference computed the
    /// outputs, and 2 if a launch did, because then the expected values themselves are exact only to within the
    /// tolerance. It is larger if floating-point inputs have unusual values, or if the problem is larger than the one for
    /// which the tolerance was declared.
    pub fn slack(&self, tolerance: &Tolerance) -> f64 {
        let launched = if self.launched { 2.0 } else { 1.0 };
        let [least, most] = WIDER;
        let wider = (WIDER_TOLERANCE / tolerance.relative).clamp(least, most);
        match self.unusual {
            true => launched * wider,
            false => launched * self.growth.sqrt().clamp(1.0, wider),
        }
    }

    /// Whether a launch produced these outputs, and not a plain-Rust reference.
    pub fn is_launched(&self) -> bool {
        self.launched
    }

    /// Checks that a comparison with these outputs says something about most elements of each output.
    ///
    /// # Errors
    /// [`RigError::Unjudged`] for the first output about which it does not.
    pub fn check_tolerance(&self, spec: &KernelSpec) -> Result<(), RigError> {
        for (argument, output) in &self.outputs {
            let Some(ArgSpec::Slice(slice)) = spec.args.get(*argument) else {
                continue;
            };
            if let Some(unjudged) = unjudged(spec, slice, output) {
                return Err(RigError::Unjudged(unjudged));
            }
        }
        Ok(())
    }

    /// The first output of few elements about which no comparison says anything. `all` are the expected outputs for several
    /// inputs.
    pub fn few_unjudged(all: &[Expected], spec: &KernelSpec) -> Option<Unjudged> {
        let mut args = spec.args.iter().enumerate();
        args.find_map(|(argument, arg)| {
            let ArgSpec::Slice(slice) = arg else {
                return None;
            };
            let wants: Vec<&Wide> = all.iter().filter_map(|one| one.output(argument)).collect();
            few_unjudged(spec, slice, &wants)
        })
    }

    /// Adds the expected output of an argument.
    pub fn insert(&mut self, argument: usize, output: Wide) {
        self.passed.forget(argument);
        self.outputs.insert(argument, output);
    }

    /// The expected output of an argument; `None` if there is none.
    pub fn output(&self, argument: usize) -> Option<&Wide> {
        self.outputs.get(&argument)
    }

    /// A digest of the outputs, which shows whether a reference still computes what it computed before. Real values are
    /// rounded to single precision, so that it does not depend on the order in which a reference adds numbers.
    pub fn digest(&self) -> Hash {
        let mut bytes = Vec::new();
        for (argument, output) in &self.outputs {
            bytes.extend((*argument as u64).to_le_bytes());
            bytes.extend((output.len() as u64).to_le_bytes());
            match output.elem_type().is_float() {
                true => bytes.extend(
                    output
                        .to_f64s()
                        .iter()
                        .flat_map(|x| (*x as f32).to_le_bytes()),
                ),
                false => bytes.extend(output.wide_bytes()),
            }
        }
        Hash::of("kiln.reference", &bytes)
    }

    /// Encodes the outputs as the content of a file. The first byte states the format and whether a launch produced the
    /// outputs. It is followed by the argument's index, the element type, the length and the values of each output, and
    /// by a checksum.
    ///
    /// Real values are stored as `f64` and integers in their own type, both in this machine's byte order.
    pub fn to_bytes(&self) -> Vec<u8> {
        let launched = u8::from(self.launched) * LAUNCHED;
        let unusual = u8::from(self.unusual) * UNUSUAL;
        let mut bytes = vec![FORMAT | launched | unusual];
        for (&argument, output) in &self.outputs {
            bytes.push(u8::try_from(argument).unwrap_or(u8::MAX));
            bytes.push(output.elem_type() as u8);
            bytes.extend((output.len() as u64).to_le_bytes());
            bytes.extend(output.wide_bytes());
        }
        let sum = blake3::hash(&bytes);
        bytes.extend(&sum.as_bytes()[..16]);
        bytes
    }

    /// Decodes the result of [`Self::to_bytes`].
    ///
    /// # Errors
    /// If any byte has changed, or if the bytes have another version of the format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Expected, ExpectedError> {
        let damaged = |what| ExpectedError { what };
        let (rest, sum) = bytes
            .split_at_checked(bytes.len().wrapping_sub(16))
            .ok_or(damaged("too short"))?;
        if blake3::hash(rest).as_bytes()[..16] != *sum {
            return Err(damaged("its checksum is wrong"));
        }
        let (first, mut rest) = rest.split_first().ok_or(damaged("too short"))?;
        if first & !(LAUNCHED | UNUSUAL) != FORMAT {
            return Err(damaged("it has another version"));
        }
        let mut expected = Expected {
            launched: first & LAUNCHED != 0,
            unusual: first & UNUSUAL != 0,
            ..Expected::default()
        };
        while let Some((head, body)) = rest.split_at_checked(10) {
            let ty = ElemType::ALL
                .iter()
                .find(|ty| **ty as u8 == head[1])
                .ok_or(damaged("an unknown type"))?;
            let mut len = [0; 8];
            len.copy_from_slice(&head[2..]);
            let len = usize::try_from(u64::from_le_bytes(len))
                .ok()
                .and_then(|len| len.checked_mul(Wide::wide_size(*ty)));
            let (values, behind) = len
                .and_then(|len| body.split_at_checked(len))
                .ok_or(damaged("too short"))?;
            let output = Wide::of_wide_bytes(*ty, values).ok_or(damaged("too short"))?;
            expected.insert(head[0].into(), output);
            rest = behind;
        }
        Ok(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_the_values_but_not_on_the_order_of_additions() {
        let digest = |outputs: &[(usize, Wide)]| {
            let mut expected = Expected::default();
            for (argument, output) in outputs {
                expected.insert(*argument, output.clone());
            }
            expected.digest()
        };
        let (sum, other_order) = (0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1);
        assert!(sum != other_order);
        let of = |x: f64| digest(&[(1, Wide::F32(vec![x, 1.0])), (2, Wide::U8(vec![7]))]);
        assert_eq!(of(sum), of(other_order));
        assert_ne!(of(sum), of(0.61));
        let both = |first: u8, second: u8| {
            digest(&[(1, Wide::U8(vec![first])), (2, Wide::U8(vec![second]))])
        };
        assert_ne!(both(1, 2), both(2, 1));
        assert_ne!(both(1, 2), digest(&[(1, Wide::U8(vec![1, 2]))]));
    }

    #[test]
    fn expectations_come_back_from_their_file_and_damage_is_noticed() {
        let mut expected = Expected::of_launch();
        expected.insert(3, Wide::F32(vec![1.5, -2.0]));
        expected.insert(4, Wide::U8(vec![1, 2, 255]));
        expected.insert(5, Wide::I64(vec![i64::MIN + 1, i64::MAX - 1]));
        expected.insert(6, Wide::F64(vec![1.0 + f64::EPSILON]));
        let bytes = expected.to_bytes();
        assert_eq!(Expected::from_bytes(&bytes), Ok(expected));
        for byte in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[byte] ^= 1;
            assert!(Expected::from_bytes(&damaged).is_err());
        }
        assert!(Expected::from_bytes(&[]).is_err());
    }

    #[test]
    fn the_tolerance_grows_with_the_problem_but_not_without_limit() {
        let tolerance = |relative| Tolerance {
            relative,
            absolute: 0.0,
        };
        let slack = |growth, relative| {
            let expected = Expected::default().of_growth(growth);
            expected.slack(&tolerance(relative))
        };
        assert_eq!(slack(0.5, 1e-5), 1.0);
        assert_eq!(slack(16.0, 1e-5), 4.0);
        assert_eq!(slack(1e6, 1e-5), 100.0);
        assert_eq!(slack(1e6, 1e-9), 128.0);
        assert_eq!(slack(1e6, 1e-2), 8.0);
        let launched = Expected::of_launch().of_growth(9.0);
        assert_eq!(launched.slack(&tolerance(1e-5)), 6.0);
    }
}
