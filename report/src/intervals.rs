//! A forest plot: speed-ups with their intervals, one per row.

use maud::{Markup, html};

use super::axis::{Axis, Quantity};
use super::svg::short;

/// A row of the plot.
#[derive(Clone, Debug)]
pub(super) struct IntervalRow {
    /// The text to the left of the row.
    pub(super) name: String,
    /// The target of the link on the name, if it has one.
    pub(super) link: Option<String>,
    /// The CSS class of the row: `s-proven`, `s-kept` or `s-open`.
    pub(super) class: &'static str,
    /// The speed-up over the baseline.
    pub(super) speedup: f64,
    /// The ends of the 95 % interval of the speed-up, if it is known.
    pub(super) interval: Option<[f64; 2]>,
    /// The text to the right of the row.
    pub(super) says: String,
    /// The tooltip of the mark.
    pub(super) title: String,
}

const WIDTH: f64 = 900.0;
const NAMES: f64 = 380.0;
const RIGHT: f64 = 170.0;
const LINE: f64 = 19.0;
const FOOT: f64 = 40.0;

/// Draws the rows in the given order, on a common axis that includes 1, the baseline.
pub(super) fn draw(rows: &[IntervalRow], label: &str) -> Markup {
    let values = rows.iter().map(|row| row.speedup).chain([1.0]);
    let ends = rows.iter().flat_map(|row| row.interval).flatten();
    let axis = Axis::over(values.chain(ends), Quantity::Speedup);
    let bottom = LINE * rows.len() as f64 + 8.0;
    let at = |value: f64| short(NAMES + axis.place(value) * (WIDTH - NAMES - RIGHT));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", bottom + FOOT)) class="chart speedups" role="img" aria-label=(label) {
            line class="baseline" x1=(at(1.0)) x2=(at(1.0)) y1="2" y2=(bottom) { title { "baseline" } }
            @for (row, line) in rows.iter().zip(0_u32..) {
                (draw_row(row, f64::from(line) * LINE + 14.0, &at))
            }
            line class="axis" x1=(NAMES) x2=(WIDTH - RIGHT) y1=(bottom) y2=(bottom) {}
            @for tick in axis.ticks() {
                line class="axis" x1=(at(tick.value)) x2=(at(tick.value)) y1=(bottom) y2=(bottom + 4.0) {}
                text class="tick" x=(at(tick.value)) y=(bottom + 17.0) text-anchor="middle" { (tick.label) }
            }
            text class="title" x=(f64::midpoint(NAMES, WIDTH - RIGHT)) y=(bottom + 35.0) text-anchor="middle" {
                "times as fast as the baseline" @if axis.is_log() { " (log)" }
            }
        }
    }
}

fn draw_row(row: &IntervalRow, y: f64, at: &impl Fn(f64) -> String) -> Markup {
    let name = html! {
        text x=(NAMES - 12.0) y=(y + 4.0) text-anchor="end" { (fitting(&row.name)) title { (row.name) } }
    };
    html! {
        g class=(row.class) {
            @match &row.link {
                Some(link) => a href=(link) { (name) },
                None => (name),
            }
            @if let Some([low, high]) = row.interval {
                line class="whisker" x1=(at(low)) x2=(at(high)) y1=(y) y2=(y) { title { (format!("[{low:.2}, {high:.2}]")) } }
            }
            circle cx=(at(row.speedup)) cy=(y) r="4" { title { (row.title) } }
            text class="mark" x=(WIDTH - RIGHT + 8.0) y=(y + 4.0) { (row.says) }
        }
    }
}

/// The space for a name, in units of the view box.
const NAME_WIDTH: f64 = NAMES - 16.0;

/// The size of the letters of a name (see `style.css`).
const LETTER: f64 = 12.5;

/// Shortens a name to the available space. The middle is left out, because the kernel is at the beginning of the name,
/// and problems often differ at the end. A name that is too wide would lose its beginning at the edge of the picture.
fn fitting(name: &str) -> String {
    if width(name) <= NAME_WIDTH {
        return name.to_owned();
    }
    let chars: Vec<char> = name.chars().collect();
    let cut = |kept: usize| {
        let (head, tail) = (kept - kept / 3, kept / 3);
        let head: String = chars[..head].iter().collect();
        let tail: String = chars[chars.len() - tail..].iter().collect();
        format!("{head}…{tail}")
    };
    let lengths = (1..chars.len()).rev();
    let shortened = lengths.map(cut).find(|cut| width(cut) <= NAME_WIDTH);
    shortened.unwrap_or_default()
}

/// An upper bound of the width of a text in the widest font of the page, DejaVu Sans. Its widths are multiples of 1/1000
/// of the size of the letters.
fn width(text: &str) -> f64 {
    let thousandths = |letter: char| match letter {
        'i' | 'j' | 'l' | '|' | ' ' | ',' | '.' | ':' => 340,
        '(' | ')' | '[' | ']' | 'f' | 'r' | 't' | 's' | '/' | '-' => 530,
        '0'..='9' | 'a'..='l' | 'n'..='v' | 'x'..='z' | '_' => 640,
        _ => 1000,
    };
    let sum: u32 = text.chars().map(thousandths).sum();
    f64::from(sum) / 1000.0 * LETTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end_within_the_picture() {
        let short = "gemm (m=1024)";
        assert_eq!(fitting(short), short);
        let long = format!("gemm_f16 ({}, n=7)", "m=123456789, ".repeat(10));
        let fitted = fitting(&long);
        assert!(width(&fitted) <= NAME_WIDTH, "{fitted}");
        assert!(width(&fitted) > NAME_WIDTH - 30.0, "{fitted}");
        assert!(
            fitted.starts_with("gemm_f16 (m=") && fitted.ends_with(" n=7)"),
            "{fitted}"
        );
        // Fifty-six digits are wider than the space, although they are few.
        assert!(fitting(&"8".repeat(56)).contains('…'));
    }
}
