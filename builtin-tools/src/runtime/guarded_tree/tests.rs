use super::*;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;

const LIMITS: Limits = Limits { entries: MAX_ENTRIES, found: MAX_FOUND };

/// A workspace with its rules.
struct Workspace {
    root: TempDir,
    rules: PathRules,
    tree: Tree,
}

impl Workspace {
    async fn new(rules: Value) -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(rules).unwrap();
        let tool = Tool::from_fn("probe", json!({ "type": "object" }), |_, _| async { "done" }).unwrap();
        let toolkit = Toolkit::empty().tool(tool).permissions(Permissions::new([settings])).build().unwrap();
        let caller = Caller::new().with_workspace(root.path());
        let rules = toolkit.toolbox(&caller).await.context("probe").unwrap().path_rules().unwrap();
        Self { root, rules, tree: Tree::default() }
    }

    fn path(&self, path: &str) -> PathBuf {
        let root = self.root.path().canonicalize().unwrap();
        if path.is_empty() { root } else { root.join(path) }
    }

    fn make(&self, path: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), "x").unwrap();
    }

    /// Returns the guarded paths with these limits.
    fn look(&mut self, limits: Limits) -> Arc<Guarded> {
        let root = self.path("");
        self.tree.guarded(&root, &self.rules, limits)
    }

    fn relative(&self, paths: &[PathBuf]) -> Vec<String> {
        let root = self.path("");
        paths.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect()
    }

    fn hidden(&mut self) -> Vec<String> {
        let guarded = self.look(LIMITS);
        self.relative(&guarded.hidden)
    }

    fn protected(&mut self) -> Vec<String> {
        let guarded = self.look(LIMITS);
        self.relative(&guarded.protected)
    }

    /// Makes all directories so old that a change gives them another time.
    fn settle(&mut self) {
        let past = SystemTime::now() - Duration::from_hours(1);
        for node in &mut self.tree.nodes {
            fs::File::open(&node.path).unwrap().set_modified(past).unwrap();
            node.listing.settle(Stamp::of(&node.path).unwrap());
        }
    }
}

#[tokio::test]
async fn every_directory_is_searched() {
    let mut work = Workspace::new(json!({})).await;
    for path in [
        ".env",
        "a/b/c/d/e/f/g/.ENV",
        "node_modules/x/key.pem",
        "target/debug/.env.local",
        ".git/config",
        ".git/deep/.env",
        ".venv/lib/certifi/cacert.pem",
        "sub/.ssh/config",
        "plain/.env.example",
        "plain/README.md",
        "node_modules/x/.travis.yml",
        "ci/.travis.yml",
        "bare/HEAD",
        "bare/objects/x",
        "bare/refs/heads/main",
        ".env.d/.envrc",
    ] {
        work.make(path);
    }
    for number in 0..5_200 {
        fs::write(work.path(&format!("plain/{number}")), "").unwrap();
    }
    let guarded = work.look(LIMITS);
    let hidden = [
        ".env",
        ".env.d/.envrc",
        ".git/deep/.env",
        "a/b/c/d/e/f/g/.ENV",
        "node_modules/x/key.pem",
        "sub/.ssh",
        "target/debug/.env.local",
    ];
    assert_eq!(work.relative(&guarded.hidden), hidden);
    let protected = work.relative(&guarded.protected);
    for path in [".env", ".git", "bare", "ci/.travis.yml", "sub/.ssh"] {
        assert!(protected.iter().any(|known| known == path), "{path}: {protected:?}");
    }
    for path in ["node_modules/x/.travis.yml", "plain"] {
        assert!(!protected.iter().any(|known| known == path), "{path}: {protected:?}");
    }
    assert_eq!(guarded.complete, Ok(()));
}

#[tokio::test]
async fn a_hidden_file_is_hidden_under_its_other_names() {
    let mut work = Workspace::new(json!({ "read": [{ "match": "secret/", "do": "deny" }] })).await;
    for path in [".env", "secret/deep/a", "pub/b"] {
        work.make(path);
    }
    fs::hard_link(work.path(".env"), work.path("pub/env")).unwrap();
    fs::hard_link(work.path("secret/deep/a"), work.path("a")).unwrap();
    fs::hard_link(work.path("pub/b"), work.path("pub/c")).unwrap();
    std::os::unix::fs::symlink("pub", work.path(".envrc")).unwrap();
    std::os::unix::fs::symlink("pub/b", work.path("b.pem")).unwrap();
    assert_eq!(work.hidden(), [".env", "a", "pub", "pub/b", "pub/env", "secret"]);
    let guarded = work.look(LIMITS);
    let denied = [work.path("a"), work.path("secret")];
    assert_eq!(guarded.unreadable, denied.into());
}

#[tokio::test]
async fn rules_hide_and_protect_what_they_name() {
    for (rules, hidden, protected) in [
        (json!({ "read": [{ "match": "secret/", "do": "deny" }] }), &["secret", "sub/secret"][..], &[][..]),
        (json!({ "read": [{ "match": "/secret/", "do": "ask" }] }), &["secret"], &[]),
        (
            json!({ "read": [{ "match": "*.txt", "do": "ask" }] }),
            &["a.txt", "secret/a.txt", "secret/pub/b.txt"],
            &[],
        ),
        (
            json!({ "read": [{ "match": "secret/", "do": "deny" }, { "match": "/secret/pub/", "do": "allow" }] }),
            &["secret/a.txt", "sub/secret"],
            &[],
        ),
        (
            json!({ "read": [{ "match": "secret/", "do": "deny" }, { "match": "src/", "do": "allow" }] }),
            &["secret", "sub/secret"],
            &[],
        ),
        (json!({ "edit": [{ "match": "secret/", "do": "deny" }] }), &[], &["secret", "sub/secret"]),
        (json!({ "r*": [{ "match": "/sub/secret", "do": "deny" }] }), &["sub/secret"], &[]),
        (json!({ "prob*": [{ "match": "src/*", "do": "ask" }] }), &["src"], &["src"]),
        (json!({ "sensitive": [{ "match": ".env", "do": "allow" }] }), &[], &[]),
        (json!({ "edit": "allow", "read": "allow" }), &[], &[]),
    ] {
        let mut work = Workspace::new(rules.clone()).await;
        for path in ["a.txt", "secret/a.txt", "secret/pub/b.txt", "sub/secret/c", "src/main.rs"] {
            work.make(path);
        }
        if rules.get("sensitive").is_some() {
            work.make(".env");
        }
        let is_env = |path: &&String| *path != ".env";
        assert_eq!(work.hidden(), hidden, "{rules}");
        let found = work.protected();
        assert_eq!(
            found.iter().filter(is_env).collect::<Vec<_>>(),
            protected.iter().collect::<Vec<_>>(),
            "{rules}"
        );
        assert_eq!(work.look(LIMITS).complete, Ok(()), "{rules}");
    }
}

#[tokio::test]
async fn an_exception_in_a_protected_directory_can_be_written() {
    let rules =
        json!({ "edit": [{ "match": "docs/", "do": "deny" }, { "match": "docs/notes/", "do": "allow" }] });
    let mut work = Workspace::new(rules).await;
    work.make("docs/notes/a");
    work.make("docs/b");
    let guarded = work.look(LIMITS);
    assert_eq!(work.relative(&guarded.protected), ["docs"]);
    assert_eq!(work.relative(&guarded.writable), ["docs/notes"]);
    assert_eq!(guarded.unwritable, [work.path("docs")].into());
}

#[tokio::test]
async fn masks_are_incomplete_for_rules_that_they_cannot_express() {
    for (rules, is_complete) in [
        (json!({ "read": "deny" }), false),
        (json!({ "read": "ask" }), false),
        (json!({ "edit": "ask" }), false),
        (json!({ "*": "ask" }), false),
        (json!({ "read": [{ "match": "*", "do": "deny" }] }), false),
        (json!({ "read": [{ "match": "[", "do": "deny" }] }), false),
        (json!({ "sensitive": "deny", "protected": "deny" }), true),
        (json!({ "edit": "allow" }), true),
        (json!({}), true),
    ] {
        let mut work = Workspace::new(rules.clone()).await;
        work.make("src/a");
        let guarded = work.look(LIMITS);
        assert_eq!(guarded.complete.is_ok(), is_complete, "{rules}: {:?}", guarded.complete);
    }
}

#[tokio::test]
async fn a_tree_beyond_the_limits_is_not_complete() {
    let mut work = Workspace::new(json!({})).await;
    for number in 0..20 {
        work.make(&format!("{number}/.env"));
    }
    for (entries, found, is_complete) in [(40, 40, true), (39, 40, false), (40, 39, false)] {
        for _ in 0..2 {
            let guarded = work.look(Limits { entries, found });
            assert_eq!(guarded.complete.is_ok(), is_complete, "{entries} {found}: {:?}", guarded.complete);
        }
    }
}

#[tokio::test]
async fn a_changed_directory_is_listed_again_and_no_other() {
    let mut work = Workspace::new(json!({})).await;
    for path in ["a/b/c/x", "a/y", "d/.env"] {
        work.make(path);
    }
    assert_eq!(work.hidden(), ["d/.env"]);
    work.settle();
    assert!(work.tree.nodes.iter().all(|node| node.listing.is_current(&Stamp::of(&node.path).unwrap())));
    // A listing that is reused is not read: this one says what is not there.
    let node = work.tree.nodes.iter().position(|node| node.path.ends_with("a/b")).unwrap();
    work.tree.nodes[node].listing.entries = 7;
    work.make("a/b/c/.env");
    assert_eq!(work.hidden(), ["a/b/c/.env", "d/.env"]);
    let node = work.tree.nodes.iter().find(|node| node.path.ends_with("a/b")).unwrap();
    assert_eq!(node.listing.entries, 7);
    fs::rename(work.path("a/b"), work.path("a/e")).unwrap();
    assert_eq!(work.hidden(), ["a/e/c/.env", "d/.env"]);
    work.settle();
    fs::remove_dir_all(work.path("d")).unwrap();
    assert_eq!(work.hidden(), ["a/e/c/.env"]);
    fs::remove_file(work.path("a/e/c/.env")).unwrap();
    assert_eq!(work.hidden(), [""; 0]);
}

#[tokio::test]
async fn a_directory_that_was_just_changed_is_listed_again() {
    let mut work = Workspace::new(json!({})).await;
    work.make("a/x");
    work.hidden();
    assert!(!work.tree.nodes.iter().any(|node| node.listing.is_current(&Stamp::of(&node.path).unwrap())));
}
