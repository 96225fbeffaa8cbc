//! The axes of charts: they map values to positions and choose ticks.

/// The quantity that an axis shows. It determines the unit of the labels, and whether the axis may be logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A number of items, such as trials or configs.
    Count,
    /// A duration in nanoseconds, shown in a suitable unit. The axis is logarithmic if the values span a factor of
    /// ten or more.
    Time,
    /// Time since the start of a run, in nanoseconds, shown in seconds. The axis is never logarithmic.
    Clock,
    /// A ratio to the time of the baseline. The axis is logarithmic if the values span a factor of ten or more.
    Speedup,
}

/// An axis from a smallest to a largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    lo: f64,
    hi: f64,
    is_log: bool,
    quantity: Quantity,
}

/// A marked value on an axis, with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// The approximate number of ticks of an axis.
const TICKS: f64 = 5.0;

/// If times or speed-ups span at least this factor, their axis is logarithmic.
const DECADE: f64 = 10.0;

const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];

impl Axis {
    /// Creates an axis that contains all finite values. The range of the axis is not empty, even if there are no values
    /// or only one.
    pub(super) fn over(values: impl IntoIterator<Item = f64>, quantity: Quantity) -> Axis {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
            (lo.min(value), hi.max(value))
        });
        let (lo, hi) = if lo > hi { (0.0, 1.0) } else { (lo, hi) };
        let spans = matches!(quantity, Quantity::Time | Quantity::Speedup);
        let is_log = spans && lo > 0.0 && hi / lo >= DECADE;
        let (lo, hi) = match quantity {
            Quantity::Count => (lo.min(0.0).floor(), hi.max(1.0).ceil()),
            Quantity::Clock => (lo, hi.max(lo + 1.0)),
            _ if is_log => (lo / 1.15, hi * 1.15),
            Quantity::Time | Quantity::Speedup => {
                let room = ((hi - lo) * 0.06).max(hi.abs() * 1e-3).max(1e-3);
                ((lo - room).max(0.0), hi + room)
            }
        };
        Axis {
            lo,
            hi,
            is_log,
            quantity,
        }
    }

    /// Whether the axis is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        self.is_log
    }

    /// The position of a value on the axis, from 0 (start) to 1 (end). Values outside the axis are clamped.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(f64::MIN_POSITIVE) / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        share.clamp(0.0, 1.0)
    }

    /// The ticks: round numbers within the axis, in ascending order, with different labels.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let values = if self.is_log {
            self.log_values()
        } else {
            self.linear_values()
        };
        let step = values
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(f64::INFINITY, f64::min);
        let label = |&value: &f64| Tick {
            value,
            label: self.label(value, step),
        };
        values.iter().map(label).collect()
    }

    fn linear_values(&self) -> Vec<f64> {
        let least = match self.quantity {
            Quantity::Count | Quantity::Clock => 1.0,
            Quantity::Time | Quantity::Speedup => 0.0,
        };
        let step = round_step((self.hi - self.lo) / TICKS).max(least);
        let first = (self.lo / step - 1e-9).ceil();
        let last = (self.hi / step + 1e-9).floor();
        let count = (last - first).max(0.0) as u32;
        (0..=count)
            .map(|n| (first + f64::from(n)) * step)
            .filter(|&value| value >= self.lo && value <= self.hi)
            .collect()
    }

    fn log_values(&self) -> Vec<f64> {
        let (from, to) = (
            self.lo.log10().floor() as i32,
            self.hi.log10().ceil() as i32,
        );
        let decades = self.hi.log10() - self.lo.log10();
        let within: &[f64] = match decades {
            ..1.5 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            ..3.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = ((decades / (2.0 * TICKS)).ceil() as usize).max(1);
        (from..=to)
            .step_by(every)
            .flat_map(|power| within.iter().map(move |factor| factor * 10_f64.powi(power)))
            .filter(|&value| value >= self.lo && value <= self.hi)
            .collect()
    }

    /// Formats a value. Values that differ by at least `step` get different texts.
    fn label(&self, value: f64, step: f64) -> String {
        match self.quantity {
            Quantity::Count => format!("{value:.0}"),
            Quantity::Speedup => {
                let step = if self.is_log { value } else { step };
                format!("{value:.*}×", decimals(step))
            }
            Quantity::Clock => format!("{:.*}", decimals(step / 1e9), value / 1e9),
            Quantity::Time => {
                // All labels of a linear axis have the same unit. On a logarithmic axis, each label has its own unit.
                let suits = if self.is_log { value } else { self.hi };
                let unit = UNITS.iter().find(|(_, length)| suits >= *length);
                let (name, length) = unit.unwrap_or(&UNITS[UNITS.len() - 1]);
                let step = if self.is_log { value } else { step };
                format!("{:.*} {name}", decimals(step / length), value / length)
            }
        }
    }
}

/// The smallest round number (1, 2 or 5 times a power of ten) that is not less than `length`.
fn round_step(length: f64) -> f64 {
    let power = 10_f64.powf(length.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors
        .iter()
        .find(|factor| *factor * power >= length * (1.0 - 1e-9));
    factor.unwrap_or(&10.0) * power
}

/// The number of decimals that is needed to distinguish numbers that differ by `step`.
fn decimals(step: f64) -> usize {
    if !step.is_finite() || step <= 0.0 {
        return 2;
    }
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUANTITIES: [Quantity; 4] = [
        Quantity::Count,
        Quantity::Time,
        Quantity::Clock,
        Quantity::Speedup,
    ];

    proptest! {
        #[test]
        fn ticks_are_round_in_order_within_the_axis_and_told_apart(
            which in 0_usize..4,
            lo in 1.0_f64..1e6,
            factor in prop_oneof![1.0_f64..1.01, 1.0_f64..3.0, 1.0_f64..1e7],
        ) {
            let quantity = QUANTITIES[which];
            let lo = if quantity == Quantity::Speedup { lo / 1e6 + 0.1 } else { lo };
            let axis = Axis::over([lo, lo * factor], quantity);
            let ticks = axis.ticks();
            prop_assert!((1..=12).contains(&ticks.len()), "{axis:?} {ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value));
            prop_assert!(ticks.windows(2).all(|pair| pair[0].label != pair[1].label), "{ticks:?}");
            prop_assert!(ticks.iter().all(|tick| axis.lo <= tick.value && tick.value <= axis.hi));
            prop_assert!(ticks.iter().all(|tick| tick.label.chars().count() <= 14), "{ticks:?}");
        }

        #[test]
        fn places_keep_the_order_of_values(
            which in 0_usize..4,
            values in prop::collection::vec(0.001_f64..1e9, 1..20),
        ) {
            let axis = Axis::over(values.iter().copied(), QUANTITIES[which]);
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            let places: Vec<f64> = sorted.iter().map(|value| axis.place(*value)).collect();
            prop_assert!(places.is_sorted());
            prop_assert!(places.iter().all(|place| (0.0..=1.0).contains(place)));
        }

        #[test]
        fn a_tick_stands_where_its_label_says(lo in 10.0_f64..1e6, factor in 1.1_f64..1e5) {
            let axis = Axis::over([lo, lo * factor], Quantity::Time);
            for tick in axis.ticks() {
                let (number, unit) = tick.label.split_once(' ').unwrap();
                let length = UNITS.iter().find(|(name, _)| *name == unit).unwrap().1;
                let says = number.parse::<f64>().unwrap() * length;
                prop_assert!((says / tick.value - 1.0).abs() < 1e-6, "{tick:?}");
            }
        }
    }

    #[test]
    fn times_over_a_decade_are_on_a_logarithmic_axis_and_others_are_not() {
        let labels = |values: [f64; 2]| -> Vec<String> {
            let ticks = Axis::over(values, Quantity::Time).ticks();
            ticks.into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(labels([900.0, 2e6]), ["1 µs", "10 µs", "100 µs", "1 ms"]);
        assert_eq!(labels([1000.0, 2000.0]), ["1.0 µs", "1.5 µs", "2.0 µs"]);
    }

    #[test]
    fn an_axis_of_nothing_and_one_of_a_single_value_have_a_length() {
        for quantity in QUANTITIES {
            for values in [&[][..], &[0.0], &[5.0], &[f64::NAN]] {
                let axis = Axis::over(values.iter().copied(), quantity);
                assert!(axis.lo < axis.hi, "{quantity:?} {values:?}");
                assert!(axis.place(5.0).is_finite());
                axis.ticks();
            }
        }
    }
}
