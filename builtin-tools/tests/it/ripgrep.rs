//! `grep` and `glob` find what ripgrep finds, in trees of any shape.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![cfg(all(unix, feature = "fs"))]

use builtin_tools::fs::{GrepOutput, glob, grep};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolkit::{Caller, ToolContext};

/// How many trees are tried.
const TREES: u32 = 300;

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c.rs",
    b"d.txt",
    b"x.log",
    b".hid",
    b"sp ace",
    b"-dash",
    b"new\nline",
    b"\xC3\xA4.rs",
    b"\xFF\xFE.txt",
    b"[ab]",
    b"!b",
    b"#x",
    b"build",
    b"trail ",
];
const RULES: &[&str] = &[
    "*.rs",
    "!c.rs",
    "/a",
    "a/",
    "b/c.rs",
    "**/d.txt",
    "a/**",
    "!a/",
    "*",
    "!*/",
    "# comment",
    "\\#x",
    "\\!b",
    "x.log   ",
    "trail\\ ",
    "[ab]",
    "\\[ab\\]",
    "{a,b}",
    "build/",
    "/build/",
    "!.hid",
    ".*",
    "sp ace",
    "*.[tl]*",
    "a/**/c.rs",
    "**",
    "a/*/b",
    "[z-a]",
    "!/a",
    "/",
    "//",
    "a//b",
    "**/a/**",
    "!**/b",
    "\u{e4}*",
    "*.rs\r",
    "",
    "?",
    "a/b/",
    "/*/c.rs",
];
const PATTERNS: &[&str] = &[
    "one",
    "^t",
    "e$",
    "[aeiou]{2}",
    r"\bone\b",
    "(?i)ONE",
    r"\s",
    "\u{e4}",
    "o.e",
    "^$",
    "x|t",
    r"\w+ \w+",
    r"\x00",
];
const GLOBS: &[&str] = &[
    "*.rs",
    "**/*.rs",
    "a/**",
    "*.{rs,txt}",
    "!*.rs",
    "/c.rs",
    "a/*",
    "b/**/d.txt",
    "*",
    "**",
    "[ab]",
    "new*",
    "-dash",
    "!a",
    "?.rs",
    "a",
    "a/b/*.rs",
    ".hid",
    "**/.hid/**",
];
const TEXTS: &[&[u8]] = &[
    b"",
    b"one\ntwo\nthree\n",
    b"one\r\ntwo\r\none\r\n",
    b"last one",
    b"two\n\n\none\n\n",
    b"one\n\0two\n",
    b"\0",
    b"\xFF\xFEo\0n\0e\0\n\0t\0w\0o\0",
    b"\xFE\xFF\0o\0n\0e\0\n",
    b"\xEF\xBB\xBFone\ntwo\n",
    b"caf\xE9 one\n",
    "\u{e4} one\nx y\n".as_bytes(),
    b"\n",
    b"\r",
    b"tree\rone\n",
    b"x\n",
    b"a one\nb\nc\nd\ne one\nf\ng one\n",
];
const LINKS: &[&str] = &["a", "..", ".", "../b", "c.rs", "/", "absent", "../../..", ".gitignore"];

#[derive(Debug, Clone)]
enum Node {
    Text(usize),
    Directory,
    Link(usize),
    /// An ignore file of this name in the directory.
    Ignore(&'static str, Vec<usize>),
    Repository(Option<Vec<usize>>),
}

type Tree = Vec<(Vec<usize>, Node)>;

fn trees() -> impl Strategy<Value = Tree> {
    let rules = || prop::collection::vec(0..RULES.len(), 0..5);
    let node = prop_oneof![
        8 => (0..TEXTS.len()).prop_map(Node::Text),
        1 => Just(Node::Directory),
        2 => (0..LINKS.len()).prop_map(Node::Link),
        3 => (prop::sample::select(vec![".gitignore", ".ignore", ".rgignore"]), rules())
            .prop_map(|(name, rules)| Node::Ignore(name, rules)),
        1 => prop::option::of(rules()).prop_map(Node::Repository),
    ];
    prop::collection::vec((prop::collection::vec(0..NAMES.len(), 1..5), node), 1..30)
}

/// Makes as much of a tree as can be: some names are taken by then.
fn make(root: &Path, tree: &Tree) {
    let text = |rules: &[usize]| rules.iter().fold(String::new(), |text, rule| text + RULES[*rule] + "\n");
    for (names, node) in tree {
        let path: PathBuf =
            root.join(names.iter().map(|name| OsStr::from_bytes(NAMES[*name])).collect::<PathBuf>());
        let parent = path.parent().unwrap();
        // A link may lead out of the tree, where nothing is made.
        let above = parent.ancestors().find_map(|above| fs::canonicalize(above).ok());
        if !above.is_some_and(|above| above.starts_with(root)) || fs::create_dir_all(parent).is_err() {
            continue;
        }
        if path.symlink_metadata().is_ok() {
            continue;
        }
        let _ = match node {
            Node::Text(text) => fs::write(&path, TEXTS[*text]),
            Node::Directory => fs::create_dir(&path),
            Node::Link(to) => symlink(LINKS[*to], &path),
            Node::Ignore(name, rules) => fs::write(parent.join(name), text(rules)),
            Node::Repository(exclude) => {
                let git = parent.join(".git/info");
                let made = fs::create_dir_all(&git);
                match exclude {
                    Some(rules) => fs::write(git.join("exclude"), text(rules)),
                    None => made,
                }
            }
        };
    }
}

struct Bench {
    runtime: Runtime,
    _directory: TempDir,
    root: PathBuf,
    ctx: ToolContext,
}

impl Bench {
    fn new(tree: &Tree) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&root).unwrap();
        make(&root, tree);
        let ctx = ToolContext::detached(Caller::new().with_workspace(&root));
        Self { runtime: Builder::new_current_thread().build().unwrap(), _directory: directory, root, ctx }
    }

    fn rg(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new("rg");
        command.args(["--no-config", "--color=never", "--no-messages"]).args(args).current_dir(&self.root);
        let output = command.output().expect("ripgrep is installed");
        assert_ne!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn shown(&self, path: &Path) -> String {
        self.ctx.workspace().shown(&self.root.join(path))
    }

    /// The output of `rg --json`: files with their lines, each with its number and whether it matches.
    fn rg_lines(&self, args: &[&str]) -> Vec<Value> {
        let mut files: Vec<Value> = Vec::new();
        for line in self.rg(args).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).unwrap();
            let data = &message["data"];
            match message["type"].as_str().unwrap() {
                "begin" => {
                    let path = PathBuf::from(OsString::from_vec(bytes(&data["path"])));
                    let path = self.shown(path.strip_prefix("./").unwrap());
                    files.push(json!({ "path": path, "lines": [] }));
                }
                kind @ ("match" | "context") => {
                    let text = String::from_utf8_lossy(&bytes(&data["lines"])).into_owned();
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    let first = data["line_number"].as_u64().unwrap();
                    // A match that goes over several lines is one message.
                    for (number, text) in (first..).zip(text.split('\n')) {
                        let text = text.strip_suffix('\r').unwrap_or(text);
                        let line = json!({ "number": number, "isMatch": kind == "match", "text": text });
                        files.last_mut().unwrap()["lines"].as_array_mut().unwrap().push(line);
                    }
                }
                "end" if !data["binary_offset"].is_null() => {
                    let file = files.last_mut().unwrap();
                    *file = json!({ "path": file["path"], "binary": true });
                }
                _ => {}
            }
        }
        files
    }

    fn rg_names(&self, args: &[&str]) -> BTreeSet<String> {
        let output = self.rg(args);
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(|name| self.shown(Path::new(OsStr::from_bytes(name)).strip_prefix("./").unwrap())).collect()
    }

    fn grep(&self, pattern: &str, path: Option<&str>, context: usize, multiline: bool) -> Vec<Value> {
        let call = grep(
            &self.ctx,
            pattern,
            path.map(Path::new),
            None,
            None,
            false,
            false,
            multiline,
            Some(context),
            None,
            None,
            GrepOutput::Content,
            1_000,
            0,
        );
        let found = self.runtime.block_on(call).unwrap().data;
        assert!(!found.truncated);
        found.results.iter().map(|file| serde_json::to_value(file).unwrap()).collect()
    }

    fn glob(&self, pattern: &str, path: Option<&str>, hidden: bool) -> BTreeSet<String> {
        let call = glob(&self.ctx, pattern, path.map(Path::new), hidden, 1_000, 0);
        let found = self.runtime.block_on(call).unwrap().data;
        found.files.into_iter().map(|file| file.path).collect()
    }
}

/// A text of `rg --json`, which may be no UTF-8.
fn bytes(value: &Value) -> Vec<u8> {
    match value["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => data_encoding::BASE64.decode(value["bytes"].as_str().unwrap().as_bytes()).unwrap(),
    }
}

fn try_trees<S: Strategy>(values: S, check: impl Fn(&Bench, S::Value)) {
    let cases = std::env::var("TREES").ok().and_then(|trees| trees.parse().ok()).unwrap_or(TREES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&(trees(), values), |(tree, value)| {
        check(&Bench::new(&tree), value);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
#[ignore = "needs ripgrep: cargo xtask test"]
fn grep_finds_what_ripgrep_finds() {
    let values = (prop::sample::select(PATTERNS), 0..3_usize, any::<bool>(), any::<bool>());
    try_trees(values, |bench, (pattern, context, within, multiline)| {
        let path =
            (within && bench.root.join("a").symlink_metadata().is_ok_and(|a| a.is_dir())).then_some("a");
        let whole = if path.is_some() { "./a" } else { "./" };
        let context_arg = format!("-C{context}");
        let mut args = vec!["--json", "--sort=path", "--binary", &context_arg, "-e", pattern];
        if multiline {
            args.extend(["-U", "--multiline-dotall"]);
        }
        args.push(whole);
        // Neither searches binary files for this byte. And an empty match behind the last line feed is in no line, of which
        // ripgrep shows the lines around nevertheless.
        if pattern == r"\x00" || multiline && pattern == "^$" {
            return;
        }
        assert_eq!(
            bench.grep(pattern, path, context, multiline),
            bench.rg_lines(&args),
            "{pattern} {path:?}"
        );
    });
}

#[test]
#[ignore = "needs ripgrep: cargo xtask test"]
fn glob_finds_what_ripgrep_finds() {
    let values = (prop::sample::select(GLOBS), any::<bool>(), any::<bool>());
    try_trees(values, |bench, (pattern, hidden, within)| {
        let path =
            (within && bench.root.join("a").symlink_metadata().is_ok_and(|a| a.is_dir())).then_some("a");
        let glob = format!("--glob={pattern}");
        let hidden_arg = if hidden { "--hidden" } else { "--no-hidden" };
        let listed =
            bench.rg_names(&["--files", "-0", hidden_arg, if path.is_some() { "./a" } else { "./" }]);
        // The pattern only selects: with ripgrep it also brings back what is ignored or hidden.
        let mut selected = bench.rg_names(&["--files", "-0", "--no-ignore", "--hidden", &glob, "./"]);
        if path.is_some() {
            let prefix = "a/";
            let mut command = Command::new("rg");
            command
                .args(["--no-config", "--files", "-0", "--no-ignore", "--hidden", &glob, "./"])
                .current_dir(bench.root.join("a"));
            let output = command.output().unwrap().stdout;
            let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            selected = names
                .map(|name| {
                    let name = Path::new(OsStr::from_bytes(name)).strip_prefix("./").unwrap();
                    bench.shown(&Path::new(prefix).join(name))
                })
                .collect();
        }
        let expected: BTreeSet<String> = listed.intersection(&selected).cloned().collect();
        assert_eq!(bench.glob(pattern, path, hidden), expected, "{pattern} {path:?}");
    });
}
