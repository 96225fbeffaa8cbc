//! A bar whose segments are the shares of a whole.

use maud::{Markup, html};

use super::svg::{WIDTH, short};

/// A segment of the bar.
pub(super) struct Share<'a> {
    pub(super) name: &'a str,
    /// The CSS class of the segment.
    pub(super) style: &'static str,
    /// The size of the segment, in the unit of the whole.
    pub(super) amount: f64,
    /// The size as text, with its unit.
    pub(super) says: String,
}

const HEIGHT: f64 = 22.0;

/// Draws the segments in the given order. A segment contains its name if it is wide enough.
pub(super) fn draw(parts: &[Share<'_>], whole: f64, label: &str) -> Markup {
    let mut from = 0.0;
    let placed = parts.iter().map(|part| {
        let width = WIDTH * (part.amount / whole).min(1.0);
        from += width;
        (part, from - width, width)
    });
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) class="bar" role="img" aria-label=(label) {
            @for (part, x, width) in placed {
                rect class=(part.style) x=(short(x)) y="0" width=(short(width)) height=(HEIGHT) {
                    title { (part.name) ": " (part.says) " (" (format!("{:.2} %", 100.0 * part.amount / whole)) ")" }
                }
                @if width > 7.0 * part.name.len() as f64 + 12.0 {
                    text class=(format!("inbar on-{}", part.style)) x=(short(x + 6.0)) y="15" { (part.name) }
                }
            }
        }
    }
}
