//! The paths that `find` finds: each that it may print, or run a command for.

use super::{Listed, MAX};
use crate::names;
use std::fs::{self, FileType};
use std::path::Path;

/// Maximum number of directory entries that are examined.
const MAX_ENTRIES: usize = 200_000;

/// A part of an expression.
enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Name(String, Case),
    Path(String, Case),
    /// A test by these letters of `-type`.
    Kind(String),
    Prune,
    True,
    False,
    /// The result of the test is not computed.
    Maybe,
    /// The test prints, or runs a command.
    Act,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Counts,
    Folded,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    Maybe,
}

/// An expression, with the properties of the whole.
struct Expression {
    test: Test,
    deepest: usize,
    /// Directories come after their content, and none is pruned.
    is_backwards: bool,
}

/// Returns everything that `find` may print, if it has no other effect.
pub(super) fn listed(words: &[&str], cwd: &Path) -> Option<Listed> {
    let (roots, expression) = roots(words)?;
    if expression
        .iter()
        .any(|word| word.starts_with("-exec") || word.starts_with("-ok") || *word == "-delete")
    {
        return None;
    }
    let names = found(&roots, expression, cwd)?;
    let has_nul = expression.contains(&"-print0");
    // One of both would be printed behind the other.
    (!has_nul || !expression.contains(&"-print")).then_some(Listed { names, has_nul })
}

/// Returns the starting points and the expression.
fn roots<'w, 'a>(words: &'a [&'w str]) -> Option<(Vec<&'w str>, &'a [&'w str])> {
    let is_expression = |word: &&str| word.starts_with('-') || matches!(*word, "(" | "!" | ")" | ",");
    let end = words.iter().position(is_expression).unwrap_or(words.len());
    let (roots, expression) = words.split_at(end);
    let first = expression.first().copied().unwrap_or_default();
    if matches!(first, "-H" | "-L" | "-P" | "-D") || first.starts_with("-O") {
        return None;
    }
    Some((if roots.is_empty() { vec!["."] } else { roots.to_vec() }, expression))
}

/// Returns each path below these for which an expression may act, in the form of `find`. `None` if that is not supported, or too
/// much.
pub(crate) fn found(roots: &[&str], expression: &[&str], cwd: &Path) -> Option<Vec<String>> {
    let expression = read(expression)?;
    let mut found = Vec::new();
    let mut entries = 0;
    for root in roots {
        let place = cwd.join(root);
        let Ok(metadata) = place.symlink_metadata() else { continue };
        let mut waiting = vec![((*root).to_owned(), place, metadata.file_type(), 0_usize)];
        while let Some((path, place, kind, depth)) = waiting.pop() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return None;
            }
            let mut seen = FoundEntry { path: &path, kind, acts: false, is_left_out: false };
            seen.holds(&expression.test, true);
            let is_left_out = seen.is_left_out && !expression.is_backwards;
            if seen.acts {
                found.push(path.clone());
                if found.len() > MAX {
                    return None;
                }
            }
            if !kind.is_dir() || is_left_out || depth >= expression.deepest {
                continue;
            }
            // `find` cannot list a directory either that cannot be listed here.
            for entry in fs::read_dir(&place).into_iter().flatten() {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let separator = if path.ends_with('/') { "" } else { "/" };
                waiting.push((
                    format!("{path}{separator}{name}"),
                    entry.path(),
                    entry.file_type().ok()?,
                    depth + 1,
                ));
            }
        }
    }
    Some(found)
}

/// An entry that an expression is about.
struct FoundEntry<'p> {
    path: &'p str,
    kind: FileType,
    /// True if an action may run for the file.
    acts: bool,
    /// True if everything below it is certainly left out.
    is_left_out: bool,
}

impl FoundEntry<'_> {
    /// Evaluates a test. `is_certain` is true if `find` certainly evaluates it.
    fn holds(&mut self, test: &Test, is_certain: bool) -> Holds {
        match test {
            Test::And(tests) => {
                let mut whole = Holds::Yes;
                for test in tests {
                    match self.holds(test, is_certain && whole == Holds::Yes) {
                        Holds::No => return Holds::No,
                        Holds::Maybe => whole = Holds::Maybe,
                        Holds::Yes => {}
                    }
                }
                whole
            }
            Test::Or(tests) => {
                let mut whole = Holds::No;
                for test in tests {
                    match self.holds(test, is_certain && whole == Holds::No) {
                        Holds::Yes => return Holds::Yes,
                        Holds::Maybe => whole = Holds::Maybe,
                        Holds::No => {}
                    }
                }
                whole
            }
            Test::Not(test) => match self.holds(test, is_certain) {
                Holds::Yes => Holds::No,
                Holds::No => Holds::Yes,
                Holds::Maybe => Holds::Maybe,
            },
            Test::Name(pattern, case) => {
                let name = self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                matches(pattern, name, *case)
            }
            Test::Path(pattern, case) => matches(pattern, self.path, *case),
            Test::Kind(letters) => {
                let letter = match self.kind {
                    kind if kind.is_file() => 'f',
                    kind if kind.is_dir() => 'd',
                    kind if kind.is_symlink() => 'l',
                    _ => return Holds::Maybe,
                };
                if letters.split(',').any(|known| known.starts_with(letter)) { Holds::Yes } else { Holds::No }
            }
            Test::Prune => {
                self.is_left_out |= is_certain;
                Holds::Yes
            }
            Test::True => Holds::Yes,
            Test::False => Holds::No,
            Test::Maybe => Holds::Maybe,
            Test::Act => {
                self.acts = true;
                Holds::Maybe
            }
        }
    }
}

fn matches(pattern: &str, text: &str, case: Case) -> Holds {
    // The matching of non-ASCII characters and of bracket expressions depends on the locale.
    if !text.is_ascii() || !pattern.is_ascii() || pattern.contains(['[', '\\']) {
        return Holds::Maybe;
    }
    let is_match = match case {
        Case::Counts => is_match(pattern, text),
        Case::Folded => is_match(&pattern.to_ascii_lowercase(), &text.to_ascii_lowercase()),
    };
    if is_match { Holds::Yes } else { Holds::No }
}

/// Returns true if a pattern, in which `*` stands for any text and `?` for any byte, matches a whole text.
pub(super) fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Position of the last `*`, and the end of the text that it matches.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&sign) if sign == b'?' || sign == text[from] => (at, from) = (at + 1, from + 1),
            _ => {
                let Some((begin, taken)) = star else { return false };
                star = Some((begin, taken + 1));
                (at, from) = (begin + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|sign| *sign == b'*')
}

/// Parses an expression; `None` if it contains something that is not supported.
fn read(words: &[&str]) -> Option<Expression> {
    let mut reader = Reader { words, at: 0, deepest: usize::MAX, acts: false, is_backwards: false };
    let test = reader.list()?;
    if reader.at < words.len() {
        return None;
    }
    // Without an action it prints.
    let test = if reader.acts { test } else { Test::And(vec![test, Test::Act]) };
    Some(Expression { test, deepest: reader.deepest, is_backwards: reader.is_backwards })
}

struct Reader<'w> {
    words: &'w [&'w str],
    at: usize,
    deepest: usize,
    acts: bool,
    is_backwards: bool,
}

impl<'w> Reader<'w> {
    fn next(&mut self) -> Option<&'w str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn list(&mut self) -> Option<Test> {
        let mut all = vec![self.and()?];
        while matches!(self.words.get(self.at), Some(&("-o" | "-or"))) {
            self.at += 1;
            all.push(self.and()?);
        }
        Some(Test::Or(all))
    }

    fn and(&mut self) -> Option<Test> {
        let mut all = Vec::new();
        while let Some(word) = self.words.get(self.at) {
            match *word {
                "-o" | "-or" | ")" => break,
                "-a" | "-and" => self.at += 1,
                _ => all.push(self.one()?),
            }
        }
        Some(Test::And(all))
    }

    fn one(&mut self) -> Option<Test> {
        let word = self.next()?;
        Some(match word {
            "!" | "-not" => Test::Not(Box::new(self.one()?)),
            "(" => {
                let list = self.list()?;
                (self.next() == Some(")")).then_some(list)?
            }
            "-name" => Test::Name(self.next()?.to_owned(), Case::Counts),
            "-iname" => Test::Name(self.next()?.to_owned(), Case::Folded),
            "-path" | "-wholename" => Test::Path(self.next()?.to_owned(), Case::Counts),
            "-ipath" | "-iwholename" => Test::Path(self.next()?.to_owned(), Case::Folded),
            "-type" => Test::Kind(self.next()?.to_owned()),
            "-maxdepth" => {
                self.deepest = self.next()?.parse().ok()?;
                Test::True
            }
            "-prune" => Test::Prune,
            "-true" => Test::True,
            "-false" => Test::False,
            "-d" | "-depth" => {
                self.is_backwards = true;
                Test::True
            }
            "-print" | "-print0" => {
                self.acts = true;
                Test::Act
            }
            "-exec" => {
                self.acts = true;
                loop {
                    match self.next()? {
                        ";" => break,
                        "+" if self.words.get(self.at.checked_sub(2)?) == Some(&"{}") => break,
                        _ => {}
                    }
                }
                Test::Act
            }
            // Their output is not only names, or they have another effect.
            "-ls" | "-printf" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" | "-follow" | "," => {
                return None;
            }
            word if names::is("find-plain", word) => Test::Maybe,
            word if names::is("find-valued", word) || word.starts_with("-newer") || word == "-samefile" => {
                self.next()?;
                Test::Maybe
            }
            _ => return None,
        })
    }
}
