//! The commands of a picture, as a model writes them.

mod charts;
mod gradients;

pub(super) use charts::ChartCommon;
pub use charts::{BarChart, LineChart, PieChart, Series};
pub use gradients::{Gradient, GradientKind, GradientUnits, Stop};

/// Maximum number of points of one command, and values of one series.
pub(super) const MAX_POINTS: usize = 10_000;
/// Maximum number of bytes of the data of one path.
pub(super) const MAX_PATH_BYTES: usize = 200_000;
/// Maximum number of characters of one text.
pub(super) const MAX_TEXT_CHARS: usize = 5_000;
/// Maximum number of characters of a label, a title or a name.
pub(super) const MAX_LABEL_CHARS: usize = 200;

/// A point: x and y.
pub type Point = [f64; 2];

/// One thing to draw. Later commands cover earlier ones.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// A rectangle.
    Rect(Rect),
    /// A circle.
    Circle(Circle),
    /// An ellipse.
    Ellipse(Ellipse),
    /// A straight line.
    Line(Line),
    /// Connected lines.
    Polyline(Polyline),
    /// A closed shape of straight lines.
    Polygon(Polygon),
    /// A shape by the path data of SVG.
    Path(PathShape),
    /// A text.
    Text(Text),
    /// A picture from a file of the workspace.
    Image(Picture),
    /// A bar chart.
    Bar(BarChart),
    /// A line chart.
    LineChart(LineChart),
    /// A pie chart.
    Pie(PieChart),
}

/// A shape with the properties that all shapes share.
macro_rules! shape {
    ($(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[toolkit::args]
        #[derive(Debug, Clone)]
        pub struct $name {
            $($fields)*
            /// CSS colour, `none`, or `url(#id)` of a gradient.
            pub fill: Option<String>,
            /// Colour of the line, as `fill`.
            pub stroke: Option<String>,
            /// Thickness of the line.
            #[arg(alias = "strokeWidth", range(0.0..=1000.0))]
            pub stroke_width: Option<f64>,
            /// 0 is invisible.
            #[arg(range(0.0..=1.0))]
            pub opacity: Option<f64>,
            /// Dashes and gaps.
            #[arg(alias = "stroke_dasharray", length(1..=16))]
            pub dash: Option<Vec<f64>>,
            /// As in SVG: `rotate(45 100 100)`.
            pub transform: Option<String>,
        }

        impl $name {
            /// The properties that all shapes share.
            pub(super) fn style(&self) -> Style<'_> {
                Style {
                    fill: self.fill.as_deref(),
                    stroke: self.stroke.as_deref(),
                    stroke_width: self.stroke_width,
                    opacity: self.opacity,
                    dash: self.dash.as_deref(),
                    transform: self.transform.as_deref(),
                }
            }
        }
    };
}

/// The properties that all shapes share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Style<'a> {
    pub(super) fill: Option<&'a str>,
    pub(super) stroke: Option<&'a str>,
    pub(super) stroke_width: Option<f64>,
    pub(super) opacity: Option<f64>,
    pub(super) dash: Option<&'a [f64]>,
    pub(super) transform: Option<&'a str>,
}

shape! {
    /// A rectangle.
    Rect {
        /// Left edge.
        pub x: f64,
        /// Top edge.
        pub y: f64,
        /// Extent to the right.
        #[arg(range(0.0..))]
        pub width: f64,
        /// Extent downwards.
        #[arg(range(0.0..))]
        pub height: f64,
        /// Corner radius.
        #[arg(alias = ["rx", "corner_radius", "cornerRadius"], range(0.0..))]
        pub radius: Option<f64>,
    }
}

shape! {
    /// A circle.
    Circle {
        /// Centre.
        #[arg(alias = "cx")]
        pub x: f64,
        /// Centre.
        #[arg(alias = "cy")]
        pub y: f64,
        /// From the centre to the edge.
        #[arg(alias = "r", range(0.0..))]
        pub radius: f64,
    }
}

shape! {
    /// An ellipse.
    Ellipse {
        /// Centre.
        #[arg(alias = "cx")]
        pub x: f64,
        /// Centre.
        #[arg(alias = "cy")]
        pub y: f64,
        /// Horizontal radius.
        #[arg(alias = ["radius_x", "radiusX"], range(0.0..))]
        pub rx: f64,
        /// Vertical radius.
        #[arg(alias = ["radius_y", "radiusY"], range(0.0..))]
        pub ry: f64,
    }
}

shape! {
    /// A straight line.
    Line {
        /// Start.
        pub x1: f64,
        /// Start.
        pub y1: f64,
        /// End.
        pub x2: f64,
        /// End.
        pub y2: f64,
    }
}

shape! {
    /// Connected lines.
    Polyline {
        /// Points, each `[x, y]`.
        #[arg(length(2..=MAX_POINTS))]
        pub points: Vec<Point>,
    }
}

shape! {
    /// A closed shape of straight lines.
    Polygon {
        /// Points, each `[x, y]`.
        #[arg(length(3..=MAX_POINTS))]
        pub points: Vec<Point>,
    }
}

shape! {
    /// A shape by the path data of SVG.
    PathShape {
        /// SVG path data.
        #[arg(alias = ["path", "data"], length(1..=MAX_PATH_BYTES), example = "M 10 10 L 90 10 L 50 80 Z")]
        pub d: String,
    }
}

shape! {
    /// A text.
    Text {
        /// Left edge, centre or right edge, by `anchor`.
        pub x: f64,
        /// Baseline of the first line.
        pub y: f64,
        /// The text; `\n` begins a line.
        #[arg(length(1..=MAX_TEXT_CHARS))]
        pub text: String,
        /// Size in pixels; 16 by default.
        #[arg(alias = "fontSize", range(1.0..=2000.0))]
        pub font_size: Option<f64>,
        /// Family of an installed font; without one, a bundled sans-serif font.
        #[arg(alias = ["font_family", "fontFamily"], length(1..=100))]
        pub font: Option<String>,
        /// `normal`, `bold`, or a number.
        #[arg(alias = ["font_weight", "fontWeight"])]
        pub weight: Option<Weight>,
        /// Part of the text that is at `x`.
        #[arg(alias = ["text_anchor", "textAnchor"])]
        pub anchor: Option<Anchor>,
    }
}

/// The weight of letters.
#[toolkit::args]
#[derive(Debug, Clone, Copy)]
#[serde(untagged)]
pub enum Weight {
    /// By a word.
    Word(WeightWord),
    /// By a number: 400 is normal, 700 bold.
    Number(u16),
}

/// The weight of letters, as a word.
#[toolkit::args]
#[derive(Debug, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub enum WeightWord {
    /// 400.
    Normal,
    /// 700.
    Bold,
}

impl Weight {
    /// As a number.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Word(WeightWord::Normal) => 400,
            Self::Word(WeightWord::Bold) => 700,
            Self::Number(number) => number,
        }
    }
}

/// The part of a text that its `x` is of.
#[toolkit::args]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// The left edge.
    #[default]
    Start,
    /// The centre.
    Middle,
    /// The right edge.
    End,
}

/// A picture from a file of the workspace.
#[toolkit::args]
#[derive(Debug, Clone)]
pub struct Picture {
    /// Path of a PNG, JPEG, GIF or WebP file.
    #[arg(alias = ["src", "file_path", "href"], length(1..=4096))]
    pub path: String,
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width; without it, by the height, or the picture's own.
    #[arg(range(1.0..=8192.0))]
    pub width: Option<f64>,
    /// Height; without it, by the width, or the picture's own.
    #[arg(range(1.0..=8192.0))]
    pub height: Option<f64>,
    /// Way to fill `width` and `height`.
    pub fit: Option<Fit>,
    /// Opacity, from 0 to 1.
    #[arg(range(0.0..=1.0))]
    pub opacity: Option<f64>,
    /// SVG transform.
    #[arg(length(1..=300))]
    pub transform: Option<String>,
}

/// The way in which a picture fills a box of other proportions.
#[toolkit::args]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// All of it is seen.
    #[default]
    Contain,
    /// It fills the box, and is cut.
    Cover,
    /// It fills the box, and is stretched.
    Stretch,
}
