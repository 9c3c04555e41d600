//! Texts in the words of a command that could be paths given to its program.
//!
//! The options of most programs are unknown here, so which of their values are files is unknown too. Everything that could be one is
//! listed: whole words, values of options in every notation, and the pieces of longer words. The caller decides which of them matter.

mod globs;
mod pieces;
mod remote;

use crate::command::is_shell_or_interpreter;
use crate::verdict::Part;
use crate::walk;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of texts of one simple command.
const MAX_TEXTS: usize = 4_096;
/// Maximum number of pieces of one word.
const MAX_PIECES: usize = 4_096;
/// Maximum length of a path, in bytes.
const MAX_LENGTH: usize = 4_096;
/// Maximum number of directories that relative paths of one simple command may refer to.
const MAX_DIRECTORIES: usize = 8;

/// Options that name the directory in which, or in relation to which, a program opens files.
const DIRECTORY_OPTIONS: &[&str] = &[
    "-C",
    "-P",
    "-d",
    "-w",
    "--base-directory",
    "--basedir",
    "--chdir",
    "--cwd",
    "--dir",
    "--directory",
    "--directory-prefix",
    "--lcd",
    "--output-dir",
    "--output-directory",
    "--prefix",
    "--project",
    "--project-directory",
    "--root",
    "--target-directory",
    "--work-tree",
    "--workdir",
    "-chdir",
];

/// Options whose value is a file that the program writes.
const OUTPUT_OPTIONS: &[&str] = &[
    "-o",
    "-O",
    "--out",
    "--outfile",
    "--out-file",
    "--output",
    "--output-document",
    "--output-file",
    "--log-file",
    "--logfile",
    "--trace",
    "--trace-ascii",
    "--cookie-jar",
    "--dump-header",
    "-out",
    "-keyout",
    "-oN",
    "-oX",
    "-oG",
    "-oA",
    "of",
];

/// A text in the words of a command that could be a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PossiblePath {
    /// The text, which may begin with `~`, `$HOME` or `${HOME}`: programs expand these themselves.
    pub text: String,
    /// Position of the text in its word.
    pub place: PossiblePlace,
    /// True if it is the value of an option that is known to name a file to write.
    pub is_output: bool,
}

/// The position of a possible path in its word, the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PossiblePlace {
    /// The value of an option: the word after it, or the text after `=`, `@`, `<` or its first letter.
    Value,
    /// A whole word.
    Word,
    /// The text after several letters behind a dash, which may be options without a value.
    Cluster,
    /// Another piece of a word, such as one between quotes.
    Piece,
}

/// The texts of a command that could be paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PossiblePaths {
    /// Each text once, in the order of the words.
    pub paths: Vec<PossiblePath>,
    /// Texts that could be the directory which relative paths refer to, in addition to the one that the program runs in.
    pub directories: Vec<String>,
    /// True if there are more texts than are listed.
    pub is_cut: bool,
}

impl Part {
    /// Returns true if the program is a shell or an interpreter, which runs what a file that it is given says.
    pub fn runs_scripts(&self) -> bool {
        self.program.as_deref().is_some_and(is_shell_or_interpreter)
    }

    /// Returns the texts in the words of the command that could be paths given to its program. A word that is unknown before the command
    /// runs contributes none, nor do the words that name a subcommand.
    ///
    /// The path of a URL of another machine is none, nor is that of `host:path` where the program copies files between machines.
    pub fn possible_paths(&self) -> PossiblePaths {
        let mut found = Collector::default();
        for (name, value) in &self.variables {
            found.value(value, name);
            found.pieces(value);
        }
        let program = self.program.as_deref().unwrap_or_default();
        let words: Vec<Option<&str>> = self.words.iter().skip(1).map(Option::as_deref).collect();
        let subcommands = match self.says {
            Some(count) if !is_shell_or_interpreter(program) => count.saturating_sub(1),
            _ => 0,
        };
        let messages = has_messages(program, &words);
        let stores_by_url = stores_by_url(program, &words);
        let mut option: Option<&str> = None;
        let mut are_options_over = false;
        for (place, word) in words.iter().enumerate() {
            let before = option.take();
            let Some(word) = word.filter(|word| !word.is_empty()) else { continue };
            if word == "--" && !are_options_over {
                are_options_over = true;
                continue;
            }
            let is_option = word.starts_with('-') && word.len() > 1 && !are_options_over;
            if messages && !are_options_over && is_message(before, word) {
                continue;
            }
            // A directory with the name of a subcommand is not what the word means.
            if place < subcommands && !is_option && !word.starts_with(['.', '~']) && !word.contains('/') {
                continue;
            }
            // A name that is left out is not opened.
            if is_exclusion(word) || before.is_some_and(is_exclusion) {
                option = is_option.then_some(word);
                continue;
            }
            if program == "curl" {
                found.globs(word, before);
            }
            if stores_by_url {
                for name in remote::names_of_urls(word) {
                    found.add(&name, PossiblePlace::Value, true);
                }
            }
            // A comma may begin another operand.
            if ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme)) && !word.contains(',') {
                continue;
            }
            if is_option {
                found.option(word);
                option = Some(word);
            } else if !remote::is_remote(program, word) {
                found.word(word, before);
            }
        }
        for word in self.listed.iter().filter(|word| !word.is_empty()) {
            if word.starts_with('-') {
                found.option(word);
            }
            found.word(word, None);
        }
        // In some words a tilde may stand for a directory or for itself, so they are unknown.
        if self.words.contains(&None) {
            for range in pieces::pieces(&self.text).filter(|range| self.text[range.clone()].starts_with('~'))
            {
                found.add(&self.text[range], PossiblePlace::Value, false);
            }
        }
        found.done()
    }
}

/// Returns true for an option whose value names what a program leaves out.
fn is_exclusion(word: &str) -> bool {
    const NAMES: &[&str] =
        &["--exclude", "--exclude-dir", "--exclude-file", "--ignore", "--ignore-dir", "--ignore-path"];
    let name = word.split('=').next().unwrap_or(word);
    NAMES.contains(&name)
}

/// Returns the path that a program in `directory` opens for `path`: absolute, and without `.` and `..`. A symlink before a `..` is followed.
pub fn resolve_path(directory: impl AsRef<Path>, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    let from = if path.is_absolute() { PathBuf::from("/") } else { directory.as_ref().to_owned() };
    walk::resolve(from, path)
}

/// Returns the texts in a command that cannot be parsed that could be paths.
pub fn possible_paths_of_text(text: &str) -> PossiblePaths {
    let mut found = Collector::default();
    found.pieces(text);
    found.done()
}

/// Returns true if the program takes a text to store, such as the message of a commit, as the value of an option.
fn has_messages(program: &str, words: &[Option<&str>]) -> bool {
    let subcommand = words.iter().flatten().find(|word| !word.starts_with('-'));
    match program {
        "git" => {
            subcommand.is_some_and(|word| matches!(*word, "commit" | "tag" | "merge" | "stash" | "notes"))
        }
        "hg" | "jj" | "svn" => {
            subcommand.is_some_and(|word| matches!(*word, "commit" | "ci" | "describe" | "tag"))
        }
        "gh" | "glab" => true,
        _ => false,
    }
}

/// Returns true if the program stores what it downloads under the last name in its URL.
fn stores_by_url(program: &str, words: &[Option<&str>]) -> bool {
    let has = |long: &str, letters: &[char]| {
        words.iter().flatten().any(|word| match word.strip_prefix("--") {
            Some(name) => !name.is_empty() && long.starts_with(name),
            None => word.strip_prefix('-').is_some_and(|word| word.contains(letters)),
        })
    };
    match program {
        "wget" | "wget2" | "aria2c" | "axel" | "youtube-dl" | "yt-dlp" => true,
        "curl" => has("remote-name-all", &['O', 'J']),
        "http" | "https" | "xh" | "xhs" => has("download", &['d']),
        _ => false,
    }
}

/// Returns true if a word is such a text: the value of an option for it, or the option with its value.
fn is_message(before: Option<&str>, word: &str) -> bool {
    const LONG: &[&str] = &["--message", "--title", "--body", "--notes", "--description"];
    let is_short = |option: &str| {
        let letters = option.strip_prefix('-').unwrap_or_default();
        letters.ends_with('m') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    before.is_some_and(|before| LONG.contains(&before) || is_short(before))
        || word.split_once('=').is_some_and(|(option, _)| LONG.contains(&option))
        || word.starts_with("-m") && word.len() > 2
}

/// Collects texts, each once.
#[derive(Default)]
struct Collector {
    paths: Vec<PossiblePath>,
    known: BTreeMap<String, usize>,
    directories: Vec<String>,
    is_cut: bool,
}

impl Collector {
    /// Adds the texts of an option with its value.
    fn option(&mut self, word: &str) {
        if let Some((name, value)) = word.split_once('=') {
            self.value(value, name);
        }
        if !word.starts_with("--") {
            for (place, start) in pieces::cluster(word).enumerate() {
                let (option, value) = word.split_at(start);
                if place == 0 {
                    self.value(value, option);
                    continue;
                }
                self.local(
                    word,
                    start..word.len(),
                    PossiblePlace::Cluster,
                    is_listed(OUTPUT_OPTIONS, option),
                );
                if is_listed(DIRECTORY_OPTIONS, option) {
                    self.directory(value);
                }
            }
        }
        self.pieces(word);
    }

    /// Adds the texts of a word that is not an option, but may be the value of the option before it.
    fn word(&mut self, word: &str, before: Option<&str>) {
        match before {
            Some(option) if !option.contains('=') => self.value(word, option),
            _ => {
                self.local(word, 0..word.len(), PossiblePlace::Word, false);
                match word.split_once('=') {
                    Some((name, value)) => self.value(value, name),
                    None => self.marked(word, false),
                }
            }
        }
        self.pieces(word);
    }

    /// Adds the texts that curl expands a word to, if it is an operand or names files to upload.
    fn globs(&mut self, word: &str, before: Option<&str>) {
        let uploads = |option: &str| option == "--upload-file" || is_listed(&["-T"], option);
        let is_pattern = before
            .is_none_or(|option| uploads(option) || option == "--url" || option.contains('='))
            && remote::urls(word).is_empty();
        if !is_pattern {
            return;
        }
        let Some(texts) = globs::expansions(word) else {
            self.is_cut = true;
            return;
        };
        for text in texts {
            if text.starts_with('-') {
                self.option(&text);
            } else {
                self.word(&text, None);
            }
        }
    }

    fn value(&mut self, value: &str, option: &str) {
        let is_output = is_listed(OUTPUT_OPTIONS, option);
        if is_listed(DIRECTORY_OPTIONS, option) {
            self.directory(value);
        }
        self.local(value, 0..value.len(), PossiblePlace::Value, is_output);
        self.marked(value, is_output);
        // A field with a value of its own, as in `-F name=@file`.
        if let Some((_, inner)) = value.split_once('=') {
            self.local(inner, 0..inner.len(), PossiblePlace::Value, is_output);
            self.marked(inner, is_output);
        }
    }

    /// Adds the file after a mark that says that the value is in it.
    fn marked(&mut self, value: &str, is_output: bool) {
        if let Some(file) = value.strip_prefix(['@', '<']) {
            let end = file.find(';').unwrap_or(file.len());
            self.local(file, 0..file.len(), PossiblePlace::Value, is_output);
            self.local(file, 0..end, PossiblePlace::Value, is_output);
        }
    }

    /// Adds the pieces of a word.
    fn pieces(&mut self, word: &str) {
        for text in remote::files_of_urls(word) {
            if self.is_full() {
                return;
            }
            self.add(&text, PossiblePlace::Value, false);
        }
        let urls = remote::urls(word);
        for (count, range) in pieces::pieces(word).enumerate() {
            if count >= MAX_PIECES || self.is_full() {
                self.is_cut = true;
                return;
            }
            if !urls.iter().any(|url| url.start < range.end && range.start < url.end) {
                self.add(&word[range], PossiblePlace::Piece, false);
            }
        }
    }

    /// Adds a range of a text, unless it contains a URL.
    fn local(&mut self, text: &str, range: std::ops::Range<usize>, place: PossiblePlace, is_output: bool) {
        let overlaps = |url: &std::ops::Range<usize>| url.start < range.end && range.start < url.end;
        if remote::urls(text).iter().any(overlaps) || remote::is_file_url(&text[range.clone()]) {
            return;
        }
        self.add(&text[range], place, is_output);
    }

    fn add(&mut self, text: &str, place: PossiblePlace, is_output: bool) {
        if text.is_empty() || text.len() > MAX_LENGTH || text.contains('\0') {
            return;
        }
        if let Some(known) = self.known.get(text).and_then(|known| self.paths.get_mut(*known)) {
            known.place = known.place.min(place);
            known.is_output |= is_output;
        } else if !self.is_full() {
            self.known.insert(text.to_owned(), self.paths.len());
            self.paths.push(PossiblePath { text: text.to_owned(), place, is_output });
        }
    }

    fn directory(&mut self, text: &str) {
        if text.is_empty() || self.directories.iter().any(|known| known == text) {
            return;
        }
        if self.directories.len() < MAX_DIRECTORIES {
            self.directories.push(text.to_owned());
        } else {
            self.is_cut = true;
        }
    }

    /// Returns true if no further text has room.
    fn is_full(&mut self) -> bool {
        let is_full = self.paths.len() >= MAX_TEXTS;
        self.is_cut |= is_full;
        is_full
    }

    fn done(self) -> PossiblePaths {
        PossiblePaths { paths: self.paths, directories: self.directories, is_cut: self.is_cut }
    }
}

/// Returns true if an option, or the last of several letters behind a dash, is one of these.
fn is_listed(options: &[&str], option: &str) -> bool {
    let last = || option.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?.chars().next_back();
    options.contains(&option) || last().is_some_and(|last| options.contains(&&*format!("-{last}")))
}
