//! Everything that is wrong is told at once, with its place, what is allowed and what was probably meant.

use super::Place;
use std::fs;
use toolkit::config::{Configuration, LoadOptions};

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, expected) in [
        (
            "{ tools: { profil: 'coding' } }",
            &["user/toolkit.json5:1:12: tools.profil: expected one of the keys"][..],
        ),
        ("{ tools: { profil: 'coding' } }", &["got the unknown `profil`; did you mean `profile`?"]),
        (
            "{\n  tols: {},\n}",
            &[
                "user/toolkit.json5:2:3: tols: expected one of the keys `$schema`, `tools`",
                "did you mean `tools`?",
            ],
        ),
        (
            "{ tools: { profile: 42 } }",
            &["user/toolkit.json5:1:21: tools.profile: expected a string, got the number 42"],
        ),
        (
            "{ tools: {\n  deny: 'exec' } }",
            &["user/toolkit.json5:2:9: tools.deny: expected an array, got the string \"exec\""],
        ),
        (
            "{ tools: { deny: ['a', null] } }",
            &["user/toolkit.json5:1:24: /tools/deny/1: expected a string, got null"],
        ),
        (
            "{ permission: { exec: 'alow' } }",
            &[
                "user/toolkit.json5:1:23: permission.exec: expected one of \"allow\", \"ask\", \"deny\" or an array",
                "the string \"alow\"",
            ],
        ),
        (
            "{ permission: { exec: [{ match: 'git *', do: 'permit' }] } }",
            &[
                "user/toolkit.json5:1:46: permission.exec.0.do: expected one of \"allow\", \"ask\", \"deny\", got the string \"permit\"",
            ],
        ),
        (
            "{ loopGuard: { tell: 0 } }",
            &["1:22: loopGuard.tell: expected an integer from 1 to 1000, got the number 0"],
        ),
        ("{ enableToolCalls: 'no' }", &["1:20: enableToolCalls: expected a boolean, got the string \"no\""]),
        (
            "{ mcp: { a: { url: 'ftp://x' } } }",
            &["1:20: mcp.a.url: expected a string that matches the pattern"],
        ),
        (
            "{ mcp: { a: { comand: 'x', env: { KEY: 'hunter2hunter2' } } } }",
            &[
                "1:15: mcp.a.comand: expected one of the keys",
                "got the unknown `comand`; did you mean `command`?",
            ],
        ),
        ("{ mcp: { a: { ulr: 'https://x' } } }", &["1:15: mcp.a.ulr: ", "did you mean `url`?"]),
        (
            "{ mcp: { a: { env: { KEY: 'hunter2hunter2' } } } }",
            &["1:13: mcp.a.command: expected a string", "got nothing"],
        ),
        (
            "{ mcp: { a: { command: 'x', url: 'https://x', headers: { KEY: 'hunter2hunter2' } } } }",
            &["1:13: mcp.a: expected a command or an address, got both `command` and `url`"],
        ),
        (
            "{ mcp: { a: { timeoutMs: 5 }, 'b/c': {} } }",
            &[
                "1:13: mcp.a: expected an object with the key `command` or the key `url`, got an object with neither",
                "1:38: mcp.b/c: expected an object with the key `command`",
            ],
        ),
        ("{ plugins: { prefer: 'a' } }", &["1:22: plugins.prefer: expected an array"]),
        (
            "{ tools: { settings: { Read: {} } } }",
            &["1:24: tools.settings.Read: expected a string", "the name `Read`"],
        ),
        ("{ tools: { allow: ['${env:NAMES}'] } }", &["1:20: tools.allow.0: `${env:…}` is not replaced here"]),
        ("[]", &["user/toolkit.json5:1:1: expected an object, got a value"]),
        ("{ a: 1 b }", &["user/toolkit.json5:1:8: a comma"]),
        (
            "{ tools: {}, tools: {} }",
            &["user/toolkit.json5:1:14: the key \"tools\" is repeated in one object"],
        ),
    ] {
        let place = Place::new();
        let error = place.write("user/toolkit.json5", text).fails().replace("/tools/deny/1", "tools.deny.1");
        for part in expected {
            let part = part.replace("/tools/deny/1", "tools.deny.1");
            assert!(error.contains(&part), "{text}: {error}\nlacks {part}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn the_key_that_a_server_has_says_what_it_was_to_be() {
    let cases: [(&str, &[&str]); 4] = [
        (
            "{ mcp: { a: { command: 'x', ulr: 'https://x' } } }",
            &["1:29: mcp.a.ulr: expected one of the keys", "got the unknown `ulr`"],
        ),
        (
            "{ mcp: { a: { url: 'https://x', comand: 'x' } } }",
            &["1:33: mcp.a.comand: expected one of the keys"],
        ),
        ("{ mcp: { a: { command: 'x', zzzz: 1 } } }", &["1:29: mcp.a.zzzz: expected one of the keys"]),
        ("{ mcp: { a: { url: 'https://x', zzzz: 1 } } }", &["1:33: mcp.a.zzzz: expected one of the keys"]),
    ];
    for (text, expected) in cases {
        let error = Place::new().write("user/toolkit.json5", text).fails();
        assert!(expected.iter().all(|part| error.contains(part)), "{text}: {error}\nlacks {expected:?}");
    }
}

#[test]
fn all_problems_of_all_sources_come_at_once() {
    let place = Place::new();
    place.write("user/toolkit.json5", "{ tools: { profile: 1, deny: 2 } }");
    place.write("work/toolkit.json5", "{ x");
    let options = place.options().environment([("TOOLKIT_TOOLS__ALOW", "[]"), ("TOOLKIT_LOG", "debug")]);
    let error = Configuration::load(options.set("enableToolCalls=perhaps").set("tools")).unwrap_err();
    let lines: Vec<String> = error.problems.iter().map(|problem| place.short(&problem.to_string())).collect();
    assert_eq!(
        lines,
        [
            "work/toolkit.json5:1:4: the text ends within a key",
            "user/toolkit.json5:1:21: tools.profile: expected a string, got the number 1",
            "user/toolkit.json5:1:30: tools.deny: expected an array, got the number 2",
            "$TOOLKIT_TOOLS__ALOW: `tools` has no key `ALOW`; did you mean `allow`?",
            "--set enableToolCalls: enableToolCalls: expected a boolean, got the string \"perhaps\"",
            "--set: it takes a key and a value: `--set tools.profile=coding`",
        ]
    );
}

#[test]
fn what_cannot_be_read_stops_the_host() {
    type Make = fn(&Place);
    let table: [(&str, Make, &str); 6] = [
        (
            "a directory",
            |place| fs::create_dir(place.path("work/toolkit.json5")).unwrap(),
            "it is not a regular file",
        ),
        (
            "10 MB of nesting",
            |place| {
                place.write("work/toolkit.json5", &"[".repeat(10 << 20));
            },
            "it has more than 1048576 bytes",
        ),
        (
            "1 MiB of nesting",
            |place| {
                place.write("work/toolkit.json5", &"{a:".repeat((1 << 20) / 3));
            },
            "1:193: lists and objects nest more than 64 deep",
        ),
        (
            "no UTF-8",
            |place| fs::write(place.path("work/toolkit.json5"), b"{}\n\n\xff").unwrap(),
            "it is not UTF-8 from line 3 on",
        ),
        (
            "a link to nowhere",
            |place| {
                #[cfg(unix)]
                std::os::unix::fs::symlink(place.path("nothing"), place.path("work/toolkit.json5")).unwrap();
            },
            "it is a symlink to a missing file",
        ),
        (
            "a pipe that nobody writes to",
            |place| {
                #[cfg(unix)]
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    place.path("work/toolkit.json5"),
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .unwrap();
            },
            "it is not a regular file",
        ),
    ];
    for (what, make, reason) in table {
        let place = Place::new();
        make(&place);
        let error = place.fails();
        assert!(error.contains("- work/toolkit.json5:") && error.contains(reason), "{what}: {error}");
    }
}

#[test]
fn a_file_may_be_missing_unless_it_was_named() {
    let place = Place::new();
    place.load();
    let error = Configuration::load(place.options().file(place.path("none.json5"))).unwrap_err();
    assert!(place.shown(&error).ends_with("- none.json5: there is no such file"), "{error}");
}

#[test]
fn a_wrong_value_that_is_secret_is_not_repeated() {
    let error = Configuration::load(
        LoadOptions::new().set("mcp.a={url:'https://x', headers:{Key:['hunter2hunter2']}}"),
    );
    let error = error.unwrap_err().to_string();
    assert!(!error.contains("hunter2"), "{error}");
}
