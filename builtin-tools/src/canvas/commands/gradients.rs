//! Gradients, as a model writes them.

use super::Point;

/// A gradient, which a `fill` or a `stroke` names as `url(#id)`.
#[toolkit::args]
#[derive(Debug, Clone)]
pub struct Gradient {
    /// Its name.
    #[arg(pattern = "^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
    pub id: String,
    /// Its kind.
    #[arg(rename = "type")]
    pub kind: GradientKind,
    /// Colours on the way.
    #[arg(length(2..=50))]
    pub stops: Vec<Stop>,
    /// Linear: where it begins; `[0, 0]` by default.
    pub from: Option<Point>,
    /// Linear: where it ends; `[1, 0]` by default, from left to right.
    pub to: Option<Point>,
    /// Radial: its centre; `[0.5, 0.5]` by default.
    pub center: Option<Point>,
    /// Radial: its radius; 0.5 by default.
    #[arg(range(0.0..))]
    pub radius: Option<f64>,
    /// `shape`: coordinates are shares of the shape's box, from 0 to 1. `canvas`: pixels.
    #[arg(default = GradientUnits::Shape)]
    pub units: GradientUnits,
}

/// The kind of a gradient.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum GradientKind {
    /// Along a line.
    Linear,
    /// Around a point.
    Radial,
}

/// The unit of a gradient's coordinates.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum GradientUnits {
    /// Shares of the box around the shape.
    Shape,
    /// Pixels of the canvas.
    Canvas,
}

/// A colour of a gradient.
#[toolkit::args]
#[derive(Debug, Clone)]
pub struct Stop {
    /// Its place, from 0 to 1.
    #[arg(range(0.0..=1.0))]
    pub offset: f64,
    /// CSS colour.
    #[arg(length(1..=100))]
    pub color: String,
}
