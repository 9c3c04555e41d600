//! Nothing of it runs or counts, and what is said of it does nothing.

use crate::fixture::program;
use crate::hostile::repository::{Clone, IGNORED};
use crate::hostile::{assert_plain, programs};
use rustix::fs::inotify;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn the_canaries_sing() {
    let clone = Clone::hostile();
    assert!(Command::new(clone.path("repo/steal")).status().unwrap().success());
    assert!(clone.path("ran").exists());
    std::net::TcpStream::connect(clone.listener.local_addr().unwrap()).unwrap();
    assert!(clone.listener.accept().is_ok());
    fs::read(clone.path("outside/key.pem")).unwrap();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&clone.opened, &mut buffer);
    assert_eq!(reader.next().unwrap().file_name().unwrap().to_bytes(), b"key.pem");
}

#[test]
fn nothing_of_it_runs_and_each_thing_is_said_once() {
    let clone = Clone::hostile();
    for program in programs() {
        for directory in ["repo", "repo/deep", "repo/deep/er"] {
            let up = "../".repeat(directory.matches('/').count());
            let readme = format!("{up}README.md");
            for args in [
                &["list"][..],
                &["list", "--diagnostics"],
                &["list", "--agent", "kid", "--channel", "mail", "--provider", "acme", "--sandboxed"],
                &["call", "read", "--file-path", &readme],
                &["describe", "read"],
                &["explain", "tool", "read"],
                &["schema"],
                &["permission", "list"],
                &["config", "show"],
                &["config", "show", "--origins"],
                &["config", "check"],
            ] {
                // In a subdirectory the file above is read without a question where it is in the workspace only.
                let is_outside = args[0] == "call" && !up.is_empty();
                let run = clone.run(&program, directory, args);
                assert_eq!(run.code, if is_outside { 5 } else { 0 }, "{args:?} in {directory}: {run:?}");
                assert_plain(&run);
                let said = format!("{}{}", run.out, run.err);
                for key in IGNORED {
                    let line = format!("`{key}` at {}:", clone.path("repo/toolkit.json5").display());
                    assert_eq!(said.matches(&line).count(), 1, "{line} {args:?} in {directory}: {said}");
                }
                assert_eq!(said.matches("is ignored until `toolkit trust`").count(), IGNORED.len(), "{said}");
                assert!(!said.contains("-of-the-user"), "{said}");
                clone.nothing_happened();
            }
            // Its denials count all the same, and its permissions do not.
            if program == self::program() {
                clone.run(&program, directory, &["call", "greet", "--name", "Ada"]).fails(5);
                clone.run(&program, directory, &["call", "deploy"]).fails(5);
                clone.nothing_happened();
            }
        }
    }
}

#[test]
fn names_that_are_shown_do_nothing_to_a_terminal() {
    let odd = r"\u001b]0;owned\u0007\u001b[2J\nwarning: all is well\r\u202e\u2066";
    // Where any name will do.
    let taken = format!(
        r#"{{
  mcp: {{ "{odd}": {{ command: "./{odd}" }} }},
  tools: {{ deny: ["gre*"], exec: {{ safeBins: ["{odd}"] }} }},
  permission: {{ exec: [{{ match: "{odd}", do: "deny" }}] }},
  plugins: {{ "x": {{ "{odd}": 1 }} }},
}}"#
    );
    // Where it stops the command.
    let refused = format!(
        r#"{{
  mcp: {{ "{odd}": {{ command: "./{odd}" }} }},
  tools: {{ deny: ["{odd}", "group:{odd}"], allow: ["read", "{odd}"], profiles: {{ "{odd}": {{ allow: ["{odd}"] }} }} }},
  agents: {{ "{odd}": {{ tools: {{ profile: "{odd}", allow: ["{odd}"] }}, permission: {{ "{odd}": "deny", exec: "allow" }} }} }},
  permission: {{ "{odd}": "ask", read: [{{ match: "{odd}", do: "deny" }}] }},
  plugins: {{ "x{odd}": {{ "{odd}": 1 }} }},
}}"#
    );
    for (text, code) in [(taken, 0), (refused, 6)] {
        let clone = Clone::new();
        clone.write("repo/toolkit.json5", text);
        names_do_nothing(&clone, code);
    }
}

/// Runs everything that shows names, in a directory whose own name is no better.
fn names_do_nothing(clone: &Clone, listing: i32) {
    let directory = "re\u{1b}[31m\npo";
    fs::rename(clone.path("repo"), clone.path(directory)).unwrap();
    for program in programs() {
        for args in [
            &["list"][..],
            &["list", "--diagnostics"],
            &["call", "read", "--file-path", "README.md"],
            &["explain", "tool", "read"],
            &["explain", "tool", "raed"],
            &["config", "show"],
            &["config", "show", "--origins"],
            &["config", "check"],
            &["trust"],
            &["trust", "--yes"],
            &["config", "show"],
            &["config", "show", "--origins"],
            &["config", "check"],
            &["list", "--diagnostics"],
            &["trust", "--list"],
            &["trust", "--revoke"],
        ] {
            let run = clone.run(&program, directory, args);
            assert!(run.code != 124 && run.code >= 0, "{args:?}: {run:?}");
            if args[0] == "list" {
                assert_eq!(run.code, listing, "{run:?}");
            }
            assert_plain(&run);
            let said = format!("{}{}", run.out, run.err);
            assert!(!said.contains("\nwarning: all is well"), "{run:?}");
            assert!(!said.contains(r"\\u{1b}"), "escaped twice: {run:?}");
        }
    }
}

/// A link from a repository to a file that the user trusts is another file at another place.
#[test]
fn a_link_to_a_trusted_file_is_not_trusted() {
    let clone = Clone::new();
    clone.write("mine/toolkit.json5", "{ permission: { deploy: 'allow' } }");
    let [_, fixture] = programs();
    clone.run(&fixture, "mine", &["trust", "--yes"]).ok();
    clone.run(&fixture, "mine", &["call", "deploy"]).ok();
    symlink(clone.path("mine/toolkit.json5"), clone.path("repo/toolkit.json5")).unwrap();
    let run = clone.run(&fixture, "repo", &["call", "deploy"]);
    assert!(run.err.contains("`permission.deploy` at "), "{run:?}");
    run.fails(5);
    // And a workspace that is a link is the directory that it leads to.
    symlink(clone.path("repo"), clone.path("mine/inner")).unwrap();
    clone.run(&fixture, "mine/inner", &["call", "deploy"]).fails(5);
    assert!(clone.path("mine/inner").as_os_str().as_bytes().ends_with(b"inner"));
}
