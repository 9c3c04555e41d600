//! Charts: bars, lines and pies with axes, labels and a legend.

mod axes;
mod bars;
mod frame;
mod legend;
mod lines;
mod marks;
mod pie;
#[cfg(test)]
mod properties;
mod scale;

pub(super) use bars::bars;
pub(super) use lines::lines;
pub(super) use pie::pie;

use super::commands::Series;
use super::fonts::{self, BUNDLED_FAMILY};
use super::paint;
use super::problems::Problems;
use super::scene::Theme;
use super::svg::{Attributes, Svg};
use std::str::FromStr as _;
use svgtypes::Color;

/// The colours of series and slices, one after the other.
const PALETTE: [&str; 20] = [
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1", "#edc948", "#ff9da7", "#9c755f",
    "#8c8c8c", "#2f5a85", "#b5650f", "#2f7a35", "#a83236", "#3f8a85", "#7f4a75", "#b8962a", "#d46a78",
    "#6b4a35", "#555555",
];
/// The largest value of a chart.
const MAX_VALUE: f64 = 1e15;

/// The sheet that a chart is drawn on. It counts the labels that have no room, for a note in the result.
pub(super) struct Sheet<'a> {
    svg: &'a mut Svg,
    /// Number of labels that were cut.
    shortened: usize,
    /// Number of labels that were left out.
    omitted: usize,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(svg: &'a mut Svg) -> Self {
        Self { svg, shortened: 0, omitted: 0 }
    }

    /// A text cut to a width, on one line.
    fn fitted(&mut self, text: &str, size: f64, is_bold: bool, most: f64) -> String {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if fonts::width(&text, size, is_bold) <= most {
            return text;
        }
        self.shortened += 1;
        let room = most - fonts::width("…", size, is_bold);
        let cut = fonts::prefix(&text, size, is_bold, room);
        // Where not even a letter has room, nothing is written.
        if cut.is_empty() { String::new() } else { cut.trim_end().to_owned() + "…" }
    }

    /// Returns a note on the labels that have no room.
    pub(super) fn note(&self) -> Option<String> {
        let count = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 label is {what}")),
            _ => Some(format!("{count} labels are {what}")),
        };
        let parts = [count(self.shortened, "shortened"), count(self.omitted, "left out")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let more = "for lack of room; a larger `width` or `height`, or a smaller `font_size`, shows more";
        (!parts.is_empty()).then(|| format!("{} {more}", parts.join(" and ")))
    }
}

/// Each of how many things is shown, where each needs some room and has a slot.
fn every(needed: f64, slot: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive and small")]
    let every = (needed / slot.max(1e-6)).ceil().clamp(1.0, 1e6) as usize;
    every
}

/// Alignment of a label.
#[derive(Clone, Copy)]
struct Label<'a> {
    theme: Theme,
    size: f64,
    is_bold: bool,
    anchor: &'a str,
    /// Degrees, around its place.
    turn: f64,
}

impl<'a> Label<'a> {
    fn new(theme: Theme, size: f64, anchor: &'a str) -> Self {
        Self { theme, size, is_bold: false, anchor, turn: 0.0 }
    }

    fn bold(mut self) -> Self {
        self.is_bold = true;
        self
    }

    fn turned(mut self, degrees: f64) -> Self {
        self.turn = degrees;
        self
    }

    /// Writes it with its baseline at a place.
    fn write(self, svg: &mut Svg, x: f64, y: f64, text: &str) {
        let mut attributes = Attributes::new()
            .with("font-family", BUNDLED_FAMILY)
            .number("font-size", self.size)
            .number("font-weight", if self.is_bold { 700 } else { 400 })
            .with("text-anchor", self.anchor)
            .with("fill", self.theme.text)
            .with("xml:space", "preserve")
            .number("x", x)
            .number("y", y);
        if self.turn != 0.0 {
            attributes = attributes.number("transform", format_args!("rotate({} {x} {y})", self.turn));
        }
        svg.text(&attributes, text);
    }
}

/// A line of an axis or a grid.
fn rule(svg: &mut Svg, color: &str, from: (f64, f64), to: (f64, f64)) {
    let attributes = Attributes::new().number("x1", from.0).number("y1", from.1).number("x2", to.0);
    svg.element("line", &attributes.number("y2", to.1).with("stroke", color).number("stroke-width", 1));
}

/// The colour of the series or slice at a place.
fn color_at(at: usize, given: Option<&str>) -> Color {
    let usual = || Color::from_str(PALETTE[at % PALETTE.len()]).expect("the palette has colours");
    given.and_then(|given| paint::color(given).ok().flatten()).unwrap_or_else(usual)
}

/// A colour as an attribute value.
fn css(color: Color) -> String {
    format!("rgba({},{},{},{})", color.red, color.green, color.blue, f64::from(color.alpha) / 255.0)
}

/// Black or white: the one that is easier to read on a colour, which lies on a background.
fn readable_on(color: Color, background: Color) -> &'static str {
    let share = f64::from(color.alpha) / 255.0;
    let linear = |front: u8, back: u8| {
        let value = (f64::from(front) * share + f64::from(back) * (1.0 - share)) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    // The relative luminance of WCAG. Up to 0.183 white has the contrast of 4.5 that text needs, and from 0.175 on black has it.
    let luminance = 0.2126 * linear(color.red, background.red)
        + 0.7152 * linear(color.green, background.green)
        + 0.0722 * linear(color.blue, background.blue);
    if luminance > 0.183 { "black" } else { "white" }
}

fn check_color(place: &str, given: Option<&str>, problems: &mut Problems) {
    if let Some(Err(problem)) = given.map(paint::color) {
        problems.push(place, problem);
    }
}

fn check_values(place: &str, values: &[f64], problems: &mut Problems) {
    problems.count_points(place, values.len());
    if let Some(at) = values.iter().position(|value| !value.is_finite() || value.abs() > MAX_VALUE) {
        problems.push(
            &format!("{place}[{at}]"),
            format!("it is too large for a chart, which shows up to {MAX_VALUE:e}; use a larger unit"),
        );
    }
}

/// Checks series; each is to have `expected` values, one for each of what `of` names.
fn check_series(place: &str, series: &[Series], expected: Option<(usize, &str)>, problems: &mut Problems) {
    for (at, series) in series.iter().enumerate() {
        let place = format!("{place}.series[{at}]");
        if let Some(name) = &series.name {
            problems.label(&format!("{place}.name"), name);
        }
        check_color(&format!("{place}.color"), series.color.as_deref(), problems);
        check_values(&format!("{place}.values"), &series.values, problems);
        if let Some((expected, of)) = expected
            && series.values.len() != expected
        {
            problems.push(
                &format!("{place}.values"),
                format!(
                    "it has {} values, and `{of}` has {expected}; give one for each",
                    series.values.len()
                ),
            );
        }
    }
}

/// The names of series; those without one are numbered.
fn names(series: &[Series]) -> Vec<String> {
    let name =
        |(at, series): (usize, &Series)| series.name.clone().unwrap_or_else(|| format!("Series {}", at + 1));
    series.iter().enumerate().map(name).collect()
}
