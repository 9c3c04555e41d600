//! Paths within the boundary, and the error of a tool that cannot ask.

use crate::paths::Places;
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind, Toolbox,
    approval::{Answer, ScriptedApprover},
    files::{is_path_contained, sandbox_boundary},
    permission::{PermissionSettings, Permissions},
    tool_ref,
};

/// Reads without asking.
#[tool(read_only)]
async fn open(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    Ok(ctx.resolve(path)?.display().to_string())
}

#[tokio::test]
async fn a_tool_that_cannot_ask_gets_what_needs_no_leave() {
    let places = Places::new();
    let mut settings = PermissionSettings::default();
    let rule = json!({ "external_directory": [{ "match": "*/outside/*", "do": "allow" }] });
    settings.everybody = serde_json::from_value(rule).unwrap();
    let approver = ScriptedApprover::always(Answer::allow());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(open))
        .permissions(Permissions::new([settings]))
        .approver(approver.clone())
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, expected) in [
        ("file", Ok("BASE/inside/file")),
        ("absent", Err(ToolErrorKind::NotFound)),
        (".env", Err(ToolErrorKind::Denied)),
        ("/etc/hosts", Err(ToolErrorKind::Denied)),
        ("BASE/outside/secret.txt", Ok("BASE/outside/secret.txt")),
        ("BASE/outside/alias", Err(ToolErrorKind::Denied)),
        ("BASE/outside/absent", Err(ToolErrorKind::NotFound)),
    ] {
        let result = toolbox.call(ToolCall::new("1", "open", json!({ "path": places.path(path) }))).await;
        let came = result.outcome.map(|output| output.to_text()).map_err(|error| error.kind());
        assert_eq!(came, expected.map(|path| places.path(path)), "{path}");
    }
    assert!(approver.asked().is_empty());
}

#[test]
fn what_is_contained() {
    let places = Places::new();
    let inside = places.base.join("inside");
    for (path, expected) in [
        ("file", true),
        (".", true),
        ("folder/deep", true),
        ("new/deep", true),
        ("out_and_in", true),
        ("../inside/file", true),
        ("BASE/named/file", false),
        ("BASE/inside/file", true),
        ("BASE/inside2", false),
        ("..", false),
        ("", false),
        ("~", false),
        ("/", false),
        ("to_secret", false),
        ("to_outside/absent", false),
        ("dangling", true),
        ("dangling_outside", false),
        ("circle", false),
        ("file/x", false),
        ("absent/../file", false),
    ] {
        assert_eq!(is_path_contained(&inside, places.path(path)), expected, "{path}");
    }
    assert!(is_path_contained(places.base.join("named"), places.path("BASE/named/file")));
    assert!(!is_path_contained(places.base.join("absent"), "file"));
}

/// Says which directory bounds it.
#[tool(read_only)]
async fn bounded(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.boundary()?.display().to_string())
}

#[tokio::test]
async fn the_boundary_is_the_sessions_else_the_hosts_else_the_processs() {
    let here = std::env::current_dir().unwrap();
    let (session, host) = (Path::new("/session"), Path::new("/host"));
    assert_eq!(sandbox_boundary(Some(session), Some(host)).unwrap(), session);
    assert_eq!(sandbox_boundary(None, Some(host)).unwrap(), host);
    assert_eq!(sandbox_boundary(Some(Path::new("a")), None).unwrap(), here.join("a"));
    assert_eq!(sandbox_boundary(None, None).unwrap(), here);

    let plain = Toolkit::empty().tool(tool_ref!(bounded));
    let configured = Toolkit::empty().tool(tool_ref!(bounded)).default_workspace("/host");
    for (builder, caller, expected) in
        [(plain, Caller::new(), here.join(".")), (configured, Caller::new(), host.to_owned())]
    {
        let toolkit = builder.build().unwrap();
        let call =
            |toolbox: Toolbox| async move { toolbox.call(ToolCall::new("1", "bounded", "{}")).await.text() };
        let said = call(toolkit.toolbox(&caller).await).await;
        assert_eq!(Path::new(&said), expected.components().collect::<PathBuf>());
        let said = call(toolkit.toolbox(&caller.with_workspace("/session")).await).await;
        assert_eq!(said, "/session");
    }
}
