//! Decisions about paths, the questions, and the paths' real targets.
#![cfg(unix)]

mod asked;
mod bounds;
mod decided;
mod programs;

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind, Toolbox,
    approval::{Access, ScriptedApprover},
    permission::{PathDecision, PermissionSettings, Permissions},
    tool_ref,
};

/// `base/{inside,outside,data}`, with links of every shape.
struct Places {
    base: PathBuf,
    _removed_on_drop: tempfile::TempDir,
}

impl Places {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a place for the test");
        let base = directory.path().canonicalize().expect("a place for the test");
        for file in [
            "outside/secret.txt",
            "outside/.env",
            "outside/.git/config",
            "outside/bare/HEAD",
            "outside/bare/objects/x",
            "outside/bare/refs/x",
            "data/approvals.json",
            "inside/file",
            "inside/folder/deep",
            "inside/.env",
            "inside/.env.example",
            "inside/.ssh/config",
            "inside/.git/config",
            "inside/.vscode/settings.json",
            "inside/toolkit.json5",
            "inside/build.rs",
            "inside/bare/HEAD",
            "inside/bare/objects/x",
            "inside/bare/refs/x",
            "inside/bare/config",
            "inside/worktree/HEAD",
            "inside/worktree/commondir",
            "inside/headless/objects/x",
            "inside/headless/refs/x",
            "inside/headless/commondir",
            "inside/half/HEAD",
            "inside/half/objects/x",
            "inside/other_half/HEAD",
            "inside/other_half/refs/x",
            "inside/C:\\Users\\x",
            "inside/~x",
        ] {
            let path = base.join(file);
            fs::create_dir_all(path.parent().expect("a place for the test")).expect("a place for the test");
            fs::write(path, file).expect("a place for the test");
        }
        let inside = base.join("inside");
        for (target, link) in [
            ("../outside", "to_outside"),
            ("../outside/secret.txt", "to_secret"),
            ("../outside/.env", "plain.txt"),
            (".env", "harmless.txt"),
            ("chain_b", "chain_a"),
            ("notes/.env", "chain_b"),
            ("folder/deep", ".env.local"),
            (".git", "to_git"),
            ("../inside/file", "out_and_in"),
            ("absent_target", "dangling"),
            ("../outside/new", "dangling_outside"),
            ("circle", "circle"),
            ("../data", "to_data"),
            ("folder", ".docker"),
        ] {
            symlink(target, inside.join(link)).expect("a place for the test");
        }
        fs::create_dir(inside.join("notes")).expect("a place for the test");
        symlink("../folder/deep", inside.join("notes/.env")).expect("a place for the test");
        symlink(inside.join(".git"), base.join("outside/in_again")).expect("a place for the test");
        symlink(base.join("outside/.env"), base.join("outside/alias")).expect("a place for the test");
        symlink(&inside, base.join("named")).expect("a place for the test");
        Self { base, _removed_on_drop: directory }
    }

    fn path(&self, path: &str) -> String {
        path.replace("BASE", self.base.to_str().expect("a place for the test"))
    }

    async fn toolbox(&self, permission: &Value, approver: ScriptedApprover) -> Toolbox {
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(permission.clone()).expect("a place for the test");
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(decide))
            .tool(tool_ref!(check))
            .data_dir(self.base.join("data"))
            .permissions(Permissions::new([settings]))
            .approver(approver)
            .build()
            .expect("a place for the test");
        toolkit.toolbox(&Caller::new().with_workspace(self.base.join("named")).with_session("s")).await
    }
}

fn access(is_write: bool) -> Access {
    if is_write { Access::Write } else { Access::Read }
}

/// Says what is decided of a path.
#[tool(read_only)]
async fn decide(ctx: &ToolContext, path: &Path, write: bool) -> Result<String, ToolError> {
    let decided = ctx.decide_path(path, access(write))?;
    let patterns = decided.patterns.join(" ");
    Ok(match decided.decision {
        PathDecision::Allow => format!("allow {patterns}"),
        PathDecision::Ask { kind, .. } => format!("{kind} {patterns}"),
        PathDecision::Deny { reason, .. } => format!("deny {patterns}: {reason}"),
        other => format!("{other:?}"),
    })
}

/// Says where a path really leads, once it may be used.
#[tool(read_only)]
async fn check(ctx: &ToolContext, path: &Path, write: bool) -> Result<String, ToolError> {
    Ok(ctx.check_file_access(path, access(write)).await?.display().to_string())
}

async fn call(
    toolbox: &Toolbox,
    tool: &str,
    path: &str,
    write: bool,
) -> Result<String, (ToolErrorKind, String)> {
    let result = toolbox.call(ToolCall::new("1", tool, json!({ "path": path, "write": write }))).await;
    match result.outcome {
        Ok(output) => Ok(output.to_text()),
        Err(error) => Err((error.kind(), error.message().to_owned())),
    }
}
