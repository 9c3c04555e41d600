//! Files opened and written through the workspace.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod changed;
mod decided;
mod edges;
#[cfg(feature = "testing")]
mod faults;
mod links;
mod many;
mod names;
#[cfg(target_os = "linux")]
mod swapped;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use tempfile::TempDir;
use toolkit::prelude::*;
use toolkit::{
    approval::{Answer, ScriptedApprover},
    files::{OpenedPath, Workspace},
};

/// `base/{inside,outside}`, of which the first is the workspace.
struct Places {
    base: PathBuf,
    _removed_on_drop: TempDir,
}

impl Places {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        fs::create_dir(base.join("inside")).unwrap();
        fs::create_dir(base.join("outside")).unwrap();
        Self { base, _removed_on_drop: directory }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.base.join(path)).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.base.join(path)).unwrap();
        self
    }

    fn path(&self, path: &str) -> String {
        self.base.join(path).to_str().unwrap().to_owned()
    }

    /// The files of a call that nobody answers.
    fn workspace(&self) -> Workspace {
        let caller = Caller::new().with_workspace(self.base.join("inside"));
        ToolContext::detached(caller).workspace()
    }

    /// The matches of each name, with `/` behind directories.
    fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.base.join(path))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The content of what a path leads to, or the text of the error.
async fn content(workspace: &Workspace, path: impl AsRef<Path>) -> String {
    match workspace.open(path).await {
        Ok(OpenedPath::File(file)) => {
            let note = file.repaired().map(|repaired| format!("({}) ", repaired.note()));
            let mut text = note.unwrap_or_default();
            file.file().read_to_string(&mut text).unwrap();
            text
        }
        Ok(_) => "a directory".to_owned(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

/// Opens a path and says what is there.
#[tool(read_only, asks)]
async fn open(ctx: &ToolContext, path: &str) -> String {
    content(&ctx.workspace(), path).await
}

/// Writes a file, whatever is there.
#[tool(permission = "edit", asks)]
async fn put(ctx: &ToolContext, path: &str, text: &str) -> Result<String, ToolError> {
    let target = ctx.workspace().target(path, |ask| ask).await?;
    let text = text.to_owned();
    ctx.blocking(move |_| {
        target.write(text.as_bytes(), &toolkit::files::Expected::Any)?;
        Ok(target.shown().to_owned())
    })
    .await
}

/// A tool's result where a person gives these answers, and the titles of the questions.
async fn asked(
    places: &Places,
    tool: &str,
    arguments: serde_json::Value,
    answers: impl IntoIterator<Item = Answer>,
    build: impl FnOnce(toolkit::Builder) -> toolkit::Builder,
) -> (String, Vec<String>) {
    let approver = ScriptedApprover::new(answers);
    let builder = Toolkit::empty()
        .tool(toolkit::tool_ref!(open))
        .tool(toolkit::tool_ref!(put))
        .approver(approver.clone())
        .default_workspace(places.base.join("inside"));
    let toolbox = build(builder).build().unwrap().toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", tool, arguments)).await;
    let asked = approver.asked();
    let titles = asked.iter().map(|asked| match asked.question() {
        toolkit::approval::Question::Approve(ask) => ask.title.clone(),
        _ => "another question".to_owned(),
    });
    (result.text(), titles.collect())
}
