//! Names that one command prints and another receives as words: `find … | xargs wc -l`, `wc -l $(git ls-files)`. The list contains
//! every name that may be printed, so that each can be decided.

mod find;

use crate::guards;
use crate::repository;
use crate::situation::{Search, SearchedFiles, Situation};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) use find::found;

/// Maximum number of listed names.
const MAX: usize = 4_000;

/// All that a command may print, a name each.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) names: Vec<String>,
    /// True if each name ends with a NUL rather than a line feed.
    pub(crate) has_nul: bool,
}

/// Splitting of a command's output into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    /// At blanks, as `xargs` does.
    Blanks,
    /// At blanks, followed by the expansion of patterns, as the shell does.
    Shell,
    /// At the ends of lines, as `xargs -I` does.
    Lines,
    /// At each NUL.
    Nul,
}

/// Returns everything that a program may print, by its words; `None` if that is unknown, or too much.
pub(crate) fn of_words(words: &[&str], cwd: &Path, situation: &Situation<'_>) -> Option<Listed> {
    // Its guards as arguments do not change its output.
    let guarded: Vec<&str> =
        std::iter::once("git").chain(guards::GIT.arguments.split_ascii_whitespace()).collect();
    let unguarded: Vec<&str> = match words.strip_prefix(&guarded[..]) {
        Some(rest) => std::iter::once("git").chain(rest.iter().copied()).collect(),
        None => words.to_vec(),
    };
    match &unguarded[..] {
        ["find", rest @ ..] => find::listed(rest, cwd),
        ["rg", rest @ ..] => searched(rest, cwd, situation),
        ["git", "ls-files", rest @ ..] => tracked(rest, cwd),
        ["git", "grep", rest @ ..] => matched(rest, cwd),
        _ => None,
    }
}

/// Returns true if a program prints nothing but some of the lines that it reads.
pub(crate) fn passes_on(words: &[&str]) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let has_letters = |word: &str, letters: &str| {
        word.strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| letters.contains(c)))
    };
    match words {
        ["sort", rest @ ..] => rest.iter().all(|word| has_letters(word, "bdfghinruVz")),
        ["head" | "tail", rest @ ..] => rest.iter().all(|word| {
            let number = word.strip_prefix("-n").or(word.strip_prefix('-')).unwrap_or(word);
            number.is_empty() || is_number(number.trim_start_matches(['-', '+']))
        }),
        ["uniq"] => true,
        ["grep" | "egrep" | "fgrep", rest @ ..] => {
            let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
            operands == 1 && rest.iter().all(|word| !word.starts_with('-') || has_letters(word, "viEFwxPz"))
        }
        _ => false,
    }
}

/// Returns the words that result from the output. `None` if quotes, blanks or patterns in a name make them uncertain.
pub(crate) fn words_of(listed: &Listed, split: Split) -> Option<Rc<[String]>> {
    if (split == Split::Nul) != listed.has_nul {
        return None;
    }
    let is_special = |c: char| match split {
        Split::Blanks | Split::Lines => matches!(c, '\'' | '"' | '\\') || c.is_control(),
        Split::Shell => matches!(c, '*' | '?' | '[' | '\\') || c.is_control(),
        Split::Nul => false,
    };
    let begins_blank = |name: &String| split == Split::Lines && name.starts_with(char::is_whitespace);
    if listed.names.iter().any(|name| name.contains(is_special) || begins_blank(name)) {
        return None;
    }
    match split {
        Split::Blanks | Split::Shell => {
            Some(listed.names.iter().flat_map(|name| name.split_whitespace()).map(str::to_owned).collect())
        }
        Split::Lines | Split::Nul => Some(listed.names.as_slice().into()),
    }
}

/// All that a text prints that is a pipe of plain commands, as one that is substituted.
pub(crate) fn of_text(text: &str, cwd: &Path, situation: &Situation<'_>) -> Option<Listed> {
    let commands = pipe(text)?;
    let commands: Vec<Vec<&str>> =
        commands.iter().map(|command| command.iter().map(String::as_str).collect()).collect();
    let (first, others) = commands.split_first()?;
    let listed = of_words(first, cwd, situation)?;
    others.iter().all(|command| passes_on(command)).then_some(listed)
}

/// Returns the words of the commands of a pipeline, if they contain no expansion.
fn pipe(text: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => commands.last_mut()?.extend(word.take()),
            '|' => {
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        c if c == quote => break,
                        '$' | '`' | '\\' if quote == '"' => return None,
                        c => word.push(c),
                    }
                }
            }
            c if c.is_ascii_alphanumeric() || "/._-,:=%@+^".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    commands.last_mut()?.extend(word);
    commands.iter().all(|command| !command.is_empty()).then_some(commands)
}

/// Returns the paths that `rg -l` and `rg --files` print.
fn searched(words: &[&str], cwd: &Path, situation: &Situation<'_>) -> Option<Listed> {
    let (mut lists, mut has_nul, mut hidden, mut has_expression) = (false, false, false, false);
    let (mut globs, mut operands) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').filter(|_| word.starts_with("--")).unwrap_or((word, ""));
        let mut value = || if value.is_empty() { words.next() } else { Some(value) };
        match name {
            "--files" => (lists, has_expression) = (true, true),
            "-l" | "--files-with-matches" | "-il" | "-li" => lists = true,
            "-0" | "--null" => has_nul = true,
            "-." | "--hidden" => hidden = true,
            "-i" | "-w" | "-F" | "-S" | "--ignore-case" | "--word-regexp" | "--fixed-strings"
            | "--smart-case" => {}
            "-g" | "--glob" => globs.push(value()?.to_owned()),
            // A hidden file of one of these types is searched as well.
            "-t" | "--type" => {
                value()?;
                hidden = true;
            }
            "-e" | "--regexp" => {
                value()?;
                has_expression = true;
            }
            word if word.starts_with('-') => return None,
            word => operands.push(word),
        }
    }
    let roots = operands.get(usize::from(!has_expression)..)?;
    let root = match roots {
        [] => "",
        [root] => root,
        _ => return None,
    };
    let place = cwd.join(root.trim_end_matches('/')).canonicalize().ok()?;
    // Literally, without symlinks.
    let is_plain = root.split('/').all(|name| name != "." && name != "..") && cwd.join(root) == place;
    if !lists || !is_plain || !place.is_dir() {
        return None;
    }
    let search = Search { files: SearchedFiles::NotIgnored { hidden }, globs };
    let files = situation.search?(&place, &search).files.filter(|files| files.len() <= MAX)?;
    let begin = if root.is_empty() { String::new() } else { format!("{}/", root.trim_end_matches('/')) };
    let name = |file: &PathBuf| Some(format!("{begin}{}", file.strip_prefix(&place).ok()?.to_str()?));
    Some(Listed { names: files.iter().map(name).collect::<Option<_>>()?, has_nul })
}

/// Returns the tracked paths that `git ls-files` prints.
fn tracked(words: &[&str], cwd: &Path) -> Option<Listed> {
    let (mut has_nul, mut paths, mut only_paths) = (false, Vec::new(), false);
    for word in words {
        match *word {
            word if only_paths || !word.starts_with('-') => paths.push(word),
            "--" => only_paths = true,
            "-z" => has_nul = true,
            "-c" | "--cached" | "-m" | "--modified" | "-d" | "--deleted" | "--deduplicate" => {}
            _ => return None,
        }
    }
    below(cwd, &paths, has_nul)
}

/// Returns the tracked paths that `git grep -l` prints.
fn matched(words: &[&str], cwd: &Path) -> Option<Listed> {
    let (mut has_nul, mut lists, mut expressions) = (false, false, 0);
    let (mut words, mut paths) = (words.iter().copied(), Vec::new());
    while let Some(word) = words.next() {
        match word {
            "--" => paths.extend(words.by_ref()),
            "-z" | "--null" => has_nul = true,
            "-e" => {
                words.next()?;
                expressions += 1;
            }
            "--files-with-matches" | "--name-only" => lists = true,
            word if word.starts_with("--") => return None,
            word if word.starts_with('-') => {
                lists |= word.contains('l');
                let is_known = |c: char| "lLiIwvEFPGn".contains(c);
                if !word[1..].chars().all(is_known) {
                    return None;
                }
            }
            // A further one would be a revision, before the names.
            _ => expressions += 1,
        }
    }
    if lists && expressions == 1 { below(cwd, &paths, has_nul) } else { None }
}

/// Returns the tracked paths below a directory, by their names there, as far as these pathspecs leave them.
fn below(cwd: &Path, paths: &[&str], has_nul: bool) -> Option<Listed> {
    let leaves = |path: &str| path.starts_with(['/', ':']) || path.split('/').any(|name| name == "..");
    if paths.iter().any(|path| leaves(path)) {
        return None;
    }
    let real = cwd.canonicalize().ok().filter(|real| real == cwd)?;
    let is_plain = |path: &str| !path.contains(['?', '[', '\\']);
    let names_all = paths.is_empty() || !paths.iter().all(|path| is_plain(path));
    let mut names = Vec::new();
    for file in repository::tracked(&real)? {
        let name = file.strip_prefix(&real).ok()?.to_str()?;
        let is_meant = || {
            paths.iter().any(|path| {
                let path = path.trim_end_matches('/').trim_start_matches("./");
                path == "."
                    || path.is_empty()
                    || find::is_match(path, name)
                    || find::is_match(&format!("{path}/*"), name)
            })
        };
        if !names_all && !is_meant() {
            continue;
        }
        // It writes others in quotes.
        if !has_nul
            && !name.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\')
        {
            return None;
        }
        names.push(name.to_owned());
    }
    (names.len() <= MAX).then_some(Listed { names, has_nul })
}
