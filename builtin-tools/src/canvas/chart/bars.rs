//! Bar charts.

use super::super::commands::BarChart;
use super::super::compose::{Problems, Scene};
use super::super::fonts;
use super::super::svg::{Attributes, Svg};
use super::axes::{self, AxisNames, Marks};
use super::frame::Frame;
use super::scale::{Scale, short};
use super::{Label, check_series, color_at, legend, names};

/// Maximum number of bars that have their value above them.
const MAX_VALUED: usize = 24;

/// Draws a bar chart.
#[expect(clippy::cast_precision_loss, reason = "a chart has few bars")]
pub(in super::super) fn bars(
    scene: &Scene<'_>,
    place: &str,
    chart: &BarChart,
    problems: &mut Problems,
    svg: &mut Svg,
) {
    for (at, label) in chart.labels.iter().enumerate() {
        problems.label(&format!("{place}.labels[{at}]"), label);
    }
    check_series(place, &chart.series, Some((chart.labels.len(), "labels")), problems);
    let common = chart.common();
    let mut frame = Frame::new(scene, place, &common, problems, svg);
    if problems.message().is_some() {
        return;
    }
    let colors: Vec<String> =
        chart.series.iter().enumerate().map(|(at, series)| color_at(at, series.color.as_deref())).collect();
    if common.legend.unwrap_or(chart.series.len() > 1) {
        legend::below(svg, &mut frame, &names(&chart.series), &colors);
    }
    if !frame.check_room(place, problems) {
        return;
    }
    let is_stacked = chart.stacked.unwrap_or(false);
    let (low, high) = range(chart, is_stacked);
    let scale = Scale::new(low, high, (frame.height() / (frame.font_size * 3.0)).clamp(2.0, 8.0));
    let slot = 1.0 / chart.labels.len() as f64;
    let labels = chart.labels.iter().enumerate();
    let labels = labels.map(|(at, label)| ((at as f64 + 0.5) * slot, label.clone())).collect();
    let axis_names = AxisNames { x: chart.x_label.as_deref(), y: chart.y_label.as_deref() };
    let area = axes::draw(svg, &frame, &scale, &Marks { labels, slot }, axis_names);
    if !area.check_room(place, problems) {
        return;
    }
    let height = |value: f64| area.bottom - scale.share(value) * (area.bottom - area.top);
    let group = slot * area.width();
    let wide = group * 0.76;
    let count = if is_stacked { 1 } else { chart.series.len() };
    let bar_width = wide / count as f64;
    let is_valued = chart.series.len() == 1 && chart.labels.len() <= MAX_VALUED;
    for at in 0..chart.labels.len() {
        let left = area.left + at as f64 * group + (group - wide) / 2.0;
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
            let (first, second) = (height(from), height(from + value));
            let bar = Attributes::new()
                .number("x", x)
                .number("y", first.min(second))
                .number("width", bar_width)
                .number("height", (first - second).abs())
                .with("fill", &colors[number]);
            svg.element("rect", &bar);
            let label = short(value);
            if is_valued && fonts::width(&label, frame.font_size * 0.9, false) <= group {
                let y = if value < 0.0 { second + frame.font_size } else { second - frame.font_size * 0.3 };
                let style = Label::new(frame.theme, frame.font_size * 0.9, "middle");
                style.write(svg, x + bar_width / 2.0, y.max(area.top), &label);
            }
        }
    }
    axes::draw_lines(svg, &area, &scale);
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
