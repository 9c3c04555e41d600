//! The facts about the whole picture.

use super::commands::Gradient;
use svgtypes::Color;

/// The facts about the whole picture that commands need.
pub(super) struct Scene<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) gradients: &'a [Gradient],
    pub(super) theme: Theme,
}

/// The colours of what surrounds the data, by the colour of the canvas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    /// The colour of the canvas; white where it has none.
    pub(super) background: Color,
    pub(super) text: &'static str,
    pub(super) axis: &'static str,
    pub(super) grid: &'static str,
}

impl Theme {
    /// Dark text on a light canvas, light text on a dark one.
    pub(super) fn on(background: Option<Color>) -> Self {
        let is_dark = background.is_some_and(|color| {
            let light = 2 * u32::from(color.red) + 5 * u32::from(color.green) + u32::from(color.blue);
            color.alpha > 127 && light < 8 * 110
        });
        let background = background.filter(|color| color.alpha > 127).unwrap_or(Color::white());
        if is_dark {
            Self { background, text: "#eeeeee", axis: "#999999", grid: "#444444" }
        } else {
            Self { background, text: "#333333", axis: "#888888", grid: "#e3e3e3" }
        }
    }
}
