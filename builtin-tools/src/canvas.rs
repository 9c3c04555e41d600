//! `canvas`: a picture drawn from commands.

mod chart;
mod commands;
mod compose;
mod extent;
mod fonts;
mod paint;
mod pictures;
mod places;
mod problems;
mod render;
mod scene;
mod svg;

pub use commands::{
    Anchor, BarChart, Circle, Command, Ellipse, Fit, Gradient, GradientKind, GradientUnits, Line, LineChart,
    PathShape, Picture, PieChart, Point, Polygon, Polyline, Rect, Series, Stop, Text, Weight, WeightWord,
};

use crate::files::saved::{self, Saved};
use crate::picture;
use crate::titles;
use fonts::Fonts;
use problems::Problems;
use render::{Drawn, Files, Surface};
use scene::{Scene, Theme};
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};
use svg::Svg;
use toolkit::prelude::*;
use toolkit::{CancellationToken, Content, ToolErrorKind, events::Progress, output::Detailed};

/// Maximum number of pixels per side.
const MAX_SIDE: u32 = 8_192;
/// Maximum number of pixels.
const MAX_PIXELS: u64 = 16 << 20;
/// Maximum number of commands.
const MAX_COMMANDS: usize = 2_000;
/// Maximum number of gradients.
const MAX_GRADIENTS: usize = 100;
/// Time after which progress is told.
const QUIET: Duration = Duration::from_secs(1);
/// Maximum number of notes on commands that are not seen.
const MAX_NOTES: usize = 8;

/// Draws a picture from shapes, texts, pictures and charts, shows it, and can save it as a PNG file.
///
/// The origin is the top left corner, lengths are pixels, and later commands cover earlier ones. The charts `bar`, `line_chart` and `pie`
/// are drawn from data, with axes, labels and a legend.
///
/// # Errors
///
/// When a command means nothing, by its number: `commands[3].fill: …`; when the picture is too large; when a picture within it cannot be
/// read, or the file must not be written.
#[tool(
    group = "ui",
    title = "Draw a picture",
    destructive,
    idempotent,
    asks,
    timeout = "3m",
    format_error = places::message
)]
pub async fn canvas(
    ctx: &ToolContext,
    /// Width in pixels.
    #[arg(range(1..=MAX_SIDE), example = 800)]
    width: u32,
    /// Height in pixels.
    #[arg(range(1..=MAX_SIDE), example = 600)]
    height: u32,
    /// Shapes, texts, pictures and charts to draw, in order.
    #[arg(length(1..=MAX_COMMANDS))]
    commands: &[Command],
    /// Colour behind everything, or `none`.
    #[arg(default = "white", length(1..=100))]
    background: &str,
    /// Gradients, which `fill` and `stroke` name as `url(#id)`.
    #[arg(default, length(..=MAX_GRADIENTS))]
    gradients: &[Gradient],
    /// PNG file to write, absolute or relative to the workspace.
    #[arg(alias = "saveAs", length(1..), example = "chart.png")]
    save_as: Option<&Path>,
) -> Result<Detailed<DrawnPicture>, ToolError> {
    let size = format!("{width} × {height}");
    titles::begin(ctx, "Draw", &size);
    let request = Request {
        width,
        height,
        commands: commands.to_vec(),
        background: background.to_owned(),
        gradients: gradients.to_vec(),
    };
    let mut drawing = ctx.blocking(move |token| compose_all(&request, token)).await?;
    let place = match save_as {
        Some(path) => Some(saved::place(ctx, path, &["png"]).await?),
        None => None,
    };
    let (loaded, files) = pictures::load(ctx, commands).await?;
    for loaded in loaded {
        if let Command::Image(picture) = &commands[loaded.at] {
            drawing.elements[loaded.at] = compose::compose_picture(picture, &loaded.key, loaded.size);
        }
    }
    let watcher = ctx.is_watched().then(|| ctx.clone());
    let drawn = ctx.blocking(move |token| {
        draw(&drawing, &files, token, QUIET, |done, total| {
            if let Some(ctx) = &watcher {
                ctx.progress(Progress::new(done).with_total(total).with_message("drawing"));
            }
        })
    });
    let (data, mut notes) = drawn.await?;
    let bytes = data.len();
    let saved = match place {
        Some(place) => {
            let allowed = place.allow(&format!("a PNG picture of {size} pixels, {bytes} bytes")).await?;
            Some(allowed.write(ctx, data.clone()).await?)
        }
        None => None,
    };
    let shown = ctx.blocking(move |token| picture::for_model("the picture", data, &check(token))).await?;
    if shown.is_changed {
        let (width, height) = shown.size;
        notes.push(format!("it is shown here at {width} × {height} pixels, as {}", shown.mime_type));
    }
    let details =
        DrawnPicture { path: saved.as_ref().map(|saved| saved.shown.clone()), width, height, bytes };
    let output = output(&size, bytes, saved, &notes);
    Ok(Detailed::new(output.with_content(Content::image(shown.data, shown.mime_type)), details))
}

/// The structured output of [`canvas`].
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DrawnPicture {
    /// The path of the file, relative to the workspace if the file is in it; absent if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size of the PNG file in bytes.
    pub bytes: usize,
}

/// The arguments that are drawn.
struct Request {
    width: u32,
    height: u32,
    commands: Vec<Command>,
    background: String,
    gradients: Vec<Gradient>,
}

/// A drawing of which all is checked and composed but the pictures.
struct Drawing {
    width: u32,
    height: u32,
    background: Option<svgtypes::Color>,
    definitions: String,
    elements: Vec<Svg>,
    /// The places of texts and charts, which should not be cut, and what they are.
    texts: HashMap<usize, &'static str>,
    /// Notes on what has no room.
    notes: Vec<String>,
}

fn compose_all(request: &Request, token: &CancellationToken) -> Result<Drawing, ToolError> {
    let Request { width, height, commands, background, gradients } = request;
    let (width, height) = (*width, *height);
    let mut problems = Problems::default();
    // Called directly, nobody has checked these.
    let is_sized = (1..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height);
    if !is_sized || u64::from(width) * u64::from(height) > MAX_PIXELS {
        problems.push(
            "width",
            format!("{width} × {height} is too large; a picture has at most {MAX_PIXELS} pixels"),
        );
    }
    if commands.len() > MAX_COMMANDS || gradients.len() > MAX_GRADIENTS {
        problems.push("commands", format!("there are more than {MAX_COMMANDS}, or too many gradients"));
    }
    let background = paint::color(background).unwrap_or_else(|problem| {
        problems.push("background", problem);
        None
    });
    let mut definitions = Svg::default();
    for (at, gradient) in gradients.iter().enumerate() {
        check_gradient(&format!("gradients[{at}]"), gradient, &mut problems);
        if gradients[..at].iter().any(|other| other.id == gradient.id) {
            problems
                .push(&format!("gradients[{at}].id"), format!("there are two gradients `{}`", gradient.id));
        }
        paint::define(gradient, &mut definitions);
    }
    let pictures = commands.iter().filter(|command| matches!(command, Command::Image(_))).count();
    if pictures > pictures::MAX_PICTURES {
        problems.push("commands", format!("{pictures} pictures are more than {}", pictures::MAX_PICTURES));
    }
    let scene = Scene { width, height, gradients, theme: Theme::on(background) };
    let mut elements = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        check(token)()?;
        elements.push(compose::compose(&scene, &format!("commands[{at}]"), command, &mut problems));
    }
    if let Some(message) = problems.message() {
        return Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
    }
    let texts = commands.iter().enumerate().filter_map(|(at, command)| match command {
        Command::Text(_) => Some((at, "text")),
        Command::Bar(_) | Command::LineChart(_) | Command::Pie(_) => Some((at, "chart")),
        _ => None,
    });
    let (texts, definitions, notes) = (texts.collect(), definitions.into_string(), problems.into_notes());
    Ok(Drawing { width, height, background, definitions, elements, texts, notes })
}

fn check_gradient(place: &str, gradient: &Gradient, problems: &mut Problems) {
    for (at, stop) in gradient.stops.iter().enumerate() {
        if let Err(problem) = paint::color(&stop.color) {
            problems.push(&format!("{place}.stops[{at}].color"), problem);
        }
    }
    let radius = gradient.radius.map(|radius| [radius, radius]);
    let points =
        [("from", gradient.from), ("to", gradient.to), ("center", gradient.center), ("radius", radius)];
    for (name, point) in points {
        for value in point.into_iter().flatten() {
            problems.number(place, name, value);
        }
    }
}

fn check(token: &CancellationToken) -> impl Fn() -> io::Result<()> + use<'_> {
    || if token.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

/// Draws everything and returns the PNG file, with notes on what is not seen. Progress is told after `quiet`.
fn draw(
    drawing: &Drawing,
    files: &Files,
    token: &CancellationToken,
    quiet: Duration,
    tell: impl Fn(f64, f64),
) -> Result<(Vec<u8>, Vec<String>), ToolError> {
    let Drawing { width, height, background, definitions, elements, texts, notes } = drawing;
    let mut surface = Surface::new(*width, *height, *background).ok_or_else(|| {
        ToolError::failed("there is no memory for a picture of this size; draw a smaller one")
    })?;
    let fonts = Fonts::default();
    let options = render::options(&fonts, files);
    let (mut notes, mut unseen) = (notes.clone(), 0);
    if notes.len() > MAX_NOTES {
        let more = notes.split_off(MAX_NOTES).len();
        notes.push(format!("and {more} more charts with labels that are shortened or left out"));
    }
    let began = Instant::now();
    for (at, svg) in elements.iter().enumerate() {
        check(token)()?;
        let tree = surface
            .read(svg, definitions, &options)
            .map_err(|problem| ToolError::failed(format!("commands[{at}]: it cannot be drawn: {problem}")))?;
        let note = match surface.draw(&tree, &check(token))? {
            Drawn::Nothing => {
                Some("it draws nothing: it has no extent, or no visible colour".to_owned())
            }
            Drawn::Outside => Some("it is outside the canvas".to_owned()),
            Drawn::Cut { left, top, right, bottom } => texts.get(&at).map(|what| {
                format!(
                    "the {what} is cut: it reaches from ({left:.0}, {top:.0}) to ({right:.0}, {bottom:.0}), and the canvas has {width} × \
                     {height} pixels"
                )
            }),
            Drawn::Inside => None,
            Drawn::Broken => {
                return Err(ToolError::new(ToolErrorKind::InvalidArguments, format!(
                    "commands[{at}]: the renderer cannot draw this outline; use smaller numbers, near the size of the canvas, in its \
                     points, its radii and its transform"
                )));
            }
        };
        if let Some(note) = note {
            unseen += 1;
            if unseen <= MAX_NOTES {
                notes.push(format!("commands[{at}]: {note}"));
            }
        }
        if began.elapsed() >= quiet {
            #[expect(clippy::cast_precision_loss, reason = "there are few commands")]
            tell(at as f64 + 1.0, elements.len() as f64);
        }
    }
    if unseen > MAX_NOTES {
        notes.push(format!("and {} more commands that are not visible", unseen - MAX_NOTES));
    }
    notes.extend(render::notes(&fonts.lacks()));
    check(token)()?;
    let data = surface
        .encode()
        .map_err(|problem| ToolError::failed(format!("the picture cannot be written as PNG: {problem}")))?;
    Ok((data, notes))
}

fn output(size: &str, bytes: usize, saved: Option<Saved>, notes: &[String]) -> ToolOutput {
    let mut text = format!("drew a picture of {size} pixels");
    let path = saved.as_ref().map(|saved| saved.path.clone());
    if let Some(saved) = &saved {
        text = format!("{text} and saved it as {} ({bytes} bytes)", saved.shown);
    }
    for note in saved.iter().flat_map(|saved| &saved.notes).chain(notes) {
        text = format!("{text}\n({note})");
    }
    if let Some(path) = &path {
        text = format!("{text}\nMEDIA:{}", toolkit::text::escape_line(&path.to_string_lossy()));
    }
    let shown = saved.map(|saved| saved.shown);
    let output = ToolOutput::text(text).with_title(shown.unwrap_or_else(|| format!("Drew {size}")));
    match path {
        Some(path) => output.with_file_modified(&path).with_attachment(path),
        None => output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request of many charts.
    fn request() -> Request {
        let chart = serde_json::json!({ "type": "line_chart", "series": [{ "values": vec![1.0; 1_000] }] });
        let chart: Command = serde_json::from_value(chart).expect("it is a command");
        Request {
            width: 500,
            height: 500,
            commands: vec![chart; 100],
            background: "white".to_owned(),
            gradients: Vec::new(),
        }
    }

    #[test]
    fn a_cancelled_call_is_neither_composed_nor_drawn() {
        let (request, token) = (request(), CancellationToken::new());
        let drawing = compose_all(&request, &token).expect("it is right");
        assert_eq!(drawing.elements.len(), 100);
        let drawn = std::cell::Cell::new(0);
        // Cancelled while it is drawn: the next command is not.
        let tell = |done: f64, _: f64| {
            drawn.set(drawn.get() + 1);
            assert!(done < 100.0);
            token.cancel();
        };
        assert!(draw(&drawing, &Files::new(), &token, Duration::ZERO, tell).is_err());
        assert_eq!(drawn.get(), 1);
        assert!(compose_all(&request, &token).is_err());
    }

    #[test]
    fn a_large_command_is_left_in_its_middle() {
        let mut surface = Surface::new(10, 1_000, None).expect("there is memory");
        let mut svg = Svg::default();
        svg.element("rect", &svg::Attributes::new().number("width", 10).number("height", 1_000));
        let (fonts, files) = (Fonts::default(), Files::new());
        let tree = surface.read(&svg, "", &render::options(&fonts, &files)).expect("it is SVG");
        for (left, is_drawn) in [(4, true), (3, false)] {
            let left = std::cell::Cell::new(left);
            let check = || match left.replace(left.get() - 1) {
                0 => Err(io::ErrorKind::Interrupted.into()),
                _ => Ok(()),
            };
            assert_eq!(surface.draw(&tree, &check).is_ok(), is_drawn);
        }
    }
}
