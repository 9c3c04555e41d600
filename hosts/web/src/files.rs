//! Files that a result names, read under the rules of the call's tool.

use crate::limits::{FILE_WITHIN, MAX_FILE_BYTES};
use std::io::Read as _;
use std::path::Path;
use toolkit::approval::Access;
use toolkit::files::OpenedPath;
use toolkit::permission::PathDecision;
use toolkit::{ToolError, Toolbox};

/// Reads a file of a result of the tool, of which `max` bytes are read at most.
///
/// It is opened as the tool itself would open it: by handle, without following a symlink that appears meanwhile, and only if the rules let the tool read it
/// without a question. A pipe, a socket, a device or a directory is refused.
pub(crate) async fn read(toolbox: &Toolbox, tool: &str, path: &Path, max: usize) -> Result<Vec<u8>, Unread> {
    let max = max.min(MAX_FILE_BYTES);
    let within = tokio::time::timeout(FILE_WITHIN, open(toolbox, tool, path, max));
    within.await.unwrap_or(Err(Unread::Late))
}

/// The reason why a file is not in an answer.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It may not be read, or is no file.
    Refused(&'static str),
    /// It has more bytes than this.
    TooLarge(usize),
    Late,
    /// It cannot be opened or read. The error may name directories of the host.
    Failed(ToolError),
}

impl Unread {
    /// Returns the reason, for the owner of the host or for others.
    pub(crate) fn reason(&self, is_owner: bool) -> String {
        match self {
            Self::Refused(why) => (*why).to_owned(),
            Self::TooLarge(max) => {
                format!("the file has more than {max} bytes, the most that fit in this answer")
            }
            Self::Late => format!("the file could not be read within {} seconds", FILE_WITHIN.as_secs()),
            Self::Failed(error) if is_owner => error.message().to_owned(),
            Self::Failed(error) => {
                tracing::debug!(%error, "a file of a result cannot be read");
                "the file cannot be read; the log of the server says why".to_owned()
            }
        }
    }
}

impl From<ToolError> for Unread {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

async fn open(toolbox: &Toolbox, tool: &str, path: &Path, max: usize) -> Result<Vec<u8>, Unread> {
    let ctx = toolbox.context(tool)?;
    let workspace = ctx.workspace();
    let (deciding, given) = (workspace.clone(), path.to_owned());
    let decided = ctx.blocking(move |_| deciding.decide(&given, Access::Read)).await?;
    if decided.decision != PathDecision::Allow {
        return Err(Unread::Refused("the file may not be read without approval, so it is not in the answer"));
    }
    let is_link = tokio::fs::symlink_metadata(path).await.is_ok_and(|found| found.is_symlink());
    if is_link {
        return Err(Unread::Refused("the file is a symlink, so it is not in the answer"));
    }
    let read = move |opened: OpenedPath, _: &toolkit::CancellationToken| -> Result<_, ToolError> {
        let OpenedPath::File(file) = opened else {
            return Ok(Err(Unread::Refused("it is not a file")));
        };
        if file.metadata().len() > max as u64 {
            return Ok(Err(Unread::TooLarge(max)));
        }
        let mut bytes = Vec::new();
        file.into_file().take(max as u64 + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() > max { Err(Unread::TooLarge(max)) } else { Ok(bytes) })
    };
    workspace.open_with(path, read).await?
}
