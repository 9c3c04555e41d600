//! Files that are odd, wrong or too much.

use crate::hostile::repository::Clone;
use crate::hostile::{assert_plain, programs};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn one_that_cannot_be_used_stops_the_command_with_its_reason() {
    type Make = fn(&Path);
    fn text(path: &Path, text: impl AsRef<[u8]>) {
        fs::write(path, text).unwrap();
    }
    let table: &[(&str, Make, &str)] = &[
        ("10 MB of lists", |path| text(path, "[".repeat(10 << 20)), "it has more than 1048576 bytes"),
        ("10 MB of objects", |path| text(path, "{a:".repeat(10 << 18)), "it has more than 1048576 bytes"),
        (
            "a sparse file",
            |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
            "more than 1048576",
        ),
        ("lists to the limit", |path| text(path, "[".repeat(1 << 20)), "nest more than 64 deep"),
        ("objects to the limit", |path| text(path, "{a:".repeat(300_000)), "nest more than 64 deep"),
        (
            "values",
            |path| text(path, format!("{{ mcp: [{}] }}", "1,".repeat(30_000))),
            "more than 20000 values",
        ),
        ("zeros", |path| symlink("/dev/zero", path).unwrap(), "it is not a regular file"),
        ("randomness", |path| symlink("/dev/urandom", path).unwrap(), "it is not a regular file"),
        ("a terminal", |path| symlink("/dev/ptmx", path).unwrap(), "it is not a regular file"),
        ("nothing", |path| symlink("/nowhere/at/all", path).unwrap(), "it is a symlink to a missing file"),
        ("itself", |path| symlink("toolkit.json5", path).unwrap(), "it cannot be opened"),
        ("a directory", |path| fs::create_dir(path).unwrap(), "it is not a regular file"),
        (
            "a pipe",
            |path| {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            },
            "it is not a regular file",
        ),
        (
            "a socket",
            |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
            "it cannot be opened",
        ),
        ("no UTF-8", |path| text(path, b"{\n a: '\xff\xfe' }"), "it is not UTF-8 from line 2 on"),
        ("UTF-16", |path| text(path, b"\xff\xfe{\0}\0"), "it is not UTF-8 from line 1 on"),
        ("a great number", |path| text(path, "{ loopGuard: { tell: 1e999 } }"), ":1:22: "),
        ("a great integer", |path| text(path, "{ loopGuard: { tell: 99999999999999999999999 } }"), ":1:22: "),
        (
            "no number",
            |path| text(path, "{ loopGuard: { tell: NaN } }"),
            ":1:22: not a number that JSON supports",
        ),
        (
            "a key twice",
            |path| text(path, "{ tools: { deny: ['a'] },\n  tools: {} }"),
            ":2:3: the key \"tools\" is repeated",
        ),
        (
            "a key twice, once escaped",
            |path| text(path, "{ tools: { deny: ['a'] },\n  \"t\\u006fols\": {} }"),
            ":2:3: the key \"tools\" is repeated",
        ),
        ("a prototype", |path| text(path, "{ __proto__: { tools: {} } }"), "got the unknown `__proto__`"),
        (
            "a constructor",
            |path| text(path, "{ constructor: { prototype: {} } }"),
            "got the unknown `constructor`",
        ),
        (
            "a deeper prototype",
            |path| text(path, "{ tools: { __proto__: 1 } }"),
            "got the unknown `__proto__`",
        ),
        ("trust itself", |path| text(path, "{ trust: true }"), "got the unknown `trust`"),
        ("a list", |path| text(path, "['tools']"), ":1:1: "),
        ("a text", |path| text(path, "'tools'"), ":1:1: "),
        ("nothing in it", |path| text(path, ""), ":1:1: "),
        ("a zero byte", |path| text(path, "{ tools: {}\0 }"), ":1:12: "),
        ("more after it", |path| text(path, "{} {}"), ":1:4: unexpected text after the end"),
        ("a comment without end", |path| text(path, "{} /* "), "the text ends within a comment"),
        (
            "a long key",
            |path| text(path, format!("{{ {}: 1 }}", "k".repeat(300))),
            ":1:3: a key of more than 256 bytes",
        ),
        (
            "a secret where none is replaced",
            |path| text(path, "{ tools: { deny: ['${env:CANARY_KEY}'] } }"),
            "is not replaced here",
        ),
    ];
    let clone = Clone::new();
    let file = clone.path("repo/toolkit.json5");
    let [toolkit, _] = programs();
    for (what, make, reason) in table {
        make(&file);
        for (directory, args) in [
            ("repo", &["list"][..]),
            ("repo/deep/er", &["call", "read", "--file-path", "notes.txt"]),
            ("repo", &["trust", "--yes"]),
        ] {
            let run = clone.run(&toolkit, directory, args);
            assert_plain(&run);
            let error = run.fails(6);
            assert!(error.contains(&*file.to_string_lossy()), "{what}: {error}");
            assert!(error.contains(reason), "{what}: {error}");
            assert!(error.len() < 1_000 && !error.contains("-of-the-user"), "{what}: {error}");
        }
        clone.nothing_happened();
        // Help and the schema need no configuration.
        assert_eq!(clone.run(&toolkit, "repo", &["config", "schema"]).code, 0, "{what}");
        let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
    }
    assert_eq!(clone.run(&toolkit, "repo", &["list"]).code, 0);
}

#[test]
fn what_is_odd_but_right_is_taken_as_it_is() {
    for text in [
        "\u{feff}{ tools: { deny: ['read'] } }",
        "{ agents: { __proto__: { tools: { deny: ['exec'] } }, constructor: {} }, tools: { deny: ['read'] } }",
        "{ tools: { deny: ['read'], profiles: { __proto__: { allow: ['*'] }, toString: {} } } }",
        "// nothing\r\n{ 'tools': { \"deny\": [ 'r\\x65ad', ], }, }\r\n",
        "{ tools: { deny: ['  READ '] } }",
    ] {
        let clone = Clone::new();
        clone.write("repo/toolkit.json5", text);
        let run = clone.run(&programs()[0], "repo", &["call", "read", "--file-path", "README.md"]);
        let error = run.fails(5);
        assert!(error.contains("deny list"), "{text}: {error}");
        clone.nothing_happened();
    }
}

/// As many rules as fit in a file, of the kinds that take longest to look at, keep nobody waiting: a run takes less than the
/// 20 seconds of processor time after which it is killed, and says little.
#[test]
fn a_file_full_of_rules_keeps_nobody_waiting() {
    let list =
        |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(",");
    for (what, text) in [
        (
            "patterns",
            format!("{{ tools: {{ deny: [{}] }} }}", list(19_000, &|n| format!("'{}{n}'", "*a".repeat(18)))),
        ),
        (
            "patterns with one end",
            format!("{{ tools: {{ deny: [{}] }} }}", list(19_000, &|n| format!("'*a{n}'"))),
        ),
        (
            "names",
            format!("{{ tools: {{ deny: [{}] }} }}", list(19_000, &|n| format!("'{}{n}'", "z".repeat(24)))),
        ),
        ("kinds", format!("{{ permission: {{ {} }} }}", list(18_000, &|n| format!("kindkind{n}: 'ask'")))),
        (
            "rules of a path",
            format!(
                "{{ permission: {{ read: [{}] }} }}",
                list(6_000, &|n| format!("{{ match: '{}x{n}', do: 'ask' }}", "*a".repeat(8)))
            ),
        ),
        (
            "one long pattern",
            format!("{{ permission: {{ read: [{{ match: '{}', do: 'ask' }}] }} }}", "*a".repeat(400_000)),
        ),
        (
            "agents",
            format!(
                "{{ agents: {{ {} }} }}",
                list(4_500, &|n| format!("x{n}: {{ tools: {{ deny: ['y{n}'] }} }}"))
            ),
        ),
        ("servers", format!("{{ mcp: {{ {} }} }}", list(9_000, &|n| format!("s{n}: {{ command: 'x' }}")))),
    ] {
        let clone = Clone::new();
        clone.write("repo/toolkit.json5", text);
        for args in [&["list", "--diagnostics"][..], &["call", "read", "--file-path", "README.md"]] {
            let run = clone.run(&programs()[0], "repo", args);
            // A name or a key that means nothing, and a pattern longer than any path, are refused.
            let code = if ["rules of a path", "servers"].contains(&what) { 0 } else { 6 };
            assert_eq!(run.code, code, "{what} {args:?}: {run:?}");
            assert!(
                run.out.len() + run.err.len() < 40_000,
                "{what} {args:?}: {}",
                run.out.len() + run.err.len()
            );
        }
        clone.nothing_happened();
    }
}
