//! Bar charts.

use super::super::commands::{BarChart, Series};
use super::super::fonts;
use super::super::problems::Problems;
use super::super::scene::Scene;
use super::super::svg::{Attributes, Svg};
use super::axes::{Axes, AxisNames};
use super::frame::Frame;
use super::marks::Marks;
use super::scale::{Scale, short};
use super::{Label, Sheet, check_series, color_at, css, legend, names};

/// Maximum number of bars that have their value above them.
const MAX_VALUED: usize = 40;
/// The part of a group's width that its bars take.
const WIDE: f64 = 0.76;

/// Draws a bar chart.
#[expect(clippy::cast_precision_loss, reason = "a chart has few bars")]
pub(in super::super) fn bars(
    scene: &Scene<'_>,
    place: &str,
    chart: &BarChart,
    problems: &mut Problems,
    svg: &mut Svg,
) {
    problems.count_points(place, chart.labels.len());
    for (at, label) in chart.labels.iter().enumerate() {
        problems.label(&format!("{place}.labels[{at}]"), label);
    }
    check_series(place, &chart.series, Some((chart.labels.len(), "labels")), problems);
    let common = chart.common();
    let mut sheet = Sheet::new(svg);
    let mut frame = Frame::new(scene, place, &common, problems, &mut sheet);
    if problems.message().is_some() {
        return;
    }
    let color = |(at, series): (usize, &Series)| css(color_at(at, series.color.as_deref()));
    let colors: Vec<String> = chart.series.iter().enumerate().map(color).collect();
    if common.legend.unwrap_or(chart.series.len() > 1) {
        legend::below(&mut sheet, &mut frame, &names(&chart.series), &colors);
    }
    if !frame.check_room(place, problems) {
        return;
    }
    let slot = 1.0 / chart.labels.len() as f64;
    let labels = chart.labels.iter().enumerate();
    let labels = labels.map(|(at, label)| ((at as f64 + 0.5) * slot, label.clone())).collect();
    let marks = Marks { labels, slot, is_numeric: false };
    let axis_names = AxisNames { x: chart.x_label.as_deref(), y: chart.y_label.as_deref() };
    let axes = Axes::new(&frame, |height| scale(chart, &frame, height), &marks, axis_names);
    let area = axes.area;
    if !area.check_room(place, problems) {
        return;
    }
    axes.draw(&mut sheet, &frame, &marks, axis_names);
    let group = slot * area.width();
    let is_stacked = chart.stacked.unwrap_or(false);
    let count = if is_stacked { 1 } else { chart.series.len() };
    let bar_width = group * WIDE / count as f64;
    for at in 0..chart.labels.len() {
        let left = area.left + (at as f64 + (1.0 - WIDE) / 2.0) * group;
        let (mut above, mut below) = (0.0, 0.0);
        for (number, series) in chart.series.iter().enumerate() {
            let value = series.values[at];
            let (from, x) = match is_stacked {
                true if value >= 0.0 => (above, left),
                true => (below, left),
                false => (0.0, left + number as f64 * bar_width),
            };
            if value >= 0.0 {
                above += value;
            } else {
                below += value;
            }
            let (first, second) = (axes.height(from), axes.height(from + value));
            let bar = Attributes::new()
                .number("x", x)
                .number("y", first.min(second))
                .number("width", bar_width)
                .number("height", (first - second).abs())
                .with("fill", &colors[number]);
            sheet.svg.element("rect", &bar);
        }
    }
    axes.draw_lines(&mut sheet);
    if let Some(values) = valued(chart, &axes, &frame, group) {
        let label = Label::new(frame.theme, frame.font_size * VALUE, "middle");
        for (at, value) in values.iter().enumerate() {
            let x = area.left + (at as f64 + 0.5) * group;
            label.write(sheet.svg, x, baseline(&axes, &frame, *value), &short(*value));
        }
    }
    problems.note(place, sheet.note());
}

/// The size of a bar's value, by that of labels.
const VALUE: f64 = 0.9;
/// The height of digits above the baseline, and of a comma below it, by their size.
const ASCENT: f64 = 0.72;
const DESCENT: f64 = 0.18;

/// Returns the values that stand at the ends of bars, if all of them have room: in groups of this width, and between the top and the bottom
/// of the area, below which the labels of the groups are.
fn valued<'a>(chart: &'a BarChart, axes: &Axes, frame: &Frame, group: f64) -> Option<&'a [f64]> {
    let [series] = &*chart.series else { return None };
    let size = frame.font_size * VALUE;
    let fits = |value: &f64| {
        let baseline = baseline(axes, frame, *value);
        fonts::width(&short(*value), size, false) <= group * 0.95
            && baseline - size * ASCENT >= axes.area.top
            && baseline + size * DESCENT <= axes.area.bottom
    };
    (series.values.len() <= MAX_VALUED && series.values.iter().all(fits)).then_some(&*series.values)
}

/// Returns the height at which a bar's value is written: above the end of the bar, or below that of a negative one.
fn baseline(axes: &Axes, frame: &Frame, value: f64) -> f64 {
    let end = axes.height(value);
    if value < 0.0 { end + frame.font_size } else { end - frame.font_size * 0.3 }
}

/// Returns the scale of the vertical axis for an area of this height, with room for values beyond the ends of bars.
fn scale(chart: &BarChart, frame: &Frame, height: f64) -> Scale {
    let (low, high) = range(chart, chart.stacked.unwrap_or(false));
    let scale = Scale::new(low, high, (height / (frame.font_size * 3.0)).clamp(1.0, 8.0));
    // Whether values are shown is decided by the width; a little room does no harm.
    if chart.series.len() > 1 || chart.labels.len() > MAX_VALUED {
        return scale;
    }
    let room = frame.font_size * 1.3 / height.max(1.0);
    let scale = if low < 0.0 && scale.share(low) < room { scale.lower() } else { scale };
    if high > 0.0 && scale.share(high) > 1.0 - room { scale.higher() } else { scale }
}

/// The lowest and the highest end of a bar; both include zero.
fn range(chart: &BarChart, is_stacked: bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for at in 0..chart.labels.len() {
        let values = chart.series.iter().map(|series| series.values[at]);
        if is_stacked {
            let (mut above, mut below) = (0.0, 0.0);
            values.for_each(|value| if value >= 0.0 { above += value } else { below += value });
            (low, high) = (low.min(below), high.max(above));
        } else {
            (low, high) = values.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
        }
    }
    (low, high)
}
