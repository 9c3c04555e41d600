//! Fonts: the bundled one, and those of the system where a family is named or a character is missing.

use fontdb::{Database, Family, ID, Query, Source, Stretch, Style, Weight};
use resvg::usvg::{Font, FontFamily, FontResolver};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The family of the bundled font.
pub(super) const BUNDLED_FAMILY: &str = "Roboto";

const REGULAR: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("font/Roboto-Bold.ttf");

/// Families that stand for `serif`, the first that is installed.
const SERIF: [&str; 6] =
    ["Noto Serif", "DejaVu Serif", "Liberation Serif", "FreeSerif", "Times New Roman", "Georgia"];
/// Families that stand for `monospace`.
const MONOSPACE: [&str; 7] =
    ["Noto Sans Mono", "DejaVu Sans Mono", "Liberation Mono", "FreeMono", "Menlo", "Consolas", "Courier New"];

/// The bundled font alone.
static BUNDLED: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut database = Database::new();
    for data in [REGULAR, BOLD] {
        database.load_font_source(Source::Binary(Arc::new(data)));
    }
    database.set_sans_serif_family(BUNDLED_FAMILY);
    Arc::new(database)
});

/// The bundled font and those of the system. It is a copy with more in it, so a font has the same id in both.
static WITH_SYSTEM: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut database = (**BUNDLED).clone();
    database.load_system_fonts();
    let choose = |candidates: &[&str]| {
        let is_there = |name: &&&str| query(&database, Family::Name(name), 400).is_some();
        candidates.iter().find(is_there).map_or_else(|| BUNDLED_FAMILY.to_owned(), |name| (**name).to_owned())
    };
    let (serif, monospace) = (choose(&SERIF), choose(&MONOSPACE));
    database.set_serif_family(serif);
    database.set_monospace_family(monospace);
    Arc::new(database)
});

/// The characters that fonts of the system have, by font, as far as that was looked at.
static COVERAGE: LazyLock<Mutex<HashMap<ID, Coverage>>> = LazyLock::new(Mutex::default);

/// Ranges of characters, in order.
type Coverage = Arc<[(u32, u32)]>;

/// The fonts of one drawing, and what they lack.
#[derive(Debug, Default)]
pub(super) struct Fonts {
    lacks: Mutex<Lacks>,
}

/// The characters and families that no font has.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Lacks {
    /// Characters that no font has.
    pub(super) characters: BTreeSet<char>,
    /// Families that are not installed.
    pub(super) families: BTreeSet<String>,
}

impl Fonts {
    fn lock(&self) -> MutexGuard<'_, Lacks> {
        self.lacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the characters and families that were not found.
    pub(super) fn lacks(&self) -> Lacks {
        self.lock().clone()
    }

    /// The database that a drawing begins with.
    pub(super) fn database() -> Arc<Database> {
        Arc::clone(&BUNDLED)
    }

    /// Chooses fonts for a drawing.
    pub(super) fn resolver(&self) -> FontResolver<'_> {
        FontResolver {
            select_font: Box::new(|font, database| self.select(font, database)),
            select_fallback: Box::new(|character, used, database| self.fall_back(character, used, database)),
        }
    }

    fn select(&self, font: &Font, database: &mut Arc<Database>) -> Option<ID> {
        let family = font.families().first();
        let is_bundled = match family {
            None | Some(FontFamily::SansSerif) => true,
            Some(FontFamily::Named(name)) => name.eq_ignore_ascii_case(BUNDLED_FAMILY),
            Some(_) => false,
        };
        if !is_bundled && let Some(family) = family {
            *database = Arc::clone(&WITH_SYSTEM);
            let family = match family {
                FontFamily::Serif => Family::Serif,
                FontFamily::Cursive => Family::Cursive,
                FontFamily::Fantasy => Family::Fantasy,
                FontFamily::Monospace => Family::Monospace,
                FontFamily::SansSerif => Family::SansSerif,
                FontFamily::Named(name) => Family::Name(name),
            };
            if let Some(found) = query(database, family, font.weight()) {
                return Some(found);
            }
            self.lock().families.insert(database.family_name(&family).to_owned());
        }
        query(database, Family::Name(BUNDLED_FAMILY), font.weight())
    }

    fn fall_back(&self, character: char, used: &[ID], database: &mut Arc<Database>) -> Option<ID> {
        *database = Arc::clone(&WITH_SYSTEM);
        let weight = used.first().and_then(|id| database.face(*id)).map_or(400, |face| face.weight.0);
        let found = covering(database, character, weight, used);
        if found.is_none() && !character.is_whitespace() && !character.is_control() {
            self.lock().characters.insert(character);
        }
        found
    }
}

fn query(database: &Database, family: Family<'_>, weight: u16) -> Option<ID> {
    let families = [family];
    let weight = Weight(weight);
    database.query(&Query { families: &families, weight, stretch: Stretch::Normal, style: Style::Normal })
}

/// The font that has a character, the most usual one first.
fn covering(database: &Database, character: char, weight: u16, used: &[ID]) -> Option<ID> {
    let mut faces: Vec<_> = database.faces().filter(|face| !used.contains(&face.id)).collect();
    faces.sort_by_key(|face| {
        let is_sans = face.families.iter().any(|(name, _)| name.contains("Sans"));
        let is_plain = face.style == Style::Normal && face.stretch == Stretch::Normal && !face.monospaced;
        let name = face.families.first().map(|(name, _)| name.as_str());
        (Reverse(is_plain), face.weight.0.abs_diff(weight), Reverse(is_sans), name)
    });
    let found = faces.into_iter().find(|face| {
        let coverage = coverage(database, face.id);
        let code = u32::from(character);
        let place = coverage.partition_point(|(_, last)| *last < code);
        coverage.get(place).is_some_and(|(first, _)| *first <= code)
    });
    found.map(|face| face.id)
}

fn coverage(database: &Database, id: ID) -> Coverage {
    let known = COVERAGE.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
    if let Some(known) = known {
        return known;
    }
    let read = database.with_face_data(id, |data, index| {
        let mut codes: Vec<u32> = FontRef::from_index(data, index)
            .map(|font| font.charmap().mappings().map(|(code, _)| code).collect())
            .unwrap_or_default();
        codes.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for code in codes {
            match ranges.last_mut() {
                Some((_, last)) if code <= last.saturating_add(1) => *last = code,
                _ => ranges.push((code, code)),
            }
        }
        ranges
    });
    let ranges: Coverage = read.unwrap_or_default().into();
    COVERAGE.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&ranges));
    ranges
}

/// The width of a text in the bundled font. A character that it lacks counts as wide as the font is high.
pub(super) fn width(text: &str, size: f64, is_bold: bool) -> f64 {
    advances(text, is_bold).sum::<f64>() * size
}

/// The beginning of a text that is at most this wide in the bundled font.
pub(super) fn prefix(text: &str, size: f64, is_bold: bool, most: f64) -> &str {
    let mut width = 0.0;
    let first_beyond = text.char_indices().zip(advances(text, is_bold)).find(|(_, advance)| {
        width += advance * size;
        width > most
    });
    first_beyond.map_or(text, |((at, _), _)| &text[..at])
}

/// The widths of a text's characters, as shares of the font's size.
fn advances(text: &str, is_bold: bool) -> impl Iterator<Item = f64> {
    let known = &ADVANCES[usize::from(is_bold)];
    text.chars().map(move |character| {
        let code = usize::try_from(u32::from(character)).unwrap_or(usize::MAX);
        known.get(code).copied().unwrap_or_else(|| advance(&font(is_bold), character))
    })
}

/// The widths of the first characters in both weights, since charts measure many labels.
static ADVANCES: LazyLock<[Vec<f64>; 2]> = LazyLock::new(|| {
    [false, true].map(|is_bold| {
        let font = font(is_bold);
        ('\0'..'\u{500}').map(|character| advance(&font, character)).collect()
    })
});

fn font(is_bold: bool) -> FontRef<'static> {
    FontRef::new(if is_bold { BOLD } else { REGULAR }).expect("the bundled font is one")
}

fn advance(font: &FontRef<'_>, character: char) -> f64 {
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let advance = font.charmap().map(character).and_then(|glyph| metrics.advance_width(glyph));
    f64::from(advance.unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_font_is_there_in_two_weights() {
        let faces: Vec<_> = BUNDLED.faces().collect();
        assert_eq!(faces.len(), 2);
        for (weight, expected) in [(400, 400), (700, 700), (900, 700), (100, 400)] {
            let id = query(&BUNDLED, Family::Name(BUNDLED_FAMILY), weight).unwrap();
            assert_eq!(BUNDLED.face(id).unwrap().weight.0, expected, "{weight}");
        }
        for character in "aäßğŁЖΩ€→≤−…".chars() {
            let id = faces[0].id;
            let coverage = coverage(&BUNDLED, id);
            let code = u32::from(character);
            let covered = coverage.iter().any(|(first, last)| (*first..=*last).contains(&code));
            assert_eq!(covered, character != '→', "{character}");
        }
    }

    #[test]
    fn widths_grow_with_text_size_and_weight() {
        assert!(width("iii", 10.0, false) < width("MMM", 10.0, false));
        assert!((width("abc", 20.0, false) - 2.0 * width("abc", 10.0, false)).abs() < 1e-3);
        assert!(width("MMM", 10.0, false).total_cmp(&width("MMM", 10.0, true)).is_ne());
        assert!((width("\u{4e2d}", 10.0, false) - 10.0).abs() < 1e-6);
        assert!(width("", 10.0, false).abs() < 1e-6);
        let most = width("abc", 10.0, true) + 0.01;
        assert_eq!(prefix("abcdef", 10.0, true, most), "abc");
        assert_eq!((prefix("abc", 10.0, true, most), prefix("äbc", 10.0, true, -1.0)), ("abc", ""));
    }
}
