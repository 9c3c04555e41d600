//! Where a search begins, and how what is below it is named.

use super::walk::Doors;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolkit::{Access, Progress, ToolContext, ToolError, escape_line};

/// How long nothing is said of how far a call got, and how often then.
const QUIET: Duration = Duration::from_millis(500);

/// A file or directory to search.
pub(super) struct Place {
    /// Its real path.
    pub(super) real: PathBuf,
    pub(super) is_dir: bool,
    /// Opens what is below it.
    pub(super) doors: Doors,
}

impl Place {
    /// Finds it, and asks where that is needed. Without a path, it is the workspace.
    pub(super) async fn of(ctx: &ToolContext, path: Option<&Path>) -> Result<Self, ToolError> {
        let path = path.unwrap_or(Path::new("."));
        let real = ctx.check_file_access(path, Access::Read).await?;
        let named = path.to_owned();
        let boundary = ctx.boundary()?;
        ctx.blocking(move |_| {
            let cannot = |error: std::io::Error| {
                ToolError::failed(format!("cannot search {}: {error}", named.display()))
            };
            let kind = real.metadata().map_err(cannot)?;
            if !kind.is_dir() && !kind.is_file() {
                return Err(ToolError::failed(format!(
                    "{} is neither a file nor a directory but a pipe, a socket or a device",
                    named.display()
                )));
            }
            let doors = Doors::new(boundary.canonicalize().map_err(cannot)?);
            Ok(Self { real, is_dir: kind.is_dir(), doors })
        })
        .await
    }

    /// A path below it as it is shown: relative to the workspace within it, else absolute.
    pub(super) fn shown(&self, path: &Path) -> String {
        let within = path.strip_prefix(self.doors.workspace()).unwrap_or(path);
        let within = if within.as_os_str().is_empty() { Path::new(".") } else { within };
        escape_line(&within.to_string_lossy()).into_owned()
    }

    /// Tells those who watch how many there were so far, once it takes longer.
    pub(super) fn progress(&self, ctx: &ToolContext, what: &'static str) -> impl FnMut(u64) + Send + use<> {
        let ctx = ctx.clone();
        let mut last = Instant::now();
        move |count| {
            if last.elapsed() >= QUIET {
                last = Instant::now();
                #[expect(clippy::cast_precision_loss, reason = "no tree has so many files")]
                ctx.progress(Progress::new(count as f64).with_message(format!("{count} {what}")));
            }
        }
    }
}

/// What was passed over, in words, one line each.
pub(super) fn notes(place: &Place, skipped: &super::grep::Skipped) -> Vec<String> {
    let mut notes = Vec::new();
    let several = |count: u64| if count == 1 { "place" } else { "places" };
    if skipped.refused > 0 {
        let count = skipped.refused;
        notes.push(format!(
            "({count} {} left out, which would have to be asked for: name one as `path` to do so)",
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
