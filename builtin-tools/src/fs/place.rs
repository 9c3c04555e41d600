//! The start of a search, and the names of the paths below it.

use super::progress::Meter;
use super::skipped::Skipped;
use super::walk::Doors;
use std::path::{Path, PathBuf};
use toolkit::{ToolContext, ToolError, ToolErrorKind, events::Progress, files::PathRepair};

/// A file or directory to search.
pub(super) struct Place {
    /// Real path.
    pub(super) real: PathBuf,
    /// Absolute form of the given path.
    given: PathBuf,
    pub(super) is_dir: bool,
    /// Opens the path and the files below it.
    pub(super) doors: Doors,
    /// The note on how its path was understood.
    repaired: Option<String>,
}

impl Place {
    /// Resolves the path, and requests approval if needed. Without a path, it is the workspace.
    pub(super) async fn of(ctx: &ToolContext, path: Option<&Path>) -> Result<Self, ToolError> {
        let workspace = ctx.workspace();
        let tree = workspace.open_tree(path.unwrap_or(Path::new("."))).await?;
        Ok(Self {
            real: tree.path().to_owned(),
            given: ctx.workspace_dir().join(path.unwrap_or(Path::new(""))),
            is_dir: tree.is_dir(),
            repaired: tree.repaired().map(PathRepair::note),
            doors: Doors::new(tree, workspace),
        })
    }

    /// Returns a path at or below the place in the shown form: relative to the workspace within it, else absolute.
    pub(super) fn shown(&self, path: &Path) -> String {
        self.doors.shown(path)
    }

    /// The pattern of names relative to the directory that is searched: a model may have written the whole path.
    ///
    /// # Errors
    ///
    /// When it leads out of the directory.
    pub(super) fn pattern(&self, pattern: &str) -> Result<String, ToolError> {
        let (mark, bare) = match pattern.strip_prefix('!') {
            Some(bare) => ("!", bare),
            None => ("", pattern),
        };
        let bare = bare.strip_prefix("./").unwrap_or(bare);
        let below = |root: &Path| {
            let root = root.to_string_lossy();
            bare.strip_prefix(&*root).and_then(|within| within.strip_prefix('/'))
        };
        let within = below(&self.real).or_else(|| below(&self.given));
        if within.is_none() && (bare == ".." || bare.starts_with("../") || bare.starts_with("~/")) {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                "the pattern leads out of the directory that is searched; name that directory as `path`",
            ));
        }
        // One that was whole stays bound to the directory, though no `/` is left in it.
        Ok(match within {
            Some(within) => format!("{mark}/{within}"),
            None => format!("{mark}{bare}"),
        })
    }

    /// Returns a function that reports the number of files so far, once the search takes longer.
    pub(super) fn progress(ctx: &ToolContext, what: &'static str) -> impl FnMut(u64) + Send + use<> {
        let mut meter = Meter::new(ctx);
        move |count| {
            meter.tell(|| {
                #[expect(clippy::cast_precision_loss, reason = "no tree has so many files")]
                Progress::new(count as f64).with_message(format!("{count} {what}"))
            });
        }
    }
}

/// Returns a note on a pattern without matches: one that begins with `/` may have been meant as an absolute path.
pub(super) fn elsewhere(pattern: &str) -> Option<&'static str> {
    pattern.trim_start_matches('!').starts_with('/').then_some(
        "(a `/` at the beginning of the pattern is the directory that is searched; name another one as `path`)",
    )
}

/// Returns notes on skipped files, one line each.
pub(super) fn notes(place: &Place, skipped: &Skipped) -> Vec<String> {
    let mut notes: Vec<String> = place.repaired.iter().map(|repaired| format!("({repaired})")).collect();
    let several = |count: u64| if count == 1 { "place" } else { "places" };
    if place.doors.is_short_of_rules() {
        notes.push("(some rules of ignore files were skipped: nested ignore files have more than 10,000 rules or 1 MiB)".to_owned());
    }
    if skipped.refused > 0 {
        let count = skipped.refused;
        notes.push(format!(
            "({count} {} left out, which need approval: name one as `path` to request it)",
            several(count)
        ));
    }
    if let Some(first) = &skipped.first_unreadable {
        let count = skipped.unreadable;
        notes.push(format!(
            "({count} {} could not be read: {})",
            several(count),
            first_of(count, &place.shown(first))
        ));
    }
    if let Some(first) = &skipped.first_too_large {
        let count = skipped.too_large;
        let files = if count == 1 { "file" } else { "files" };
        notes.push(format!(
            "({count} {files} of more than 32 MiB not searched, which is too much for `multiline`: {})",
            first_of(count, &place.shown(first))
        ));
    }
    notes
}

fn first_of(count: u64, first: &str) -> String {
    if count == 1 { first.to_owned() } else { format!("{first} and others") }
}
