//! Files with what a tool made, by the rules of `write`: allowed by a person where that is needed, and nothing is replaced that the
//! session does not know.

use super::{hard_links, unread, written};
use toolkit::prelude::*;
use toolkit::{
    Ask, ToolErrorKind,
    files::{Expected, FileContent, PriorContent, Proposal, ReadState, Workspace},
};

/// The largest file that is replaced, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// A place for a file, which was looked at before the work for it began.
pub(crate) struct Place {
    workspace: Workspace,
    proposal: Proposal,
    expected: Option<Expected>,
    other_names: u64,
}

/// A file that was written.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// Its path for texts.
    pub(crate) shown: String,
    /// Notes on it, for the model.
    pub(crate) notes: Vec<String>,
}

/// Looks at where a file is to be written. Its name has to end with one of `extensions`, so that others know what it holds.
///
/// # Errors
///
/// As [`Workspace::propose`]; also when the session has not read what is there.
pub(crate) async fn place(ctx: &ToolContext, path: &Path, extensions: &[&str]) -> Result<Place, ToolError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)) {
        let names: Vec<String> = extensions.iter().map(|extension| format!("`.{extension}`")).collect();
        let message = format!(
            "`save_as` names the file {}, and the file must end with {}",
            toolkit::text::escape_line(&path.to_string_lossy()),
            names.join(" or ")
        );
        return Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
    }
    let workspace = ctx.workspace();
    let proposal = workspace.propose(path).await?;
    let (expected, other_names) = match proposal.before(MAX_BYTES).await? {
        PriorContent::Absent => (Some(Expected::Absent), 0),
        PriorContent::File(old) => {
            check_known(&workspace, proposal.path(), &proposal.shown(), &old)?;
            (Some(Expected::Version(old.version)), old.other_names)
        }
        _ => (None, 0),
    };
    Ok(Place { workspace, proposal, expected, other_names })
}

impl Place {
    /// Returns true if no file is known to be there.
    #[cfg(feature = "media")]
    pub(crate) fn is_new(&self) -> bool {
        !matches!(self.expected, Some(Expected::Version(_)))
    }

    /// Asks for approval if that is needed; `content` describes the content in the question.
    ///
    /// # Errors
    ///
    /// As [`Proposal::ask`].
    pub(crate) async fn allow(self, content: &str) -> Result<Allowed, ToolError> {
        let Self { workspace, proposal, expected, other_names } = self;
        let (shown, repaired) = (proposal.shown(), proposal.repaired().cloned());
        let ask = |ask: Ask| hard_links::with_warning(ask.with_text("content", content), &shown, other_names);
        let target = proposal.ask(ask).await?;
        Ok(Allowed { workspace, target, expected, note: repaired.map(|repaired| repaired.note()) })
    }
}

/// A place that may be written.
pub(crate) struct Allowed {
    workspace: Workspace,
    target: toolkit::files::Target,
    expected: Option<Expected>,
    note: Option<String>,
}

impl Allowed {
    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When something else changed it meanwhile, and for whatever the system refuses.
    pub(crate) async fn write(self, ctx: &ToolContext, bytes: Vec<u8>) -> Result<Saved, ToolError> {
        let Self { workspace, target, expected, note } = self;
        let lock = target.lock().await;
        ctx.blocking(move |_| {
            let _until_written = lock;
            let expected = match expected {
                Some(expected) => expected,
                // It could not be looked at before a person was asked.
                None => match target.read(MAX_BYTES)? {
                    Some(now) => {
                        check_known(&workspace, target.path(), target.shown(), &now)?;
                        Expected::Version(now.version)
                    }
                    None => Expected::Absent,
                },
            };
            let file = target.write(&bytes, &expected)?;
            let shown = target.shown().to_owned();
            let notes = note.into_iter().chain(written::notes(&shown, &file)).collect();
            Ok(Saved { path: target.path().to_owned(), shown, notes })
        })
        .await
    }
}

/// Refuses to replace a file that was changed since the session has seen it, or that it has not read.
fn check_known(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    content: &FileContent,
) -> Result<(), ToolError> {
    if workspace.seen(path, &content.version) == ReadState::Changed {
        return Err(ToolError::failed(format!(
            "{shown} was changed by something else since it was last read here; nothing was written. Save under \
             another name, or read it again first"
        )));
    }
    if unread::is_read(workspace, path, content) {
        return Ok(());
    }
    Err(ToolError::failed(format!(
        "{shown} exists, and it was not read in this session; nothing was written. Save under another name, or read it first"
    )))
}
