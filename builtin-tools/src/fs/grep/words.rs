//! The results of a search, as text and as data.

use super::details::{FoundText, MatchingFile, MatchingLine};
use super::page::{Hit, HitContent, Page};
use super::query::{Depth, Query};
use crate::fs::place::{Place, notes};
use crate::fs::skipped::Skipped;
use std::fmt::Write as _;
use toolkit::{ToolOutput, output::Structured};

/// The results of a search.
pub(super) struct Answer<'a> {
    pub(super) pattern: String,
    pub(super) place: &'a Place,
    pub(super) query: &'a Query,
    pub(super) offset: u64,
    pub(super) page: Page,
    /// Number of files searched.
    pub(super) files: u64,
    /// True if only some files were to be searched.
    pub(super) is_filtered: bool,
    pub(super) skipped: Skipped,
}

impl Answer<'_> {
    pub(super) fn output(self) -> Structured<FoundText> {
        let Self { place, page, .. } = &self;
        let mut text = String::new();
        for hit in &page.results {
            self.write(&mut text, hit);
        }
        for note in self.notes() {
            text.push_str(&note);
            text.push('\n');
        }
        let search_path = place.shown(&place.real);
        let next = page.has_more.then_some(self.offset + page.count);
        let output = ToolOutput::text(text)
            .with_title(self.title())
            .with_metadata("pattern", self.pattern.as_str())
            .with_metadata("searchPath", search_path.as_str())
            .with_metadata("count", page.count)
            .with_metadata("truncated", page.has_more);
        let data = FoundText {
            pattern: self.pattern.clone(),
            search_path,
            results: page.results.iter().map(|hit| self.data(hit)).collect(),
            count: page.count,
            truncated: page.has_more,
            next_offset: next,
            files_searched: self.files,
            left_out: self.skipped.refused,
            unreadable: self.skipped.unreadable,
            too_large: self.skipped.too_large,
        };
        Structured::new(output, data)
    }

    fn title(&self) -> String {
        let count = self.page.count;
        let what = match (self.query.depth, count) {
            (Depth::Lines, 1) => "match",
            (Depth::Lines, _) => "matches",
            (_, 1) => "file",
            (_, _) => "files",
        };
        let more = if self.page.has_more { " or more" } else { "" };
        format!("Found {count} {what}{more}")
    }

    fn write(&self, text: &mut String, hit: &Hit) {
        let path = self.place.shown(&hit.path);
        let has_context = self.query.before + self.query.after > 0;
        match &hit.content {
            HitContent::Matches => {
                let _ = writeln!(text, "{path}");
            }
            HitContent::Binary => {
                let _ = writeln!(text, "{path}: binary file matches");
            }
            HitContent::Count(count) => {
                let _ = writeln!(text, "{path}:{count}");
            }
            HitContent::Lines(matches) => {
                let mut last = None;
                for line in matches.iter().flat_map(|one| &one.lines) {
                    let is_gap = match last {
                        None => !text.is_empty(),
                        Some(last) => line.after_gap || line.number > last + 1,
                    };
                    if has_context && is_gap {
                        text.push_str("--\n");
                    }
                    let mark = if line.is_match { ':' } else { '-' };
                    let _ = writeln!(text, "{path}{mark}{}{mark}{}", line.number, line.text);
                    last = Some(line.number);
                }
            }
        }
    }

    fn data(&self, hit: &Hit) -> MatchingFile {
        let path = self.place.shown(&hit.path);
        let file = MatchingFile { path, binary: None, count: None, lines: None };
        match &hit.content {
            HitContent::Matches => file,
            HitContent::Binary => MatchingFile { binary: Some(true), ..file },
            HitContent::Count(count) => MatchingFile { count: Some(*count), ..file },
            HitContent::Lines(matches) => {
                let lines = matches.iter().flat_map(|one| &one.lines).map(|line| MatchingLine {
                    number: line.number,
                    is_match: line.is_match,
                    text: line.text.clone(),
                });
                MatchingFile { lines: Some(lines.collect()), ..file }
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let Self { page, offset, .. } = self;
        let mut said = Vec::new();
        let files = if self.files == 1 { "file" } else { "files" };
        let searched = format!("{} {files} searched", self.files);
        if page.count == 0 && *offset > 0 {
            said.push(format!("(no results from offset {offset} on; {searched})"));
        } else if page.count == 0 {
            let is_none_meant = self.is_filtered && self.files == 0;
            let why = if is_none_meant { ", since no file matches `glob` or `type`" } else { "" };
            said.push(format!("(no matches; {searched}{why}, hidden and ignored files skipped)"));
        } else if page.has_more {
            let (first, last) = (offset + 1, offset + page.count);
            said.push(format!(
                "(results {first} to {last}; there are more: continue with offset {last}, or narrow the search)"
            ));
        }
        if page.has_pieces {
            said.push(
                "(lines of more than 1 MiB were searched in pieces: `^` and `$` match at their ends too, and no match is longer \
                 than 64 KiB)"
                    .to_owned(),
            );
        }
        said.extend(notes(self.place, &self.skipped));
        said
    }
}
