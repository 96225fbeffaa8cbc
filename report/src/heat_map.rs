//! Heat maps: the best time for each pair of values of two parameters.

use kiln_cache::Trial;
use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};
use serde::Serialize;

use super::importance::clipped;
use super::params::{Params, VariedParam};
use super::svg::{WIDTH, short};

/// Number of the most important parameters. Every pair of them has a heat map.
const PARAMS: usize = 3;

/// Maximum number of rows or columns of a heat map. If a parameter has more values, neighbouring values are grouped.
const MAX_VALUES: usize = 12;

/// The colour scale cividis, from slow to fast. Its brightness increases evenly, so it is legible for colour-blind
/// readers and in greyscale.
const COLOURS: [[f64; 3]; 6] = [
    [0.0, 32.0, 77.0],
    [49.0, 68.0, 107.0],
    [102.0, 105.0, 112.0],
    [149.0, 143.0, 120.0],
    [203.0, 186.0, 105.0],
    [255.0, 234.0, 70.0],
];

/// The best times by the values of two parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatMap {
    /// The parameter of the rows, with its values.
    pub rows: HeatMapSide,
    /// The parameter of the columns, with its values.
    pub columns: HeatMapSide,
    /// The cells: one vector per row, with one cell per column.
    pub cells: Vec<Vec<Cell>>,
}

/// The parameter of the rows or of the columns of a heat map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatMapSide {
    /// The name of the parameter.
    pub param: String,
    /// The values in ascending order, or ranges of grouped values.
    pub values: Vec<String>,
}

/// The trials with one pair of values (or of ranges of values).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Number of trials with these values.
    pub trials: u64,
    /// Number of these trials whose config is valid.
    pub valid: u64,
    /// The best time of a launch in nanoseconds; `None` if no trial is valid.
    pub best_ns: Option<u64>,
}

/// Creates the heat maps for each pair of the most important parameters. If `ranking` is empty, the first parameters
/// are used instead.
pub(super) fn heat_maps(trials: &[&Trial], ranking: &[&str]) -> Vec<HeatMap> {
    let params = Params::of(trials);
    let rank = |place: &usize| {
        let name = params.varied[*place].name.as_str();
        ranking
            .iter()
            .position(|ranked| *ranked == name)
            .unwrap_or(usize::MAX)
    };
    let mut places: Vec<usize> = (0..params.varied.len()).collect();
    places.sort_by_key(rank);
    places.truncate(PARAMS);
    let mut maps = Vec::new();
    for (n, &a) in places.iter().enumerate() {
        for &b in &places[n + 1..] {
            maps.push(HeatMap::new(trials, &params, a, b));
        }
    }
    maps
}

impl HeatMap {
    /// Creates the heat map of parameters `a` and `b`. The values of the parameter with more values are the columns,
    /// because pages are wider than high.
    fn new(trials: &[&Trial], params: &Params, a: usize, b: usize) -> HeatMap {
        let values = |place: usize| params.varied[place].values.len();
        let (row, column) = if values(a) > values(b) {
            (b, a)
        } else {
            (a, b)
        };
        let (rows, columns) = (
            HeatMapSide::of(&params.varied[row]),
            HeatMapSide::of(&params.varied[column]),
        );
        let mut cells = vec![vec![Cell::default(); columns.values.len()]; rows.values.len()];
        for (trial, positions) in trials.iter().zip(&params.rows) {
            let at = |place: usize| gathered(positions[place], values(place));
            let cell = &mut cells[at(row)][at(column)];
            cell.trials += 1;
            if let Some(summary) = trial.outcome.summary() {
                cell.valid += 1;
                let best = cell.best_ns.unwrap_or(u64::MAX);
                cell.best_ns = Some(best.min(summary.median_ns));
            }
        }
        HeatMap {
            rows,
            columns,
            cells,
        }
    }

    fn best(&self) -> impl Iterator<Item = u64> {
        self.cells.iter().flatten().filter_map(|cell| cell.best_ns)
    }

    /// Draws the chart.
    pub(super) fn draw(&self) -> Markup {
        const LEFT: f64 = 96.0;
        const TOP: f64 = 22.0;
        const ROW: f64 = 28.0;
        let (rows, columns) = (&self.rows, &self.columns);
        let width = ((WIDTH - LEFT) / columns.values.len().max(1) as f64).min(84.0);
        let bottom = TOP + ROW * rows.values.len() as f64;
        let height = bottom + 40.0;
        let ends = (
            self.best().min().unwrap_or(1),
            self.best().max().unwrap_or(1),
        );
        let at = |place: usize, from: f64, length: f64| from + length * place as f64;
        let label = format!("Best time by {} and {}", rows.param, columns.param);
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) class="chart" role="img" aria-label=(label) {
                text class="title" x="4" y="13" { (clipped(&rows.param, 30)) title { (rows.param) } }
                @for (place, value) in rows.values.iter().enumerate() {
                    text class="tick" x=(LEFT - 8.0) y=(at(place, TOP, ROW) + ROW / 2.0) text-anchor="end" dominant-baseline="central" {
                        (clipped(value, 11)) title { (value) }
                    }
                }
                @for (place, value) in columns.values.iter().enumerate() {
                    text class="tick" x=(short(at(place, LEFT, width) + width / 2.0)) y=(bottom + 16.0) text-anchor="middle" {
                        (clipped(value, 9)) title { (value) }
                    }
                }
                @for (row, cells) in self.cells.iter().enumerate() {
                    @for (column, cell) in cells.iter().enumerate() {
                        @let place = [at(column, LEFT, width), at(row, TOP, ROW), width, ROW];
                        (self.cell(cell, (row, column), place, ends))
                    }
                }
                text class="title" x=(short(LEFT + width * columns.values.len() as f64 / 2.0)) y=(height - 5.0) text-anchor="middle" {
                    (clipped(&columns.param, 40)) title { (columns.param) }
                }
            }
        }
    }

    fn cell(
        &self,
        cell: &Cell,
        at: (usize, usize),
        [x, y, width, height]: [f64; 4],
        ends: (u64, u64),
    ) -> Markup {
        let names = format!(
            "{}={}, {}={}",
            self.rows.param, self.rows.values[at.0], self.columns.param, self.columns.values[at.1]
        );
        let (middle, line) = (short(x + width / 2.0), short(y + height / 2.0));
        let [x, y, width, height] = [x + 1.0, y + 1.0, width - 2.0, height - 2.0].map(short);
        html! {
            @match cell.best_ns {
                Some(ns) => {
                    @let (fill, ink) = colour(ns, ends);
                    rect x=(x) y=(y) width=(width) height=(height) fill=(fill) {
                        title { (names) "\nbest " (Nanoseconds(ns)) ", " (cell.valid) " of " (cell.trials) " valid" }
                    }
                    text class="cell" x=(middle) y=(line) fill=(ink) text-anchor="middle" dominant-baseline="central" {
                        (compact(ns, self.columns.values.len()))
                    }
                },
                None => {
                    rect class="empty" x=(x) y=(y) width=(width) height=(height) {
                        title {
                            (names) "\n"
                            @if cell.trials == 0 { "not tried" } @else { (cell.trials) " tried, none valid" }
                        }
                    }
                    @if cell.trials > 0 {
                        text class="cell failed" x=(middle) y=(line) text-anchor="middle" dominant-baseline="central" { "×" }
                    }
                },
            }
        }
    }
}

/// The text of a cell: the time, with a narrow no-break space before its unit. If there are more than nine columns, the
/// text is empty, and only the colour shows the time.
fn compact(ns: u64, columns: usize) -> String {
    if columns > 9 {
        return String::new();
    }
    Nanoseconds(ns).to_string().replace(' ', "\u{202f}")
}

impl HeatMapSide {
    fn of(param: &VariedParam) -> HeatMapSide {
        let all = param.values.len();
        let groups = all.min(MAX_VALUES);
        let mut values: Vec<Vec<&str>> = vec![Vec::new(); groups];
        for (place, value) in param.values.iter().enumerate() {
            values[gathered(place, all)].push(value);
        }
        let name = |group: &Vec<&str>| match &group[..] {
            [first, .., last] => format!("{first}–{last}"),
            [only] => (*only).to_owned(),
            [] => String::new(),
        };
        HeatMapSide {
            param: param.name.clone(),
            values: values.iter().map(name).collect(),
        }
    }
}

/// The row or column of the value at `place` among `all` values.
fn gathered(place: usize, all: usize) -> usize {
    if all <= MAX_VALUES {
        place
    } else {
        place * MAX_VALUES / all
    }
}

/// The colour of a time between the best and the worst time, and a colour for legible text on it.
fn colour(ns: u64, (best, worst): (u64, u64)) -> (String, &'static str) {
    let log = |ns: u64| (ns.max(1) as f64).ln();
    let span = (log(worst) - log(best)).max(1e-9);
    let fast = ((log(worst) - log(ns)) / span).clamp(0.0, 1.0);
    let place = if best == worst { 5.0 } else { fast * 5.0 };
    let below = (place.floor() as usize).min(COLOURS.len() - 2);
    let share = place - below as f64;
    let mix = |n: usize| COLOURS[below][n] * (1.0 - share) + COLOURS[below + 1][n] * share;
    let [r, g, b] = [mix(0), mix(1), mix(2)];
    let bright = 0.299 * r + 0.587 * g + 0.114 * b > 125.0;
    (
        format!("#{:02x}{:02x}{:02x}", r as u8, g as u8, b as u8),
        if bright { "#111" } else { "#fff" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_gathered_evenly_and_in_order() {
        for all in 1..200 {
            let groups: Vec<usize> = (0..all).map(|place| gathered(place, all)).collect();
            assert!(groups.is_sorted());
            assert_eq!(*groups.last().unwrap(), all.min(MAX_VALUES) - 1);
        }
    }

    #[test]
    fn faster_is_brighter() {
        let brightness = |ns: u64| {
            let fill = colour(ns, (100, 1000)).0;
            u32::from_str_radix(&fill[1..3], 16).unwrap()
                + u32::from_str_radix(&fill[3..5], 16).unwrap()
        };
        let all: Vec<u32> = (100..=1000).step_by(50).map(brightness).collect();
        assert!(all.is_sorted_by(|a, b| a >= b), "{all:?}");
    }
}
