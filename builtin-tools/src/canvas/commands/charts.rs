//! Charts, as a model writes them.

use super::{MAX_LABEL_CHARS, MAX_POINTS};

/// Maximum number of series of a chart.
const MAX_SERIES: usize = 20;

/// A chart with the properties that all charts share.
macro_rules! chart {
    ($(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[toolkit::args]
        #[derive(Debug, Clone)]
        pub struct $name {
            $($fields)*
            /// Title above.
            #[arg(length(1..=MAX_LABEL_CHARS))]
            pub title: Option<String>,
            /// Left edge; 0 by default.
            pub x: Option<f64>,
            /// Top edge; 0 by default.
            pub y: Option<f64>,
            /// Width; the rest of the canvas by default.
            #[arg(range(80.0..=8192.0))]
            pub width: Option<f64>,
            /// Height; the rest of the canvas by default.
            #[arg(range(60.0..=8192.0))]
            pub height: Option<f64>,
            /// Size of labels; 12 by default.
            #[arg(range(6.0..=100.0))]
            pub font_size: Option<f64>,
            /// Shows the legend; by default if there is something to tell apart.
            pub legend: Option<bool>,
        }

        impl $name {
            /// The properties that all charts share.
            pub(in super::super) fn common(&self) -> ChartCommon<'_> {
                ChartCommon {
                    title: self.title.as_deref(),
                    x: self.x.unwrap_or(0.0),
                    y: self.y.unwrap_or(0.0),
                    width: self.width,
                    height: self.height,
                    font_size: self.font_size.unwrap_or(12.0),
                    legend: self.legend,
                }
            }
        }
    };
}

/// The properties that all charts share.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ChartCommon<'a> {
    pub(in super::super) title: Option<&'a str>,
    pub(in super::super) x: f64,
    pub(in super::super) y: f64,
    pub(in super::super) width: Option<f64>,
    pub(in super::super) height: Option<f64>,
    pub(in super::super) font_size: f64,
    pub(in super::super) legend: Option<bool>,
}

chart! {
    /// A bar chart.
    BarChart {
        /// Names of the groups of bars.
        #[arg(alias = "categories", length(1..=1000))]
        pub labels: Vec<String>,
        /// Values: one series, or several with a bar each in every group.
        #[arg(length(1..=MAX_SERIES))]
        pub series: Vec<Series>,
        /// Puts the bars of a group on top of each other.
        pub stacked: Option<bool>,
        /// Name of the horizontal axis.
        #[arg(length(1..=MAX_LABEL_CHARS))]
        pub x_label: Option<String>,
        /// Name of the vertical axis.
        #[arg(length(1..=MAX_LABEL_CHARS))]
        pub y_label: Option<String>,
    }
}

chart! {
    /// A line chart.
    LineChart {
        /// Names of the places on the horizontal axis.
        #[arg(alias = "categories", length(1..=MAX_POINTS))]
        pub labels: Option<Vec<String>>,
        /// Numbers of the places on the horizontal axis, instead of `labels`.
        #[arg(length(1..=MAX_POINTS))]
        pub x_values: Option<Vec<f64>>,
        /// Values: a line for each series.
        #[arg(length(1..=MAX_SERIES))]
        pub series: Vec<Series>,
        /// Name of the horizontal axis.
        #[arg(length(1..=MAX_LABEL_CHARS))]
        pub x_label: Option<String>,
        /// Name of the vertical axis.
        #[arg(length(1..=MAX_LABEL_CHARS))]
        pub y_label: Option<String>,
    }
}

chart! {
    /// A pie chart.
    PieChart {
        /// Names of the slices.
        #[arg(length(1..=50))]
        pub labels: Vec<String>,
        /// Sizes of the slices; shares are computed.
        #[arg(length(1..=50))]
        pub values: Vec<f64>,
        /// Colours of the slices.
        #[arg(length(1..=50))]
        pub colors: Option<Vec<String>>,
        /// Share of the radius that is a hole, from 0 to 0.9.
        #[arg(range(0.0..=0.9))]
        pub hole: Option<f64>,
    }
}

/// Values of a chart that belong together.
#[toolkit::args]
#[derive(Debug, Clone)]
pub struct Series {
    /// Name in the legend.
    #[arg(length(1..=MAX_LABEL_CHARS))]
    pub name: Option<String>,
    /// Values, one for each label.
    #[arg(alias = "data", length(1..=MAX_POINTS))]
    pub values: Vec<f64>,
    /// CSS colour.
    #[arg(length(1..=100))]
    pub color: Option<String>,
}
