//! Checks of crate names: cargo's rules, and no name whose tools a policy could confuse with others.

use super::kind::What;
use toolkit::{Toolkit, text::escape_line};

/// Maximum number of characters of a name, so that the names of tools that begin with it have their 64 bytes.
const LONGEST: usize = 50;

/// Names reserved by cargo, Rust or the system: keywords, crates that come with the compiler, build directories, and
/// device names of Windows.
const KEPT: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "aux",
    "con",
    "nul",
    "prn",
    "com1",
    "com2",
    "com3",
    "com4",
    "com5",
    "com6",
    "com7",
    "com8",
    "com9",
    "lpt1",
    "lpt2",
    "lpt3",
    "lpt4",
    "lpt5",
    "lpt6",
    "lpt7",
    "lpt8",
    "lpt9",
    "src",
    "target",
    "tests",
];

/// Names of this project's own crates and plugins.
const OURS: &[&str] = &[
    "toolkit",
    "agent_toolkit",
    "builtin_tools",
    "shell_verdict",
    "memory",
    "llm_task",
    "telegram",
    "whatsapp",
];

/// Crates that the manifest of every plugin names.
const DEPENDENCIES: &[&str] = &["serde_json", "tokio"];

/// Core tools that this command may be built without.
const CORE: &[&str] = &[
    "agents_list",
    "apply_patch",
    "browser",
    "canvas",
    "cron",
    "edit",
    "exec",
    "gateway",
    "glob",
    "grep",
    "image",
    "message",
    "nodes",
    "process",
    "read",
    "session_status",
    "sessions_history",
    "sessions_list",
    "sessions_send",
    "sessions_spawn",
    "skill",
    "tool_search",
    "transcribe",
    "tts",
    "web_fetch",
    "web_search",
    "write",
];

/// Checks that a crate can have this name; the error says why not.
pub(super) fn check(name: &str, what: What, toolkit: &Toolkit) -> Result<(), String> {
    let shown: String = name.chars().take(LONGEST).collect();
    let wrong = |why: String| Err(format!("`{}` cannot be the name: {why}", escape_line(&shown)));
    let is_of_name =
        |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '-' | '_');
    if !name.starts_with(|char: char| char.is_ascii_lowercase()) || !name.chars().all(is_of_name) {
        return wrong("use lower-case letters, digits, `-` and `_`, with a letter first".to_owned());
    }
    if name.ends_with(['-', '_']) || ["--", "__", "-_", "_-"].iter().any(|twice| name.contains(twice)) {
        return wrong("use single `-` or `_`, between letters or digits".to_owned());
    }
    if name.len() > LONGEST {
        return wrong(format!("it has more than {LONGEST} characters"));
    }
    let plain = tool_prefix(name);
    if KEPT.contains(&plain.as_str()) {
        return wrong("cargo, Rust or Windows reserves the word".to_owned());
    }
    if OURS.contains(&plain.as_str()) || plain.starts_with("toolkit_") {
        return wrong("a crate or plugin of toolkit has this name".to_owned());
    }
    if DEPENDENCIES.contains(&plain.as_str()) {
        return wrong("the crate depends on a crate of this name".to_owned());
    }
    let is_core = toolkit.reserved_names().any(|core| core.replace('-', "_") == plain);
    if what == What::Plugin && (is_core || CORE.contains(&plain.as_str())) {
        return wrong("a core tool has this name, so a plugin of this id would be left out".to_owned());
    }
    Ok(())
}

/// Returns the name in the form that tool names and Rust code use.
pub(super) fn tool_prefix(name: &str) -> String {
    name.replace('-', "_")
}
