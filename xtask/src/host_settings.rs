//! The runtime holds no settings of a host: a host declares its sections of the configuration in its own crate.

use crate::source::{Fault, SourceFile};
use std::path::Path;

/// The crates of the runtime.
const RUNTIME: [&str; 2] = ["toolkit/src/", "toolkit/core/src/"];

/// The file with the schema of the runtime's own keys.
const SCHEMA: &str = "toolkit/src/config/schema.rs";

/// The keys of a configuration that are the runtime's own.
const OWN_KEYS: [&str; 9] = [
    "$schema",
    "tools",
    "agents",
    "channels",
    "permission",
    "plugins",
    "enableToolCalls",
    "loopGuard",
    "history",
];

/// The keys that hosts and plugins declare, which the modules of the configuration must not name.
const OF_HOSTS: [&str; 12] = [
    "mcp",
    "toolAgent",
    "models",
    "gateway",
    "fleet",
    "people",
    "sessions",
    "schedules",
    "budgets",
    "nodes",
    "hooks",
    "outbox",
];

/// The modules of the configuration, in which a name of [`OF_HOSTS`] is a key.
const CONFIGURATION: [&str; 4] =
    ["toolkit/src/config.rs", "toolkit/src/config/", "toolkit/src/section.rs", "toolkit/src/section/"];

/// Finds keys of hosts in the schema and in the modules of the configuration, and sections that the runtime registers.
pub(crate) fn runtime_has_no_settings_of_hosts(files: &[SourceFile]) -> Vec<Fault> {
    let is_of_runtime = |file: &&SourceFile| {
        file.is_rust() && RUNTIME.iter().any(|folder| file.path.starts_with(folder)) && !is_test(&file.path)
    };
    let mut faults = Vec::new();
    for file in files.iter().filter(is_of_runtime) {
        faults.extend(registered(file));
        if CONFIGURATION.iter().any(|place| file.path.starts_with(place)) {
            faults.extend(named(file));
        }
        if file.path == SCHEMA {
            faults.extend(unknown(file));
        }
    }
    faults
}

fn is_test(path: &str) -> bool {
    let path = Path::new(path);
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// Returns the lines of code before the tests of a file, each with its number and without a comment.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").enumerate();
    let code = lines.map(|(number, line)| (number + 1, line.split("//").next().unwrap_or_default()));
    code.filter(|(_, line)| !line.trim().is_empty())
}

/// Finds sections that are registered.
fn registered(file: &SourceFile) -> Vec<Fault> {
    let is_registered = |line: &str| {
        let declares = line.contains("config_section!") && !line.contains("macro_rules!");
        declares || line.contains("submit!") && line.contains("ConfigSection")
    };
    let lines = code(&file.text).filter(|(_, line)| is_registered(line));
    let message =
        "the runtime registers a section: declare it in the crate of the host, tool or plugin that uses it";
    lines.map(|(number, _)| file.fault(number, message.to_owned())).collect()
}

/// Finds keys of hosts in string literals: as a whole, or as the first step of a pointer.
fn named(file: &SourceFile) -> Vec<Fault> {
    let names = |line: &str, key: &str| {
        [format!("\"{key}\""), format!("\"/{key}\""), format!("\"/{key}/")]
            .iter()
            .any(|literal| line.contains(literal.as_str()))
    };
    let mut faults = Vec::new();
    for (number, line) in code(&file.text) {
        for key in OF_HOSTS.into_iter().filter(|key| names(line, key)) {
            let message = format!(
                "`{key}` is a key of a host: declare its section in the crate of the host, and what the runtime needs to know of \
                 it as a property of `ConfigSection`"
            );
            faults.push(file.fault(number, message));
        }
    }
    faults
}

/// Finds keys at the root of the schema that are not the runtime's own.
fn unknown(file: &SourceFile) -> Vec<Fault> {
    let root = || code(&file.text).skip_while(|(_, line)| !line.contains("let mut root = object("));
    let keys: Vec<(usize, &str)> = root()
        .take_while(|(_, line)| line.trim() != ");")
        .filter_map(|(number, line)| Some((number, key_of(line)?)))
        .collect();
    if keys.is_empty() {
        let message = "the keys at the root of the schema are not found: adapt xtask/src/host_settings.rs";
        return vec![file.fault(1, message.to_owned())];
    }
    let further = keys.into_iter().filter(|(_, key)| !OWN_KEYS.contains(key));
    let fault = |(number, key): (usize, &str)| {
        let message = format!(
            "`{key}` is no key of the runtime's own: declare its section in the crate that uses it; one of the runtime's own is \
             listed in xtask/src/host_settings.rs"
        );
        file.fault(number, message)
    };
    further.map(fault).collect()
}

/// Returns the key of the outermost object, as rustfmt indents it.
fn key_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("            \"")?;
    let (key, value) = rest.split_once('"')?;
    value.starts_with(':').then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn messages(path: &str, text: &str) -> Vec<String> {
        let faults = runtime_has_no_settings_of_hosts(&[file(path, text)]);
        faults.iter().map(|fault| format!("{}: {}", fault.line, fault.message)).collect()
    }

    const ROOT: &str = "fn core() {\n    let mut root = object(\n        \"All.\",\n        json!({\n            \"tools\": tools,\n            \
                        \"agents\": map_of(\n                \"of\", &agent),\n            \"KEY\": of::<Settings>(generator),\n        }),\n    );\n}\n";

    #[test]
    fn a_further_key_at_the_root_of_the_schema_is_a_fault() {
        assert_eq!(messages(SCHEMA, &ROOT.replace("KEY", "history")), [""; 0]);
        let told = messages(SCHEMA, &ROOT.replace("KEY", "cache"));
        assert!(
            told.len() == 1 && told[0].starts_with("8: `cache` is no key of the runtime's own"),
            "{told:?}"
        );
        // A schema that is written in another way is not passed over.
        let told = messages(SCHEMA, "fn core() {}\n");
        assert!(told.len() == 1 && told[0].contains("are not found"), "{told:?}");
    }

    #[test]
    fn a_key_of_a_host_in_the_configuration_is_a_fault() {
        let path = "toolkit/src/config/rules.rs";
        for line in [
            "let key = \"toolAgent\";",
            "reader.names(\"/mcp\")",
            "pointer.strip_prefix(\"/mcp/\")",
            "[\"models\", id] => x,",
        ] {
            let told = messages(path, &format!("\n{line}\n"));
            assert!(
                told.len() == 1 && told[0].starts_with("2: ") && told[0].contains("is a key of a host"),
                "{told:?}"
            );
        }
        for line in
            ["// \"mcp\"", "let key = \"mcpx\";", "#[cfg(test)]\nlet key = \"mcp\";", "let models = 1;"]
        {
            assert_eq!(messages(path, line), [""; 0], "{line}");
        }
        // A word of the policy elsewhere, and a test.
        let group = "const GROUP: &str = \"mcp\";";
        for path in
            ["toolkit/src/policy/lists.rs", "toolkit/src/config/parse/tests.rs", "hosts/mcp/src/settings.rs"]
        {
            assert_eq!(messages(path, group), [""; 0], "{path}");
        }
    }

    #[test]
    fn a_section_that_the_runtime_registers_is_a_fault() {
        for line in [
            "crate::config_section!(ConfigSection::at::<Settings>(\"cache\"));",
            "inventory::submit! { ConfigSection::at::<Settings>(\"cache\") }",
        ] {
            for path in ["toolkit/src/cache.rs", "toolkit/core/src/cache.rs"] {
                let told = messages(path, line);
                assert!(told.len() == 1 && told[0].contains("registers a section"), "{told:?}");
            }
            assert_eq!(messages("hosts/mcp/src/settings.rs", line), [""; 0]);
        }
        for line in ["/// toolkit::config_section!(x);", "macro_rules! config_section {"] {
            assert_eq!(messages("toolkit/src/section.rs", line), [""; 0], "{line}");
        }
    }
}
