//! Colours and gradients.

use super::commands::{Gradient, GradientKind, GradientUnits};
use super::extent::Bounds;
use super::svg::{Attributes, Svg};
use std::str::FromStr as _;
use svgtypes::Color;

/// The paint of an area or a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paint<'a> {
    /// Nothing.
    None,
    /// A colour.
    Color(Color),
    /// A gradient.
    Gradient(&'a Gradient),
}

/// Reads a colour, `none`, or the name of a gradient.
pub(super) fn paint<'a>(text: &str, gradients: &'a [Gradient]) -> Result<Paint<'a>, String> {
    let text = text.trim();
    let Some(name) = text.strip_prefix("url(") else {
        return match color(text) {
            Ok(Some(color)) => Ok(Paint::Color(color)),
            Ok(None) => Ok(Paint::None),
            Err(problem) => Err(format!("{problem}, or `url(#id)` for a gradient")),
        };
    };
    let name = name.strip_suffix(')').map(|name| name.trim().trim_matches(['"', '\'']));
    let id = name.and_then(|name| name.strip_prefix('#')).ok_or_else(|| {
        format!("`{}` names no gradient; write `url(#id)` with the `id` of one", shown(text))
    })?;
    let found = gradients.iter().find(|gradient| gradient.id == id);
    found
        .map(Paint::Gradient)
        .ok_or_else(|| format!("there is no gradient `{}`; `gradients` has: {}", shown(id), names(gradients)))
}

/// Reads a colour; `None` for `none`.
pub(super) fn color(text: &str) -> Result<Option<Color>, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("transparent") {
        return Ok(None);
    }
    Color::from_str(text).map(Some).map_err(|_| {
        format!(
            "`{}` is not a CSS colour; write one such as `steelblue`, `#4e79a7` or `rgba(0, 0, 0, 0.5)`, `none`",
            shown(text)
        )
    })
}

/// A model's text in an error.
pub(super) fn shown(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    toolkit::text::escape_line(&short).into_owned()
}

fn names(gradients: &[Gradient]) -> String {
    let names: Vec<String> = gradients.iter().take(10).map(|gradient| format!("`{}`", gradient.id)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Paint<'_> {
    /// The attributes `name` and its opacity.
    pub(super) fn attributes(self, name: &str) -> Attributes {
        match self {
            Self::None => Attributes::new().with(name, "none"),
            Self::Color(color) => {
                let attributes = Attributes::new()
                    .number(name, format_args!("rgb({},{},{})", color.red, color.green, color.blue));
                match color.alpha {
                    u8::MAX => attributes,
                    alpha => attributes.number(&format!("{name}-opacity"), f64::from(alpha) / 255.0),
                }
            }
            Self::Gradient(gradient) => Attributes::new().with(name, &format!("url(#{})", gradient.id)),
        }
    }
}

/// The definition of a gradient, whose colours were checked.
pub(super) fn define(gradient: &Gradient, svg: &mut Svg) {
    let units = match gradient.units {
        GradientUnits::Shape => "objectBoundingBox",
        GradientUnits::Canvas => "userSpaceOnUse",
    };
    define_with(gradient, Attributes::new().with("id", &gradient.id).with("gradientUnits", units), svg);
}

/// Defines a gradient for one shape that has no area: SVG has no box for its shares, and draws nothing. Returns the attribute
/// `name` with it; `extent` is the box.
pub(super) fn define_within(gradient: &Gradient, extent: Bounds, name: &str, svg: &mut Svg) -> Attributes {
    let Bounds { left, top, width, height } = extent;
    // No gradient of a model has a name with a dot.
    let id = format!("flat.{name}");
    let attributes = Attributes::new()
        .with("id", &id)
        .with("gradientUnits", "userSpaceOnUse")
        .number("gradientTransform", format_args!("matrix({width} 0 0 {height} {left} {top})"));
    define_with(gradient, attributes, svg);
    Attributes::new().with(name, &format!("url(#{id})"))
}

fn define_with(gradient: &Gradient, attributes: Attributes, svg: &mut Svg) {
    let (name, attributes) = match gradient.kind {
        GradientKind::Linear => {
            let ([x1, y1], [x2, y2]) =
                (gradient.from.unwrap_or([0.0, 0.0]), gradient.to.unwrap_or([1.0, 0.0]));
            let attributes = attributes.number("x1", x1).number("y1", y1).number("x2", x2).number("y2", y2);
            ("linearGradient", attributes)
        }
        GradientKind::Radial => {
            let ([x, y], radius) = (gradient.center.unwrap_or([0.5, 0.5]), gradient.radius.unwrap_or(0.5));
            ("radialGradient", attributes.number("cx", x).number("cy", y).number("r", radius))
        }
    };
    svg.open(name, &attributes);
    for stop in &gradient.stops {
        let color = color(&stop.color).ok().flatten();
        let paint = color.map_or_else(
            || Attributes::new().with("stop-color", "black").number("stop-opacity", 0),
            |color| {
                let alpha = f64::from(color.alpha) / 255.0;
                let color = format_args!("rgb({},{},{})", color.red, color.green, color.blue).to_string();
                Attributes::new().with("stop-color", &color).number("stop-opacity", alpha)
            },
        );
        svg.element("stop", &Attributes::new().number("offset", stop.offset).and(&paint));
    }
    svg.close(name);
}
