//! Files that decide what is allowed: a write to them is asked about, wherever they lie.

use super::Place;
use serde_json::json;
use std::fs;
use toolkit::prelude::*;
use toolkit::{approval::Access, config::Configuration, permission::PathDecision, tool_ref};

/// Says under which kind writing is asked.
#[tool(read_only)]
async fn asked(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    Ok(match ctx.decide_path(path, Access::Write)?.decision {
        PathDecision::Ask { kind, .. } => kind,
        PathDecision::Allow => "allow".to_owned(),
        other => format!("{other:?}"),
    })
}

/// Returns the decision on a write there, where edits are allowed.
async fn decided(place: &Place, configuration: Configuration, path: &str) -> String {
    let toolkit = Toolkit::empty().tool(tool_ref!(asked)).configuration(configuration).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(place.path("work"))).await;
    toolbox.call(ToolCall::new("1", "asked", json!({ "path": path }))).await.text()
}

#[tokio::test]
async fn the_users_files_are_protected_and_others_are_not() {
    let place = Place::new();
    place.write("work/mine.json5", "{ permission: { edit: 'allow' } }").write("work/other.json5", "{}");
    fs::create_dir(place.path("work/settings")).unwrap();
    place.write("work/settings/kept.json5", "{}");
    #[cfg(unix)]
    std::os::unix::fs::symlink("settings/kept.json5", place.path("work/linked.json5")).unwrap();
    let linked = if cfg!(unix) { "work/linked.json5" } else { "work/settings/kept.json5" };
    let options = || {
        place
            .options()
            .user_file(place.path("work/inner/own.json5"))
            .file(place.path("work/mine.json5"))
            .file(place.path(linked))
    };
    let configuration = Configuration::load(options()).unwrap();
    for (path, expected) in [
        ("mine.json5", "protected"),
        ("inner/../mine.json5", "protected"),
        // It is not there, and would count as soon as it was.
        ("inner/own.json5", "protected"),
        ("settings/kept.json5", "protected"),
        ("linked.json5", "protected"),
        ("toolkit.json5", "protected"),
        ("other.json5", "allow"),
        ("inner/other.json5", "allow"),
        ("settings/new.json5", "allow"),
    ] {
        if path.starts_with("linked") && cfg!(not(unix)) {
            continue;
        }
        assert_eq!(decided(&place, configuration.clone(), path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn also_where_nothing_is_configured_at_all() {
    let place = Place::new();
    let configuration =
        Configuration::load(place.options().user_file(place.path("work/inner/own.json5"))).unwrap();
    for (path, expected) in [("inner/own.json5", "protected"), ("inner/other.json5", "edit")] {
        assert_eq!(decided(&place, configuration.clone(), path).await, expected, "{path}");
    }
}
