//! The format that begins with `*** Begin Patch`.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/main.rs
//! *** Move to: src/start.rs
//! @@ fn main() {
//!      let name = name();
//! -    greet(name);
//! +    greet(&name);
//! *** End of File
//! *** Add File: notes.md
//! +A line.
//! *** Delete File: old.rs
//! *** End Patch
//! ```
//!
//! Text around it, as the call of a command with a here-document or the fence of a code block, is passed over, and
//! so is an indentation of the whole.

use super::command;
use super::marks::{anchor, is_open_mark};
use super::patch::{Action, Change, Hunk, PatchError, without_return};
use super::unified;

/// The first line.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// The meaning of a line of the patch outside of hunks.
enum Header<'a> {
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
}

impl<'a> Header<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_end();
        let path = |prefix: &str| line.strip_prefix(prefix).map(str::trim);
        path(ADD)
            .map(Self::Add)
            .or_else(|| path(UPDATE).map(Self::Update))
            .or_else(|| path(DELETE).map(Self::Delete))
    }
}

/// Reads the changes from `lines`, of which the one at `begin` is the first of the patch, and the directory that a command
/// before the patch names.
pub(super) fn parse<'a>(
    lines: &[&'a str],
    begin: usize,
) -> Result<(Vec<Change<'a>>, Option<&'a str>), PatchError> {
    let end = lines[begin..].iter().rposition(|line| line.trim() == END).ok_or_else(|| {
        let problem = "the patch does not end with `*** End Patch`: it may be cut off; send all of it";
        PatchError::new(lines.len(), problem)
    })?;
    let end = begin + end;
    let mut directory = None;
    for (index, line) in lines[..begin].iter().enumerate() {
        command::join(&mut directory, command::before(line))
            .map_err(|problem| PatchError::new(index + 1, problem))?;
    }
    if let Some(index) = lines[end + 1..].iter().position(|line| !is_after(line)) {
        let problem = "unexpected line after `*** End Patch`; remove it";
        return Err(PatchError::new(end + 2 + index, problem));
    }
    // A patch that was converted to CRLF has CRLF on its own lines too.
    let came_with_returns = lines[begin].ends_with('\r');
    let indent = &lines[begin][..lines[begin].len() - lines[begin].trim_start().len()];
    let body = &lines[begin + 1..end];
    let is_indented = body.iter().all(|line| line.trim().is_empty() || line.starts_with(indent));
    let clean = |line: &&'a str| {
        let line = if came_with_returns { without_return(line) } else { line };
        if is_indented { line.strip_prefix(indent).unwrap_or("") } else { line }
    };
    let body: Vec<&'a str> = body.iter().map(clean).collect();
    let first = body.iter().find(|line| !line.trim().is_empty());
    let mut changes = match first {
        Some(line) if line.starts_with("--- ") || line.starts_with("diff --git ") => {
            unified::parse(&body, begin + 1)?
        }
        _ => Reader { lines: &body, at: 0, before: begin + 1 }.changes()?,
    };
    if let Some(directory) = directory {
        for change in &mut changes {
            change.move_into(directory);
        }
    }
    Ok((changes, directory))
}

/// Returns true if a line may follow the patch: the end of a here-document, of a quotation, of a code block.
fn is_after(line: &str) -> bool {
    let line = line.trim();
    let is_word =
        line.len() <= 40 && line.chars().all(|character| character.is_alphanumeric() || character == '_');
    line.starts_with("```") || is_word || line.chars().all(|character| "'\"`)]};".contains(character))
}

struct Reader<'l, 'a> {
    lines: &'l [&'a str],
    at: usize,
    /// Number of lines before these.
    before: usize,
}

impl<'a> Reader<'_, 'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// The number of the line in the patch.
    fn number(&self) -> usize {
        self.before + self.at + 1
    }

    fn wrong(&self, problem: impl Into<String>) -> PatchError {
        PatchError::new(self.number(), problem)
    }

    fn changes(mut self) -> Result<Vec<Change<'a>>, PatchError> {
        let mut changes = Vec::new();
        while let Some(line) = self.line() {
            if line.trim().is_empty() {
                self.at += 1;
                continue;
            }
            let number = self.number();
            let Some(header) = Header::of(line.trim_start()) else {
                return Err(self.wrong(
                    "expected `*** Add File: path`, `*** Update File: path`, `*** Delete File: path` or \
                     `*** End Patch`",
                ));
            };
            let (Header::Add(path) | Header::Update(path) | Header::Delete(path)) = header;
            if path.is_empty() {
                return Err(self.wrong("the path is missing"));
            }
            self.at += 1;
            let action = match header {
                Header::Add(_) => Action::Add(self.added()?),
                Header::Delete(_) => self.deleted().map(|()| Action::Delete(Vec::new()))?,
                Header::Update(_) => self.updated()?,
            };
            let path = path.to_owned();
            changes.push(Change { line: number, path, or_path: None, action, executable: None });
        }
        Ok(changes)
    }

    fn is_header(&self) -> bool {
        self.line().is_none_or(|line| Header::of(line).is_some())
    }

    fn added(&mut self) -> Result<String, PatchError> {
        let mut content = String::new();
        let mut padding = 0;
        while !self.is_header() {
            let line = self.lines[self.at];
            if let Some(text) = line.strip_prefix('+') {
                // An empty line between others has lost its sign.
                content.extend(std::iter::repeat_n('\n', padding));
                padding = 0;
                content.push_str(text);
                content.push('\n');
            } else if line.trim().is_empty() {
                padding += 1;
            } else if is_open_mark(line) {
                content.pop();
            } else if line.trim_end() != END_OF_FILE {
                return Err(self.wrong("each line of an added file begins with `+`"));
            }
            self.at += 1;
        }
        Ok(content)
    }

    fn deleted(&mut self) -> Result<(), PatchError> {
        while !self.is_header() {
            if !self.lines[self.at].trim().is_empty() {
                return Err(self.wrong("no lines may follow the name of a deleted file"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn updated(&mut self) -> Result<Action<'a>, PatchError> {
        let to =
            self.line().and_then(|line| line.trim().strip_prefix(MOVE)).map(|path| path.trim().to_owned());
        if let Some(path) = &to {
            if path.is_empty() {
                return Err(self.wrong("the path is missing"));
            }
            self.at += 1;
        }
        let mut hunks = Vec::new();
        loop {
            while self.line().is_some_and(|line| line.trim().is_empty()) && self.next_begins_hunk() {
                self.at += 1;
            }
            if self.is_header() {
                break;
            }
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() && to.is_none() {
            return Err(self.wrong("the file that is to be updated has no lines to change"));
        }
        Ok(Action::Update { to, is_copy: false, hunks })
    }

    /// Returns true if the line after the empty lines here does not continue a hunk.
    fn next_begins_hunk(&self) -> bool {
        let next = self.lines[self.at..].iter().find(|line| !line.trim().is_empty());
        next.is_none_or(|line| line.starts_with("@@") || Header::of(line).is_some())
    }

    fn hunk(&mut self) -> Result<Hunk<'a>, PatchError> {
        let mut hunk = Hunk { line: self.number(), ..Hunk::default() };
        while let Some(line) = self.line().filter(|line| line.starts_with("@@")) {
            match unified::HunkHeader::of(line) {
                Some(header) => hunk.at = Some(header.old_start),
                None => hunk.anchors.extend(anchor(line)),
            }
            self.at += 1;
        }
        while let Some(line) =
            self.line().filter(|line| !line.starts_with("@@") && Header::of(line).is_none())
        {
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                self.at += 1;
                break;
            }
            if is_open_mark(line) {
                hunk.leave_open();
            } else if hunk.push(line).is_none() {
                return Err(self.wrong(
                    "each line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`; put a space before \
                     an unchanged line",
                ));
            }
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(self.wrong("the hunk has no lines"));
        }
        Ok(hunk)
    }
}
