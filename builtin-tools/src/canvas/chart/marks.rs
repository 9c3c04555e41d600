//! The labels of a horizontal axis: side by side, on several lines, or turned, so that none covers another one or is cut by the edge.

use super::super::fonts;
use super::frame::Frame;
use super::{Label, Sheet, every};

/// The angle of turned labels in degrees, with its sine and cosine.
const ANGLE: f64 = 40.0;
const SINE: f64 = 0.643;
const COSINE: f64 = 0.766;
/// The least distance of two turned labels along the axis, by their size: their lines do not meet.
const TURNED: f64 = 1.45;
/// The least gap between two labels side by side, by their size.
const GAP: f64 = 0.5;
/// The height of a line, by the size of its letters.
const LINE: f64 = 1.2;
/// Maximum number of lines of a label.
const MAX_LINES: usize = 3;
/// Width from which labels are wrapped whatever their words are, by their size.
const BROAD: f64 = 7.0;
/// Width up to which labels are left out rather than turned, by their size.
const SHORT: f64 = 3.0;
/// The largest part of a chart's height that labels take.
const HEIGHT: f64 = 0.3;
/// The largest part of a chart's width that is kept free for the ends of labels.
const ENDS: f64 = 0.2;

/// The labels of the horizontal axis: each with its place, from 0 to 1.
pub(super) struct Marks {
    pub(super) labels: Vec<(f64, String)>,
    /// The share of the axis that each has.
    pub(super) slot: f64,
    /// True for numbers of a scale, of which some can be left out.
    pub(super) is_numeric: bool,
}

/// The way in which labels stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Flat,
    Wrapped,
    Turned,
}

/// The places of labels below an area.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    way: Way,
    /// Each of how many labels is shown.
    every: usize,
    /// The largest width of a label.
    most: f64,
}

impl Layout {
    /// Chooses how labels stand, and makes an area smaller so that they have room below it and beside it.
    pub(super) fn new(marks: &Marks, frame: &Frame, area: &mut Frame) -> Self {
        let whole = *area;
        let mut layout = Self::choose(marks, frame, whole.width());
        // Room for the ends of labels leaves less for each label.
        for _ in 0..3 {
            (area.left, area.right) = layout.sides(marks, frame, &whole);
            let next = Self::choose(marks, frame, area.width());
            if next == layout {
                break;
            }
            layout = next;
        }
        area.bottom -= layout.height(marks, frame);
        layout
    }

    fn choose(marks: &Marks, frame: &Frame, width: f64) -> Self {
        let (size, slot) = (frame.font_size, (marks.slot * width).max(1e-6));
        let gap = size * GAP;
        let widest = widest(marks, size);
        let flat = |every: usize| {
            #[expect(clippy::cast_precision_loss, reason = "there are few labels between two that are shown")]
            let most = slot * every as f64 - gap;
            Self { way: Way::Flat, every, most }
        };
        if widest + gap <= slot {
            return flat(1);
        }
        if marks.is_numeric {
            return flat(every(widest + gap, slot));
        }
        let mut lines = marks
            .labels
            .iter()
            .map(|(_, label)| wrapped(label, size, slot - gap).map(|wrapped| wrapped.lines.len()));
        let lines = lines.try_fold(1, |most, lines| Some(most.max(lines?)));
        #[expect(clippy::cast_precision_loss, reason = "there are few lines")]
        if lines.is_some_and(|lines| lines as f64 * size * LINE <= frame.height() * HEIGHT) {
            return Self { way: Way::Wrapped, every: 1, most: slot - gap };
        }
        if slot < size * TURNED && widest <= size * SHORT {
            return flat(every(widest + gap, slot));
        }
        let most = frame.height() * HEIGHT / SINE;
        Self { way: Way::Turned, every: every(size * TURNED, slot), most: most.max(size * 2.0) }
    }

    /// Returns the sides of the area, between which all labels end within the frame and half of its margin.
    fn sides(&self, marks: &Marks, frame: &Frame, whole: &Frame) -> (f64, f64) {
        let (least, most) = edges(frame);
        let (mut left, mut right) = (whole.left, whole.right);
        let room = frame.width() * ENDS;
        for (share, label) in marks.labels.iter().step_by(self.every) {
            let (before, after) = self.ends(label, frame.font_size);
            if *share > 0.0 {
                right = right.min(left + (most - after - left) / share);
            }
            if *share < 1.0 {
                left = left.max((least + before - share * right) / (1.0 - share));
            }
        }
        (left.min(whole.left + room), right.max(whole.right - room))
    }

    /// Returns how far a label reaches to the left and to the right of its place.
    fn ends(&self, label: &str, size: f64) -> (f64, f64) {
        let width = fonts::width(label, size, false).min(self.most);
        match self.way {
            Way::Flat => (width / 2.0, width / 2.0),
            Way::Wrapped => {
                let lines = wrapped(label, size, self.most).map(|wrapped| wrapped.lines);
                let widths = lines.iter().flatten().map(|line| fonts::width(line, size, false));
                let widest = widths.fold(0.0, f64::max);
                (widest / 2.0, widest / 2.0)
            }
            Way::Turned => (width * COSINE + size * 0.2, size * 0.5),
        }
    }

    /// The height of the labels.
    fn height(&self, marks: &Marks, frame: &Frame) -> f64 {
        let size = frame.font_size;
        match self.way {
            Way::Flat => size * 1.6,
            Way::Wrapped => {
                let lines = marks.labels.iter().filter_map(|(_, label)| wrapped(label, size, self.most));
                let most = lines.map(|wrapped| wrapped.lines.len()).max().unwrap_or(1);
                #[expect(clippy::cast_precision_loss, reason = "there are few lines")]
                let lines = most as f64;
                size * (0.4 + LINE * lines)
            }
            Way::Turned => widest(marks, size).min(self.most) * SINE + size * 1.3,
        }
    }

    /// Draws the labels below an area.
    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, marks: &Marks, frame: &Frame, area: &Frame) {
        let size = frame.font_size;
        let (least, most) = edges(frame);
        let label = Label::new(frame.theme, size, "middle");
        if !marks.is_numeric {
            sheet.omitted += marks.labels.len() - marks.labels.len().div_ceil(self.every);
        }
        for (share, text) in marks.labels.iter().step_by(self.every) {
            let x = area.left + share * area.width();
            match self.way {
                Way::Flat => {
                    let room = self.most.min(2.0 * (x - least).min(most - x));
                    let text = sheet.fitted(text, size, false, room);
                    label.write(sheet.svg, x, area.bottom + size * 1.25, &text);
                }
                Way::Wrapped => {
                    let mut baseline = area.bottom + size * 1.25;
                    let room = self.most.min(2.0 * (x - least).min(most - x));
                    let Some(text) = wrapped(text, size, self.most) else { continue };
                    sheet.shortened += usize::from(text.is_cut);
                    for line in text.lines {
                        let line = sheet.fitted(&line, size, false, room);
                        label.write(sheet.svg, x, baseline, &line);
                        baseline += size * LINE;
                    }
                }
                Way::Turned => {
                    let room = self.most.min((x - least - size * 0.2) / COSINE);
                    let text = sheet.fitted(text, size, false, room);
                    let (x, y) = (x + size * 0.3, area.bottom + size * 0.95);
                    Label { anchor: "end", ..label }.turned(-ANGLE).write(sheet.svg, x, y, &text);
                }
            }
        }
    }
}

/// The left and the right edge for labels: the frame with half of the margin around it.
fn edges(frame: &Frame) -> (f64, f64) {
    let margin = frame.font_size * 0.5;
    (frame.left - margin, frame.right + margin)
}

fn widest(marks: &Marks, size: f64) -> f64 {
    let widths = marks.labels.iter().map(|(_, label)| fonts::width(label, size, false));
    widths.fold(0.0, f64::max)
}

/// A text on lines.
struct Wrapped {
    lines: Vec<String>,
    /// True if there are not all words of it.
    is_cut: bool,
}

/// A text on lines of this width. Where that is broad, a wider word is broken, and what has no room is cut; otherwise there is no result
/// for such texts.
fn wrapped(text: &str, size: f64, width: f64) -> Option<Wrapped> {
    let is_broad = width >= size * BROAD;
    let is_wider = |text: &str| fonts::width(text, size, false) > width;
    let mut lines: Vec<String> = Vec::new();
    for mut word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}")).filter(|longer| !is_wider(longer));
        if let (Some(longer), Some(line)) = (longer, lines.last_mut()) {
            *line = longer;
            continue;
        }
        while is_wider(word) {
            let part = fonts::prefix(word, size, false, width);
            if !is_broad || part.is_empty() {
                return None;
            }
            lines.push(part.to_owned());
            word = &word[part.len()..];
        }
        lines.push(word.to_owned());
    }
    let is_cut = lines.len() > MAX_LINES;
    if is_cut {
        if !is_broad {
            return None;
        }
        lines.truncate(MAX_LINES);
        if let Some(last) = lines.last_mut() {
            let room = width - fonts::width("…", size, false);
            *last = format!("{}…", fonts::prefix(last, size, false, room).trim_end());
        }
    }
    Some(Wrapped { lines, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_wrapped_at_words() {
        let width = fonts::width("north and", 10.0, false) + 0.1;
        for (text, expected) in [
            ("north", Some(vec!["north"])),
            ("north and south", Some(vec!["north and", "south"])),
            ("a b c d e f", Some(vec!["a b c d e", "f"])),
            ("northernmost-of-all", None),
            ("north and south and east and west and so on", None),
            (" ", Some(vec![])),
        ] {
            let lines = wrapped(text, 10.0, width).map(|wrapped| wrapped.lines);
            let lines = lines.as_ref().map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(lines, expected, "{text}");
        }
        // On broad lines all of them have a result.
        for (text, lines, is_cut) in [
            ("Customers of the north", 2, false),
            ("Donaudampfschifffahrtsgesellschaft", 3, false),
            ("north and south and east and west and so on and on", 3, true),
        ] {
            let wrapped = wrapped(text, 10.0, 80.0).unwrap();
            assert_eq!((wrapped.lines.len(), wrapped.is_cut), (lines, is_cut), "{:?}", wrapped.lines);
            assert!(wrapped.lines.iter().all(|line| fonts::width(line, 10.0, false) <= 80.0));
        }
    }
}
