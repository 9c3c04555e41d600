//! Divides a text into parts.

use unicode_segmentation::UnicodeSegmentation;

use super::blank::{is_all_blank, is_space};
use super::rich::{Mono, Rich};
use super::style::{Part, Style};
use super::write::Writer;

/// The longest character in any unit, in units.
const LONGEST_CHARACTER: usize = 4;

/// Indentation of a first line may take one part in this many of the limit. A longer one is left out.
const MAX_INDENT_SHARE: usize = 4;

/// Divides a text into parts.
pub(super) fn parts(rich: &Rich, style: &Style) -> Vec<Part> {
    let cutter = Cutter::new(rich, style);
    let text = rich.text();
    let mut parts = Vec::new();
    let mut place = 0;
    while let Some(start) = cutter.start(place) {
        let end = cutter.end(start);
        if !is_all_blank(&text[start..end]) {
            let mut writer = Writer::new(style.markup, rich, start);
            writer.write(start..end);
            parts.push(Part { plain: text[start..end].to_owned(), markup: writer.finish() });
        }
        place = end;
    }
    parts
}

/// Kinds of places to cut at, the best first.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Paragraph,
    Line,
    Sentence,
    Word,
    /// Between words of one link, or of code within a line.
    Inside,
}

/// The kinds, each with the share of a part that has to be filled for a cut there. The shares also bound the work: each part has at least a
/// third of the text that was looked at for it.
const KINDS: [(Kind, usize); 5] =
    [(Kind::Paragraph, 3), (Kind::Line, 3), (Kind::Sentence, 2), (Kind::Word, 3), (Kind::Inside, 2)];

/// A place to cut at.
#[derive(Debug, Clone, Copy)]
struct Cut {
    end: usize,
    /// The units up to it.
    units: usize,
}

/// The result of looking for the end of a part.
enum Found {
    /// The part ends here.
    End(usize),
    /// Not even the first visible step fits. The place before it.
    Nothing(usize),
}

struct Cutter<'a> {
    rich: &'a Rich,
    style: &'a Style,
    max: usize,
    /// The ends of all grapheme clusters.
    ends: Vec<usize>,
}

impl<'a> Cutter<'a> {
    fn new(rich: &'a Rich, style: &'a Style) -> Self {
        let ends = rich.text().grapheme_indices(true).map(|(start, cluster)| start + cluster.len()).collect();
        Self { rich, style, max: style.max.max(LONGEST_CHARACTER), ends }
    }

    /// Returns the ends of the clusters after a place. If the place is within a cluster, the rest of it is the first.
    fn ends_after(&self, place: usize) -> &[usize] {
        &self.ends[self.ends.partition_point(|end| *end <= place)..]
    }

    /// Returns the begin of the part after a place: white space is left out, except the indentation of a line.
    fn start(&self, place: usize) -> Option<usize> {
        let text = self.rich.text();
        let mut first = place;
        let mut line = (place == 0).then_some(0);
        for &end in self.ends_after(place) {
            let cluster = &text[first..end];
            if !is_space(cluster) {
                let indent = line.filter(|line| {
                    let units = self.style.unit.count(&text[*line..first]);
                    units * MAX_INDENT_SHARE <= self.max && units + LONGEST_CHARACTER <= self.max
                });
                return Some(indent.unwrap_or(first));
            }
            if cluster.contains('\n') {
                line = Some(end);
            }
            first = end;
        }
        None
    }

    /// Returns the end of the part that begins at a place.
    fn end(&self, start: usize) -> usize {
        match self.find(start, self.ends_after(start).iter().copied()) {
            Found::End(end) => end,
            Found::Nothing(before) => {
                // One cluster is longer than a part: it is cut between characters.
                let cluster = self.ends_after(before).first().copied().unwrap_or(before);
                let characters = self.rich.text()[before..cluster].char_indices();
                let steps = characters.map(|(index, character)| before + index + character.len_utf8());
                let longest = steps.clone().next().unwrap_or(cluster);
                match self.find(start, steps) {
                    Found::End(end) => end,
                    // Its tags alone are too long, which no markup of today reaches: the part goes out without markup.
                    Found::Nothing(_) => longest,
                }
            }
        }
    }

    /// Looks for the best end among steps, which are places where the text may be cut.
    fn find(&self, start: usize, steps: impl Iterator<Item = usize>) -> Found {
        let text = self.rich.text();
        let mut writer = Writer::new(self.style.markup, self.rich, start);
        let mut cuts: [Option<Cut>; KINDS.len()] = [None; KINDS.len()];
        let mut last: Option<Cut> = None;
        let mut units = 0;
        let mut place = start;
        let mut previous = "";
        // The line feeds since the last visible step.
        let mut feeds = 0;
        let mut is_full = false;
        for end in steps {
            let step = &text[place..end];
            // Too long for sure. To count it for each part that it becomes would take quadratic time.
            if step.len() > LONGEST_CHARACTER * self.max {
                is_full = true;
                break;
            }
            units += self.style.unit.count(step);
            writer.write(place..end);
            if is_space(step) {
                if let Some(last) = last
                    && let Some(kind) = self.kind_at_space(last.end, place, feeds)
                {
                    cuts[kind as usize] = Some(last);
                }
                feeds += usize::from(step.contains('\n'));
                is_full = units > self.max;
            } else {
                feeds = 0;
                is_full = units > self.max || !writer.fits();
                if !is_full {
                    let cut = Cut { end, units };
                    last = Some(cut);
                    if let Some(kind) = kind_after(previous, step, &text[end..]) {
                        let kind = if self.is_inside(place) { Kind::Inside } else { kind };
                        cuts[kind as usize] = Some(cut);
                    }
                }
            }
            if is_full {
                break;
            }
            place = end;
            previous = step;
        }
        match last {
            None => Found::Nothing(place),
            Some(last) if is_full => Found::End(best(&cuts, last)),
            Some(last) => Found::End(last.end),
        }
    }

    /// Returns true if a place is within a link, or within code of a line, which are better kept whole.
    fn is_inside(&self, place: usize) -> bool {
        let look = self.rich.look_at(place);
        look.link.is_some() || look.mono == Some(Mono::Inline)
    }

    /// Returns the kind of a cut in the white space at a place, if it adds to that of the white space before it. The visible text ends at
    /// the given place, and this many line feeds follow it.
    fn kind_at_space(&self, visible: usize, place: usize, feeds: usize) -> Option<Kind> {
        let text = self.rich.text();
        let look = self.rich.look_at(place);
        let is_block = matches!(look.mono, Some(Mono::Block(_)));
        if let Some(following) = text[place..].strip_prefix('\n') {
            let is_blank_line = feeds > 0 || following.starts_with('\n');
            return Some(if is_blank_line && !is_block { Kind::Paragraph } else { Kind::Line });
        }
        if place > visible {
            return None;
        }
        Some(match self.is_inside(place) {
            true => Kind::Inside,
            false if !is_block && ends_sentence(&text[..visible]) => Kind::Sentence,
            false => Kind::Word,
        })
    }
}

/// Returns the best of the cuts, or the last place that fits.
fn best(cuts: &[Option<Cut>; KINDS.len()], last: Cut) -> usize {
    let filled =
        |(kind, share): &(Kind, usize)| cuts[*kind as usize].filter(|cut| cut.units * share >= last.units);
    KINDS.iter().find_map(filled).unwrap_or(last).end
}

/// Returns true if a sentence ends here: with its mark, perhaps in quotation marks or brackets.
fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(is_closing);
    text.ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

/// Returns the kind of a cut after a cluster that no white space follows, as in Chinese and Japanese: after a mark, or after the quotation
/// mark or bracket that follows the mark of a sentence.
fn kind_after(previous: &str, cluster: &str, following: &str) -> Option<Kind> {
    if following.starts_with(|c| is_closing(c) || is_wide_mark(c)) {
        return None;
    }
    let is_closed = cluster.starts_with(is_closing);
    match if is_closed { previous } else { cluster }.chars().next()? {
        '。' | '！' | '？' => Some(Kind::Sentence),
        '，' | '、' | '；' | '：' if !is_closed => Some(Kind::Word),
        _ => None,
    }
}

fn is_wide_mark(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '，' | '、' | '；' | '：')
}

fn is_closing(character: char) -> bool {
    matches!(character, ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '」' | '』' | '）' | '】' | '》')
}
