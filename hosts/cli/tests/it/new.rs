//! `new`: which crates it writes, and which it refuses. `tests/long/guide.rs` builds and runs them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture;

use fixture::command;
use std::fs;
use std::path::Path;

/// The result of a run in a directory: its exit code, its output and its errors.
fn run(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = command(arguments).current_dir(directory).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The root of this repository.
fn checkout() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    root.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_plugin_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, err) = run(directory.path(), &["new", "plugin", "my-plugin2"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in [
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "src/lib.rs",
        "README.md",
        ".gitignore",
        "cd my-plugin2",
        "cargo test",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let read = |file: &str| fs::read_to_string(directory.path().join("my-plugin2").join(file)).unwrap();
    let manifest = read("Cargo.toml");
    for line in [
        "name = \"my-plugin2\"",
        &format!(
            "toolkit = {{ package = \"agent-toolkit\", path = \"{}/toolkit\", default-features = false }}",
            checkout()
        ),
        &format!(
            "toolkit = {{ package = \"agent-toolkit\", path = \"{}/toolkit\", features = [\"testing\"] }}",
            checkout()
        ),
        concat!("rust-version = \"", env!("CARGO_PKG_RUST_VERSION"), "\""),
    ] {
        assert!(manifest.lines().any(|other| other == line), "{line}: {manifest}");
    }
    let library = read("src/lib.rs");
    assert!(library.contains("id: \"my-plugin2\"") && library.contains("fn my_plugin2_greet("), "{library}");
    assert!(library.lines().filter(|line| line.starts_with("#[tool(group = ")).count() == 3, "{library}");
    assert!(
        manifest.contains("license = \"MIT OR Apache-2.0\"") && !manifest.contains("[workspace]"),
        "{manifest}"
    );
    assert!(read("LICENSE-MIT").contains("Copyright (c) The authors of my-plugin2"));
    assert!(read("LICENSE-APACHE").contains("Apache License"));
    for file in ["Cargo.toml", "src/lib.rs", "README.md"] {
        assert!(!read(file).contains("{{") || file == "README.md", "{file}: {}", read(file));
        assert!(!read(file).contains("{{name}}"), "{file}");
    }
}

#[test]
fn a_host_is_written_with_a_checkout_and_a_plugin() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(run(directory.path(), &["new", "plugin", "greeter"]).0, 0);
    let arguments = ["new", "host", "desk", "--plugin", "greeter", "--path", &checkout()];
    let (code, _, err) = run(directory.path(), &arguments);
    assert_eq!((code, err.as_str()), (0, ""));
    let manifest = fs::read_to_string(directory.path().join("desk/Cargo.toml")).unwrap();
    let plugin = directory.path().canonicalize().unwrap().join("greeter");
    for line in [
        format!("toolkit = {{ package = \"agent-toolkit\", path = \"{}/toolkit\" }}", checkout()),
        format!(
            "toolkit-cli = {{ path = \"{}/hosts/cli\", default-features = false, features = [\"fs\", \"runtime\"] }}",
            checkout()
        ),
        format!("greeter = {{ path = \"{}\" }}", plugin.display()),
    ] {
        assert!(manifest.lines().any(|other| other == line), "{line}: {manifest}");
    }
    let main = fs::read_to_string(directory.path().join("desk/src/main.rs")).unwrap();
    assert!(main.contains("\ntoolkit::link!(greeter);\n"), "{main}");
    assert!(!run(directory.path(), &["new", "host", "plain"]).1.is_empty());
    let main = fs::read_to_string(directory.path().join("plain/src/main.rs")).unwrap();
    assert!(!main.contains("link!") && !main.contains("{{"), "{main}");
}

/// Packages of the registry that new crates name besides those of this project.
const OTHERS: &[&str] = &["serde_json", "tokio"];

/// Names that belong to other projects in the registry: a version of them would fetch somebody else's code.
#[test]
fn no_manifest_names_a_package_of_somebody_else() {
    let directory = tempfile::tempdir().unwrap();
    let git = ["--git", "https://git.example/toolkit", "--rev", "v0.1.0"];
    for (name, arguments) in [
        ("one", vec!["new", "plugin", "one"]),
        ("two", vec!["new", "host", "two", "--plugin", "one"]),
        ("three", [&["new", "plugin", "three"][..], &git].concat()),
        ("four", [&["new", "host", "four"][..], &git[..2]].concat()),
    ] {
        let (code, _, err) = run(directory.path(), &arguments);
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        let metadata = metadata(&directory.path().join(name));
        let dependencies = metadata["packages"][0]["dependencies"].as_array().unwrap();
        assert!(dependencies.len() >= 2, "{name}: {dependencies:?}");
        for dependency in dependencies {
            let package = dependency["name"].as_str().unwrap();
            let source = dependency["source"].as_str().unwrap_or_default();
            let is_others = OTHERS.contains(&package);
            assert_eq!(source.starts_with("registry"), is_others, "{name}: {dependency}");
            if package != "one" && !is_others {
                assert!(["agent-toolkit", "toolkit-cli"].contains(&package), "{name}: {dependency}");
                assert_eq!(source.starts_with("git+"), arguments.contains(&"--git"), "{name}: {dependency}");
            }
        }
    }
}

/// The manifest of a crate as cargo reads it.
fn metadata(at: &Path) -> serde_json::Value {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(at.join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn names_that_cannot_be() {
    let directory = tempfile::tempdir().unwrap();
    let long = "x".repeat(51);
    for (name, expected) in [
        ("", "a letter first"),
        ("9lives", "a letter first"),
        ("-x", "unexpected argument"),
        ("_x", "a letter first"),
        ("My-plugin", "lower-case"),
        ("my plugin", "lower-case"),
        ("my.plugin", "lower-case"),
        ("../x", "lower-case"),
        ("a/b", "lower-case"),
        ("grüße", "lower-case"),
        ("x\n", "lower-case"),
        ("x-", "between letters or digits"),
        ("x--y", "between letters or digits"),
        ("x_-y", "between letters or digits"),
        (&long, "more than 50"),
        ("fn", "reserves the word"),
        ("async", "reserves the word"),
        ("test", "reserves the word"),
        ("core", "reserves the word"),
        ("proc-macro", "reserves the word"),
        ("nul", "reserves the word"),
        ("serde-json", "depends on a crate"),
        ("tokio", "depends on a crate"),
        ("toolkit", "crate or plugin of toolkit"),
        ("agent-toolkit", "crate or plugin of toolkit"),
        ("toolkit-weather", "crate or plugin of toolkit"),
        ("builtin-tools", "crate or plugin of toolkit"),
        ("memory", "crate or plugin of toolkit"),
        ("llm-task", "crate or plugin of toolkit"),
        ("read", "core tool"),
        ("apply-patch", "core tool"),
        ("apply_patch", "core tool"),
        ("bash", "core tool"),
        ("web-search", "core tool"),
        ("message", "core tool"),
    ] {
        let (code, out, err) = run(directory.path(), &["new", "plugin", name]);
        assert_eq!((code, out.as_str()), (2, ""), "{name:?}: {err}");
        assert!(err.contains(expected), "{name:?}: {err}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was written");
    // Names that only a plugin is mistaken for.
    assert_eq!(run(directory.path(), &["new", "host", "message"]).0, 0);
}

#[test]
fn what_is_there_stays() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("full")).unwrap();
    fs::write(directory.path().join("full/notes.txt"), "mine").unwrap();
    let (code, out, err) = run(directory.path(), &["new", "plugin", "full"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("exists and is not empty") && err.contains("Nothing was written"), "{err}");
    assert_eq!(fs::read_dir(directory.path().join("full")).unwrap().count(), 1);
    fs::write(directory.path().join("file"), "mine").unwrap();
    assert_eq!(run(directory.path(), &["new", "host", "file"]).0, 1);
    assert_eq!(fs::read_to_string(directory.path().join("file")).unwrap(), "mine");
    fs::create_dir(directory.path().join("empty")).unwrap();
    assert_eq!(run(directory.path(), &["new", "plugin", "empty"]).0, 0, "an empty one will do");
    for wrong in
        [&["--path", "full"][..], &["--path", "nowhere"], &["--plugin", "full"], &["--plugin", "nowhere"]]
    {
        let arguments = [&["new", "host", "next"], wrong].concat();
        let (code, _, err) = run(directory.path(), &arguments);
        assert_eq!(code, 2, "{wrong:?}: {err}");
        assert!(!directory.path().join("next").exists(), "{wrong:?}");
    }
}

/// The text of a path is no place in a template, whatever it looks like.
#[test]
fn paths_are_taken_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let checkout = directory.path().join("{{plugin}} {{link}} {{name}}");
    for manifest in ["toolkit/Cargo.toml", "hosts/cli/Cargo.toml"] {
        let path = checkout.join(manifest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let plugin = directory.path().join("{{toolkit}}");
    fs::create_dir(&plugin).unwrap();
    fs::write(plugin.join("Cargo.toml"), "[package]\nname = \"greeter\"\n").unwrap();
    let arguments = ["new", "host", "desk", "--path", checkout.to_str().unwrap(), "--plugin", "{{toolkit}}"];
    let (code, _, err) = run(directory.path(), &arguments);
    assert_eq!((code, err.as_str()), (0, ""));
    let manifest = fs::read_to_string(directory.path().join("desk/Cargo.toml")).unwrap();
    let root = directory.path().canonicalize().unwrap();
    for line in [
        format!(
            "toolkit = {{ package = \"agent-toolkit\", path = \"{}/{{{{plugin}}}} {{{{link}}}} {{{{name}}}}/toolkit\" }}",
            root.display()
        ),
        format!("greeter = {{ path = \"{}/{{{{toolkit}}}}\" }}", root.display()),
    ] {
        assert!(manifest.lines().any(|other| other == line), "{line}: {manifest}");
    }
    let main = fs::read_to_string(directory.path().join("desk/src/main.rs")).unwrap();
    assert_eq!(main.matches("toolkit::link!(greeter);").count(), 1, "{main}");
}

#[test]
fn a_host_is_called_otherwise_than_its_plugin() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("plugins")).unwrap();
    for (crate_name, host, expected) in [
        ("greeter", "greeter", "choose another name for the host"),
        ("my_greeter", "my-greeter", "choose another name for the host"),
        ("toolkit", "desk", "is not a plugin"),
        ("toolkit-cli", "desk", "is not a plugin"),
    ] {
        let plugin = directory.path().join("plugins").join(crate_name);
        fs::create_dir(&plugin).unwrap();
        fs::write(plugin.join("Cargo.toml"), format!("[package]\nname = \"{crate_name}\"\n")).unwrap();
        let (code, _, err) =
            run(directory.path(), &["new", "host", host, "--plugin", plugin.to_str().unwrap()]);
        assert_eq!(code, 2, "{crate_name}: {err}");
        assert!(err.contains(expected), "{crate_name}: {err}");
        assert!(!directory.path().join(host).exists(), "{crate_name}");
    }
}

/// cargo builds no crate that stands within a workspace and is no member of it, unless it is one of its own.
#[test]
fn a_crate_within_a_workspace_builds() {
    let directory = tempfile::tempdir().unwrap();
    let (outer, inner) = (directory.path().join("Cargo.toml"), directory.path().join("crates"));
    fs::create_dir(&inner).unwrap();
    for (what, members, is_own) in [
        ("plugin", "[]", true),
        ("host", "[]", true),
        ("plugin", "[\"crates/*\"]", false),
        ("host", "[\n  \"crates/host2\", # \"crates\"\n]", false),
    ] {
        fs::write(&outer, format!("[workspace]\nresolver = \"3\"\nmembers = {members}\n")).unwrap();
        let name = format!("{what}{}", if is_own { 1 } else { 2 });
        let (code, out, err) = run(&inner, &["new", what, &name]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.contains("take `[workspace]` out of"), is_own, "{out}");
        let at = inner.join(&name);
        assert_eq!(fs::read_to_string(at.join("Cargo.toml")).unwrap().contains("\n[workspace]\n"), is_own);
        let metadata = metadata(&at);
        let root = if is_own { &at } else { directory.path() }.canonicalize().unwrap();
        assert_eq!(metadata["workspace_root"], root.to_str().unwrap());
        fs::remove_dir_all(&at).unwrap();
    }
}
