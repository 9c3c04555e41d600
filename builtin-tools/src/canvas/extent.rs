//! The box around a shape without its line, as far as that is needed to see that it has no area.

use super::commands::{Command, Point};
use std::f64::consts::TAU;
use svgtypes::{SimplePathSegment, SimplifyingPathParser};

/// The box around the points of a shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    least: Point,
    most: Point,
}

/// A box by its corner and its extents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Extent {
    /// Returns the box of a command that can have no area; `None` for all others.
    pub(super) fn of(command: &Command) -> Option<Self> {
        match command {
            Command::Line(line) => Self::around([[line.x1, line.y1], [line.x2, line.y2]]),
            Command::Polyline(line) => Self::around(line.points.iter().copied()),
            Command::Polygon(polygon) => Self::around(polygon.points.iter().copied()),
            Command::Rect(rect) => {
                Self::around([[rect.x, rect.y], [rect.x + rect.width, rect.y + rect.height]])
            }
            // Control points can make the box larger than a curve, but a flat curve has flat control points, or is drawn there and back.
            Command::Path(path) => Self::around(points(&path.d)),
            _ => None,
        }
    }

    fn around(points: impl IntoIterator<Item = Point>) -> Option<Self> {
        points.into_iter().fold(None, |extent: Option<Self>, point| {
            let Self { least, most } = extent.unwrap_or(Self { least: point, most: point });
            let least = [least[0].min(point[0]), least[1].min(point[1])];
            let most = [most[0].max(point[0]), most[1].max(point[1])];
            Some(Self { least, most })
        })
    }

    /// Returns the box of a shape without an area, with its line of this width; `None` if it has an area.
    pub(super) fn flat(self, line: f64) -> Option<Bounds> {
        let [width, height] = [self.most[0] - self.least[0], self.most[1] - self.least[1]];
        let far = self.least.iter().chain(&self.most).fold(0.0, |far: f64, value| far.max(value.abs()));
        // The renderer's numbers have 24 bits.
        let is_flat = |extent: f64| extent <= far.max(1e3) * 1e-6;
        let widened = |least: f64, extent: f64| {
            if is_flat(extent) { (least - line / 2.0, extent + line.max(1e-3)) } else { (least, extent) }
        };
        if !is_flat(width) && !is_flat(height) {
            return None;
        }
        let (left, width) = widened(self.least[0], width);
        let (top, height) = widened(self.least[1], height);
        Some(Bounds { left, top, width, height })
    }
}

/// The points of path data, those of curves included, up to its first fault.
fn points(data: &str) -> Vec<Point> {
    let segments = SimplifyingPathParser::from(data).map_while(Result::ok);
    let points = segments.flat_map(|segment| match segment {
        SimplePathSegment::MoveTo { x, y } | SimplePathSegment::LineTo { x, y } => vec![[x, y]],
        SimplePathSegment::Quadratic { x1, y1, x, y } => vec![[x1, y1], [x, y]],
        SimplePathSegment::CurveTo { x1, y1, x2, y2, x, y } => vec![[x1, y1], [x2, y2], [x, y]],
        SimplePathSegment::ClosePath => Vec::new(),
    });
    points.collect()
}

/// Returns about how long the lines of a command are together.
pub(super) fn length(command: &Command) -> f64 {
    let along = |points: &[Point]| {
        points.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).sum::<f64>()
    };
    match command {
        Command::Line(line) => along(&[[line.x1, line.y1], [line.x2, line.y2]]),
        Command::Polyline(line) => along(&line.points),
        // The way back is at most as long.
        Command::Polygon(polygon) => 2.0 * along(&polygon.points),
        Command::Path(path) => 2.0 * along(&points(&path.d)),
        Command::Rect(rect) => 2.0 * (rect.width + rect.height),
        Command::Circle(circle) => TAU * circle.radius,
        Command::Ellipse(ellipse) => TAU * ellipse.rx.max(ellipse.ry),
        // A letter with many corners has about this.
        Command::Text(text) => {
            let letters = f64::from(u32::try_from(text.text.chars().count()).unwrap_or(u32::MAX));
            letters * text.font_size.unwrap_or(16.0) * 6.0
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_without_an_area_get_that_of_their_line() {
        let flat = |points: &[Point]| Extent::around(points.iter().copied()).unwrap().flat(4.0);
        let found = flat(&[[10.0, 50.0], [90.0, 50.0]]);
        assert_eq!(found, Some(Bounds { left: 10.0, top: 48.0, width: 80.0, height: 4.0 }));
        let found = flat(&[[10.0, 90.0], [10.0, 50.0]]);
        assert_eq!(found, Some(Bounds { left: 8.0, top: 50.0, width: 4.0, height: 40.0 }));
        let found = flat(&[[1.0, 1.0], [1.0, 1.0]]);
        assert_eq!(found, Some(Bounds { left: -1.0, top: -1.0, width: 4.0, height: 4.0 }));
        assert_eq!(flat(&[[0.0, 0.0], [9.0, 1.0]]), None);
    }

    #[test]
    fn points_of_paths_are_absolute() {
        assert_eq!(points("m1 1 h2 v3 z"), [[1.0, 1.0], [3.0, 1.0], [3.0, 4.0]]);
        assert_eq!(points("M0 0 Q1 2 3 4 X"), [[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]);
    }
}
