//! The axes of bar and line charts.

use super::super::fonts;
use super::frame::Frame;
use super::marks::{Layout, Marks};
use super::scale::Scale;
use super::{Label, Sheet, rule};

/// The least distance of two labels of the vertical axis, by their size.
const LEAST_DISTANCE: f64 = 1.2;

/// The names of axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisNames<'a> {
    pub(super) x: Option<&'a str>,
    pub(super) y: Option<&'a str>,
}

/// The axes of a chart: the area between them, and the scale of the vertical one.
pub(super) struct Axes {
    pub(super) area: Frame,
    pub(super) scale: Scale,
    layout: Layout,
}

impl Axes {
    /// Places both axes within a frame. `scale` returns the scale of the vertical axis for an area of some height.
    pub(super) fn new(
        frame: &Frame,
        scale: impl Fn(f64) -> Scale,
        marks: &Marks,
        names: AxisNames<'_>,
    ) -> Self {
        let first = Self::place(frame, scale(frame.height()), marks, names);
        // The height of the labels of the horizontal axis is known now.
        Self::place(frame, scale(first.area.height()), marks, names)
    }

    fn place(frame: &Frame, scale: Scale, marks: &Marks, names: AxisNames<'_>) -> Self {
        let size = frame.font_size;
        let mut area = *frame;
        let widths = scale.ticks().into_iter().map(|tick| fonts::width(&scale.label(tick), size, false));
        area.left += widths.fold(0.0, f64::max) + size * 0.6;
        if names.y.is_some() {
            area.left += size * 1.6;
        }
        if names.x.is_some() {
            area.bottom -= size * 1.6;
        }
        let layout = Layout::new(marks, frame, &mut area);
        Self { area, scale, layout }
    }

    /// Returns the place of a value, from top to bottom.
    pub(super) fn height(&self, value: f64) -> f64 {
        self.area.bottom - self.scale.share(value) * (self.area.bottom - self.area.top)
    }

    /// Draws the grid and all labels.
    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, frame: &Frame, marks: &Marks, names: AxisNames<'_>) {
        let (size, theme, area) = (frame.font_size, frame.theme, &self.area);
        let ticks = self.scale.ticks();
        #[expect(clippy::cast_precision_loss, reason = "a scale has few ticks")]
        let distance = area.height() / (ticks.len().max(2) - 1) as f64;
        let labelled = super::every(size * LEAST_DISTANCE, distance);
        for (at, tick) in ticks.into_iter().enumerate() {
            let y = self.height(tick);
            rule(sheet.svg, theme.grid, (area.left, y), (area.right, y));
            if at % labelled == 0 {
                let label = self.scale.label(tick);
                Label::new(theme, size, "end").write(
                    sheet.svg,
                    area.left - size * 0.4,
                    y + size * 0.35,
                    &label,
                );
            }
        }
        self.layout.draw(sheet, marks, frame, area);
        if let Some(name) = names.x {
            let name = sheet.fitted(name, size, false, area.width());
            let middle = f64::midpoint(area.left, area.right);
            Label::new(theme, size, "middle").write(sheet.svg, middle, frame.bottom - size * 0.2, &name);
        }
        if let Some(name) = names.y {
            let name = sheet.fitted(name, size, false, area.height());
            let (x, middle) = (frame.left + size * 0.8, f64::midpoint(area.top, area.bottom));
            Label::new(theme, size, "middle").turned(-90.0).write(sheet.svg, x, middle, &name);
        }
    }

    /// Draws the lines of the axes, over the data.
    pub(super) fn draw_lines(&self, sheet: &mut Sheet<'_>) {
        let Self { area, scale, .. } = self;
        rule(sheet.svg, area.theme.axis, (area.left, area.top), (area.left, area.bottom));
        let zero = self.height(0.0_f64.clamp(scale.low, scale.high));
        rule(sheet.svg, area.theme.axis, (area.left, zero), (area.right, zero));
    }
}
