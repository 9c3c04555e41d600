//! `trust` with a person at a terminal, and several at once.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture;
use crate::fixture::terminal;

use fixture::{finish, program};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use terminal::Terminal;

const PROMPT: &str = "Trust it? [y/N] ";
/// The prompt where the text before it does not have all that would be trusted.
const PROMPT_OF_PART: &str = "Trust it? [y/N/v] ";

/// A user with a workspace that they may trust.
struct User {
    root: TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self { root: tempfile::tempdir().unwrap() };
        user.write("{ permission: { deploy: 'allow' } }");
        user
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.path("work")).unwrap();
        fs::write(self.path("work/toolkit.json5"), text).unwrap();
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .current_dir(self.path("work"))
            .env("TOOLKIT_CONFIG_DIR", self.path("user"))
            .env("TOOLKIT_DATA_DIR", self.path("data"));
        command
    }

    /// Away from any terminal.
    fn run(&self, args: &[&str]) -> fixture::Run {
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(program()).args(args).stdin(Stdio::null());
        finish(&mut self.prepared(command))
    }

    fn is_trusted(&self) -> bool {
        self.run(&["trust", "--list"]).ok().contains("work/toolkit.json5")
    }

    /// A shell command, in which `trust` is the program's, on a terminal of its own.
    fn at_a_terminal(&self, line: &str) -> Terminal {
        let line = line.replace("trust", &format!("'{}' trust", program().display()));
        Terminal::running(&line, |command| self.prepared(command))
    }
}

#[test]
fn only_a_yes_trusts() {
    for (typed, is_trusted) in [
        ("y\n", true),
        ("Y\n", true),
        ("yes\n", true),
        (" y \n", true),
        ("n\n", false),
        ("\n", false),
        ("yy\n", false),
        ("yep\n", false),
        ("ny\n", false),
        // The end of input.
        ("\u{4}", false),
        // Ctrl-C.
        ("\u{3}", false),
    ] {
        let user = User::new();
        let (seen, code) = user.at_a_terminal("trust").until(PROMPT).type_in(typed).end();
        let (before, _) = seen.split_once(PROMPT).unwrap();
        assert!(before.contains("work/toolkit.json5 would change:"), "{seen}");
        assert!(before.contains("  + /permission/deploy = \"allow\""), "{seen}");
        assert_eq!(user.is_trusted(), is_trusted, "{typed:?}: {seen}");
        assert_eq!(seen.contains("Trusted, until it changes."), is_trusted, "{typed:?}: {seen}");
        assert_eq!(code == Some(0), is_trusted, "{typed:?}: {code:?} {seen}");
        if typed.ends_with('\n') && !is_trusted {
            assert_eq!((code, seen.contains("nothing is trusted")), (Some(5), true), "{typed:?}: {seen}");
        }
        user.run(&["call", "deploy"]).code.eq(&if is_trusted { 0 } else { 5 }).then_some(()).unwrap();
    }
}

#[test]
fn what_was_shown_is_what_is_trusted() {
    let user = User::new();
    let terminal = user.at_a_terminal("trust").until(PROMPT);
    user.write("{ permission: { deploy: 'allow', exec: 'allow' } }");
    let (seen, code) = terminal.type_in("y\n").end();
    assert_eq!(code, Some(0), "{seen}");
    let run = user.run(&["call", "deploy"]);
    assert!(
        run.err.contains("`permission.deploy` at") && run.err.contains("`permission.exec` at"),
        "{run:?}"
    );
    run.fails(5);
    user.write("{ permission: { deploy: 'allow' } }");
    user.run(&["call", "deploy"]).ok();
}

#[test]
fn a_pipe_does_not_answer_and_hides_nothing() {
    let user = User::new();
    // Neither what is piped in nor what was typed before counts, and the changes are seen though the output goes elsewhere.
    let line = "read line < /dev/tty; printf 'y\\ny\\n' | trust > output";
    let terminal = user.at_a_terminal(line).type_in("xx\ny\ny\n");
    let (seen, code) = terminal.until(PROMPT).type_in("n\n").end();
    let (before, _) = seen.split_once(PROMPT).unwrap();
    assert!(before.contains("  + /permission/deploy = \"allow\""), "{seen}");
    assert_eq!((code, user.is_trusted()), (Some(5), false), "{seen}");
    // And where there is no terminal, nobody is asked.
    let error = user.run(&["trust"]);
    assert!(error.err.contains("there is no terminal to ask on; `--yes` trusts without asking"), "{error:?}");
    assert_eq!((error.code, user.is_trusted()), (5, false));
}

#[test]
fn what_a_file_says_cannot_draw_on_the_terminal() {
    let user = User::new();
    let odd = r"\u001b[2J\u001b]0;x\u0007\nTrusted, until it changes.\r\u202e";
    user.write(&format!(
        "{{ permission: {{ exec: [{{ match: '{odd}', do: 'allow' }}] }}, mcp: {{ '{odd}': {{ command: '{odd}' }} }} }}"
    ));
    let (seen, _) = user.at_a_terminal("trust").until(PROMPT).type_in("n\n").end();
    let (before, _) = seen.split_once(PROMPT).unwrap();
    let odd = before.chars().find(|char| char.is_control() && !['\r', '\n'].contains(char));
    assert_eq!((odd, before.contains('\u{202e}')), (None, false), "{seen:?}");
    assert!(!before.contains("\nTrusted") && before.contains(r"\u{202e}"), "{seen:?}");
}

#[test]
fn skills_are_shown_and_trusted_as_they_are() {
    let user = User::new();
    let skill = |name: &str, text: &str| {
        let directory = user.path("work/skills").join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("SKILL.md"), text).unwrap();
    };
    let stored = || fs::read_to_string(user.path("data/trust.json")).unwrap();
    user.run(&["trust", "--yes"]).ok();
    let before = stored();
    assert!(user.run(&["trust", "--yes"]).ok().contains("It is trusted already."));
    // One that comes is asked about, with nothing else changed.
    skill("review", "---\nname: review\ndescription: x\n---\nLook.\n");
    let (seen, code) = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("n\n").end();
    assert!(seen.contains("work/skills would be trusted as they are:\r\n  + review (5 lines)"), "{seen}");
    assert_eq!((code, stored()), (Some(5), before.clone()), "{seen}");
    let (seen, code) = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("y\n").end();
    assert_eq!(code, Some(0), "{seen}");
    let with_one = stored();
    assert!(with_one.contains("\"skills\"") && !before.contains("\"skills\""), "{with_one}");
    assert!(user.run(&["trust", "--yes"]).ok().contains("It is trusted already."));
    // The shown content is remembered, whatever changes meanwhile.
    skill("review", "---\nname: review\ndescription: x\n---\nLook again.\n");
    let terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART);
    skill("evil\u{1b}[2J", "---\nname: evil\ndescription: x\n---\n");
    let (seen, _) = terminal.type_in("y\n").end();
    assert!(!seen.contains("evil"), "{seen}");
    let said = user.run(&["trust", "--yes"]).ok();
    assert!(said.contains("+ evil\\u{1b}[2J (4 lines)") && said.contains("+ review (5 lines)"), "{said}");
    assert!(user.run(&["trust", "--yes"]).ok().contains("It is trusted already."));
    // That they are gone is told as well.
    fs::remove_dir_all(user.path("work/skills")).unwrap();
    assert!(user.run(&["trust", "--yes"]).ok().contains("Trusted, until it changes."));
    assert_eq!(stored(), before);
}

#[test]
fn all_that_is_trusted_can_be_viewed_before() {
    const UNSEEN: &str =
        "Not all of it is shown. v shows the whole, page by page; an answer covers all of it.";
    let user = User::new();
    let rules = (1..=3_001).fold(String::new(), |all, rule| all + &format!("rule {rule}.\n"));
    fs::write(user.path("work/AGENTS.md"), &rules).unwrap();
    let skill = user.path("work/skills/review");
    fs::create_dir_all(skill.join("scripts")).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: review\ndescription: x\n---\nRun the script\u{1b}[2J.\n")
        .unwrap();
    fs::write(skill.join("scripts/run.sh"), "curl elsewhere\n").unwrap();
    fs::write(skill.join("picture.png"), [0xff, 0xfe]).unwrap();
    fs::write(skill.join("changing"), "before\n").unwrap();
    // Stopped after the first page, it was not viewed; what is typed between pages is no answer.
    let terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("v\n").then("q stops: ");
    let terminal = terminal.type_in("y\n").then("q stops: ").type_in("q\n").then(PROMPT_OF_PART);
    let (seen, code) = terminal.type_in("\n").end();
    assert_eq!((seen.matches(UNSEEN).count(), code), (2, Some(5)), "{seen}");
    assert!(!seen.contains("rule 1500.") && !seen.contains("curl elsewhere"), "{seen}");
    assert!(!user.is_trusted());
    // The end of input between pages declines.
    let terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("v\n").then("q stops: ");
    let (seen, code) = terminal.type_in("\u{4}").end();
    assert_eq!((code, user.is_trusted()), (Some(5), false), "{seen}");

    let mut terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART);
    fs::write(skill.join("changing"), "after\n").unwrap();
    terminal = terminal.type_in("v\n").then("q stops: ");
    let seen = terminal.seen();
    let (_, count) = seen.rsplit_once("Line 22 of ").unwrap();
    let lines: usize = count.split_once('.').unwrap().0.parse().unwrap();
    // The prompts between the pages.
    terminal = terminal.type_in(&"\n".repeat(lines.div_ceil(22) - 1)).then(PROMPT_OF_PART);
    let seen = terminal.seen();
    let missing: Vec<u32> =
        (1..=3_001).filter(|rule| !seen.contains(&format!("  │ rule {rule}.\r\n"))).collect();
    assert!(missing.is_empty(), "{missing:?} of {}", seen.len());
    for text in [
        "  │ Run the script\\u{1b}[2J.\r\n",
        "scripts/run.sh of the skill review:\r\n  │ curl elsewhere\r\n",
        "picture.png of the skill review:\r\n  │ \\xff\\xfe\r\n",
        "changing of the skill review:\r\n  │ before\r\n",
        "That is all of it.\r\n",
    ] {
        assert!(seen.contains(text), "{text}: {seen}");
    }
    let (seen, code) = terminal.type_in("y\n").end();
    assert_eq!((seen.matches(UNSEEN).count(), code), (1, Some(0)), "{seen}");
    // The content that was read first is what is trusted.
    fs::write(skill.join("changing"), "before\n").unwrap();
    assert!(user.run(&["trust", "--yes"]).ok().contains("It is trusted already."));
}

#[test]
fn the_programs_of_servers_can_be_viewed_before_they_are_trusted() {
    let user = User::new();
    let configuration = "{ mcp: { local: { command: 'python3', args: ['server.py'] } } }";
    fs::write(user.path("work/toolkit.json5"), configuration).unwrap();
    fs::write(user.path("work/server.py"), "print('elsewhere')\n").unwrap();
    let terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("v\n").then(PROMPT_OF_PART);
    let seen = terminal.seen();
    assert!(seen.contains("work/server.py:\r\n  │ print('elsewhere')\r\n"), "{seen}");
    let (seen, code) = terminal.type_in("y\n").end();
    assert_eq!((code, user.is_trusted()), (Some(0), true), "{seen}");
    assert!(user.run(&["trust", "--yes"]).ok().contains("It is trusted already."));
    // A file that cannot be shown was not viewed.
    fs::write(user.path("work/server.py"), b"print('elsewhere')\n#\0\n").unwrap();
    let terminal = user.at_a_terminal("trust").until(PROMPT_OF_PART).type_in("v\n").then(PROMPT_OF_PART);
    let (seen, code) = terminal.type_in("\n").end();
    for text in ["  (22 bytes that are not text)\r\n", "That is all but 1 of the files"] {
        assert!(seen.contains(text), "{text}: {seen}");
    }
    assert_eq!((seen.matches("Not all of it is shown.").count(), code), (2, Some(5)), "{seen}");
}

#[test]
fn several_at_once_are_all_remembered() {
    const WORKSPACES: usize = 12;
    let user = User::new();
    let path = |number: usize| user.path(&format!("many/{number}/toolkit.json5"));
    let mut running = Vec::new();
    for number in 0..WORKSPACES {
        fs::create_dir_all(path(number).parent().unwrap()).unwrap();
        fs::write(path(number), "{ permission: { deploy: 'allow' } }").unwrap();
        let mut command = user.prepared(Command::new(program()));
        command.args(["trust", "--yes"]).current_dir(path(number).parent().unwrap());
        running.push(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let listed = user.run(&["trust", "--list"]).ok();
    for number in 0..WORKSPACES {
        assert!(listed.contains(&format!("{}\n", path(number).display())), "{listed}");
    }
}

#[test]
fn instructions_are_shown_and_trusted_as_they_are() {
    let user = User::new();
    let agents = user.path("work/AGENTS.md");
    user.run(&["trust", "--yes"]).ok();
    fs::write(&agents, "Be brief.\u{1b}[2J\n").unwrap();
    let shown = user.run(&["trust", "--yes"]).ok();
    assert!(shown.contains("AGENTS.md") && shown.contains("  | Be brief.\\u{1b}[2J"), "{shown}");
    assert!(user.run(&["trust", "--yes"]).ok().contains("trusted already"));
    fs::write(&agents, "Be long.\n").unwrap();
    assert!(user.run(&["trust", "--yes"]).ok().contains("Be long."));
    fs::remove_file(&agents).unwrap();
    assert!(user.run(&["trust", "--yes"]).ok().contains("is gone"));
}
