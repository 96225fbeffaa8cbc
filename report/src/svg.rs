//! The frame of a chart: its size, axes and grid lines.

use maud::{Markup, html};

use super::axis::Axis;

/// The frame of a chart. Lengths are in units of the SVG view box, which the page scales to the available width.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChartFrame<'a> {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) x_title: &'a str,
    pub(super) y_title: &'a str,
    /// A description of the chart, for screen readers.
    pub(super) label: &'a str,
}

pub(super) const WIDTH: f64 = 560.0;
pub(super) const HEIGHT: f64 = 300.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = 44.0;

impl ChartFrame<'_> {
    /// The x coordinate of a value of the horizontal axis.
    pub(super) fn at_x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    /// The y coordinate of a value of the vertical axis.
    pub(super) fn at_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// The y coordinate of the top of the plot area.
    pub(super) fn top(&self) -> f64 {
        TOP
    }

    /// The y coordinate, above the plot area, of marks that have no value.
    pub(super) fn above(&self) -> f64 {
        TOP - 5.0
    }

    /// The y coordinate of the bottom of the plot area.
    pub(super) fn bottom(&self) -> f64 {
        HEIGHT - BOTTOM
    }

    /// The x coordinates of the left and the right side of the plot area.
    pub(super) fn sides(&self) -> (f64, f64) {
        (LEFT, WIDTH - RIGHT)
    }

    /// Draws the axes, the grid lines and the marks.
    pub(super) fn draw(&self, marks: Markup) -> Markup {
        let (left, right) = self.sides();
        let y_title = if self.y.is_log() {
            format!("{} (log)", self.y_title)
        } else {
            self.y_title.to_owned()
        };
        let x_title = if self.x.is_log() {
            format!("{} (log)", self.x_title)
        } else {
            self.x_title.to_owned()
        };
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.label) class="chart" {
                @for tick in self.y.ticks() {
                    @let y = short(self.at_y(tick.value));
                    line class="grid" x1=(left) x2=(right) y1=(y) y2=(y) {}
                    text class="tick" x=(left - 8.0) y=(y) text-anchor="end" dominant-baseline="central" { (tick.label) }
                }
                @for tick in self.x.ticks() {
                    @let x = short(self.at_x(tick.value));
                    line class="axis" x1=(x) x2=(x) y1=(self.bottom()) y2=(self.bottom() + 5.0) {}
                    text class="tick" x=(x) y=(self.bottom() + 18.0) text-anchor="middle" { (tick.label) }
                }
                line class="axis" x1=(left) x2=(right) y1=(self.bottom()) y2=(self.bottom()) {}
                text class="title" x=(f64::midpoint(left, right)) y=(HEIGHT - 6.0) text-anchor="middle" { (x_title) }
                text class="title" x="4" y="13" { (y_title) }
                (marks)
            }
        }
    }
}

/// A text with possible line breaks after its commas, for configs and problems, which may be long.
pub(super) fn breakable(text: &str) -> Markup {
    html! {
        @for (place, piece) in text.split_inclusive(',').enumerate() {
            @if place > 0 { wbr; }
            (piece)
        }
    }
}

/// Formats a length with at most one decimal, so that pages with thousands of marks stay small.
pub(super) fn short(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
