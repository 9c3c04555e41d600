//! Verdicts on the commands of tables, beside only parsing them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use brush_parser::{Parser, ParserOptions};
use shell_verdict::{Access, Decision, Programs, Shell, Situation, judge};

use crate::{Result, median, print};

/// How often a command is judged in a round.
const REPETITIONS: u32 = 10;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The files that the commands of the tables name.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# A project\n"),
    ("Cargo.toml", "[package]\n"),
    ("Makefile", "all:\n"),
    ("build.sh", "#!/bin/sh\n"),
    ("data/x.csv", "1,2\n"),
    ("data/y.csv", "3,4\n"),
    ("dir with space/file one.txt", "one\n"),
    ("docs/a.md", "a\n"),
    ("docs/b.md", "b\n"),
    ("notes.txt", "notes\n"),
    ("package.json", "{}\n"),
    ("src/deep/mod.rs", "\n"),
    ("src/lib.rs", "//! A library.\n"),
    ("src/main.rs", "fn main() {}\n"),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"),
    (".git/index", "DIRC"),
    (".git/objects/info/packs", "\n"),
    (".git/refs/heads/main", "0123456789012345678901234567890123456789\n"),
];

/// Prints nanoseconds a command: one line for the verdict, one for parsing.
pub(crate) fn measure(rounds: usize, directory: &Path, tables: &[&str]) -> Result<()> {
    let workspace = directory.canonicalize()?.join("project");
    for (name, text) in FILES {
        let path = workspace.join(name);
        fs::create_dir_all(path.parent().ok_or("a directory")?)?;
        fs::write(path, text)?;
    }
    let mut commands = Vec::new();
    for table in tables {
        commands.extend(fs::read_to_string(table)?.lines().filter_map(command));
    }
    if commands.is_empty() {
        return Err("the tables hold no commands".into());
    }
    let env = [("HOME", "/home/u"), ("PATH", PATH), ("LANG", "C.UTF-8"), ("USER", "u"), ("TERM", "dumb")];
    let env: BTreeMap<String, String> =
        env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let programs = Programs::of_path(PATH);
    let decide = |path: &Path, access: Access| {
        if access == Access::Write || !path.starts_with(&workspace) { Decision::Ask } else { Decision::Allow }
    };
    let situation = Situation {
        cwd: &workspace,
        workspace: &workspace,
        env: &env,
        programs: &programs,
        shell: Shell::Bash,
        decide: &decide,
        search: None,
        contained: false,
    };
    // As the verdict parses.
    let options =
        ParserOptions { enable_extended_globbing: false, sh_mode: false, ..ParserOptions::default() };
    let parts = Cell::new(0);
    let judged = |command: &str| parts.set(parts.get() + black_box(judge(command, &situation)).parts.len());
    let parsed = |command: &str| {
        let mut parser = Parser::new(command.as_bytes(), &options);
        // A parse error is a valid outcome.
        let _ = black_box(parser.parse_program());
    };
    let mut figures = vec![(Vec::new(), Vec::new()); commands.len()];
    for round in 0..=rounds {
        for (command, (verdicts, parses)) in commands.iter().zip(&mut figures) {
            // By turns the one and the other first.
            let (verdict, parse) = if round % 2 == 0 {
                let verdict = nanoseconds(|| judged(command));
                (verdict, nanoseconds(|| parsed(command)))
            } else {
                let parse = nanoseconds(|| parsed(command));
                (nanoseconds(|| judged(command)), parse)
            };
            // The first finds the programs.
            if round > 0 {
                verdicts.push(verdict);
                parses.push(parse);
            }
        }
    }
    if parts.get() == 0 {
        return Err("nothing was judged".into());
    }
    for (command, (verdicts, parses)) in commands.iter().zip(&figures) {
        // On one line, and without what stands between fields.
        let command = command.replace('\n', "\\n").replace('\t', "\\t");
        print("verdict", &command, verdicts);
        print("parse", &command, parses);
    }
    Ok(())
}

/// Of a command in a round, the middle of its repetitions.
fn nanoseconds(mut act: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let begun = Instant::now();
            act();
            begun.elapsed().as_secs_f64() * 1e9
        })
        .collect();
    median(&mut times)
}

/// The command of a row: what stands behind the bar, with `\n`, `\t` and `\\` for what they stand for.
fn command(row: &str) -> Option<String> {
    if row.starts_with('#') {
        return None;
    }
    let (_, command) = row.split_once(" | ")?;
    let mut text = String::new();
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        text.push(match (c, c == '\\') {
            (_, true) => match rest.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            (c, false) => c,
        });
    }
    Some(text)
}
