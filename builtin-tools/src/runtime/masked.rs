//! The paths that the sandbox of a command masks, for the explanation of a failure.

use super::masks::Masking;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use toolkit::approval::Access;
use toolkit::text::escape_line;

/// Maximum number of paths that an explanation names.
const MAX_NAMED: usize = 5;

/// The paths that a sandbox masks.
#[derive(Debug, Clone)]
pub(super) struct Masked {
    hidden: Arc<BTreeSet<PathBuf>>,
    protected: Arc<BTreeSet<PathBuf>>,
    masking: Arc<Masking>,
}

impl Masked {
    pub(super) fn new(
        hidden: BTreeSet<PathBuf>,
        protected: BTreeSet<PathBuf>,
        masking: Arc<Masking>,
    ) -> Self {
        Self { hidden: Arc::new(hidden), protected: Arc::new(protected), masking }
    }

    /// Describes the masked paths that a failed command or the end of its output names; `None` if there are none.
    pub(super) fn explain(&self, command: &str, tail: &str, cwd: &Path) -> Option<String> {
        let mut named: Vec<String> = Vec::new();
        let reads_only = ["read-only file system", "erofs"];
        let is_write = reads_only.iter().any(|words| tail.to_lowercase().contains(words));
        for word in words(command).chain(words(tail)) {
            let path = normal(&cwd.join(word));
            let masked = |paths: &BTreeSet<PathBuf>| path.ancestors().any(|above| paths.contains(above));
            let (verb, access) = match (masked(&self.hidden), is_write && masked(&self.protected)) {
                (true, _) => ("hidden from commands", Access::Read),
                (false, true) => ("read-only for commands", Access::Write),
                (false, false) => continue,
            };
            let why = self.masking.why(&path, access).map(|why| format!(" ({why})")).unwrap_or_default();
            let text = format!("`{}` is {verb}{}", escape_line(word), escape_line(&why));
            if !named.contains(&text) {
                named.push(text);
            }
            if named.len() == MAX_NAMED {
                break;
            }
        }
        if named.is_empty() {
            return None;
        }
        Some(format!(
            "{}. Unless a rule denies it, a command that names the path can use it after approval",
            named.join("; ")
        ))
    }
}

/// Returns the words of a text that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`‘’“”()[]{}<>,;=|&".contains(c);
    text.split(is_between).map(|word| word.trim_end_matches([':', '.', '!'])).filter(|word| !word.is_empty())
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            component => normal.push(component),
        }
    }
    normal
}
