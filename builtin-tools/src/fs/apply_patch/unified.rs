//! Unified diffs, as `diff -u` and git write them.

use super::marks::{anchor, is_open_mark, unquoted};
use super::patch::{Action, Change, Hunk, PatchError, Sign, without_return};

/// Maximum number of unchanged lines that may be missing at the end of a patch, if old and new lines lack the same
/// number.
const MAX_MISSING: usize = 3;

/// The problem with a hunk without lines.
const NO_LINES: &str = "the hunk has no lines; each begins with a space, `-` or `+`";
/// The problem with a line within a hunk that has no sign.
const NO_SIGN: &str = "each line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`; put a space before an unchanged line";

/// Returns true if there is one in these lines.
pub(super) fn is_unified(lines: &[&str]) -> bool {
    first(lines).is_some()
}

/// The line with which the first change begins, counted from 0.
pub(super) fn first(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).find(|&index| lines[index].starts_with("diff --git ") || names_at(lines, index))
}

/// Returns true if the header of a file begins here.
fn names_at(lines: &[&str], at: usize) -> bool {
    let begins = |at: usize, with: &str| lines.get(at).is_some_and(|line| line.starts_with(with));
    begins(at, "--- ") && begins(at + 1, "+++ ")
}

/// The line numbers in the header of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HunkHeader {
    pub(super) old_start: usize,
    old_count: usize,
    new_count: usize,
}

impl HunkHeader {
    /// Parses `@@ -1,3 +1,4 @@ section`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let numbers = |range: &str| {
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        };
        let ((old_start, old_count), (_, new_count)) = (numbers(old)?, numbers(new)?);
        Some(Self { old_start, old_count, new_count })
    }
}

/// Parses the changes; `before` lines of the patch precede these.
pub(super) fn parse<'a>(lines: &[&'a str], before: usize) -> Result<Vec<Change<'a>>, PatchError> {
    // A patch that was converted to CRLF has CRLF on the lines of the format too; otherwise the carriage returns belong
    // to the file.
    let is_of_format = |line: &&&str| line.starts_with("@@ -") || line.starts_with("+++ ");
    let mut of_format = lines.iter().filter(is_of_format).peekable();
    let came_with_returns = of_format.peek().is_some() && of_format.all(|line| line.ends_with('\r'));
    let lines: Vec<&'a str> =
        lines.iter().map(|line| if came_with_returns { without_return(line) } else { line }).collect();
    let mut reader = Reader { lines, at: 0, before };
    let mut changes = Vec::new();
    while let Some(section) = reader.section()? {
        changes.push(section);
    }
    Ok(changes)
}

/// The names in the lines before the hunks of a file.
#[derive(Default)]
struct Names {
    line: usize,
    git: Option<String>,
    old: Option<String>,
    new: Option<String>,
    from: Option<String>,
    to: Option<String>,
    is_copy: bool,
    is_new: bool,
    is_deleted: bool,
    executable: Option<bool>,
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
    before: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, problem: impl Into<String>) -> PatchError {
        PatchError::new(self.before + self.at + 1, problem)
    }

    /// The next file's change.
    fn section(&mut self) -> Result<Option<Change<'a>>, PatchError> {
        // Text in between, such as a commit message, is skipped.
        while let Some(line) = self.lines.get(self.at) {
            if line.starts_with("diff --git ") || names_at(&self.lines, self.at) {
                break;
            }
            if HunkHeader::of(line).is_some() {
                return Err(self.wrong("`--- a/path` and `+++ b/path` are missing before this hunk"));
            }
            self.at += 1;
        }
        if self.at >= self.lines.len() {
            return Ok(None);
        }
        let names = self.names()?;
        let mut hunks = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.starts_with("@@")) {
            hunks.push(match HunkHeader::of(line) {
                Some(header) => self.hunk(header)?,
                None => self.hunk_without_numbers()?,
            });
        }
        let line = names.line;
        names.into_change(hunks).map(Some).map_err(|problem| PatchError::new(line, problem))
    }

    fn names(&mut self) -> Result<Names, PatchError> {
        let mut names = Names { line: self.before + self.at + 1, ..Names::default() };
        if let Some(git) = self.lines[self.at].strip_prefix("diff --git ") {
            names.git = Some(git.to_owned());
            self.at += 1;
        }
        while let Some(&line) = self.lines.get(self.at) {
            if names_at(&self.lines, self.at) {
                let new = self.lines[self.at + 1];
                names.old = self.file_name(&line[4..])?;
                names.new = self.file_name(&new[4..])?;
                self.at += 2;
                break;
            }
            // Only git writes lines in between.
            if names.git.is_none() {
                break;
            }
            let name = |prefix: &str| line.strip_prefix(prefix).map(|name| self.whole_name(name));
            if let Some(from) = name("rename from ").or_else(|| name("copy from ")) {
                names.from = Some(from?);
                names.is_copy = line.starts_with("copy");
            } else if let Some(to) = name("rename to ").or_else(|| name("copy to ")) {
                names.to = Some(to?);
            } else if let Some(mode) = line.strip_prefix("new file mode ") {
                names.is_new = true;
                // A new file is not executable by default.
                names.executable = self.executable(mode)?.filter(|executable| *executable);
            } else if let Some(mode) = line.strip_prefix("new mode ") {
                names.executable = self.executable(mode)?;
            } else if let Some(mode) = line.strip_prefix("old mode ") {
                self.executable(mode)?;
            } else if line.starts_with("deleted file mode ") {
                names.is_deleted = true;
            } else if let Some(index) = line.strip_prefix("index ") {
                // An unchanged mode is stated here.
                index.split_once(' ').map_or(Ok(None), |(_, mode)| self.executable(mode))?;
            } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
                return Err(self.wrong("a binary file cannot be patched; only text can"));
            } else if !line.starts_with("similarity index ") && !line.starts_with("dissimilarity index ") {
                break;
            }
            self.at += 1;
        }
        Ok(names)
    }

    /// Returns true if a file of this mode is executable; `None` where the system has no bit for that.
    fn executable(&self, mode: &str) -> Result<Option<bool>, PatchError> {
        match u32::from_str_radix(mode.trim_end(), 8) {
            Ok(mode) if mode >> 12 == 0o10 => Ok(cfg!(unix).then_some(mode & 0o100 != 0)),
            Ok(mode) if matches!(mode >> 12, 0o12 | 0o16) => Err(self.wrong(
                "a symbolic link or a submodule cannot be made or changed by a patch; only files can",
            )),
            _ => {
                Err(self.wrong("invalid file mode; git writes 100644, or 100755 for one that is executable"))
            }
        }
    }

    fn whole_name(&self, name: &str) -> Result<String, PatchError> {
        let name =
            unquoted(name.trim_end()).ok_or_else(|| self.wrong("this name is not quoted as git does"))?;
        if name.is_empty() {
            return Err(self.wrong("the path is missing"));
        }
        Ok(name.into_owned())
    }

    /// Returns a file name without the text that may follow it; `None` for `/dev/null`.
    fn file_name(&self, name: &str) -> Result<Option<String>, PatchError> {
        let name = if name.starts_with('"') { name } else { name.split('\t').next().unwrap_or(name) };
        let name = self.whole_name(name)?;
        Ok(Some(name).filter(|name| name != "/dev/null"))
    }

    /// Returns true if the line here cannot belong to a hunk.
    fn begins_hunk_or_file(&self) -> bool {
        let line = self.lines[self.at];
        line.starts_with("@@") || line.starts_with("diff ") || names_at(&self.lines, self.at)
    }

    /// Returns true if lines of the hunk come after the one here, which has no sign: they would be passed over.
    fn goes_on_later(&self) -> bool {
        let is_end = |at: &usize| {
            let line = self.lines[*at];
            line.starts_with("@@") || line.starts_with("diff ") || names_at(&self.lines, *at) || line == "-- "
        };
        let mut rest = (self.at..self.lines.len()).take_while(|at| !is_end(at));
        rest.any(|at| self.lines[at].starts_with(['+', '-']))
    }

    /// Parses a hunk whose line with `@@` has no line numbers, as models write it: it ends where the next one begins.
    fn hunk_without_numbers(&mut self) -> Result<Hunk<'a>, PatchError> {
        let mut hunk = Hunk { line: self.before + self.at + 1, ..Hunk::default() };
        hunk.anchors.extend(anchor(self.lines[self.at]));
        self.at += 1;
        while let Some(&line) = self.lines.get(self.at).filter(|_| !self.begins_hunk_or_file()) {
            if is_open_mark(line) {
                hunk.leave_open();
            } else if hunk.push(line).is_none() {
                return Err(self.wrong(NO_SIGN));
            }
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(self.wrong(NO_LINES));
        }
        Ok(hunk)
    }

    fn hunk(&mut self, header: HunkHeader) -> Result<Hunk<'a>, PatchError> {
        let mut hunk =
            Hunk { line: self.before + self.at + 1, at: Some(header.old_start), ..Hunk::default() };
        self.at += 1;
        let (mut old, mut new) = (header.old_count, header.new_count);
        while let Some(&line) = self.lines.get(self.at) {
            if is_open_mark(line) {
                hunk.leave_open();
                self.at += 1;
                continue;
            }
            // Lines beyond the count belong to the hunk if they cannot be anything else: counts are often wrong.
            let is_other = names_at(&self.lines, self.at) || line.is_empty() || line == "-- ";
            let is_padding = || self.lines[self.at..].iter().all(|line| line.is_empty());
            if old == 0 && is_other || old == new && old <= MAX_MISSING && is_padding() {
                break;
            }
            let Some(sign) = hunk.push(line) else {
                if (old, new) != (0, 0) && self.goes_on_later() {
                    return Err(self.wrong(NO_SIGN));
                }
                break;
            };
            old = old.saturating_sub(usize::from(sign != Sign::Come));
            new = new.saturating_sub(usize::from(sign != Sign::Gone));
            self.at += 1;
        }
        let is_last = self.lines[self.at..].iter().all(|line| line.trim().is_empty());
        if is_last && (old != new || old > MAX_MISSING) {
            return Err(self.wrong(format!(
                "the patch ends within a hunk, of which {old} old and {new} new lines are missing; send all of it, or \
                 correct the numbers of the line with @@"
            )));
        }
        if hunk.lines.is_empty() {
            return Err(self.wrong(NO_LINES));
        }
        // With line counts, an empty line belongs to the file.
        if hunk.padding > 0 {
            (hunk.padding, hunk.last_blanks) = (0, 0);
        }
        Ok(hunk)
    }
}

impl Names {
    fn into_change<'a>(self, hunks: Vec<Hunk<'a>>) -> Result<Change<'a>, String> {
        let (line, executable) = (self.line, self.executable);
        let change = |path: String, or_path: Option<String>, action: Action<'a>| Change {
            line,
            path,
            or_path,
            action,
            executable,
        };
        let is_git = self.git.is_some();
        let (old, new) = match (self.old, self.new) {
            (None, None) => match (self.from.clone().zip(self.to.clone()), &self.git) {
                (Some((from, to)), _) => (Some(from), Some(to)),
                (None, Some(git)) => {
                    let name = halves(git).ok_or("the names of this file cannot be told apart")?;
                    let (old, new) =
                        ((!self.is_new).then(|| name.clone()), (!self.is_deleted).then_some(name));
                    (old, new)
                }
                (None, None) => return Err("neither name is one of a file".to_owned()),
            },
            names => without_prefixes(names),
        };
        match (self.from.or(old), self.to.or(new)) {
            (None, None) => Err("neither name is one of a file".to_owned()),
            (None, Some(path)) => Ok(change(path, None, Action::Add(added(&hunks)?))),
            (Some(path), None) => Ok(change(path, None, Action::Delete(hunks))),
            (Some(old), Some(new)) if is_git && old != new => {
                Ok(change(old, None, Action::Update { to: Some(new), is_copy: self.is_copy, hunks }))
            }
            (Some(_), Some(_)) if hunks.is_empty() && executable.is_none() => {
                Err("the file has no lines to change".to_owned())
            }
            // `diff -u a.orig a` is about a.
            (Some(old), Some(new)) => {
                let or_path = (old != new).then_some(old);
                Ok(change(new, or_path, Action::Update { to: None, is_copy: false, hunks }))
            }
        }
    }
}

/// The content of a file that is made.
fn added(hunks: &[Hunk<'_>]) -> Result<String, String> {
    let mut content = String::new();
    for hunk in hunks {
        for line in &hunk.lines {
            if line.sign != Sign::Come {
                return Err("a new file has only added lines, each with `+` before it".to_owned());
            }
            content.push_str(line.text);
            content.push('\n');
        }
    }
    if hunks.last().is_some_and(|hunk| hunk.new_is_open) {
        content.pop();
    }
    Ok(content)
}

/// The name in `a/name b/name`.
fn halves(names: &str) -> Option<String> {
    let names = names.trim_end();
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle..)?.strip_prefix(' ')?);
    match without_prefixes((unquoted(old).map(Into::into), unquoted(new).map(Into::into))) {
        (Some(old), Some(new)) if old == new => Some(old),
        _ => None,
    }
}

/// Returns the names without git's prefixes, if both have them.
fn without_prefixes((old, new): (Option<String>, Option<String>)) -> (Option<String>, Option<String>) {
    let stripped = |name: &Option<String>, prefixes: &[&str]| {
        let name = name.as_ref()?;
        let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
        rest.filter(|rest| !rest.is_empty()).map(str::to_owned)
    };
    let (old_rest, new_rest) =
        (stripped(&old, &["a/", "i/", "c/", "o/", "w/"]), stripped(&new, &["b/", "w/", "i/", "c/", "o/"]));
    let fits = |rest: &Option<String>, name: &Option<String>| rest.is_some() || name.is_none();
    // The same letter on both sides is a directory of that name.
    let is_directory = old == new;
    if fits(&old_rest, &old) && fits(&new_rest, &new) && !is_directory {
        (old_rest, new_rest)
    } else {
        (old, new)
    }
}
