//! The order of the crates and of the modules in them: who may import whom.

mod graph;
mod scan;
mod tokens;

use crate::layers::graph::{Graph, Modules};
use crate::manifest::Manifest;
use crate::source::{Fault, ROOT_MANIFEST, SourceFile, dependencies, members};

/// The folders of the crates that are published, from the lowest layer up. A crate depends on crates of lower layers alone; tests and examples
/// may use all.
const LAYERS: &[&[&str]] = &[
    &["toolkit-macros", "shell-verdict", "sandbox", "http", "hosts/serve"],
    &["toolkit/core"],
    &["toolkit/dialects"],
    &["toolkit"],
    &["models", "hosts/channel"],
    &[
        "builtin-tools",
        "hosts/agent",
        "hosts/mcp",
        "hosts/web",
        "plugins/memory",
        "plugins/telegram",
        "plugins/whatsapp",
        "plugins/llm-task",
    ],
    &["hosts/host", "hosts/node"],
    &["hosts/gateway"],
    &["hosts/cli"],
];

/// The order of modules within a crate, from the lowest layer up: a listed module imports modules of its own layer and of lower ones, and none
/// that is not listed.
const MODULES: Ordered = &[(
    "toolkit",
    &[
        // The futures that the closures of a host return.
        &["closure_future"],
        // Paths.
        &["data_dir", "real_path", "shown_path", "workspace"],
        // Records that crates register, and the types of what is configured.
        &["linked", "section"],
        // The parts of the context of a call.
        &[
            "approver",
            "ask_journal",
            "ask_record",
            "ask_store",
            "change_hook",
            "cut",
            "events",
            "gate",
            "lifecycle",
            "listed",
            "live",
            "loop_guard",
            "named_hook",
            "off_runtime",
            "output_store",
            "session",
            "sink",
        ],
        // A tool and the context of its calls.
        &["tool"],
        // Which tools exist for a caller, and which actions may run.
        &["link", "permission", "policy", "skills"],
        // Configured values.
        &["approvals", "config", "discovery_settings"],
    ],
)];

/// Layers of modules, by the folder of their crate.
type Ordered = &'static [(&'static str, &'static [&'static [&'static str]])];

/// Modules that import each other and are read together with no harm: the folder of the crate with the path of their parent, and their names.
const HARMLESS: &[(&str, &[&str])] = &[
    // A conversation starts the worker that runs on its state.
    ("hosts/agent/src/conversations", &["conversation", "worker"]),
    // A policy has the method that lists its problems, which the lint finds.
    ("toolkit/src/policy", &["lint", "tool_policy"]),
];

/// Modules below one parent that import each other can only be read and changed together.
pub(crate) fn no_import_cycles(files: &[SourceFile]) -> Vec<Fault> {
    cycles_but(files, HARMLESS)
}

fn cycles_but(files: &[SourceFile], harmless: &[(&str, &[&str])]) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Those of other workspaces of the repository, too.
    let crates = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    for folder in crates {
        let modules = Modules::of_crate(files, folder);
        for parent in modules.parents() {
            let graph = modules.below(parent);
            let place = [folder, "src"].into_iter().chain(parent.iter().map(String::as_str));
            let place = place.collect::<Vec<_>>().join("/");
            let excepted: Vec<&[&str]> =
                harmless.iter().filter(|(at, _)| *at == place).map(|(_, names)| *names).collect();
            let cycles = graph.cycles();
            let in_cycle = |module: &str| cycles.iter().any(|cycle| cycle.contains(&module));
            for module in excepted.iter().flat_map(|names| names.iter()).filter(|module| !in_cycle(module)) {
                let message = format!(
                    "`{module}` is in no cycle any more: remove it from HARMLESS in xtask/src/layers.rs"
                );
                faults.push(Fault { path: format!("{folder}/Cargo.toml"), line: 1, message });
            }
            let is_excepted = |cycle: &Vec<&str>| {
                excepted.iter().any(|names| cycle.iter().all(|module| names.contains(module)))
            };
            for cycle in cycles.iter().filter(|cycle| !is_excepted(cycle)) {
                faults.extend(fault_of(&graph, cycle));
            }
        }
    }
    faults
}

fn fault_of(graph: &Graph, cycle: &[&str]) -> Option<Fault> {
    let [first, second, ..] = cycle else { return None };
    let place = graph.import(first, second)?;
    let message = format!(
        "modules import each other: {}; remove one of these imports, or move what it needs to a module below both",
        cycle.join(" → ")
    );
    Some(Fault { path: place.path.clone(), line: place.line, message })
}

/// A lower layer knows nothing of those above it.
pub(crate) fn imports_go_down(files: &[SourceFile]) -> Vec<Fault> {
    let mut faults = crates_upward(files, LAYERS);
    faults.extend(modules_upward(files, MODULES));
    faults
}

fn crates_upward(files: &[SourceFile], layers: &[&[&str]]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let layer_of = |folder: &str| layers.iter().position(|layer| layer.contains(&folder));
    let root = files.iter().find(|file| file.path == ROOT_MANIFEST).map(|file| Manifest::parse(&file.text));
    for (file, folder) in folders(files) {
        let manifest = Manifest::parse(&file.text);
        let is_private =
            manifest.get(&["package", "publish"]).is_some_and(|setting| setting.value == "false");
        let Some(own) = layer_of(folder) else {
            if !is_private {
                let message = format!(
                    "give `{folder}` a place in LAYERS of xtask/src/layers.rs, or write `publish = false` if it is only for this repository"
                );
                faults.push(file.fault(1, message));
            }
            continue;
        };
        for dependency in dependencies(&manifest) {
            let is_dev = dependency.path.iter().any(|segment| segment == "dev-dependencies");
            let Some(needed) = dependency.path.last().and_then(|name| path_of(root.as_ref()?, name)) else {
                continue;
            };
            if !is_dev && layer_of(&needed).is_none_or(|layer| layer >= own) {
                let message = format!(
                    "`{folder}` depends on `{needed}`, which is in no lower layer: move what both need to a layer below them"
                );
                faults.push(file.fault(dependency.line, message));
            }
        }
    }
    faults
}

/// The folder of a dependency that is a member of the workspace.
fn path_of(root: &Manifest, name: &str) -> Option<String> {
    let setting = root.get(&["workspace", "dependencies", name])?;
    let (_, path) = setting.value.split_once("path = \"")?;
    Some(path.split('"').next()?.to_owned())
}

fn modules_upward(files: &[SourceFile], ordered: Ordered) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (folder, layers) in ordered {
        let graph = Modules::of_crate(files, folder).below(&[]);
        let layer_of = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        for (from, to, place) in graph.imports() {
            let Some(own) = layer_of(from) else { continue };
            if layer_of(to).is_none_or(|layer| layer > own) {
                let message = format!(
                    "`{from}` is below `{to}` and cannot import it: move what it needs to a module below both"
                );
                faults.push(Fault { path: place.path.clone(), line: place.line, message });
            }
        }
        for module in layers.iter().flat_map(|layer| layer.iter()).filter(|module| !graph.has(module)) {
            let message = format!("no module `{module}`: remove it from MODULES in xtask/src/layers.rs");
            faults.push(Fault { path: format!("{folder}/Cargo.toml"), line: 1, message });
        }
    }
    faults
}

/// The members' manifests and folders.
fn folders(files: &[SourceFile]) -> impl Iterator<Item = (&SourceFile, &str)> {
    members(files).filter_map(|(file, _)| Some((file, file.path.strip_suffix("/Cargo.toml")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace]\nmembers = [\"a\", \"b\"]\n\
                        [workspace.dependencies]\na = { path = \"a\", version = \"1\" }\nb = { path = \"b\" }\nserde = \"1\"\n";

    /// A workspace of two crates and the given files.
    fn tree(files: &[(&str, &str)]) -> Vec<SourceFile> {
        let mut all = vec![("Cargo.toml", ROOT), ("a/Cargo.toml", ""), ("b/Cargo.toml", "")];
        all.retain(|(path, _)| !files.iter().any(|(given, _)| given == path));
        all.extend(files);
        all.iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect()
    }

    fn places(faults: &[Fault]) -> Vec<String> {
        faults.iter().map(|fault| format!("{}:{}", fault.path, fault.line)).collect()
    }

    /// Three modules, of which two import each other, one through a name of the root.
    const CYCLE: &[(&str, &str)] = &[
        ("a/src/lib.rs", "mod x;\nmod y;\nmod z;\npub use x::Name;\n"),
        ("a/src/x.rs", "\nmod part;\n"),
        ("a/src/x/part.rs", "use super::super::y::Other;\n"),
        ("a/src/y.rs", "fn f() -> crate::Name {}\n"),
        ("a/src/z.rs", "use crate::{x, y};\n"),
    ];

    #[test]
    fn a_cycle_is_found() {
        let faults = no_import_cycles(&tree(CYCLE));
        assert_eq!(places(&faults), ["a/src/x/part.rs:1", "a/src/y.rs:1"]);
        assert!(faults[0].message.contains("x → y → x"), "{}", faults[0].message);
        assert!(faults[1].message.contains("y → x → y"), "{}", faults[1].message);
    }

    #[test]
    fn tests_and_other_crates_make_no_cycle() {
        let files = tree(&[
            ("a/src/lib.rs", "mod x;\nmod y;\n"),
            ("a/src/x.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)] use crate::y::Y;\n"),
            ("a/src/x/tests.rs", "use crate::y;\n"),
            ("a/src/x/tests/more.rs", "use crate::y;\n"),
            ("a/src/y.rs", "use crate::x;\n"),
            ("b/src/lib.rs", "mod x;\nmod y;\n"),
            ("b/src/x.rs", "use crate::y;\n"),
            ("b/src/y.rs", "use a::x;\n"),
            ("b/src/bin/tool.rs", "use crate::x;\n"),
        ]);
        assert!(no_import_cycles(&files).is_empty());
    }

    #[test]
    fn a_cycle_in_another_workspace_is_found() {
        let moved: Vec<(String, &str)> =
            CYCLE.iter().map(|(path, text)| (path.replacen("a/", "other/c/", 1), *text)).collect();
        let mut files: Vec<(&str, &str)> = moved.iter().map(|(path, text)| (&**path, *text)).collect();
        files.push(("other/c/Cargo.toml", ""));
        assert_eq!(
            places(&no_import_cycles(&tree(&files))),
            ["other/c/src/x/part.rs:1", "other/c/src/y.rs:1"]
        );
    }

    /// Two modules below another, which import each other through a name of their parent.
    const NESTED: &[(&str, &str)] = &[
        ("a/src/lib.rs", "mod x;\n"),
        ("a/src/x.rs", "mod m;\nmod n;\npub use m::Name;\n"),
        ("a/src/x/m.rs", "\nuse super::n;\n"),
        ("a/src/x/n.rs", "fn f() -> crate::x::Name {}\n"),
    ];

    #[test]
    fn a_cycle_below_a_module_is_found() {
        let faults = no_import_cycles(&tree(NESTED));
        assert_eq!(places(&faults), ["a/src/x/m.rs:2", "a/src/x/n.rs:1"]);
        assert!(faults[0].message.contains("m → n → m"), "{}", faults[0].message);
    }

    #[test]
    fn a_harmless_cycle_is_listed_as_long_as_it_is_there() {
        let files = tree(NESTED);
        assert!(cycles_but(&files, &[("a/src/x", &["m", "n"])]).is_empty());
        let elsewhere = cycles_but(&files, &[("a/src/y", &["m", "n"])]);
        assert_eq!(places(&elsewhere), ["a/src/x/m.rs:2", "a/src/x/n.rs:1"]);
        let partly = cycles_but(&files, &[("a/src/x", &["m"])]);
        assert_eq!(partly.len(), 2);
        let stale = cycles_but(&files, &[("a/src/x", &["m", "n", "o"])]);
        assert_eq!(places(&stale), ["a/Cargo.toml:1"]);
        assert!(stale[0].message.contains("`o` is in no cycle"), "{}", stale[0].message);
    }

    #[test]
    fn an_upward_dependency_is_found() {
        let upward =
            tree(&[("a/Cargo.toml", "[dependencies]\nserde.workspace = true\nb.workspace = true\n")]);
        assert_eq!(places(&crates_upward(&upward, &[&["a"], &["b"]])), ["a/Cargo.toml:3"]);
        assert_eq!(places(&crates_upward(&upward, &[&["a", "b"]])), ["a/Cargo.toml:3"]);
        assert!(crates_upward(&upward, &[&["b"], &["a"]]).is_empty());
        let in_tests = tree(&[("a/Cargo.toml", "[dev-dependencies]\nb.workspace = true\n")]);
        assert!(crates_upward(&in_tests, &[&["a"], &["b"]]).is_empty());
    }

    #[test]
    fn a_published_crate_without_a_layer_is_found() {
        assert_eq!(places(&crates_upward(&tree(&[]), &[&["a"]])), ["b/Cargo.toml:1"]);
        let private = tree(&[("b/Cargo.toml", "[package]\npublish = false\n")]);
        assert!(crates_upward(&private, &[&["a"]]).is_empty());
    }

    #[test]
    fn an_upward_import_is_found() {
        let files = tree(CYCLE);
        assert_eq!(places(&modules_upward(&files, &[("a", &[&["x"], &["y"]])])), ["a/src/x/part.rs:1"]);
        assert_eq!(places(&modules_upward(&files, &[("a", &[&["x"]])])), ["a/src/x/part.rs:1"]);
        assert!(modules_upward(&files, &[("a", &[&["x", "y"], &["z"]])]).is_empty());
        assert_eq!(places(&modules_upward(&files, &[("a", &[&["x", "y", "gone"]])])), ["a/Cargo.toml:1"]);
    }
}
