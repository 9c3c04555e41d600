//! The launch of a server as a condition of lasting approvals of its tools, so that an answer does not cover another server of the same name.

use super::programs::{CODE_VARIABLES, OPTION_VARIABLES};
use crate::settings::{McpCommand, McpSandbox, McpServerSettings, McpUrl};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use toolkit::config::{ConfigSource, Configuration};
use toolkit::text::escape_line;
use url::Url;

/// Maximum number of characters of a program, an address or a source that are shown. The digest covers the whole.
const MAX_SHOWN: usize = 200;
/// The number of bytes of the digest that are kept.
const DIGEST_BYTES: usize = 16;

/// Returns the sources that name a server: files by their paths, variables, options of the command line.
pub(super) fn named_by(configuration: &Configuration, server: &str) -> String {
    let pointer = format!("/mcp/{}", server.replace('~', "~0").replace('/', "~1"));
    let is_within =
        |at: &str| at.strip_prefix(&*pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let origins = configuration.origins().iter().filter(|(at, _)| is_within(at));
    let projects = configuration.workspace_files();
    let source = |source: &ConfigSource| match source {
        ConfigSource::File(path) if projects.iter().any(|project| project.file.path == **path) => {
            format!("the project's {}", path.display())
        }
        ConfigSource::File(path) => path.display().to_string(),
        // The value of an option may contain a secret.
        ConfigSource::Flag(_) => "the command line".to_owned(),
        ConfigSource::Environment(name) => format!("the variable {name}"),
        _ => "the host".to_owned(),
    };
    let sources: BTreeSet<String> = origins.map(|(_, origin)| source(&origin.source)).collect();
    if sources.is_empty() { "the host".to_owned() } else { Vec::from_iter(sources).join(" and ") }
}

/// Returns the condition of the approvals of a server's tools. It shows the program or the address, and the source. Arguments and the query
/// of an address may contain secrets, so they are only counted, and the digest is of all of it. Values of variables are not covered, except
/// those of variables from which programs load code: a renewed token starts the same server.
pub(super) fn condition(server: &str, settings: &McpServerSettings, named_by: &str) -> String {
    let mut digest = Launch::default();
    digest.add("source", named_by);
    let by = match settings {
        McpServerSettings::Command(command) => of_command(command, &mut digest),
        McpServerSettings::Url(url) => of_url(url, &mut digest),
        _ => "nothing that is available".to_owned(),
    };
    let (server, source, digest) = (shown(server), shown(named_by), digest.end());
    format!("the MCP server `{server}` is {by}, named by {source} (SHA-256 {digest})")
}

fn of_command(command: &McpCommand, digest: &mut Launch) -> String {
    digest.add("command", &command.command);
    for argument in &command.args {
        digest.add("argument", argument);
    }
    if let Some(cwd) = &command.cwd {
        digest.add("cwd", cwd);
    }
    for (name, value) in &command.env {
        digest.add("variable", name);
        if CODE_VARIABLES.contains(&&**name) || OPTION_VARIABLES.contains(&&**name) {
            digest.add("value", value.expose());
        }
    }
    let sandbox = match command.sandbox {
        McpSandbox::Off => "off",
        McpSandbox::ReadOnly => "read-only",
        _ => "workspace-write",
    };
    digest.add("sandbox", sandbox);
    digest.add("network", if command.network { "on" } else { "off" });
    let count = match command.args.len() {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    };
    let sandbox = match (command.sandbox, command.network) {
        (McpSandbox::Off, _) => String::new(),
        (_, true) => format!(" in the sandbox {sandbox}"),
        (_, false) => format!(" in the sandbox {sandbox} without network"),
    };
    format!("`{}` with {count}{sandbox}", shown(&command.command))
}

fn of_url(settings: &McpUrl, digest: &mut Launch) -> String {
    digest.add("address", &settings.url);
    let Ok(mut url) = Url::parse(&settings.url) else { return "at an address that is not valid".to_owned() };
    let is_cut = url.query().is_some()
        || url.fragment().is_some()
        || url.has_authority() && !url.username().is_empty();
    url.set_query(None);
    url.set_fragment(None);
    // These fail only for an address that can have neither.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    format!("at {}{}", shown(url.as_str()), if is_cut { " (with more that is not shown)" } else { "" })
}

/// Escapes a text and shortens it in the middle.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return escape_line(text).into_owned();
    }
    let head: String = text.chars().take(MAX_SHOWN / 2).collect();
    let tail: String = text.chars().skip(count - MAX_SHOWN / 2).collect();
    escape_line(&format!("{head}…{tail}")).into_owned()
}

/// Digests the parts of a launch, each with its length, so that no two launches have the same digest.
#[derive(Default)]
struct Launch(Sha256);

impl Launch {
    fn add(&mut self, label: &str, value: &str) {
        for part in [label, value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    fn end(self) -> String {
        HEXLOWER.encode(&self.0.finalize()[..DIGEST_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolkit::config::LoadOptions;

    fn of(settings: Value, source: &str) -> String {
        condition("files", &serde_json::from_value(settings).unwrap(), source)
    }

    #[test]
    fn each_part_of_a_launch_counts() {
        let whole = json!({"command": "npx", "args": ["-y", "a"], "env": {"TOKEN": "one"}});
        let first = of(whole.clone(), "a.json5");
        assert_eq!(first, of(whole.clone(), "a.json5"));
        // A renewed token starts the same server.
        assert_eq!(
            first,
            of(json!({"command": "npx", "args": ["-y", "a"], "env": {"TOKEN": "two"}}), "a.json5")
        );
        let with = |key: &str, value: Value| {
            let mut changed = whole.clone();
            changed[key] = value;
            of(changed, "a.json5")
        };
        let others = [
            of(whole.clone(), "b.json5"),
            with("command", json!("uvx")),
            with("args", json!(["-y", "b"])),
            with("args", json!(["-ya"])),
            with("args", json!(["-y", "a", ""])),
            with("cwd", json!("/srv")),
            with("env", json!({"TOKEN": "one", "OTHER": "x"})),
            with("env", json!({"TOKEN": "one", "NODE_OPTIONS": "--require x"})),
            with("env", json!({"TOKEN": "one", "NODE_OPTIONS": "--require y"})),
            with("sandbox", json!("read-only")),
            with("network", json!(false)),
            of(json!({"url": "https://example.com/mcp"}), "a.json5"),
            of(json!({"url": "https://example.com/other"}), "a.json5"),
            of(json!({"url": "https://example.com/mcp?key=1"}), "a.json5"),
            of(json!({"url": "https://example.com/mcp?key=2"}), "a.json5"),
        ];
        let all: BTreeSet<&String> = others.iter().chain([&first]).collect();
        assert_eq!(all.len(), others.len() + 1, "{all:#?}");
    }

    #[test]
    fn a_condition_is_one_line_without_secrets() {
        let long = "x".repeat(5_000);
        for (settings, expected) in [
            (json!({"command": "npx", "args": ["--token=s3cret"]}), "is `npx` with 1 argument, named by "),
            (
                json!({"command": "a\nb", "env": {"KEY": "s3cret"}, "sandbox": "read-only", "network": false}),
                "is `a\\u{a}b` with no arguments in the sandbox read-only without network, named by ",
            ),
            (
                json!({"url": "https://me:s3cret@example.com/mcp?key=s3cret#s3cret"}),
                "is at https://example.com/mcp (with more that is not shown), named by ",
            ),
            (json!({ "command": long }), "xx…xx"),
        ] {
            let text = of(settings, &long);
            assert!(text.contains(expected), "{text}");
            assert!(!text.contains("s3cret") && !text.contains('\n'), "{text}");
            assert!(text.chars().count() < 1_000, "{text}");
        }
    }

    #[test]
    fn the_sources_of_a_server_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("own.json5");
        std::fs::write(&file, "{ mcp: { a: { command: 'x' }, b: { command: 'y' } } }").unwrap();
        let options = LoadOptions::new().file(&file).set("mcp.a={command: 'x', args: ['--key=s3cret']}");
        let configuration = Configuration::load(options).unwrap();
        assert_eq!(named_by(&configuration, "b"), file.display().to_string());
        let of_both = named_by(&configuration, "a");
        assert!(of_both.ends_with("the command line") && !of_both.contains("s3cret"), "{of_both}");
        assert_eq!(named_by(&configuration, "c"), "the host");
    }
}
