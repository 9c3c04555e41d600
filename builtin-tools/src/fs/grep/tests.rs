use super::grep;
use serde_json::{Value, json};
use toolkit::testing::TestToolbox;

fn toolbox() -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(grep))
}

/// Checks the texts that calls return for their arguments.
async fn check(toolbox: &TestToolbox, cases: &[(Value, &str)]) {
    for (arguments, expected) in cases {
        let call = toolbox.call(arguments.clone()).await;
        assert_eq!(call.text(), *expected, "{arguments}");
        assert!(call.asks.is_empty(), "{arguments}");
    }
}

#[tokio::test]
async fn texts() {
    let toolbox = toolbox()
        .file("a.txt", "one\ntwo\nthree\n")
        .file("b/c.rs", "fn one() {}\r\n\tfn two() {}\nlast one")
        .file("b/.hidden", "one\n")
        .file("ignored.log", "one\n")
        .file(".gitignore", "*.log\n")
        .file(".git/HEAD", "")
        .file("binary", b"one\0one\n")
        .file("sixteen", b"\xFF\xFEo\0n\0e\0\n\0x\0".as_slice())
        .file("odd name", "one")
        .file("-dash", "one")
        .file("empty", "");
    check(
        &toolbox,
        &[
            (
                json!({ "pattern": "one" }),
                "-dash:1:one\na.txt:1:one\nb/c.rs:1:fn one() {}\nb/c.rs:3:last one\nbinary: binary file matches\nodd \
                 name:1:one\nsixteen:1:one\n",
            ),
            (
                json!({ "pattern": "one", "output_mode": "files" }),
                "-dash\na.txt\nb/c.rs\nbinary\nodd name\nsixteen\n",
            ),
            (
                json!({ "pattern": "one|two", "output_mode": "count", "path": "b" }),
                "b/c.rs:3\n",
            ),
            (json!({ "pattern": "ONE", "path": "a.txt", "ignore_case": true }), "a.txt:1:one\n"),
            (json!({ "pattern": "fn \\w+", "type": "rust" }), "b/c.rs:1:fn one() {}\nb/c.rs:2:\tfn two() {}\n"),
            (json!({ "pattern": "o", "glob": "*.txt" }), "a.txt:1:one\na.txt:2:two\n"),
            (json!({ "pattern": "o", "include": "*.txt", "head_limit": 1 }),
                "a.txt:1:one\n(results 1 to 1; there are more: continue with offset 1, or narrow the search)\n"),
            (json!({ "pattern": "o", "glob": "*.txt", "limit": 1, "offset": 1 }), "a.txt:2:two\n"),
            (json!({ "pattern": "o", "glob": "*.txt", "offset": 2 }), "(no results from offset 2 on; 1 file searched)\n"),
            (json!({ "pattern": "() {}", "literal": true, "glob": "!*.txt" }), "b/c.rs:1:fn one() {}\nb/c.rs:2:\tfn two() {}\n"),
            (json!({ "pattern": "one\ntwo", "multiline": true }), "a.txt:1:one\na.txt:2:two\n"),
            (json!({ "pattern": "o.t", "multiline": true, "path": "a.txt" }), "a.txt:2:two\na.txt:3:three\n"),
            (json!({ "pattern": "two", "context": 1, "path": "a.txt" }), "a.txt-1-one\na.txt:2:two\na.txt-3-three\n"),
            (json!({ "pattern": "two", "before": 1, "path": "." }),
                "a.txt-1-one\na.txt:2:two\n--\nb/c.rs-1-fn one() {}\nb/c.rs:2:\tfn two() {}\n"),
            (json!({ "pattern": "nowhere" }), "(no matches; 7 files searched, hidden and ignored files skipped)\n"),
            (json!({ "pattern": "one", "path": ".gitignore" }), "(no matches; 1 file searched, hidden and ignored files skipped)\n"),
            (json!({ "pattern": "one", "path": "ignored.log" }), "ignored.log:1:one\n"),
            (json!({ "pattern": "one", "path": "absent" }), "absent does not exist"),
            (
                json!({ "pattern": "fn one(" }),
                "the pattern is not a regular expression: regex parse error:\n    fn one(\n          ^\nerror: unclosed group. To \
                 search for it as plain text, set `literal` to true, or escape what has a meaning of its own: `fn one\\(`",
            ),
            (
                json!({ "pattern": "(?<=a)b" }),
                "the pattern is not a regular expression: regex parse error:\n    (?<=a)b\n    ^^^^\nerror: look-around, including \
                 look-ahead and look-behind, is not supported; this regular expression syntax has no look-around and \
                 no backreferences. To search for it as plain text, set `literal` to true, or escape what has a meaning of \
                 its own: `\\(\\?<=a\\)b`",
            ),
            (
                json!({ "pattern": "one\\ntwo" }),
                "the pattern has a line feed, but each line is searched by itself; set `multiline` to true to match \
                 over several lines",
            ),
            (json!({ "pattern": "(a{1000}){1000}" }),
                "the pattern is too large once its repetitions are written out; use smaller numbers in `{…}`, or `*` and `+`"),
            (json!({ "pattern": "x", "type": "rs" }), "there is no file type `rs`; did you mean `rust`?"),
            (json!({ "pattern": "x", "type": "pyton" }), "there is no file type `pyton`; did you mean `python`?"),
            (
                json!({ "pattern": "x", "glob": "a[" }),
                "`a[` is not a glob pattern: unclosed character class; missing ']'; `*` stands for text within one name, `**` for \
                 any directories, `?` for one character, `[ab]` for one of these and `{a,b}` for either; put a \
                 backslash before a literal one",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_long_line_is_cut_around_the_match() {
    let line = format!("{}needle{}", "a".repeat(1_000), "ä".repeat(1_000));
    let toolbox = toolbox().file("long", line);
    let text = toolbox.call(json!({ "pattern": "needle" })).await.text();
    let expected = format!("long:1:[803 bytes…]{}needle{}[…1804 bytes]\n", "a".repeat(197), "ä".repeat(98));
    assert_eq!(text, expected);
}

#[tokio::test]
async fn what_needs_to_be_asked_for_is_left_out_and_counted() {
    let toolbox = toolbox()
        .file("a.pem", "secret")
        .file(".env", "secret")
        .file("b.txt", "no secret")
        .file("keys/.ssh/x", "secret")
        .file("keys/id_rsa", "secret");
    let call = toolbox.call(json!({ "pattern": "secret" })).await;
    assert_eq!(
        call.text(),
        "b.txt:1:no secret\n(2 places left out, which need approval: name one as `path` to request it)\n"
    );
    assert!(call.asks.is_empty());
}

#[tokio::test]
async fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("canary"), "needle").unwrap();
    let toolbox = toolbox().file("in/here", "needle");
    let root = toolbox.workspace().path().to_owned();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("canary"), root.join("file")).unwrap();
    symlink("in", root.join("within")).unwrap();
    symlink("..", root.join("in/circle")).unwrap();
    symlink(outside.path().join("canary"), root.join(".ignore")).unwrap();
    check(&toolbox, &[(json!({ "pattern": "needle" }), "in/here:1:needle\n")]).await;
    check(&toolbox, &[(json!({ "pattern": "needle", "path": "within" }), "in/here:1:needle\n")]).await;
}

#[tokio::test]
async fn an_ignore_file_that_is_a_pipe_stops_nobody() {
    let toolbox = toolbox().file("here", "needle");
    for name in [".gitignore", ".ignore", ".rgignore", ".git", "pipe"] {
        let pipe = toolbox.workspace().path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    check(&toolbox, &[(json!({ "pattern": "needle" }), "here:1:needle\n")]).await;
}

#[tokio::test]
async fn reading_on_gives_every_result_once() {
    let mut toolbox = toolbox();
    let mut expected = Vec::new();
    for file in 0..12 {
        let lines: Vec<String> =
            (0..file * 30).map(|line| format!("needle {file} {line} {}", "x".repeat(line % 300))).collect();
        expected.extend(lines.iter().map(|line| format!("{file:03}:{line}")));
        toolbox = toolbox.file(&format!("{file:03}"), lines.join("\n"));
    }
    for limit in [61, 999] {
        let (mut seen, mut offset) = (Vec::new(), json!(0));
        while !offset.is_null() {
            let call = toolbox.call(json!({ "pattern": "needle", "limit": limit, "offset": offset })).await;
            assert!(call.text().len() < 51_200, "{}", call.text().len());
            seen.extend(call.text().lines().filter(|line| !line.starts_with('(')).map(|line| {
                let mut parts = line.splitn(3, ':');
                let (file, _, text) = (parts.next().unwrap(), parts.next(), parts.next().unwrap());
                format!("{file}:{text}")
            }));
            offset = call.details()["nextOffset"].clone();
        }
        assert!(seen == expected, "{limit}");
    }
}

#[tokio::test]
async fn metadata_is_for_interfaces() {
    let toolbox = toolbox().file("a", "one\none\n").file("b", "one\n");
    let call = toolbox.call(json!({ "pattern": "one", "limit": 2 })).await;
    let output = call.expect_ok();
    assert_eq!(output.title.as_deref(), Some("Found 2 matches or more"));
    let metadata = Value::Object(output.metadata.clone());
    assert_eq!(metadata, json!({ "pattern": "one", "searchPath": ".", "count": 2, "truncated": true }));
    let call = toolbox.call(json!({ "pattern": "one", "output_mode": "files", "path": "b" })).await;
    assert_eq!(call.expect_ok().title.as_deref(), Some("Found 1 file"));
    assert_eq!(call.details()["results"], json!([{ "path": "b" }]));
}

#[tokio::test]
async fn a_line_of_any_length_is_searched_in_pieces() {
    // The match lies where one piece ends and the next begins.
    for at in [(1 << 20) - 3, (1 << 20) - 70_000, 1 << 20, 3 << 20] {
        let mut line = vec![b'x'; 5 << 20];
        line[at..at + 6].copy_from_slice(b"needle");
        let mut content = b"first needle\n".to_vec();
        content.extend(line);
        content.extend(b"\nlast needle\n");
        let toolbox = toolbox().file("long", content);
        let call = toolbox.call(json!({ "pattern": "needle", "context": 1 })).await;
        let lines = &call.details()["results"][0]["lines"];
        let numbers: Vec<_> =
            lines.as_array().unwrap().iter().map(|line| line["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3], "{at}");
        assert_eq!(call.details()["count"], 3, "{at}");
        assert!(lines[1]["text"].as_str().unwrap().contains("xneedlex"), "{at}");
        assert!(call.text().contains("were searched in pieces"), "{at}");
        // The lengths of the line before and after it are unknown.
        let text = lines[1]["text"].as_str().unwrap();
        assert!(text.starts_with("[…]x") && text.ends_with("x[…]"), "{text}");
        let call = toolbox.call(json!({ "pattern": "nowhere" })).await;
        assert!(call.text().contains("were searched in pieces"), "{at}");
        let call = toolbox.call(json!({ "pattern": "needle", "output_mode": "count" })).await;
        assert!(call.text().starts_with("long:3\n"), "{}", call.text());
    }
}

#[tokio::test]
async fn files_are_named_by_a_pattern_however_it_is_written() {
    let toolbox = toolbox().file("src/a.rs", "one\n").file("src/b.txt", "one\n").file("c.rs", "one\n");
    let root = toolbox.workspace().path().canonicalize().unwrap();
    let whole = format!("{}/src/*.rs", root.display());
    for (glob, expected) in [
        ("./src/*.rs", "src/a.rs:1:one\n"),
        (&whole, "src/a.rs:1:one\n"),
        ("!./src/*", "c.rs:1:one\n"),
        (
            "*.py",
            "(no matches; 0 files searched, since no file matches `glob` or `type`, hidden and ignored files skipped)\n",
        ),
    ] {
        let call = toolbox.call(json!({ "pattern": "one", "glob": glob })).await;
        assert_eq!(call.text(), expected, "{glob}");
    }
    let call = toolbox.call(json!({ "pattern": "one", "glob": "../*" })).await;
    assert!(call.text().contains("leads out of the directory"), "{}", call.text());
}

#[tokio::test]
async fn what_is_too_large_for_several_lines_is_said() {
    let toolbox = toolbox().file("big", vec![b'x'; (32 << 20) + 1]).file("small", "a\nb\n");
    let call = toolbox.call(json!({ "pattern": "a\nb", "multiline": true })).await;
    assert_eq!(
        call.text(),
        "small:1:a\nsmall:2:b\n(1 file of more than 32 MiB not searched, which is too much for `multiline`: big)\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_ends_soon_after_it_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(directory.path().join("endless")).unwrap();
    // It has holes, and so takes no room; to read it takes minutes.
    file.set_len(1 << 40).unwrap();
    let caller = toolkit::Caller::new().with_workspace(directory.path());
    let toolkit = toolkit::Toolkit::empty().tool(toolkit::tool_ref!(grep)).build().unwrap();
    let mut events = toolkit.events();
    let toolbox = toolkit.toolbox(&caller).await;
    for arguments in [json!({ "pattern": "x" }), json!({ "pattern": "x", "path": "endless" })] {
        let token = toolkit::CancellationToken::new();
        let call = toolkit::ToolCall::new("1", "grep", arguments.to_string());
        let running = tokio::spawn({
            let (toolbox, token) = (toolbox.clone(), token.clone());
            async move { toolbox.call_with(call, token).await }
        });
        // After half a second progress is reported.
        while !matches!(events.next().await.unwrap().event, toolkit::events::Event::Progress(_)) {}
        let start = std::time::Instant::now();
        token.cancel();
        let result = running.await.unwrap();
        assert!(result.outcome.is_err());
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
