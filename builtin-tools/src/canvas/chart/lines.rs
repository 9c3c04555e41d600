//! Line charts.

use super::super::commands::LineChart;
use super::super::problems::Problems;
use super::super::scene::Scene;
use super::super::svg::{Attributes, Svg, points};
use super::axes::{Axes, AxisNames};
use super::frame::Frame;
use super::marks::Marks;
use super::scale::Scale;
use super::{Sheet, check_series, check_values, color_at, css, legend, names};

/// Maximum number of values of a series that have a dot each.
const MAX_DOTS: usize = 40;

/// Draws a line chart.
pub(in super::super) fn lines(
    scene: &Scene<'_>,
    place: &str,
    chart: &LineChart,
    problems: &mut Problems,
    svg: &mut Svg,
) {
    check(place, chart, problems);
    let common = chart.common();
    let mut sheet = Sheet::new(svg);
    let mut frame = Frame::new(scene, place, &common, problems, &mut sheet);
    if problems.message().is_some() {
        return;
    }
    let colors: Vec<String> = chart
        .series
        .iter()
        .enumerate()
        .map(|(at, series)| css(color_at(at, series.color.as_deref())))
        .collect();
    if common.legend.unwrap_or(chart.series.len() > 1) {
        legend::below(&mut sheet, &mut frame, &names(&chart.series), &colors);
    }
    if !frame.check_room(place, problems) {
        return;
    }
    let values = || chart.series.iter().flat_map(|series| series.values.iter().copied());
    let (mut low, mut high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    // Where zero is near, it is on the axis: a part of the way would look like all of it.
    if low > 0.0 && low < high * 0.5 {
        low = 0.0;
    }
    if high < 0.0 && high > low * 0.5 {
        high = 0.0;
    }
    let scale = |height: f64| Scale::new(low, high, (height / (frame.font_size * 3.0)).clamp(1.0, 8.0));
    let count = chart.series.iter().map(|series| series.values.len()).max().unwrap_or(1);
    let across = Across::new(chart, count, &frame);
    let axis_names = AxisNames { x: chart.x_label.as_deref(), y: chart.y_label.as_deref() };
    let axes = Axes::new(&frame, scale, &across.marks, axis_names);
    let area = axes.area;
    if !area.check_room(place, problems) {
        return;
    }
    axes.draw(&mut sheet, &frame, &across.marks, axis_names);
    axes.draw_lines(&mut sheet);
    for (series, color) in chart.series.iter().zip(&colors) {
        let place = |(at, value): (usize, &f64)| {
            let x = area.left + across.shares.get(at).copied().unwrap_or(0.0) * area.width();
            [x, axes.height(*value)]
        };
        let line: Vec<[f64; 2]> = series.values.iter().enumerate().map(place).collect();
        let attributes = Attributes::new()
            .with("points", &points(&line))
            .with("fill", "none")
            .with("stroke", color)
            .number("stroke-width", 2)
            .with("stroke-linejoin", "round");
        sheet.svg.element("polyline", &attributes);
        if line.len() <= MAX_DOTS {
            for [x, y] in line {
                let dot =
                    Attributes::new().number("cx", x).number("cy", y).number("r", 3).with("fill", color);
                sheet.svg.element("circle", &dot);
            }
        }
    }
    problems.note(place, sheet.note());
}

fn check(place: &str, chart: &LineChart, problems: &mut Problems) {
    let labels = chart.labels.as_deref().unwrap_or_default();
    problems.count_points(place, labels.len());
    for (at, label) in labels.iter().enumerate() {
        problems.label(&format!("{place}.labels[{at}]"), label);
    }
    if let Some(values) = &chart.x_values {
        check_values(&format!("{place}.x_values"), values, problems);
    }
    let expected = match (&chart.x_values, &chart.labels) {
        (Some(_), Some(_)) => {
            problems.push(&format!("{place}.x_values"), "give `labels` or `x_values`, not both");
            None
        }
        (Some(values), None) => Some((values.len(), "x_values")),
        (None, Some(labels)) => Some((labels.len(), "labels")),
        (None, None) => None,
    };
    check_series(place, &chart.series, expected, problems);
}

/// The horizontal axis.
struct Across {
    /// The place of each value, from 0 to 1.
    shares: Vec<f64>,
    marks: Marks,
}

impl Across {
    #[expect(clippy::cast_precision_loss, reason = "a chart has few points")]
    fn new(chart: &LineChart, count: usize, frame: &Frame) -> Self {
        if let Some(values) = &chart.x_values {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let scale = Scale::new(low, high, (frame.width() / (frame.font_size * 6.0)).clamp(2.0, 10.0));
            let labels: Vec<_> =
                scale.ticks().into_iter().map(|tick| (scale.share(tick), scale.label(tick))).collect();
            let slot = 1.0 / labels.len().saturating_sub(1).max(1) as f64;
            let shares = values.iter().map(|value| scale.share(*value)).collect();
            return Self { shares, marks: Marks { labels, slot, is_numeric: true } };
        }
        let slot = 1.0 / count as f64;
        let share = |at: usize| (at as f64 + 0.5) * slot;
        let name = |at: usize| match &chart.labels {
            Some(labels) => labels.get(at).cloned().unwrap_or_default(),
            None => (at + 1).to_string(),
        };
        let labels = (0..count).map(|at| (share(at), name(at))).collect();
        Self {
            shares: (0..count).map(share).collect(),
            marks: Marks { labels, slot, is_numeric: chart.labels.is_none() },
        }
    }
}
