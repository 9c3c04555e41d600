//! From commands to elements, with every problem at its place.

use super::chart;
use super::commands::{Anchor, Command, Fit, GradientUnits, MAX_POINTS, PathShape, Picture, Style, Text};
use super::extent::{self, Extent};
use super::fonts::BUNDLED_FAMILY;
use super::paint::{self, Paint, shown};
use super::problems::{MAX_COORDINATE, Problems};
use super::scene::Scene;
use super::svg::{self, Attributes, Svg};
use std::str::FromStr as _;
use svgtypes::{PathParser, PathSegment, Transform};

/// Maximum number of dashes and gaps of one command.
const MAX_DASHES: f64 = 50_000.0;
/// The distance between the baselines of two lines of a text, by its size.
const LINE_HEIGHT: f64 = 1.2;

/// The paint of a shape that names none.
#[derive(Clone, Copy)]
enum Usual {
    /// A black inside, unless there is a line.
    Area,
    /// A black line.
    Line,
}

/// Composes the elements of a command. For a picture these are none yet: its size is not known.
pub(super) fn compose(scene: &Scene<'_>, place: &str, command: &Command, problems: &mut Problems) -> Svg {
    let mut svg = Svg::default();
    let element =
        |svg: &mut Svg, name: &str, own: Attributes, style: Style<'_>, usual, problems: &mut Problems| {
            let extent = Extent::of(command);
            check_dashes(place, style.dash, command, problems);
            let attributes = own.and(&styled(scene, place, style, usual, extent, problems, svg));
            svg.element(name, &attributes);
        };
    match command {
        Command::Rect(rect) => {
            let (x, y, width, height) = (rect.x, rect.y, rect.width, rect.height);
            problems.numbers(place, [("x", x), ("y", y), ("width", width), ("height", height)]);
            let radius = rect.radius.unwrap_or(0.0);
            problems.number(place, "radius", radius);
            let own = Attributes::new().number("x", x).number("y", y).number("width", width);
            let own = own.number("height", height).number("rx", radius).number("ry", radius);
            element(&mut svg, "rect", own, rect.style(), Usual::Area, problems);
        }
        Command::Circle(circle) => {
            let (x, y, radius) = (circle.x, circle.y, circle.radius);
            problems.numbers(place, [("x", x), ("y", y), ("radius", radius)]);
            let own = Attributes::new().number("cx", x).number("cy", y).number("r", radius);
            element(&mut svg, "circle", own, circle.style(), Usual::Area, problems);
        }
        Command::Ellipse(ellipse) => {
            let (x, y, rx, ry) = (ellipse.x, ellipse.y, ellipse.rx, ellipse.ry);
            problems.numbers(place, [("x", x), ("y", y), ("rx", rx), ("ry", ry)]);
            let own = Attributes::new().number("cx", x).number("cy", y).number("rx", rx).number("ry", ry);
            element(&mut svg, "ellipse", own, ellipse.style(), Usual::Area, problems);
        }
        Command::Line(line) => {
            let (x1, y1, x2, y2) = (line.x1, line.y1, line.x2, line.y2);
            problems.numbers(place, [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)]);
            let own = Attributes::new().number("x1", x1).number("y1", y1).number("x2", x2).number("y2", y2);
            element(&mut svg, "line", own, line.style(), Usual::Line, problems);
        }
        Command::Polyline(line) => {
            problems.all_points(place, &line.points);
            let own = Attributes::new().with("points", &svg::points(&line.points));
            element(&mut svg, "polyline", own, line.style(), Usual::Line, problems);
        }
        Command::Polygon(polygon) => {
            problems.all_points(place, &polygon.points);
            let own = Attributes::new().with("points", &svg::points(&polygon.points));
            element(&mut svg, "polygon", own, polygon.style(), Usual::Area, problems);
        }
        Command::Path(path) => {
            check_path(place, path, problems);
            let own = Attributes::new().with("d", &path.d);
            element(&mut svg, "path", own, path.style(), Usual::Area, problems);
        }
        Command::Text(text) => compose_text(scene, place, text, problems, &mut svg),
        Command::Image(picture) => check_picture(place, picture, problems),
        Command::Bar(bars) => chart::bars(scene, place, bars, problems, &mut svg),
        Command::LineChart(lines) => chart::lines(scene, place, lines, problems, &mut svg),
        Command::Pie(pie) => chart::pie(scene, place, pie, problems, &mut svg),
    }
    svg
}

fn styled(
    scene: &Scene<'_>,
    place: &str,
    style: Style<'_>,
    usual: Usual,
    extent: Option<Extent>,
    problems: &mut Problems,
    svg: &mut Svg,
) -> Attributes {
    let flat = extent.and_then(|extent| extent.flat(style.stroke_width.unwrap_or(1.0)));
    let mut read = |name: &str, text: Option<&str>| {
        let painted = text.map(|text| paint::paint(text, scene.gradients)).transpose();
        match painted {
            Ok(paint) => paint.map(|paint| match (paint, flat) {
                (Paint::Gradient(gradient), Some(flat)) if gradient.units == GradientUnits::Shape => {
                    paint::define_within(gradient, flat, name, svg)
                }
                _ => paint.attributes(name),
            }),
            Err(problem) => {
                problems.push(&format!("{place}.{name}"), problem);
                None
            }
        }
    };
    let fill = read("fill", style.fill);
    let stroke = read("stroke", style.stroke);
    let has_line = style.stroke.is_some();
    let none = |name| Paint::None.attributes(name);
    let black = |name| Attributes::new().with(name, "black");
    let mut attributes = match usual {
        Usual::Area => fill.unwrap_or_else(|| if has_line { none("fill") } else { black("fill") }),
        Usual::Line => fill.unwrap_or_else(|| none("fill")),
    };
    attributes = attributes.and(&match usual {
        Usual::Area => stroke.unwrap_or_else(|| none("stroke")),
        Usual::Line => stroke.unwrap_or_else(|| black("stroke")),
    });
    if let Some(width) = style.stroke_width {
        attributes = attributes.number("stroke-width", width);
    }
    if let Some(dash) = style.dash {
        attributes = attributes.and(&dashes(place, dash, problems));
    }
    attributes.and(&placed(place, style.opacity, style.transform, problems))
}

/// Checks the number of dashes, each of which is a shape of its own.
fn check_dashes(place: &str, dash: Option<&[f64]>, command: &Command, problems: &mut Problems) {
    let Some(dash) = dash else { return };
    let pattern =
        dash.iter().sum::<f64>().max(0.1) / f64::from(u32::try_from(dash.len()).unwrap_or(1).max(1));
    let count = extent::length(command) / pattern;
    if count > MAX_DASHES {
        problems.push(
            &format!("{place}.dash"),
            format!("the line would have about {count:.0} dashes, more than {MAX_DASHES}; give longer ones"),
        );
    }
}

fn dashes(place: &str, dash: &[f64], problems: &mut Problems) -> Attributes {
    let sum: f64 = dash.iter().sum();
    if dash.iter().any(|length| !(0.0..=MAX_COORDINATE).contains(length)) || sum < 0.1 {
        problems.push(
            &format!("{place}.dash"),
            "the lengths must not be negative, and their sum must be at least 0.1; write for instance [6, 4]",
        );
        return Attributes::new();
    }
    let list: Vec<String> = dash.iter().map(f64::to_string).collect();
    Attributes::new().with("stroke-dasharray", &list.join(" "))
}

fn placed(place: &str, opacity: Option<f64>, transform: Option<&str>, problems: &mut Problems) -> Attributes {
    let mut attributes = Attributes::new();
    if let Some(opacity) = opacity {
        attributes = attributes.number("opacity", opacity);
    }
    let Some(text) = transform else { return attributes };
    let parsed = Transform::from_str(text).ok();
    let parts = parsed
        .map(|transform| [transform.a, transform.b, transform.c, transform.d, transform.e, transform.f]);
    match parts.filter(|parts| parts.iter().all(|part| part.is_finite() && part.abs() <= MAX_COORDINATE)) {
        Some(parts) => attributes
            .number("transform", format_args!("matrix({})", parts.map(|part| part.to_string()).join(" "))),
        None => {
            problems.push(
                &format!("{place}.transform"),
                format!(
                    "`{}` is not an SVG transform; write for instance `translate(10 20) rotate(45) scale(2)`",
                    shown(text)
                ),
            );
            attributes
        }
    }
}

fn check_path(place: &str, path: &PathShape, problems: &mut Problems) {
    let mut count = 0;
    for segment in PathParser::from(path.d.as_str()) {
        count += 1;
        let Ok(segment) = segment else {
            problems.push(
                &format!("{place}.d"),
                format!(
                    "the path data cannot be read at command {count}; write for instance `M 10 10 L 90 10 L 50 80 Z`"
                ),
            );
            return;
        };
        let values = match segment {
            PathSegment::MoveTo { x, y, .. }
            | PathSegment::LineTo { x, y, .. }
            | PathSegment::SmoothQuadratic { x, y, .. } => [x, y, 0.0, 0.0, 0.0, 0.0],
            PathSegment::HorizontalLineTo { x: value, .. } | PathSegment::VerticalLineTo { y: value, .. } => {
                [value, 0.0, 0.0, 0.0, 0.0, 0.0]
            }
            PathSegment::CurveTo { x1, y1, x2, y2, x, y, .. } => [x1, y1, x2, y2, x, y],
            PathSegment::SmoothCurveTo { x2, y2, x, y, .. } => [x2, y2, x, y, 0.0, 0.0],
            PathSegment::Quadratic { x1, y1, x, y, .. } => [x1, y1, x, y, 0.0, 0.0],
            PathSegment::EllipticalArc { rx, ry, x, y, .. } => [rx, ry, x, y, 0.0, 0.0],
            PathSegment::ClosePath { .. } => [0.0; 6],
        };
        if values.iter().any(|value| !value.is_finite() || value.abs() > MAX_COORDINATE) {
            problems.push(
                &format!("{place}.d"),
                format!("command {count} is too far away; the largest coordinate is {MAX_COORDINATE}"),
            );
            return;
        }
        if count > MAX_POINTS {
            problems.push(&format!("{place}.d"), format!("the path has more than {MAX_POINTS} commands"));
            return;
        }
    }
    if count == 0 {
        problems.push(&format!("{place}.d"), "the path data is empty");
    }
    problems.count_points(place, count);
}

fn compose_text(scene: &Scene<'_>, place: &str, text: &Text, problems: &mut Problems, svg: &mut Svg) {
    problems.numbers(place, [("x", text.x), ("y", text.y)]);
    problems.count_chars(&format!("{place}.text"), &text.text);
    let weight = text.weight.map_or(400, super::commands::Weight::number);
    if !(1..=1000).contains(&weight) {
        problems.push(&format!("{place}.weight"), "a weight is from 1 to 1000; 400 is normal, 700 bold");
    }
    let size = text.font_size.unwrap_or(16.0);
    let family = match &text.font {
        None => BUNDLED_FAMILY.to_owned(),
        Some(font) => family(place, font, problems),
    };
    let anchor = match text.anchor.unwrap_or_default() {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    check_dashes(place, text.dash.as_deref(), &Command::Text(text.clone()), problems);
    let shared = Attributes::new()
        .with("font-family", &family)
        .number("font-size", size)
        .number("font-weight", weight)
        .with("text-anchor", anchor)
        .with("xml:space", "preserve")
        .and(&styled(
            scene,
            place,
            Style { opacity: None, transform: None, ..text.style() },
            Usual::Area,
            None,
            problems,
            svg,
        ));
    svg.open("g", &placed(place, text.opacity, text.transform.as_deref(), problems));
    let mut y = text.y;
    for line in text.text.lines() {
        if !line.trim().is_empty() {
            svg.text(&shared.clone().number("x", text.x).number("y", y), line);
        }
        y += size * LINE_HEIGHT;
    }
    svg.close("g");
}

/// The name of a font as CSS has it. Quotes and commas would make several of it.
fn family(place: &str, font: &str, problems: &mut Problems) -> String {
    let font = font.trim();
    let is_generic = ["serif", "sans-serif", "monospace", "cursive", "fantasy"].contains(&font);
    let is_plain =
        !font.is_empty() && !font.contains(['\'', '"', ',', ';', '\\']) && !font.contains(char::is_control);
    if !is_plain {
        problems.push(
            &format!("{place}.font"),
            "name one family without quotes and commas, such as `DejaVu Serif`, `serif` or `monospace`",
        );
    }
    if is_generic || !is_plain { font.to_owned() } else { format!("'{font}'") }
}

fn check_picture(place: &str, picture: &Picture, problems: &mut Problems) {
    problems.numbers(place, [("x", picture.x), ("y", picture.y)]);
    placed(place, picture.opacity, picture.transform.as_deref(), problems);
}

/// Composes a picture, which was checked, now that its size in pixels is known.
pub(super) fn compose_picture(picture: &Picture, key: &str, own: (u32, u32)) -> Svg {
    let (own_width, own_height) = (f64::from(own.0), f64::from(own.1));
    let (width, height) = match (picture.width, picture.height) {
        (Some(width), Some(height)) => (width, height),
        (Some(width), None) => (width, width * own_height / own_width),
        (None, Some(height)) => (height * own_width / own_height, height),
        (None, None) => (own_width, own_height),
    };
    let fit = match picture.fit.unwrap_or_default() {
        Fit::Contain => "xMidYMid meet",
        Fit::Cover => "xMidYMid slice",
        Fit::Stretch => "none",
    };
    let mut svg = Svg::default();
    let attributes = Attributes::new().with("href", key).number("x", picture.x).number("y", picture.y);
    let attributes =
        attributes.number("width", width).number("height", height).with("preserveAspectRatio", fit);
    let placed = placed("", picture.opacity, picture.transform.as_deref(), &mut Problems::default());
    svg.element("image", &attributes.and(&placed));
    svg
}
