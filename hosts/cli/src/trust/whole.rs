//! All that trust would cover, for a user who views it page by page before the answer, and the question itself.

use super::shown_changes;
use crate::confirm::{discard_typed, is_yes};
use crate::exit::{Exit, Stop};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use toolkit::config::Instructions;
use toolkit::skills::SkillFiles;
use toolkit::text::{
    MAX_BLOCK_CHARS, MAX_BLOCK_LINES, MAX_LINE_CHARS, PromptLine, escape_line, quoted_whole,
};

/// The lines of one page: those of a small terminal, without the line that is typed on.
const LINES_OF_PAGE: usize = 22;
/// The most bytes of a typed line.
const MAX_TYPED: u64 = 1024;

/// The lines of all that trust would cover.
#[derive(Debug, Default)]
pub(super) struct Whole {
    lines: Vec<String>,
    /// True if the text before the question does not have all of it.
    is_hidden: bool,
    /// The number of files that cannot be shown.
    unshown: usize,
}

impl Whole {
    /// Adds a text that is shown as it is.
    pub(super) fn text(&mut self, text: &str) {
        self.lines.extend(text.lines().map(str::to_owned));
    }

    pub(super) fn append(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.is_hidden |= other.is_hidden;
        self.unshown += other.unshown;
    }

    fn quote(&mut self, text: &str) {
        let line = |line: PromptLine| format!("{}{}", line.prefix, line.text);
        self.lines.extend(quoted_whole(text).into_iter().map(line));
    }

    /// Adds the changes of the configuration.
    pub(super) fn changes(&mut self, changes: &[(char, String, String)]) {
        let is_cut = |text: &String| text.chars().nth(MAX_LINE_CHARS).is_some();
        if !changes.iter().any(|(_, key, value)| is_cut(key) || is_cut(value)) {
            return self.text(&shown_changes(changes));
        }
        self.is_hidden = true;
        for (mark, key, value) in changes {
            self.quote(&format!("{mark} {key} = {value}"));
        }
    }

    /// Adds instructions, of which `shown` is the text before the question.
    pub(super) fn instructions(&mut self, shown: &str, instructions: Option<&Instructions>) {
        let Some(instructions) = instructions else { return self.text(shown) };
        self.lines.extend(shown.lines().next().map(str::to_owned));
        self.quote(&instructions.text);
        let is_long = instructions.text.chars().count() > MAX_BLOCK_CHARS;
        self.is_hidden |= is_long || instructions.text.lines().count() > MAX_BLOCK_LINES;
    }

    /// Adds all files of skills, of which `shown` is the list before the question.
    pub(super) fn skills(&mut self, shown: &str, skills: &SkillFiles) {
        self.text(shown);
        for skill in &skills.files {
            let Ok((_, text)) = &skill.content else { continue };
            self.is_hidden = true;
            let name = skill.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
            self.file(&name, Path::new("SKILL.md"));
            self.quote(text);
            for (path, content) in skill.helper_contents() {
                self.file(&name, &path);
                self.content(content);
            }
        }
    }

    /// Adds the files of programs of servers.
    pub(super) fn programs(&mut self, contents: Vec<(PathBuf, Result<Vec<u8>, u64>)>) {
        for (path, content) in contents {
            self.is_hidden = true;
            self.lines.push(format!("{}:", escape_line(&path.display().to_string())));
            self.content(content.map_err(|size| format!("{size} bytes")));
        }
    }

    /// Adds the content of a file, or the reason for which it is not shown.
    fn content(&mut self, content: Result<Vec<u8>, String>) {
        match content {
            Ok(bytes) if !bytes.contains(&0) => self.quote(&text_of(&bytes)),
            Ok(bytes) => {
                self.unshown += 1;
                self.lines.push(format!("  ({} bytes that are not text)", bytes.len()));
            }
            Err(reason) => {
                self.unshown += 1;
                self.lines.push(format!("  (not shown: {})", escape_line(&reason)));
            }
        }
    }

    fn file(&mut self, skill: &str, path: &Path) {
        let path = path.display().to_string();
        self.lines.push(format!("{} of the skill {}:", escape_line(&path), escape_line(skill)));
    }
}

/// Asks the user on the terminal, whatever standard input and output are. `shown` is the text to read first, if standard output does not
/// show it, and `whole` is all that an answer covers.
pub(super) fn ask(shown: &str, whole: &Whole) -> Result<bool, Stop> {
    let none = || Stop::Error {
        exit: Exit::Denied,
        message: "there is no terminal to ask on; `--yes` trusts without asking".to_owned(),
    };
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| none())?;
    if !terminal.is_terminal() {
        return Err(none());
    }
    if !std::io::stdout().is_terminal() {
        terminal.write_all(shown.as_bytes())?;
    }
    discard_typed()?;
    let mut typed = Typed(BufReader::new(terminal.try_clone()?));
    let (mut is_unseen, offered) = (whole.is_hidden, if whole.is_hidden { "y/N/v" } else { "y/N" });
    loop {
        if is_unseen {
            terminal.write_all(
                b"Not all of it is shown. v shows the whole, page by page; an answer covers all of it.\n",
            )?;
        }
        terminal.write_all(format!("Trust it? [{offered}] ").as_bytes())?;
        let answer = typed.line()?;
        if !whole.is_hidden || !matches!(answer.trim().to_ascii_lowercase().as_str(), "v" | "view") {
            return Ok(is_yes(&answer));
        }
        match view(whole, &mut terminal, &mut typed)? {
            None => return Ok(false),
            Some(is_whole) => is_unseen &= !is_whole,
        }
    }
}

/// Returns bytes as text: those that are no UTF-8 as `\xff`.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Shows the lines page by page. Returns true if all were shown, and `None` at the end of input.
fn view(
    Whole { lines, unshown, .. }: &Whole,
    terminal: &mut File,
    typed: &mut Typed,
) -> Result<Option<bool>, Stop> {
    let mut shown = 0;
    for page in lines.chunks(LINES_OF_PAGE) {
        if shown > 0 {
            let prompt = format!("Line {shown} of {}. Enter shows more, q stops: ", lines.len());
            terminal.write_all(prompt.as_bytes())?;
            let line = typed.line()?;
            if !line.ends_with('\n') {
                return Ok(None);
            }
            if matches!(line.trim().to_ascii_lowercase().as_str(), "q" | "quit") {
                return Ok(Some(false));
            }
        }
        terminal.write_all((page.join("\n") + "\n").as_bytes())?;
        shown += page.len();
    }
    if *unshown > 0 {
        let text = format!(
            "That is all but {unshown} of the files, which are too large or not text: look at them by yourself.\n"
        );
        terminal.write_all(text.as_bytes())?;
        return Ok(Some(false));
    }
    terminal.write_all(b"That is all of it.\n")?;
    Ok(Some(true))
}

/// The lines that the user types.
struct Typed(BufReader<File>);

impl Typed {
    /// Returns the next line with its line ending; without one at the end of input.
    fn line(&mut self) -> Result<String, Stop> {
        let mut line = String::new();
        // No user types more.
        (&mut self.0).take(MAX_TYPED).read_line(&mut line)?;
        Ok(line)
    }
}
