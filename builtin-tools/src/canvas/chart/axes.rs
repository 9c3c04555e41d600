//! The axes of bar and line charts.

use super::super::fonts;
use super::super::svg::Svg;
use super::frame::Frame;
use super::scale::Scale;
use super::{Label, fitted, rule};

/// The names of axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisNames<'a> {
    pub(super) x: Option<&'a str>,
    pub(super) y: Option<&'a str>,
}

/// The labels of the horizontal axis: each with its place, from 0 to 1.
pub(super) struct Marks {
    pub(super) labels: Vec<(f64, String)>,
    /// The share of the axis that each has.
    pub(super) slot: f64,
}

/// Draws both axes within a frame and returns the area between them.
pub(super) fn draw(
    svg: &mut Svg,
    frame: &Frame,
    scale: &Scale,
    marks: &Marks,
    names: AxisNames<'_>,
) -> Frame {
    let (size, theme) = (frame.font_size, frame.theme);
    let mut area = *frame;
    let ticks: Vec<(f64, String)> = scale.ticks().into_iter().map(|tick| (tick, scale.label(tick))).collect();
    let widest = ticks.iter().map(|(_, label)| fonts::width(label, size, false)).fold(0.0, f64::max);
    area.left += widest + size * 0.6;
    if names.y.is_some() {
        area.left += size * 1.6;
    }
    if names.x.is_some() {
        area.bottom -= size * 1.6;
    }
    let turn = turned(&area, marks);
    let room = if turn { frame.height() * 0.3 } else { 0.0 };
    let longest = marks.labels.iter().map(|(_, label)| fonts::width(label, size, false)).fold(0.0, f64::max);
    let label_height = if turn { (longest * SINE).min(room) + size } else { size * 1.5 };
    area.bottom -= label_height;

    for (tick, label) in &ticks {
        let y = area.bottom - scale.share(*tick) * (area.bottom - area.top);
        rule(svg, theme.grid, (area.left, y), (area.right, y));
        Label::new(theme, size, "end").write(svg, area.left - size * 0.4, y + size * 0.35, label);
    }
    let every = every(&area, marks, turn);
    for (share, label) in marks.labels.iter().step_by(every) {
        let x = area.left + share * area.width();
        #[expect(clippy::cast_precision_loss, reason = "there are few labels between two that are shown")]
        let slot = marks.slot * area.width() * every as f64;
        if turn {
            let label = fitted(label, size, false, (room / SINE).max(size * 2.0));
            Label::new(theme, size, "end").turned(-40.0).write(
                svg,
                x + size * 0.3,
                area.bottom + size * 1.1,
                &label,
            );
        } else {
            let label = fitted(label, size, false, slot.max(size * 1.5));
            Label::new(theme, size, "middle").write(svg, x, area.bottom + size * 1.25, &label);
        }
    }
    if let Some(name) = names.x {
        let name = fitted(name, size, false, area.width());
        let middle = f64::midpoint(area.left, area.right);
        Label::new(theme, size, "middle").write(svg, middle, frame.bottom - size * 0.2, &name);
    }
    if let Some(name) = names.y {
        let name = fitted(name, size, false, area.height());
        let (x, middle) = (frame.left + size * 0.8, f64::midpoint(area.top, area.bottom));
        Label::new(theme, size, "middle").turned(-90.0).write(svg, x, middle, &name);
    }
    area
}

/// Draws the lines of the axes, over the data.
pub(super) fn draw_lines(svg: &mut Svg, area: &Frame, scale: &Scale) {
    rule(svg, area.theme.axis, (area.left, area.top), (area.left, area.bottom));
    let zero = area.bottom - scale.share(0.0_f64.clamp(scale.low, scale.high)) * (area.bottom - area.top);
    rule(svg, area.theme.axis, (area.left, zero), (area.right, zero));
}

/// The sine of the angle by which labels are turned.
const SINE: f64 = 0.643;

/// Labels are turned where they would meet, unless they are numbers of a scale.
fn turned(area: &Frame, marks: &Marks) -> bool {
    let slot = marks.slot * area.width();
    let widest = marks.labels.iter().map(|(_, label)| fonts::width(label, area.font_size, false));
    widest.fold(0.0, f64::max) > slot - area.font_size * 0.4 && slot > area.font_size * 1.1
}

/// Each of how many labels is shown.
fn every(area: &Frame, marks: &Marks, turn: bool) -> usize {
    let slot = (marks.slot * area.width()).max(1e-6);
    let widest = marks.labels.iter().map(|(_, label)| fonts::width(label, area.font_size, false));
    let needed = if turn {
        area.font_size * 1.1
    } else {
        (widest.fold(0.0, f64::max) + area.font_size * 0.6).min(area.font_size * 6.0)
    };
    if slot >= needed || turn || slot > area.font_size * 1.1 {
        return 1;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive and small")]
    let every = (needed / slot).ceil().min(100_000.0) as usize;
    every.max(1)
}
