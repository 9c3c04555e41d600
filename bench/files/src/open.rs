//! Opening many files without leave of their workspace, beside opening them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::json;
use toolkit::prelude::*;

use crate::{Host, Pair};

const DIRECTORIES: usize = 200;
const FILES: usize = 100;

pub(crate) fn measure(host: &Host<'_>, rounds: usize) -> crate::Result<()> {
    let many = host.directory.join("many");
    for path in paths(&many) {
        fs::create_dir_all(path.parent().ok_or("a directory")?)?;
        fs::write(path, "text")?;
    }
    host.call(&host.session(), "opens", json!({ "directory": many, "rounds": rounds }))?;
    Ok(fs::remove_dir_all(many)?)
}

fn paths(many: &Path) -> Vec<PathBuf> {
    let directory = |of| many.join(format!("directory_{of}"));
    let files = |of| (0..FILES).map(move |file| directory(of).join(format!("file_{file}.txt")));
    (0..DIRECTORIES).flat_map(files).collect()
}

/// Opens files of the workspace again and again.
#[tool(group = "bench", read_only)]
pub(crate) async fn opens(
    ctx: &ToolContext,
    /// Where they are.
    directory: &Path,
    /// How often.
    rounds: usize,
) -> Result<(), ToolError> {
    let workspace = ctx.workspace();
    let mut tree = workspace.open_tree(directory).await?;
    let paths = paths(tree.path());
    ctx.blocking(move |_| {
        let plain = || {
            for path in &paths {
                File::open(path)?.metadata()?;
            }
            Ok(())
        };
        let (mut of_tree, mut of_workspace) = (Pair::default(), Pair::default());
        let mut measure = || -> crate::Result<()> {
            for _ in 0..rounds {
                let walk = || {
                    for path in &paths {
                        tree.try_open(path).map_err(|error| format!("{error:?}"))?;
                    }
                    Ok(())
                };
                of_tree.round(walk, plain)?;
                let each = || {
                    for path in &paths {
                        workspace.try_open(path).map_err(|error| format!("{error:?}"))?;
                    }
                    Ok(())
                };
                of_workspace.round(each, plain)?;
            }
            Ok(())
        };
        measure().map_err(|error| ToolError::failed(error.to_string()))?;
        of_tree.print("20,000 files opened, as a walk does", None);
        of_workspace.print("20,000 files opened, each by its path", None);
        Ok(())
    })
    .await
}
