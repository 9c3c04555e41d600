//! The box of a chart, from which titles and legends take their part.

use super::super::commands::ChartCommon;
use super::super::problems::Problems;
use super::super::scene::Scene;
use super::{Label, Sheet, Theme};

/// The least width and height that is left for the data.
const LEAST: f64 = 24.0;

/// A box of a chart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) font_size: f64,
    pub(super) theme: Theme,
}

impl Frame {
    /// The box of a chart without its margin. The title is drawn.
    pub(super) fn new(
        scene: &Scene<'_>,
        place: &str,
        chart: &ChartCommon<'_>,
        problems: &mut Problems,
        sheet: &mut Sheet<'_>,
    ) -> Self {
        let ChartCommon { x, y, font_size, .. } = *chart;
        problems.number(place, "x", x);
        problems.number(place, "y", y);
        for (name, start, extent, end) in
            [("x", x, chart.width, scene.width), ("y", y, chart.height, scene.height)]
        {
            if extent.is_none() && start >= f64::from(end) {
                problems.push(
                    &format!("{place}.{name}"),
                    format!("the chart begins at {start}, past the end of the canvas at {end} pixels; give a smaller one"),
                );
            }
        }
        let width = chart.width.unwrap_or(f64::from(scene.width) - x);
        let height = chart.height.unwrap_or(f64::from(scene.height) - y);
        let margin = font_size;
        let mut frame = Self {
            left: x + margin,
            top: y + margin,
            right: x + width - margin,
            bottom: y + height - margin,
            font_size,
            theme: scene.theme,
        };
        if let Some(title) = chart.title {
            problems.label(&format!("{place}.title"), title);
            let size = font_size * 1.4;
            let title = sheet.fitted(title, size, true, frame.width());
            let middle = f64::midpoint(frame.left, frame.right);
            let label = Label::new(scene.theme, size, "middle").bold();
            label.write(sheet.svg, middle, frame.top + size * 0.8, &title);
            frame.top += size * 1.7;
        }
        frame
    }

    pub(super) fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    pub(super) fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    /// Returns true if there is room for the data; otherwise adds a problem.
    pub(super) fn check_room(&self, place: &str, problems: &mut Problems) -> bool {
        let has_room = self.right - self.left >= LEAST && self.bottom - self.top >= LEAST;
        if !has_room {
            problems.push(
                place,
                "the chart has no room beside its title, labels and legend; give it more `width` and `height`, or a smaller \
                 `font_size`",
            );
        }
        has_room
    }
}
