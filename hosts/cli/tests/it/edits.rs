//! Files changed by the command, with a person at the terminal who sees what would change.

#![cfg(all(unix, feature = "fs"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::terminal;

use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use terminal::Terminal;

/// The terminal's question at the end of each prompt.
const PROMPT: &str = "y once, ";

/// A user in a workspace.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        fs::create_dir(user.path("work")).unwrap();
        fs::write(user.path("work/a.txt"), "one\ntwo\nthree\n").unwrap();
        user
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path("work").join(path)).ok()
    }

    /// The output of a call to which this is typed, before the question was answered and after, and the exit code.
    fn call(&self, call: &str, typed: &str) -> (String, String, Option<i32>) {
        let line = format!("'{}' call {call}", env!("CARGO_BIN_EXE_toolkit"));
        let terminal = Terminal::running(&line, |mut command| {
            command.current_dir(self.path("work"));
            command.env("TOOLKIT_CONFIG_DIR", self.path("user")).env("TOOLKIT_DATA_DIR", self.path("data"));
            command.env("NO_COLOR", "1");
            command
        });
        let (seen, code) = terminal.until(PROMPT).type_in(typed).end();
        let seen = seen.replace("\r\n", "\n");
        let (before, after) = seen.split_once(PROMPT).unwrap();
        (before.to_owned(), after.to_owned(), code)
    }
}

#[test]
fn an_edit_is_shown_and_made_after_a_yes_alone() {
    let edit = "edit --file-path a.txt --old-string two --new-string 2";
    for (typed, code, content, said) in [
        ("n\n", Some(5), "one\ntwo\nthree\n", "not allowed"),
        ("not this file\n", Some(5), "one\ntwo\nthree\n", "not this file"),
        ("y\n", Some(0), "one\n2\nthree\n", "edited a.txt: replaced 1 place, on line 2 (+1 -1 lines)"),
    ] {
        let user = User::new();
        let (before, after, ended) = user.call(edit, typed);
        assert!(before.contains("  write a.txt (permission.edit)\n"), "{before}");
        for line in ["│ @@ -1,3 +1,3 @@", "│  one", "│ -two", "│ +2", "│  three"] {
            assert!(before.contains(&format!("{line}\n")), "{line} in {before}");
        }
        // The file is named by the operation and by its whole path, and by nothing else.
        assert!(
            before.contains("work/a.txt\n") && !before.contains("changes: ") && !before.contains("a/a.txt"),
            "{before}"
        );
        assert!(after.contains(said), "{after}");
        assert_eq!((ended, user.read("a.txt").as_deref()), (code, Some(content)), "{typed:?} {after}");
    }
}

#[test]
fn a_patch_is_shown_whole_and_made_after_a_yes_alone() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new/b.txt\n+added\n*** End Patch";
    for (typed, code, changed, added, said) in [
        ("n\n", Some(5), "one\ntwo\nthree\n", None, "not allowed"),
        ("y\n", Some(0), "one\n2\nthree\n", Some("added\n"), "patched 2 files:\nM a.txt\nA new/b.txt"),
    ] {
        let user = User::new();
        let (before, after, ended) = user.call(&format!("apply_patch --input '{patch}'"), typed);
        assert!(before.contains("write 2 files: a.txt, new/b.txt (permission.edit)"), "{before}");
        for line in ["│ -two", "│ +2", "│ --- /dev/null", "│ +added"] {
            assert!(before.contains(&format!("{line}\n")), "{line} in {before}");
        }
        assert!(after.contains(said), "{after}");
        assert_eq!((ended, user.read("a.txt").as_deref()), (code, Some(changed)), "{typed:?} {after}");
        assert_eq!(user.read("new/b.txt").as_deref(), added, "{typed:?}");
        assert_eq!(user.path("work/new").exists(), added.is_some());
    }
}

/// A file may speak to the terminal that it is shown on.
#[test]
fn what_a_tool_says_does_not_command_the_terminal() {
    const TITLE: &str = "\u{1b}]0;title\u{7}";
    let user = User::new();
    let text = format!("{TITLE}C:\\temp\tnaïve\nthe second \u{9b}2J of a few lines\n");
    fs::write(user.path("work/loud.txt"), text).unwrap();
    let run = |call: &str| {
        let line = format!("'{}' {call}", env!("CARGO_BIN_EXE_toolkit"));
        let prepared = |mut command: std::process::Command| {
            command.current_dir(user.path("work"));
            command.env("TOOLKIT_CONFIG_DIR", user.path("user")).env("TOOLKIT_DATA_DIR", user.path("data"));
            command
        };
        Terminal::running(&line, prepared).end().0
    };
    for (call, shown) in [
        ("call read --file-path loud.txt", "\\u{1b}]0;title\\u{7}C:\\temp\tnaïve"),
        ("call grep --pattern title", "\\u{1b}]0;title\\u{7}C:\\temp\tnaïve"),
        (
            "call edit --file-path loud.txt --old-string 'the second of a few lines' --new-string x",
            "second \\u{9b}2J of",
        ),
        ("call -o json read --file-path loud.txt", "\\u001b]0;title\\u0007C:\\\\temp\\tnaïve"),
        ("call -o json read --file-path loud.txt", "second \\u009b2J of"),
    ] {
        let seen = run(call);
        let is_quiet = !seen.contains(TITLE) && !seen.contains('\u{9b}');
        assert!(seen.contains(shown) && is_quiet, "{call}: {seen:?}");
    }
    // The output that goes elsewhere is the file's content.
    let piped = run("call read --file-path loud.txt | cat -v");
    assert!(piped.contains("^[]0;title^GC:\\temp\tna"), "{piped}");
}
