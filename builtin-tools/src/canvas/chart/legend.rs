//! The legend: a row of names with their colours.

use super::super::fonts;
use super::super::svg::Attributes;
use super::frame::Frame;
use super::{Label, Sheet};

/// Draws the names in rows at the bottom of a frame, which they take.
pub(super) fn below(sheet: &mut Sheet<'_>, frame: &mut Frame, names: &[String], colors: &[String]) {
    let size = frame.font_size;
    let (swatch, gap, row) = (size * 0.8, size * 1.4, size * 1.6);
    let mut rows: Vec<(f64, Vec<(String, &String)>)> = Vec::new();
    for (name, color) in names.iter().zip(colors) {
        let name = sheet.fitted(name, size, false, (frame.width() - swatch * 1.6).max(0.0));
        let width = swatch * 1.6 + fonts::width(&name, size, false);
        match rows.last_mut() {
            Some((taken, items)) if *taken + gap + width <= frame.width() => {
                *taken += gap + width;
                items.push((name, color));
            }
            _ => rows.push((width, vec![(name, color)])),
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a legend has few rows")]
    let height = rows.len() as f64 * row;
    frame.bottom -= height;
    let mut baseline = frame.bottom + row;
    for (taken, items) in rows {
        let mut x = frame.left + ((frame.width() - taken) / 2.0).max(0.0);
        for (name, color) in items {
            marked(sheet, frame, (x, baseline), &name, color);
            x += swatch * 1.6 + fonts::width(&name, size, false) + gap;
        }
        baseline += row;
    }
    // A little distance to what is above.
    frame.bottom -= size * 0.3;
}

/// Draws a name with its colour before it.
pub(super) fn marked(
    sheet: &mut Sheet<'_>,
    frame: &Frame,
    (x, baseline): (f64, f64),
    name: &str,
    color: &str,
) {
    let size = frame.font_size;
    let swatch = size * 0.8;
    let square = Attributes::new()
        .number("x", x)
        .number("y", baseline - swatch * 0.95)
        .number("width", swatch)
        .number("height", swatch)
        .number("rx", swatch * 0.15)
        .with("fill", color);
    sheet.svg.element("rect", &square);
    Label::new(frame.theme, size, "start").write(sheet.svg, x + swatch * 1.6, baseline, name);
}
