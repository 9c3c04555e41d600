//! Files that a host runs, loads, or reads a secret from.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::paths::{Places, call, decide};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use toolkit::prelude::*;
use toolkit::{
    config::{ConfigGate, ConfigSection, Configuration, LoadOptions, TrustedFile},
    permission::{PermissionSettings, Permissions},
    registry::{FetchFuture, ToolSource},
    tool_ref,
};

/// A source that runs the programs which the configuration names as servers.
#[derive(Debug)]
struct Servers(PathBuf);

impl ToolSource for Servers {
    fn bring<'a>(&'a self, _: &'a Toolkit) -> FetchFuture<'a> {
        Box::pin(async {})
    }

    fn programs(&self, configuration: &Configuration) -> Vec<PathBuf> {
        crate::configuration::servers::every(configuration).keys().map(|name| self.0.join(name)).collect()
    }
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
struct Runs {
    /// The program.
    program: Option<String>,
    /// More of them.
    more: Option<Vec<String>>,
}

const SECTION: ConfigSection = ConfigSection::at::<Runs>("tools.runs")
    .gates(&[ConfigGate::Programs { key: "program" }, ConfigGate::Programs { key: "more" }]);

/// Says what is protected beside the configuration.
#[tool(read_only)]
async fn own(ctx: &ToolContext) -> String {
    let own = ctx.own_paths();
    format!("{:?} {:?}", own.programs, own.secrets)
}

fn toolkit(places: &Places, settings: &serde_json::Value) -> Toolkit {
    let mut permission = PermissionSettings::default();
    permission.everybody =
        serde_json::from_value(json!({ "edit": "allow", "external_directory": "allow" })).unwrap();
    Toolkit::empty()
        .tool(tool_ref!(decide))
        .tool(tool_ref!(own))
        .permissions(Permissions::new([permission]))
        .tool_source(Servers(places.base.join("inside")))
        .protect_program(places.base.join("outside/bin"))
        .configuration(configuration(places, settings))
        .build()
        .unwrap()
}

fn configuration(places: &Places, settings: &serde_json::Value) -> Configuration {
    let file = places.base.join("user.json5");
    fs::write(&file, settings.to_string()).unwrap();
    let options = LoadOptions::new().section(SECTION).user_file(file).workspace(places.base.join("inside"));
    let trusted =
        TrustedFile::new(places.base.join("inside/toolkit.json5"), b"{}").with_programs(BTreeMap::new());
    fs::write(places.base.join("inside/toolkit.json5"), "{}").unwrap();
    Configuration::load(options.trusting(trusted)).unwrap()
}

#[tokio::test]
async fn writing_what_a_host_runs_or_loads_is_asked_about_although_edits_are_allowed() {
    let places = Places::new();
    symlink("folder/deep", places.base.join("inside/linked")).unwrap();
    let base = places.base.display();
    let settings = json!({
        "mcp": {
            "file": { "command": "x" },
            "linked": { "command": "x" },
            "off": { "command": "x", "enabled": false }
        },
        "tools": { "runs": { "program": format!("{base}/inside/browser"), "more": [format!("{base}/inside/half")] } }
    });
    let toolkit = toolkit(&places, &settings);
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, is_protected) in [
        ("file", true),
        ("FILE", true),
        ("linked", true),
        // The target of a link.
        ("folder/deep", true),
        ("off", true),
        ("browser", true),
        ("half/HEAD2", true),
        ("skills/review/run.sh", true),
        ("BASE/outside/bin/tool", true),
        ("file2", false),
        ("folder/other", false),
        ("skills2/x", false),
    ] {
        let path = places.path(path);
        let decided = call(&toolbox, "decide", &path, true).await.unwrap();
        assert_eq!(decided.starts_with("protected "), is_protected, "{path}: {decided}");
        let read = call(&toolbox, "decide", &path, false).await.unwrap();
        assert!(read.starts_with("allow "), "{path}: {read}");
    }
    // A reload protects what the new configuration names.
    toolkit.reload(configuration(&places, &json!({ "mcp": { "file2": { "command": "x" } } }))).unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, expected) in [("file2", "protected file2"), ("file", "allow file")] {
        assert_eq!(call(&toolbox, "decide", path, true).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_file_with_a_secret_of_the_configuration_is_sensitive_whatever_its_name() {
    let places = Places::new();
    fs::write(places.base.join("inside/folder/plain"), "a secret").unwrap();
    let secret = |path: &str| json!({ "command": "x", "env": { "KEY": { "file": places.path(path) } } });
    let settings = json!({ "mcp": {
        "a": secret("BASE/inside/folder/plain"),
        "b": secret("BASE/inside/absent"),
        "c": secret("BASE/outside/secret.txt"),
    } });
    let toolkit = toolkit(&places, &settings);
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, read, write) in [
        ("folder/plain", "sensitive", "protected"),
        ("absent", "sensitive", "protected"),
        ("to_secret", "sensitive", "protected"),
        ("folder/deep", "allow", "allow"),
    ] {
        for (is_write, expected) in [(false, read), (true, write)] {
            let decided = call(&toolbox, "decide", path, is_write).await.unwrap();
            assert!(decided.starts_with(&format!("{expected} ")), "{path}: {decided}");
        }
    }
    let own = toolbox.call(ToolCall::new("1", "own", json!({}))).await.text();
    let (programs, secrets) = own.split_once("] [").unwrap();
    assert!(secrets.contains("inside/folder/plain") && !programs.contains("folder/plain"), "{own}");
    assert!(programs.contains("outside/bin") && programs.contains("inside/skills"), "{own}");
}
