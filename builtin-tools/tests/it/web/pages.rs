//! Pages of many kinds and languages, with what a reader wants of each and what is around it. The benchmark of extraction includes
//! this file as well.

#[path = "pages/code.rs"]
mod code;
#[path = "pages/kinds.rs"]
mod kinds;
#[path = "pages/maker.rs"]
mod maker;
#[path = "pages/texts.rs"]
mod texts;

/// A page.
pub struct Page {
    /// Its kind and its text: `forum-de`.
    pub name: String,
    /// Its source.
    pub html: String,
    /// The main content: sentences and items, in order.
    pub wanted: Vec<String>,
    /// Blocks of code, which are wanted as well.
    pub code: Vec<String>,
    /// The rest of the page: menus, advertisements, links to other pages.
    pub around: Vec<String>,
}

/// How much of a page came through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The share of what is wanted that is there.
    pub recall: f64,
    /// The share of what is there that is wanted.
    pub precision: f64,
}

impl Score {
    /// The harmonic mean.
    pub fn f1(self) -> f64 {
        let sum = self.recall + self.precision;
        if sum == 0.0 { 0.0 } else { 2.0 * self.recall * self.precision / sum }
    }
}

/// All pages.
pub fn pages() -> Vec<Page> {
    texts::TEXTS
        .iter()
        .flat_map(|text| kinds::KINDS.iter().map(move |(kind, make)| make(kind, text)))
        .collect()
}

impl Page {
    /// Scores what was extracted, by letters and digits alone, so that no form of markup counts.
    pub fn score(&self, extracted: &str) -> Score {
        let extracted = letters(extracted);
        let found = |items: &[String]| items.iter().filter(|item| extracted.contains(&letters(item))).count();
        let (wanted, code, around) = (found(&self.wanted), found(&self.code), found(&self.around));
        let there = wanted + code;
        let ratio = |part: usize, whole: usize| if whole == 0 { 1.0 } else { to_f64(part) / to_f64(whole) };
        Score {
            recall: ratio(there, self.wanted.len() + self.code.len()),
            precision: if there + around == 0 { 0.0 } else { ratio(there, there + around) },
        }
    }
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The letters and digits of a text, in lower case.
pub fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
