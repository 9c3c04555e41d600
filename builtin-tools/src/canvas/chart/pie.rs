//! Pie charts.

use super::super::commands::PieChart;
use super::super::compose::{Problems, Scene};
use super::super::fonts;
use super::super::svg::{Attributes, Svg};
use super::frame::Frame;
use super::scale::short;
use super::{Label, check_color, check_values, color_at, fitted, legend};
use std::f64::consts::TAU;

/// The least share of a slice that has it written on it.
const LEAST_WRITTEN: f64 = 0.08;

/// Draws a pie chart, from twelve o'clock on.
pub(in super::super) fn pie(
    scene: &Scene<'_>,
    place: &str,
    chart: &PieChart,
    problems: &mut Problems,
    svg: &mut Svg,
) {
    check(place, chart, problems);
    let common = chart.common();
    let mut frame = Frame::new(scene, place, &common, problems, svg);
    if problems.message().is_some() {
        return;
    }
    let total: f64 = chart.values.iter().sum();
    let shares: Vec<f64> = chart.values.iter().map(|value| value / total).collect();
    let colors = chart.colors.as_deref().unwrap_or_default();
    let colors: Vec<String> =
        (0..shares.len()).map(|at| color_at(at, colors.get(at).map(String::as_str))).collect();
    if common.legend.unwrap_or(true) {
        beside(svg, &mut frame, chart, &shares, &colors);
    }
    if !frame.check_room(place, problems) {
        return;
    }
    let center = (f64::midpoint(frame.left, frame.right), f64::midpoint(frame.top, frame.bottom));
    let radius = frame.width().min(frame.height()) / 2.0;
    let hole = radius * chart.hole.unwrap_or(0.0);
    let mut angle = 0.0;
    for (share, color) in shares.iter().zip(&colors) {
        let next = angle + share * TAU;
        if *share > 0.0 {
            let slice = Attributes::new()
                .with("d", &slice(center, radius, hole, angle, next))
                .with("fill", color)
                .with("fill-rule", "evenodd")
                .with("stroke", if *share < 1.0 { "white" } else { "none" })
                .number("stroke-width", 1);
            svg.element("path", &slice);
        }
        angle = next;
    }
    let mut angle = 0.0;
    for share in &shares {
        let middle = angle + share * TAU / 2.0;
        if *share >= LEAST_WRITTEN {
            let away = f64::midpoint(radius, hole.max(radius * 0.3));
            let (x, y) = at(center, away, middle);
            let mut label = Label::new(frame.theme, frame.font_size, "middle").bold();
            label.theme.text = "white";
            label.write(svg, x, y + frame.font_size * 0.35, &percent(*share));
        }
        angle += share * TAU;
    }
}

fn check(place: &str, chart: &PieChart, problems: &mut Problems) {
    for (at, label) in chart.labels.iter().enumerate() {
        problems.label(&format!("{place}.labels[{at}]"), label);
    }
    let (labels, values) = (chart.labels.len(), chart.values.len());
    if labels != values {
        problems.push(
            &format!("{place}.values"),
            format!("it has {values} values, and `labels` has {labels}; give one for each"),
        );
    }
    for (at, color) in chart.colors.iter().flatten().enumerate() {
        check_color(&format!("{place}.colors[{at}]"), Some(color), problems);
    }
    check_values(&format!("{place}.values"), &chart.values, problems);
    if let Some(at) = chart.values.iter().position(|value| *value < 0.0) {
        problems.push(&format!("{place}.values[{at}]"), "a slice cannot be negative; use a bar chart");
    }
    if chart.values.iter().sum::<f64>() <= 0.0 {
        problems.push(&format!("{place}.values"), "their sum is 0, of which there are no shares");
    }
}

/// Draws the legend at the right of a frame, which it takes.
fn beside(svg: &mut Svg, frame: &mut Frame, chart: &PieChart, shares: &[f64], colors: &[String]) {
    let size = frame.font_size;
    let row = (size * 1.6).min(frame.height() / f64::from(u32::try_from(shares.len()).unwrap_or(1).max(1)));
    let lines: Vec<String> = chart
        .labels
        .iter()
        .zip(&chart.values)
        .zip(shares)
        .map(|((label, value), share)| format!("{label}: {} ({})", short(*value), percent(*share)))
        .collect();
    let widest = lines.iter().map(|line| fonts::width(line, size, false)).fold(0.0, f64::max);
    let width = widest.min(frame.width() * 0.45);
    let left = frame.right - width - size * 1.3;
    let rows = f64::from(u32::try_from(lines.len()).unwrap_or(0));
    let mut baseline = f64::midpoint(frame.top, frame.bottom) - rows * row / 2.0 + size;
    for (line, color) in lines.iter().zip(colors) {
        legend::marked(svg, frame, (left, baseline), &fitted(line, size, false, width), color);
        baseline += row;
    }
    frame.right = left - size;
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

fn at((x, y): (f64, f64), radius: f64, angle: f64) -> (f64, f64) {
    (x + radius * angle.sin(), y - radius * angle.cos())
}

/// The path of a slice. A slice of nearly all is drawn as two arcs: one alone would end where it begins.
fn slice(center: (f64, f64), radius: f64, hole: f64, from: f64, to: f64) -> String {
    let middle = f64::midpoint(from, to);
    let arc = |radius: f64, angle: f64, sweep: u8| {
        let (x, y) = at(center, radius, angle);
        format!("A{radius} {radius} 0 0 {sweep} {x} {y}")
    };
    let (x, y) = at(center, radius, from);
    let outer = format!("M{x} {y}{}{}", arc(radius, middle, 1), arc(radius, to, 1));
    let is_whole = to - from > TAU - 1e-6;
    if hole <= 0.0 {
        let inner = if is_whole { String::new() } else { format!("L{} {}", center.0, center.1) };
        return format!("{outer}{inner}Z");
    }
    let (x, y) = at(center, hole, to);
    let join = if is_whole { "ZM" } else { "L" };
    format!("{outer}{join}{x} {y}{}{}Z", arc(hole, middle, 0), arc(hole, from, 0))
}
