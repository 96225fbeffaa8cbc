//! [`Unjudged`], the reason why a comparison says nothing about most elements of an output.

use std::fmt;

/// The reason why a comparison with expected outputs says nothing about most elements of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Unjudged {
    /// Most elements are NaN, and NaN equals only NaN, wherever it comes from.
    NotNumbers {
        /// The name of the output.
        output: String,
        /// Number of elements that are NaN.
        count: usize,
        /// Number of elements.
        len: usize,
    },
    /// Zeros would be within tolerance of most elements.
    Loose {
        /// The name of the output.
        output: String,
        /// Number of elements that are smaller than their bound.
        count: usize,
        /// Number of finite elements other than zero.
        len: usize,
        /// The median of the magnitudes of these elements.
        median: f64,
        /// The tolerance of the smallest element.
        bound: f64,
    },
    /// The reduction by which the output is compared is infinite or NaN.
    NoReduction {
        /// The reduction and the output, for example `sum(y)`.
        output: String,
        /// The value.
        value: f64,
    },
    /// Few elements decide the sum: all others together are within its tolerance.
    Dominated {
        /// The reduction and the output.
        output: String,
        /// Number of elements whose magnitudes together are at most the bound.
        count: usize,
        /// Number of elements other than zero.
        len: usize,
        /// The largest magnitude.
        largest: f64,
        /// The tolerance of the sum.
        bound: f64,
    },
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unjudged::NotNumbers { output, count, len } => write!(
                f,
                "{count} of the {len} elements that are expected of `{output}` are NaN, so a comparison with them says \
                 little\nhelp: choose inputs for which they are numbers, with `#[fill(..)]`, `#[value(..)]` or `inputs`"
            ),
            Unjudged::Loose {
                output,
                count,
                len,
                median,
                bound,
            } => write!(
                f,
                "the tolerance says nothing about {count} of the {len} elements of `{output}`: their median magnitude is \
                 {median:.3e}, and an error of {bound:.3e} is permitted, so zeros would pass\nhelp: declare a smaller \
                 `tolerance(..)`"
            ),
            Unjudged::NoReduction { output, value } => write!(
                f,
                "{output} of the expected outputs is {value}, so a comparison with it says nothing\nhelp: choose inputs \
                 for which it is a finite number, with `#[fill(..)]`, `#[value(..)]` or `inputs`; or compare the elements, \
                 without `#[compare(..)]`"
            ),
            Unjudged::Dominated {
                output,
                count,
                len,
                largest,
                bound,
            } => write!(
                f,
                "{output} says nothing about {count} of its {len} elements: the largest is {largest:.3e}, so an error of \
                 {bound:.3e} is permitted, which is more than these elements together\nhelp: write huge values, such as \
                 FLT_MAX, to an output of their own; or compare the elements, without `#[compare(..)]`"
            ),
        }
    }
}
