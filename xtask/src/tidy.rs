//! `cargo xtask tidy`: conventions that no compiler lint knows, one rule a function.

use crate::manifest::Manifest;
use crate::source::{Dependency, Fault, ROOT_MANIFEST, SourceFile, dependencies, listed_members, members};
use crate::workspace::{self, Result, Workspace};
use crate::{crate_count, host_settings, layers, root_names, shared_features};

/// A further rule is a further function here.
const RULES: &[Rule] = &[
    no_workplace_paths,
    ignored_tests_say_why,
    sources_are_short,
    subjects_are_named_first,
    limits_are_named_max,
    members_are_listed,
    versions_are_inherited,
    lints_are_inherited,
    layers::no_import_cycles,
    layers::imports_go_down,
    root_names::root_is_short,
    host_settings::runtime_has_no_settings_of_hosts,
];

/// Checks every text file that git tracks or would track, and prints the violations.
pub(crate) fn run(workspace: &Workspace) -> Result {
    let files = source_files(workspace)?;
    let faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(&files)).collect();
    for fault in &faults {
        eprintln!("{fault}");
    }
    let of_crates = [crate_count::grown(workspace)?, shared_features::apart(workspace)?].concat();
    for fault in &of_crates {
        eprintln!("{fault}");
    }
    let count = faults.len() + of_crates.len();
    println!("{} files checked, {count} faults", files.len());
    if count == 0 { Ok(()) } else { Err("the files named above break a convention".into()) }
}

/// Checks all files and returns the violations.
type Rule = fn(&[SourceFile]) -> Vec<Fault>;

fn source_files(workspace: &Workspace) -> Result<Vec<SourceFile>> {
    let mut command =
        workspace.command(&["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = command.output().map_err(|error| workspace::cannot_start(&command, &error))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut paths: Vec<String> =
        String::from_utf8(output.stdout)?.split_terminator('\0').map(str::to_owned).collect();
    // A file in a merge conflict is listed once a side.
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let file = workspace.root().join(&path);
        // The file was deleted, and the deletion is not committed yet.
        if !file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let content = std::fs::read(&file).map_err(|error| format!("{path}: {error}"))?;
        if let Ok(text) = String::from_utf8(content)
            && !text.contains('\0')
        {
            files.push(SourceFile { path, text });
        }
    }
    Ok(files)
}

/// A path of the machine that a file was written on means nothing elsewhere.
fn no_workplace_paths(files: &[SourceFile]) -> Vec<Fault> {
    // Taken apart, so that this file passes.
    const FOREIGN: &[&str] = &[concat!("/wor", "k/"), concat!("/roo", "t/"), concat!(".libr", "ary")];
    let mut faults = Vec::new();
    for file in files {
        for (line, text) in numbered_lines(file) {
            // The root of a process is one on every Linux.
            let text = text.replace("/proc/self/root", "").replace("/proc/*/root", "");
            for foreign in FOREIGN.iter().filter(|foreign| text.contains(**foreign)) {
                faults.push(
                    file.fault(line, format!("`{foreign}` names a place on one machine: leave it out")),
                );
            }
        }
    }
    faults
}

/// Requires a reason on ignored tests, which says when to run them.
fn ignored_tests_say_why(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (line, text) in numbered_lines(file) {
            let code: String = text.chars().filter(|character| !character.is_whitespace()).collect();
            let bare = code.contains("#[ignore]") || code.contains("#[ignore=\"\"]");
            let conditional =
                code.starts_with("#[cfg_attr(") && (code.contains(",ignore)") || code.contains(",ignore,"));
            // Other matches are in a comment or a string.
            if code.starts_with("#[") && (bare || conditional) {
                faults.push(file.fault(line, "say why: `#[ignore = \"reason\"]`".to_owned()));
            }
        }
    }
    faults
}

/// A long file has a second subject. Tests and benchmarks may list many cases.
fn sources_are_short(files: &[SourceFile]) -> Vec<Fault> {
    const MAX_LINES: usize = 600;
    const EXEMPT: &[&str] = &["tests", "ui-tests", "bench"];
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().count();
        let exempt = file.path.split('/').any(|component| EXEMPT.contains(&component));
        if lines > MAX_LINES && !exempt {
            let message = format!(
                "{lines} lines, where {MAX_LINES} are the most: move one subject to a file of its own"
            );
            faults.push(file.fault(MAX_LINES + 1, message));
        }
    }
    faults
}

/// Requires that a comment begins with its subject: a doc comment with the item that it describes. A line that continues a sentence is
/// not checked.
fn subjects_are_named_first(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let mut continues = false;
        for (line, text) in numbered_lines(file) {
            let Some(comment) = comment_text(text) else {
                continues = false;
                continue;
            };
            let mut words = comment.split_whitespace();
            let found = match (words.next(), words.next()) {
                (Some("What"), _) => Some("What"),
                (Some("Whether"), _) if doc_text(text).is_some() => Some("Whether"),
                (Some("Whether"), Some("what")) => Some("Whether what"),
                _ => None,
            };
            if let Some(found) = found.filter(|_| !continues) {
                let message = format!("a comment begins with `{found}`: begin with the item or its subject");
                faults.push(file.fault(line, message));
            }
            continues =
                !comment.trim().is_empty() && !comment.trim_end().ends_with(['.', ':', '?', '!', '`', '#']);
        }
    }
    faults
}

/// Returns the text of a line that is a comment.
fn comment_text(line: &str) -> Option<&str> {
    let text = line.trim_start();
    doc_text(text)
        .or_else(|| text.strip_prefix("//").filter(|text| !text.starts_with('/')))
        .or_else(|| text.strip_prefix("/**"))
}

/// Returns the text of a line of a doc comment.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))?;
    (!text.starts_with('/')).then_some(text)
}

/// Requires that a constant with a limit is named `MAX_…`.
fn limits_are_named_max(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust() && file.is_in("src")) {
        for (line, text) in numbered_lines(file) {
            let mut words = text.split(|character: char| !(character.is_alphanumeric() || character == '_'));
            let is_code = !text.trim_start().starts_with("//");
            let is_constant = words.any(|word| word == "const" || word == "static");
            if is_code
                && is_constant
                && let Some(name) = words.find(|word| !["", "mut", "ref"].contains(word))
                && (name == "MOST" || name.starts_with("MOST_"))
            {
                faults.push(file.fault(line, format!("name `{name}` after its subject: `MAX_…`")));
            }
        }
    }
    faults
}

/// Each version stands once, in the workspace's manifest, so that no two crates can ask for different ones. What only tests need can be
/// given by its path alone: it has no version then, and cargo leaves it out of what is published.
fn versions_are_inherited(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (file, manifest) in members(files) {
        for Dependency { path, line, inherited } in dependencies(&manifest) {
            if !inherited {
                let name = path.last().map_or("", String::as_str);
                let message = format!(
                    "declare `{name}` in [workspace.dependencies] of the root's Cargo.toml and write \
                     `{name}.workspace = true` here"
                );
                faults.push(file.fault(line, message));
            }
        }
    }
    faults
}

/// The manifest of the cases that the macros must accept.
const CASES: &str = "ui-tests/pass/Cargo.toml";

/// Requires that lints are inherited from the workspace. A forbidden lint cannot be allowed in a crate that inherits it, so a crate
/// that needs unsafe code repeats the lints, with only that one denied instead. [`CASES`] has code that no lint is about.
fn lints_are_inherited(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let root = files.iter().find(|file| file.path == ROOT_MANIFEST).map(|file| Manifest::parse(&file.text));
    for (file, manifest) in members(files).filter(|(file, _)| file.path != CASES) {
        let table = manifest.get(&["lints", "workspace"]).is_some_and(|setting| setting.value == "true");
        let inline = manifest.get(&["lints"]).is_some_and(|setting| setting.inline_table_sets("workspace"));
        if !table && !inline && !root.as_ref().is_some_and(|root| repeats_lints(&manifest, root)) {
            faults.push(file.fault(1, "add `[lints]` with `workspace = true`".to_owned()));
        }
    }
    faults
}

/// Returns true if a manifest repeats the lints of the workspace, except that it denies unsafe code.
fn repeats_lints(manifest: &Manifest, root: &Manifest) -> bool {
    let lints = |manifest: &Manifest, above: &[&str]| -> Vec<(Vec<String>, String)> {
        let below = |setting: &crate::manifest::Setting| {
            let path =
                setting.path.strip_prefix(&above.iter().map(ToString::to_string).collect::<Vec<_>>()[..])?;
            Some((path.to_vec(), setting.value.clone()))
        };
        let mut lints: Vec<_> = manifest.settings.iter().filter_map(below).collect();
        lints.sort();
        lints
    };
    let mut wanted = lints(root, &["workspace", "lints"]);
    for (path, value) in &mut wanted {
        if path[..] == ["rust", "unsafe_code"] {
            "\"deny\"".clone_into(value);
        }
    }
    !wanted.is_empty() && lints(manifest, &["lints"]) == wanted
}

/// Requires that the workspace lists all members by their paths, since the rules about manifests check only those.
fn members_are_listed(files: &[SourceFile]) -> Vec<Fault> {
    let Some((root, line, listed)) = listed_members(files) else {
        let message = "no workspace with a list of members".to_owned();
        return vec![Fault { path: ROOT_MANIFEST.to_owned(), line: 1, message }];
    };
    let unknown = listed.iter().filter(|path| !files.iter().any(|file| file.path == **path));
    unknown
        .map(|path| root.fault(line, format!("list each member by its path: there is no {path}")))
        .collect()
}

fn numbered_lines(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    file.text.lines().enumerate().map(|(index, text)| (index + 1, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the violations of a rule in files, as `path:line`.
    fn broken(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        rule(&files).into_iter().map(|fault| format!("{}:{}", fault.path, fault.line)).collect()
    }

    /// Returns the violations of a rule in the manifest of a workspace's only member.
    fn broken_manifest(rule: Rule, manifest: &str) -> Vec<String> {
        broken(rule, &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/Cargo.toml", manifest)])
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for seeded in
            [concat!("cd /wor", "k/main"), concat!("\"/roo", "t/.cargo\""), concat!("see .libr", "ary")]
        {
            let text = format!("fine\n{seeded}\n");
            assert_eq!(broken(no_workplace_paths, &[("README.md", &text)]), ["README.md:2"], "{seeded}");
        }
        let fine = "network/ workspace roots library";
        assert!(broken(no_workplace_paths, &[("README.md", fine)]).is_empty());
    }

    #[test]
    fn ignored_tests_without_a_reason_are_found() {
        for seeded in [
            "#[ignore]",
            "    #[ ignore ]",
            "#[test] #[ignore]",
            "#[ignore = \"\"]",
            "#[cfg_attr(windows, ignore)]",
            "#[cfg_attr(windows, ignore, allow(unused))]",
        ] {
            let text = format!("\n{seeded}\nfn a() {{}}\n");
            assert_eq!(broken(ignored_tests_say_why, &[("a/src/b.rs", &text)]), ["a/src/b.rs:2"], "{seeded}");
        }
        for fine in [
            "#[ignore = \"slow\"]",
            "#[cfg_attr(windows, ignore = \"needs a fork\")]",
            "// not `#[ignore]`",
            "let text = \"#[ignore]\";",
            "#[must_use]",
        ] {
            assert!(broken(ignored_tests_say_why, &[("a/src/b.rs", fine)]).is_empty(), "{fine}");
        }
        assert!(broken(ignored_tests_say_why, &[("README.md", "#[ignore]")]).is_empty());
    }

    #[test]
    fn long_sources_are_found() {
        let (most, more) = ("x\n".repeat(600), "x\n".repeat(601));
        assert!(broken(sources_are_short, &[("a/src/b.rs", &most)]).is_empty());
        assert_eq!(broken(sources_are_short, &[("a/src/b.rs", &more)]), ["a/src/b.rs:601"]);
        for exempt in ["tests/a.rs", "a/tests/b.rs", "ui-tests/fail/a.rs", "bench/src/a.rs", "README.md"] {
            assert!(broken(sources_are_short, &[(exempt, &more)]).is_empty(), "{exempt}");
        }
    }

    #[test]
    fn comments_that_do_not_begin_with_their_subject_are_found() {
        let rule = subjects_are_named_first;
        for seeded in [
            "/// What it does.",
            "    /// Whether it does.",
            "//! What this is.",
            "///  Whether so.",
            "// What it does.",
            "    // Whether what it does is right.",
            "    /** What it does. */",
        ] {
            let text = format!("fn a() {{}}\n{seeded}\nfn b() {{}}\n");
            assert_eq!(broken(rule, &[("a/src/b.rs", &text)]), ["a/src/b.rs:2"], "{seeded}");
            assert_eq!(broken(rule, &[("a/examples/b.rs", &text)]), ["a/examples/b.rs:2"], "{seeded}");
            assert_eq!(broken(rule, &[("a/tests/b.rs", &text)]), ["a/tests/b.rs:2"], "{seeded}");
            assert!(broken(rule, &[("src/a.md", &text)]).is_empty(), "{seeded}");
        }
        let paragraph = "/// Does it.\n///\n/// What else it does.\n/// Whether it does.\n";
        assert_eq!(broken(rule, &[("src/a.rs", paragraph)]), ["src/a.rs:3", "src/a.rs:4"]);
        for fine in [
            "/// Returns what it does.",
            "/// Whatever it does.",
            "//// What it does.",
            "// Whether it does is checked elsewhere.",
            "let text = \"/// What it does.\";",
            "/// Returns the answer to the question\n/// What it does.",
        ] {
            assert!(broken(rule, &[("a/src/b.rs", fine)]).is_empty(), "{fine}");
        }
    }

    #[test]
    fn limits_with_another_name_are_found() {
        // Taken apart, so that this file passes.
        let named = |text: &str| text.replace('#', concat!("MO", "ST_"));
        for seeded in [
            "const #LINES: usize = 1;",
            "    pub(crate) const #LINES: usize = 1;",
            "static #LINES: usize = 1;",
            "static mut #LINES: usize = 1;",
            concat!("const MO", "ST: usize = 1;"),
        ] {
            let text = named(&format!("\n{seeded}\n"));
            let faults = broken(limits_are_named_max, &[("a/src/b.rs", &text), ("README.md", &text)]);
            assert_eq!(faults, ["a/src/b.rs:2"], "{seeded}");
        }
        for fine in [
            "const MAX_LINES: usize = 1;",
            "const ALMOST_ALL: usize = 1;",
            "// const #LINES: usize = 1;",
            "const fn a() -> usize { #LINES }",
        ] {
            assert!(broken(limits_are_named_max, &[("a/src/b.rs", &named(fine))]).is_empty(), "{fine}");
        }
    }

    #[test]
    fn members_that_no_rule_would_see_are_found() {
        assert_eq!(broken(members_are_listed, &[]), ["Cargo.toml:1"]);
        assert_eq!(broken(members_are_listed, &[("Cargo.toml", "[package]")]), ["Cargo.toml:1"]);
        let glob = [("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]"), ("crates/a/Cargo.toml", "")];
        assert_eq!(broken(members_are_listed, &glob), ["Cargo.toml:2"]);
        assert!(broken_manifest(members_are_listed, "").is_empty());
    }

    #[test]
    fn versions_in_member_manifests_are_found() {
        for seeded in [
            "[dependencies]\nserde = \"1\"",
            "[dev-dependencies]\nserde = { version = \"1\", features = [\"workspace = true\"] }",
            "[build-dependencies]\nserde.version = \"1\"\nserde.optional = true",
            "[dependencies.serde]\nversion = \"1\"",
            "[dependencies]\nserde = { path = \"../serde\" }",
            "[dev-dependencies]\nserde = { path = \"../serde\", version = \"1\" }",
            "[dependencies]\nserde = { workspace = false, version = \"1\" }",
            "[target.'cfg(unix)'.dependencies]\nserde = \"1\"",
            "\ndependencies = { serde = \"1\" }",
        ] {
            assert_eq!(broken_manifest(versions_are_inherited, seeded), ["a/Cargo.toml:2"], "{seeded}");
        }
        for fine in [
            "[dependencies]\nserde.workspace = true",
            "[dev-dependencies]\nserde = { package = \"other\", path = \"../serde\" }",
            "[dependencies]\nserde = { workspace = true, features = [\n  \"derive\", # why\n] }",
            "[dependencies.serde]\nfeatures = [\"derive\"]\nworkspace = true",
            "[target.'cfg(unix)'.dev-dependencies]\nserde = { features = [\"derive\"], workspace = true }",
            "[package]\nversion = \"1\"\n[features]\ndefault = [\"dep:serde\"]",
        ] {
            assert!(broken_manifest(versions_are_inherited, fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn lints_of_their_own_are_found() {
        for seeded in
            ["[package]\nname = \"a\"", "[lints]\nworkspace = false", "[lints.rust]\nunused = \"allow\""]
        {
            assert_eq!(broken_manifest(lints_are_inherited, seeded), ["a/Cargo.toml:1"], "{seeded}");
        }
        for fine in ["[lints]\nworkspace = true", "lints.workspace = true", "lints = { workspace = true }"] {
            assert!(broken_manifest(lints_are_inherited, fine).is_empty(), "{fine}");
        }
        let root = "[workspace]\nmembers = [\"a\"]\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\nunused = \"warn\"\n";
        for (own, faults) in [
            ("[lints.rust]\nunused = \"warn\"\nunsafe_code = \"deny\"", 0),
            ("[lints.rust]\nunused = \"warn\"\nunsafe_code = \"allow\"", 1),
            ("[lints.rust]\nunused = \"allow\"\nunsafe_code = \"deny\"", 1),
            ("[lints.rust]\nunsafe_code = \"deny\"", 1),
        ] {
            let found = broken(lints_are_inherited, &[("Cargo.toml", root), ("a/Cargo.toml", own)]);
            assert_eq!(found.len(), faults, "{own}");
        }
    }
}
