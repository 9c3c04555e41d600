//! `new`: which crates it writes, and which it refuses. That they build and pass is tried by `tests/tests/guide.rs`.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod fixture;

use fixture::command;
use std::fs;
use std::path::Path;

/// What a run in a directory came to: its exit code, its output and its errors.
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
    for part in ["Cargo.toml", "src/lib.rs", "README.md", ".gitignore", "cd my-plugin2", "cargo test"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let read = |file: &str| fs::read_to_string(directory.path().join("my-plugin2").join(file)).unwrap();
    let manifest = read("Cargo.toml");
    for line in [
        "name = \"my-plugin2\"",
        "toolkit = \"0.1\"",
        "toolkit = { version = \"0.1\", features = [\"testing\"] }",
        concat!("rust-version = \"", env!("CARGO_PKG_RUST_VERSION"), "\""),
    ] {
        assert!(manifest.lines().any(|other| other == line), "{line}: {manifest}");
    }
    let library = read("src/lib.rs");
    assert!(library.contains("id: \"my-plugin2\"") && library.contains("fn my_plugin2_greet("), "{library}");
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
        format!("toolkit = {{ path = \"{}/toolkit\" }}", checkout()),
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

#[test]
fn names_that_cannot_be() {
    let directory = tempfile::tempdir().unwrap();
    let long = "x".repeat(51);
    for (name, expected) in [
        ("", "begins with a letter"),
        ("9lives", "begins with a letter"),
        ("-x", "unexpected argument"),
        ("_x", "begins with a letter"),
        ("My-plugin", "lower-case"),
        ("my plugin", "lower-case"),
        ("my.plugin", "lower-case"),
        ("../x", "lower-case"),
        ("a/b", "lower-case"),
        ("grüße", "lower-case"),
        ("x\n", "lower-case"),
        ("x-", "one at a time"),
        ("x--y", "one at a time"),
        ("x_-y", "one at a time"),
        (&long, "more than 50"),
        ("fn", "keep that word"),
        ("async", "keep that word"),
        ("test", "keep that word"),
        ("core", "keep that word"),
        ("proc-macro", "keep that word"),
        ("nul", "keep that word"),
        ("toolkit", "toolkit itself"),
        ("toolkit-weather", "toolkit itself"),
        ("builtin-tools", "toolkit itself"),
        ("memory", "toolkit itself"),
        ("llm-task", "toolkit itself"),
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
    // What only a plugin is mistaken for.
    assert_eq!(run(directory.path(), &["new", "host", "message"]).0, 0);
}

#[test]
fn what_is_there_stays() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("full")).unwrap();
    fs::write(directory.path().join("full/notes.txt"), "mine").unwrap();
    let (code, out, err) = run(directory.path(), &["new", "plugin", "full"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("is there and not empty") && err.contains("Nothing was written"), "{err}");
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
