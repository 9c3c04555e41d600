//! Files opened and written through the workspace.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use tempfile::TempDir;
use toolkit::prelude::*;
use toolkit::{Expected, Opened, Seen, Workspace};

fn workspace(directory: &TempDir) -> Workspace {
    ToolContext::detached(Caller::new().with_workspace(directory.path())).workspace()
}

async fn content(workspace: &Workspace, path: &str) -> Result<String, ToolError> {
    match workspace.open(path).await? {
        Opened::File(file) => {
            let mut text = String::new();
            file.file().read_to_string(&mut text).unwrap();
            Ok(text)
        }
        _ => Ok("a directory".to_owned()),
    }
}

#[tokio::test]
async fn a_file_is_opened_by_every_name_that_it_has() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("src")).unwrap();
    fs::write(directory.path().join("src/lib.rs"), "text").unwrap();
    let workspace = workspace(&directory);
    for path in ["src/lib.rs", "@src/lib.rs", "./src/../src/lib.rs"] {
        assert_eq!(content(&workspace, path).await.unwrap(), "text", "{path}");
    }
    assert_eq!(content(&workspace, "src").await.unwrap(), "a directory");
    let error = content(&workspace, "src/lip.rs").await.unwrap_err();
    assert_eq!(error.message(), "src/lip.rs does not exist; there is `src/lib.rs`");
    let _ = (Path::new(""), Expected::Any, Seen::Never);
}
