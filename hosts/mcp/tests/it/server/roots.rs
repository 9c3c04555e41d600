//! The roots that a client states.

#![expect(deprecated, reason = "the versions up to 2025-11-25 have roots")]

use super::{params, text};
use rmcp::model::{ClientCapabilities, ClientConfig, ErrorData, Implementation, ListRootsResult, Root};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceExt as _};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Builder, Content,
    approval::Access,
    config::{Configuration, LoadOptions},
};
use toolkit_mcp::ToolServer;

/// Reads a file.
#[tool(name = "look", group = "roots", read_only)]
async fn look(
    ctx: &ToolContext,
    /** Which. */
    path: &Path,
) -> Result<Content, ToolError> {
    let path = ctx.check_file_access(path, Access::Read).await?;
    Ok(Content::text(fs::read_to_string(path)?))
}

/// A client that works on some directories.
#[derive(Clone)]
struct Editor {
    roots: Arc<Mutex<Result<Vec<String>, ()>>>,
    asked: Arc<Mutex<usize>>,
}

impl ClientHandler for Editor {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots().enable_roots_list_changed().build();
        ClientConfig::new(capabilities, Implementation::new("editor", "1"))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        *self.asked.lock().unwrap() += 1;
        match &*self.roots.lock().unwrap() {
            Ok(roots) => Ok(ListRootsResult::new(roots.iter().map(Root::new).collect())),
            Err(()) => Err(ErrorData::internal_error("not today", None)),
        }
    }
}

/// `base/{work/{a/one,b/two,three},other/four}`, with a link from `work/a/out` to `other`.
fn places() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in ["work/a/one", "work/b/two", "work/three", "other/four"] {
        let path = directory.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    std::os::unix::fs::symlink(directory.path().join("other"), directory.path().join("work/a/out")).unwrap();
    directory
}

struct Session {
    client: RunningService<RoleClient, Editor>,
    editor: Editor,
    base: PathBuf,
}

impl Session {
    async fn new(base: &Path, roots: Result<Vec<String>, ()>, further: &[&str]) -> Self {
        let further = further.iter().map(|path| base.join(path));
        Self::with(base, roots, |builder| builder.further_directories(further)).await
    }

    async fn with(
        base: &Path,
        roots: Result<Vec<String>, ()>,
        configured: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let toolkit = configured(Toolkit::empty().tool(toolkit::tool_ref!(look))).build().unwrap();
        let server = ToolServer::new(toolkit, Caller::new().with_workspace(base.join("work")));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let running = server.serve(ours).await.unwrap();
            let _ = running.waiting().await;
        });
        let editor = Editor { roots: Arc::new(Mutex::new(roots)), asked: Arc::default() };
        let lifecycle = ClientLifecycleMode::Initialize;
        let client = editor.clone().serve_with_lifecycle(theirs, lifecycle).await.unwrap();
        Self { client, editor, base: base.to_owned() }
    }

    /// Which of these files it may read.
    async fn reads(&self, files: &[&str]) -> Vec<bool> {
        let mut reads = Vec::new();
        for file in files {
            let path = self.base.join(file);
            let result = self.client.call_tool(params("look", json!({"path": path}))).await.unwrap();
            let is_read = text(&result).starts_with("work/") || text(&result).starts_with("other/");
            assert_eq!(result.is_error.unwrap_or_default(), !is_read, "{}", text(&result));
            reads.push(is_read);
        }
        reads
    }
}

const FILES: [&str; 5] = ["work/a/one", "work/b/two", "work/three", "other/four", "work/a/out/four"];

#[tokio::test]
async fn roots_narrow_what_counts_as_within_and_never_the_workspace() {
    let places = places();
    let base = places.path().canonicalize().unwrap();
    let uri = |path: &str| format!("file://{}/{path}", base.display());
    let (yes, no) = (true, false);
    let workspace = [yes, yes, yes, no, no];
    for (roots, further, expected) in [
        (vec![uri("work")], &[][..], workspace),
        // A root that a client was opened in, or that is elsewhere, takes nothing of the workspace.
        (vec![uri("work/a")], &[], workspace),
        (vec![uri("other")], &[], workspace),
        (vec![uri("work/absent")], &[], workspace),
        (vec!["https://example.org/".to_owned(), "nonsense".to_owned()], &[], workspace),
        (vec!["file://elsewhere/etc".to_owned()], &[], workspace),
        // A root around it widens nothing, nor does a link's target: a path's real target counts.
        (vec![uri("")], &[], workspace),
        (vec!["file:///".to_owned()], &[], workspace),
        (vec![uri("work/a/out")], &[], workspace),
        // Who has nothing open says nothing.
        (Vec::new(), &[], workspace),
        // Of what is configured to count as within, only what the client works on does.
        (Vec::new(), &["other"], [yes; 5]),
        (vec![uri("work/b")], &["other"], workspace),
        (vec![uri("other")], &["other"], [yes; 5]),
        (vec![uri("%6fther")], &["other"], [yes; 5]),
        (vec![uri("work/../other")], &["other"], [yes; 5]),
        (vec![uri("")], &["other"], [yes; 5]),
    ] {
        let session = Session::new(&base, Ok(roots.clone()), further).await;
        assert_eq!(session.reads(&FILES).await, expected, "{roots:?} {further:?}");
        assert_eq!(*session.editor.asked.lock().unwrap(), 1);
    }
}

#[tokio::test]
async fn rules_are_about_the_workspace_whatever_the_roots() {
    let places = places();
    let base = places.path().canonicalize().unwrap();
    let uri = |path: &str| format!("file://{}/{path}", base.display());
    let rules = r#"permission.read=[{match: "a/*", do: "deny"}]"#;
    for (roots, expected) in [
        (vec![uri("work")], [false, true, true]),
        (vec![uri("work/a")], [false, true, true]),
        (vec![uri("other")], [false, true, true]),
    ] {
        let configuration = Configuration::load(LoadOptions::new().set(rules)).unwrap();
        let session =
            Session::with(&base, Ok(roots.clone()), |builder| builder.configuration(configuration)).await;
        assert_eq!(session.reads(&FILES[..3]).await, expected, "{roots:?}");
    }
}

#[tokio::test]
async fn who_was_bounded_stays_so_where_it_does_not_answer() {
    let places = places();
    let base = places.path().canonicalize().unwrap();
    let session =
        Session::new(&base, Ok(vec![format!("file://{}", base.join("work").display())]), &["other"]).await;
    assert_eq!(session.reads(&["work/a/one", "other/four"]).await, [true, false]);
    *session.editor.roots.lock().unwrap() = Err(());
    session.client.notify_roots_list_changed().await.unwrap();
    for _ in 0..100 {
        assert_eq!(session.reads(&["work/a/one", "other/four"]).await, [true, false]);
        if *session.editor.asked.lock().unwrap() == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it was not asked again");
}

#[tokio::test]
async fn a_change_of_roots_counts_from_the_next_call_on() {
    let places = places();
    let base = places.path().canonicalize().unwrap();
    let uri = |path: &str| format!("file://{}/{path}", base.display());
    let session = Session::new(&base, Ok(vec![uri("work")]), &["other"]).await;
    assert_eq!(session.reads(&["work/a/one", "other/four"]).await, [true, false]);
    *session.editor.roots.lock().unwrap() = Ok(vec![uri("other")]);
    session.client.notify_roots_list_changed().await.unwrap();
    // The change and the next call are heard beside each other.
    for _ in 0..100 {
        if session.reads(&["work/a/one", "other/four"]).await == [true, true] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(session.reads(&["work/a/one", "other/four"]).await, [true, true]);
    assert_eq!(*session.editor.asked.lock().unwrap(), 2);
}

#[tokio::test]
async fn who_does_not_answer_is_served_as_before() {
    let places = places();
    let session = Session::new(&places.path().canonicalize().unwrap(), Err(()), &[]).await;
    assert_eq!(session.reads(&FILES).await, [true, true, true, false, false]);
}
