//! Pie charts.

use super::super::commands::PieChart;
use super::super::fonts;
use super::super::problems::Problems;
use super::super::scene::Scene;
use super::super::svg::{Attributes, Svg};
use super::frame::Frame;
use super::scale::short;
use super::{Label, Sheet, check_color, check_values, color_at, css, legend, readable_on};
use std::f64::consts::TAU;
use svgtypes::Color;

/// The least share of a slice that has it written on it.
const LEAST_WRITTEN: f64 = 0.04;
/// The height of a digit, by the size of the font.
const CAPITAL: f64 = 0.72;

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
    let mut sheet = Sheet::new(svg);
    let mut frame = Frame::new(scene, place, &common, problems, &mut sheet);
    if problems.message().is_some() {
        return;
    }
    let total: f64 = chart.values.iter().sum();
    let shares: Vec<f64> = chart.values.iter().map(|value| value / total).collect();
    let colors = chart.colors.as_deref().unwrap_or_default();
    let colors: Vec<Color> =
        (0..shares.len()).map(|at| color_at(at, colors.get(at).map(String::as_str))).collect();
    if common.legend.unwrap_or(true) {
        beside(&mut sheet, &mut frame, chart, &shares, &colors);
    }
    if !frame.check_room(place, problems) {
        return;
    }
    let radius = frame.width().min(frame.height()) / 2.0;
    let ring = Ring {
        center: (f64::midpoint(frame.left, frame.right), f64::midpoint(frame.top, frame.bottom)),
        radius,
        hole: radius * chart.hole.unwrap_or(0.0),
    };
    let background = frame.theme.background;
    let separator = css(background);
    let mut angle = 0.0;
    for (share, color) in shares.iter().zip(&colors) {
        let next = angle + share * TAU;
        if *share > 0.0 {
            let slice = Attributes::new()
                .with("d", &ring.slice(angle, next))
                .with("fill", &css(*color))
                .with("fill-rule", "evenodd")
                .with("stroke", if *share < 1.0 { separator.as_str() } else { "none" })
                .number("stroke-width", 1);
            sheet.svg.element("path", &slice);
        }
        angle = next;
    }
    let mut angle = 0.0;
    for (share, color) in shares.iter().zip(&colors) {
        let next = angle + share * TAU;
        let text = percent(*share);
        let mut label = Label::new(frame.theme, frame.font_size, "middle").bold();
        let width = fonts::width(&text, label.size, true);
        let place = ring.room(angle, next, (width, label.size * CAPITAL));
        if let Some((x, y)) = place.filter(|_| *share >= LEAST_WRITTEN) {
            label.theme.text = readable_on(*color, background);
            label.write(sheet.svg, x, y + label.size * CAPITAL / 2.0, &text);
        }
        angle = next;
    }
    problems.note(place, sheet.note());
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
        problems.push(&format!("{place}.values"), "their sum is 0, so they have no shares");
    }
}

/// Draws the legend at the right of a frame, which it takes.
fn beside(sheet: &mut Sheet<'_>, frame: &mut Frame, chart: &PieChart, shares: &[f64], colors: &[Color]) {
    let size = frame.font_size;
    let entries: Vec<(&str, String)> = chart
        .labels
        .iter()
        .zip(chart.values.iter().zip(shares))
        .map(|(label, (value, share))| (label.as_str(), format!(": {} ({})", short(*value), percent(*share))))
        .collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive and small")]
    let most = (frame.height() / (size * 1.3)).floor().max(1.0) as usize;
    // The last line says how many have no room.
    let (shown, rest) = match entries.len() {
        count if count <= most => (count, 0),
        count => (most - 1, count - (most - 1)),
    };
    sheet.omitted += rest;
    let rest =
        (rest > 0).then(|| if shown == 0 { format!("{rest} slices") } else { format!("and {rest} more") });
    let widths = entries[..shown]
        .iter()
        .map(|(label, end)| fonts::width(label, size, false) + fonts::width(end, size, false))
        .chain(rest.iter().map(|rest| fonts::width(rest, size, false)));
    let width = widths.fold(0.0, f64::max).min(frame.width() * 0.45);
    let rows = f64::from(u32::try_from(shown + usize::from(rest.is_some())).unwrap_or(0));
    let row = (size * 1.6).min(frame.height() / rows.max(1.0));
    let left = frame.right - width - size * 1.3;
    let mut baseline = f64::midpoint(frame.top, frame.bottom) - rows * row / 2.0 + size;
    for ((label, end), color) in entries[..shown].iter().zip(colors) {
        // The end of an entry has the numbers, so the name is cut.
        let name = sheet.fitted(label, size, false, width - fonts::width(end, size, false));
        let line = if name.is_empty() {
            sheet.fitted(end.trim_start_matches(": "), size, false, width)
        } else {
            name + end
        };
        legend::marked(sheet, frame, (left, baseline), &line, &css(*color));
        baseline += row;
    }
    if let Some(rest) = rest {
        let rest = sheet.fitted(&rest, size, false, width);
        Label::new(frame.theme, size, "start").write(sheet.svg, left + size * 1.3, baseline, &rest);
    }
    frame.right = left - size;
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The place of slices.
struct Ring {
    center: (f64, f64),
    radius: f64,
    /// The radius of the hole.
    hole: f64,
}

impl Ring {
    fn at(&self, radius: f64, angle: f64) -> (f64, f64) {
        (self.center.0 + radius * angle.sin(), self.center.1 - radius * angle.cos())
    }

    /// Returns the centre of a box within a slice; `None` if there is no room for it.
    fn room(&self, from: f64, to: f64, (width, height): (f64, f64)) -> Option<(f64, f64)> {
        let middle = f64::midpoint(from, to);
        let is_whole = to - from > TAU - 1e-6;
        let is_within = |x: f64, y: f64| {
            let (x, y) = (x - self.center.0, y - self.center.1);
            let away = x.hypot(y);
            let turned = (x.atan2(-y) - middle + TAU * 1.5).rem_euclid(TAU) - TAU / 2.0;
            (self.hole..=self.radius).contains(&away) && (is_whole || turned.abs() <= (to - from) / 2.0)
        };
        // From the middle of the ring outwards, where a slice is wider.
        let start = f64::midpoint(self.radius, self.hole.max(self.radius * 0.3));
        (0..8).find_map(|step| {
            let (x, y) = self.at(start + (self.radius - start) * f64::from(step) / 8.0, middle);
            let (right, down) = (width / 2.0 + 2.0, height / 2.0 + 2.0);
            let points =
                [-1.0, 0.0, 1.0].map(|across| [-1.0, 0.0, 1.0].map(|up| (x + across * right, y + up * down)));
            points.into_iter().flatten().all(|(x, y)| is_within(x, y)).then_some((x, y))
        })
    }

    /// The path of a slice. It has two arcs: one alone would end where it begins if the slice is all.
    fn slice(&self, from: f64, to: f64) -> String {
        let Self { center, radius, hole } = *self;
        let middle = f64::midpoint(from, to);
        let arc = |radius: f64, angle: f64, sweep: u8| {
            let (x, y) = self.at(radius, angle);
            format!("A{radius} {radius} 0 0 {sweep} {x} {y}")
        };
        let (x, y) = self.at(radius, from);
        let outer = format!("M{x} {y}{}{}", arc(radius, middle, 1), arc(radius, to, 1));
        let is_whole = to - from > TAU - 1e-6;
        if hole <= 0.0 {
            let inner = if is_whole { String::new() } else { format!("L{} {}", center.0, center.1) };
            return format!("{outer}{inner}Z");
        }
        let (x, y) = self.at(hole, to);
        let join = if is_whole { "ZM" } else { "L" };
        format!("{outer}{join}{x} {y}{}{}Z", arc(hole, middle, 0), arc(hole, from, 0))
    }
}
