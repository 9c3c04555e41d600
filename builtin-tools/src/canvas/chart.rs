//! Charts: bars, lines and pies with axes, labels and a legend.

mod axes;
mod bars;
mod frame;
mod legend;
mod lines;
mod pie;
mod scale;

pub(super) use bars::bars;
pub(super) use lines::lines;
pub(super) use pie::pie;

use super::commands::Series;
use super::compose::Problems;
use super::fonts::{self, BUNDLED_FAMILY};
use super::paint;
use super::svg::{Attributes, Svg};
use svgtypes::Color;

/// The colours of series and slices, one after the other.
const PALETTE: [&str; 20] = [
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1", "#edc948", "#ff9da7", "#9c755f",
    "#8c8c8c", "#2f5a85", "#b5650f", "#2f7a35", "#a83236", "#3f8a85", "#7f4a75", "#b8962a", "#d46a78",
    "#6b4a35", "#555555",
];
/// The largest value of a chart.
const MAX_VALUE: f64 = 1e15;

/// The colours of what surrounds the data, by the colour of the canvas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    text: &'static str,
    axis: &'static str,
    grid: &'static str,
}

impl Theme {
    /// Dark text on a light canvas, light text on a dark one.
    pub(super) fn on(background: Option<Color>) -> Self {
        let is_dark = background.is_some_and(|color| {
            let light = 2 * u32::from(color.red) + 5 * u32::from(color.green) + u32::from(color.blue);
            color.alpha > 127 && light < 8 * 110
        });
        if is_dark {
            Self { text: "#eeeeee", axis: "#999999", grid: "#444444" }
        } else {
            Self { text: "#333333", axis: "#888888", grid: "#e3e3e3" }
        }
    }
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

/// A text cut to a width, on one line.
fn fitted(text: &str, size: f64, is_bold: bool, most: f64) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if fonts::width(&text, size, is_bold) <= most {
        return text;
    }
    let mut cut = String::new();
    for character in text.chars() {
        cut.push(character);
        if fonts::width(&cut, size, is_bold) + fonts::width("…", size, is_bold) > most {
            cut.pop();
            break;
        }
    }
    cut.trim_end().to_owned() + "…"
}

/// A line of an axis or a grid.
fn rule(svg: &mut Svg, color: &str, from: (f64, f64), to: (f64, f64)) {
    let attributes = Attributes::new().number("x1", from.0).number("y1", from.1).number("x2", to.0);
    svg.element("line", &attributes.number("y2", to.1).with("stroke", color).number("stroke-width", 1));
}

/// The colour of the series or slice at a place, as an attribute value.
fn color_at(at: usize, given: Option<&str>) -> String {
    match given.and_then(|given| paint::color(given).ok().flatten()) {
        Some(color) => {
            format!("rgba({},{},{},{})", color.red, color.green, color.blue, f64::from(color.alpha) / 255.0)
        }
        None => PALETTE[at % PALETTE.len()].to_owned(),
    }
}

fn check_color(place: &str, given: Option<&str>, problems: &mut Problems) {
    if let Some(Err(problem)) = given.map(paint::color) {
        problems.push(place, problem);
    }
}

fn check_values(place: &str, values: &[f64], problems: &mut Problems) {
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
