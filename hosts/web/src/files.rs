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
pub(crate) async fn read(toolbox: &Toolbox, tool: &str, path: &Path, max: usize) -> Result<Vec<u8>, String> {
    let max = max.min(MAX_FILE_BYTES);
    let within = tokio::time::timeout(FILE_WITHIN, open(toolbox, tool, path, max));
    match within.await {
        Ok(read) => read.map_err(|error| error.message().to_owned()),
        Err(_) => Err(format!("the file could not be read within {} seconds", FILE_WITHIN.as_secs())),
    }
}

async fn open(toolbox: &Toolbox, tool: &str, path: &Path, max: usize) -> Result<Vec<u8>, ToolError> {
    let ctx = toolbox.context(tool)?;
    let workspace = ctx.workspace();
    let (deciding, given) = (workspace.clone(), path.to_owned());
    let decided = ctx.blocking(move |_| deciding.decide(&given, Access::Read)).await?;
    if decided.decision != PathDecision::Allow {
        return Err(ToolError::denied(
            "the file may not be read without approval, so it is not in the answer",
        ));
    }
    let is_link = tokio::fs::symlink_metadata(path).await.is_ok_and(|found| found.is_symlink());
    if is_link {
        return Err(ToolError::denied("the file is a symlink, so it is not in the answer"));
    }
    let read = move |opened: OpenedPath, _: &toolkit::CancellationToken| {
        let OpenedPath::File(file) = opened else {
            return Err(ToolError::failed("it is not a file"));
        };
        let too_large = || {
            ToolError::failed(format!("the file has more than {max} bytes, the most that fit in this answer"))
        };
        if file.metadata().len() > max as u64 {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        file.into_file().take(max as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > max { Err(too_large()) } else { Ok(bytes) }
    };
    workspace.open_with(path, read).await
}
