use super::glob;
use serde_json::{Value, json};
use std::fs::File;
use std::time::{Duration, SystemTime};
use toolkit::testing::TestToolbox;

/// Files with their ages in seconds.
fn toolbox(files: &[(&str, u64)]) -> TestToolbox {
    let mut toolbox = TestToolbox::new(toolkit::tool_ref!(glob));
    let now = SystemTime::now();
    for (name, age) in files {
        toolbox = toolbox.file(name, "");
        let file = File::options().write(true).open(toolbox.workspace().path().join(name)).unwrap();
        file.set_modified(now - Duration::from_secs(*age)).unwrap();
    }
    toolbox
}

async fn check(toolbox: &TestToolbox, cases: &[(Value, &str)]) {
    for (arguments, expected) in cases {
        let call = toolbox.call(arguments.clone()).await;
        assert_eq!(call.text(), *expected, "{arguments}");
        assert!(call.asks.is_empty(), "{arguments}");
    }
}

#[tokio::test]
async fn texts() {
    let toolbox = toolbox(&[
        ("b.rs", 30),
        ("a.rs", 30),
        ("src/c.rs", 10),
        ("src/deep/d.rs", 20),
        ("src/deep/e.txt", 5),
        ("src/.hidden.rs", 1),
        ("target/f.rs", 2),
        (".gitignore", 100),
        (".git/HEAD", 100),
        ("x[1].md", 50),
    ]);
    let root = toolbox.workspace().path().canonicalize().unwrap();
    std::fs::write(root.join(".gitignore"), "target/\n").unwrap();
    let whole = format!("{}/*.rs", root.display());
    check(
        &toolbox,
        &[
            (json!({ "pattern": "*.rs" }), "src/c.rs\nsrc/deep/d.rs\na.rs\nb.rs\n"),
            (json!({ "pattern": "**/*.rs" }), "src/c.rs\nsrc/deep/d.rs\na.rs\nb.rs\n"),
            (json!({ "pattern": "/*.rs" }), "a.rs\nb.rs\n"),
            (json!({ "pattern": whole }), "a.rs\nb.rs\n"),
            (json!({ "pattern": "./src/*.rs" }), "src/c.rs\n"),
            (json!({ "pattern": "src/**" }), "src/deep/e.txt\nsrc/c.rs\nsrc/deep/d.rs\n"),
            (json!({ "pattern": "deep/*.{rs,txt}", "path": "src" }), "src/deep/e.txt\nsrc/deep/d.rs\n"),
            (json!({ "pattern": "*.rs", "path": "src", "hidden": true }), "src/.hidden.rs\nsrc/c.rs\nsrc/deep/d.rs\n"),
            (json!({ "pattern": "!*.rs" }), "src/deep/e.txt\nx[1].md\n"),
            (json!({ "pattern": "x\\[1\\].md" }), "x[1].md\n"),
            (json!({ "pattern": "f.rs" }), "(no files found, hidden and ignored files skipped)\n"),
            (json!({ "pattern": "f.rs", "hidden": true }), "(no files found, ignored files skipped)\n"),
            (json!({ "pattern": "f.rs", "path": "target" }), "target/f.rs\n"),
            (
                json!({ "pattern": "*.rs", "limit": 2 }),
                "src/c.rs\nsrc/deep/d.rs\n(files 1 to 2 of 4: continue with offset 2, or narrow the pattern)\n",
            ),
            (json!({ "pattern": "*.rs", "limit": 2, "offset": 2 }), "a.rs\nb.rs\n"),
            (json!({ "pattern": "*.rs", "offset": 4 }), "(no files from offset 4 on; there are 4)\n"),
            (json!({ "pattern": "*", "path": "absent" }), "absent does not exist"),
            (
                json!({ "pattern": "*", "path": "a.rs" }),
                "a.rs is a file; name the directory to search, or leave `path` out for the workspace",
            ),
            (
                json!({ "pattern": "../*" }),
                "the pattern leads out of the directory that is searched; name that directory as `path`",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_needs_to_be_asked_for_is_not_named() {
    let toolbox = toolbox(&[("a.pem", 1), ("b", 2), ("c.key", 3), (".ssh/config", 4), (".env", 0)]);
    let call = toolbox.call(json!({ "pattern": "*", "hidden": true })).await;
    assert_eq!(
        call.text(),
        "b\n(4 places left out, which need approval: name one as `path` to request it)\n"
    );
    let output = call.expect_ok();
    assert_eq!(output.title.as_deref(), Some("Found 1 file"));
    let metadata = Value::Object(output.metadata.clone());
    assert_eq!(metadata, json!({ "pattern": "*", "searchPath": ".", "count": 1, "truncated": false }));
}

/// Checks that nested ignore files use bounded memory, and that rules beyond the limit are reported.
#[tokio::test]
async fn ignore_files_count_up_to_so_many_patterns_on_the_way() {
    let many = |count: usize| (0..count).fold(String::new(), |text, number| text + &format!("x{number}\n"));
    let note = "(some rules of ignore files were skipped: nested ignore files have more than 10,000 rules or 1 MiB)\n";
    let run = |above: String, below: &'static str| async move {
        let toolbox = toolbox(&[("in/a.log", 1), ("in/b.log", 2), ("in/x1", 3), ("beside/b.log", 4)]);
        let toolbox = toolbox.file(".git/HEAD", "").file(".gitignore", above).file("in/.gitignore", below);
        toolbox.call(json!({ "pattern": "*" })).await.text()
    };
    let listed = "beside/b.log\n";
    assert_eq!(run(many(9_998), "a.log\nb.log\n").await, listed);
    assert_eq!(run(many(9_998) + "# no pattern\n\n", "a.log\nb.log\n").await, listed);
    assert_eq!(run(many(9_999), "a.log\nb.log\n").await, format!("in/b.log\n{listed}{note}"));
    assert_eq!(run(many(20_000), "a.log\nb.log\n").await, format!("in/a.log\nin/b.log\n{listed}{note}"));
    let long = format!("x1\n#{}\n", "x".repeat(1024 * 1024 - 20));
    assert_eq!(run(long.clone(), "a.log\nb.log\n").await, listed);
    assert_eq!(run(long, "a.log\nb.log\n#34567890\n").await, format!("{listed}{note}"));
    assert_eq!(
        run(format!("x1\n{}", "x".repeat(1 << 20)), "").await,
        format!("in/a.log\nin/b.log\n{listed}{note}")
    );
}
