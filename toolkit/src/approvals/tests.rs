//! The remembered approvals, what they apply to, and the handling of files that cannot be trusted.

use super::place::Place;
use super::*;
use crate::session::Session;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use toolkit_core::ask::AllowScope;

/// A data directory, and a workspace beside it.
struct House {
    base: TempDir,
}

impl House {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("workspace")).unwrap();
        Self { base }
    }

    fn data(&self) -> PathBuf {
        self.base.path().join("data")
    }

    fn workspace(&self) -> PathBuf {
        self.base.path().join("workspace")
    }

    fn store(&self) -> Approvals {
        Approvals::new(Some(&self.data()))
    }

    fn place(&self) -> Place {
        self.store().place(&self.workspace()).unwrap()
    }

    /// Returns the memory of a new session.
    fn memory(&self) -> Memory {
        self.memory_of(asker())
    }

    fn memory_of(&self, asker: Asker) -> Memory {
        Memory::new(asker, Session::unnamed(), self.store(), &self.workspace())
    }

    fn allow(&self, ask: &Ask) {
        pollster(self.memory().keep(ask, AllowScope::Always));
    }

    fn recalls(&self, ask: &Ask) -> bool {
        self.memory().recall(ask).unwrap().is_some()
    }

    /// Returns the only file of approvals.
    fn file(&self) -> PathBuf {
        let entries = fs::read_dir(self.data().join("approvals")).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        let [file] = files.as_slice() else { panic!("{files:?}") };
        file.clone()
    }
}

/// Runs a future without a runtime, so that approvals are written immediately.
fn pollster(future: impl Future<Output = ()>) {
    futures_util::FutureExt::now_or_never(future).expect("there is nothing to wait for");
}

fn asker() -> Asker {
    Asker {
        tool: "edit".to_owned(),
        source: "fixture".to_owned(),
        agent: Some("ada".to_owned()),
        channel: None,
        conversation: None,
        sender: None,
        sandboxed: false,
        delegated_by: Vec::new(),
    }
}

fn ask(patterns: &[&str]) -> Ask {
    patterns.iter().fold(Ask::new("edit", "write a file"), |ask, pattern| ask.with_pattern(*pattern))
}

#[test]
fn only_what_was_shown_is_allowed_again() {
    let house = House::new();
    house.allow(&ask(&["src/lib.rs", "git *", "café"]));
    for (patterns, expected) in [
        (&["src/lib.rs"][..], true),
        (&["git *"], true),
        (&["café", "src/lib.rs"], true),
        (&["src/lib.rs", "src/lib.rs"], true),
        (&["src/lib.rs", "src/main.rs"], false),
        (&["src/lib"], false),
        (&["src/lib.rs2"], false),
        (&["src/lib.rs "], false),
        (&[" src/lib.rs"], false),
        (&["src/lib.rs\n"], false),
        (&["src/lib.rs\0"], false),
        (&["src//lib.rs"], false),
        (&["./src/lib.rs"], false),
        (&["SRC/lib.rs"], false),
        (&["src/l\u{456}b.rs"], false),
        (&["src/lib.rs\u{200b}"], false),
        (&["cafe\u{301}"], false),
        (&["git status"], false),
        (&["git "], false),
        (&["git **"], false),
        (&["*"], false),
        (&[""], false),
        (&[], false),
    ] {
        assert_eq!(house.recalls(&ask(patterns)), expected, "{patterns:?}");
    }
}

#[test]
fn two_would_remember_the_same_only_for_one_asker_session_and_workspace() {
    let (house, elsewhere) = (House::new(), House::new());
    let (session, other_session) = (Session::unnamed(), Session::unnamed());
    let other_asker = Asker { agent: None, ..asker() };
    let memory = |asker: &Asker, session: &Arc<Session>, house: &House| {
        Memory::new(asker.clone(), Arc::clone(session), house.store(), &house.workspace())
    };
    let first = memory(&asker(), &session, &house);
    for (other, expected) in [
        (memory(&asker(), &session, &house), true),
        (memory(&other_asker, &session, &house), false),
        (memory(&asker(), &other_session, &house), false),
        (memory(&asker(), &session, &elsewhere), false),
        (memory(&other_asker, &other_session, &elsewhere), false),
    ] {
        assert_eq!((first.is_same(&other), other.is_same(&first)), (expected, expected));
    }
}

#[test]
fn all_that_was_shown_counts() {
    let house = House::new();
    let asked = || ask(&["make"]).with_command("make", "/srv").with_path("out", Access::Read);
    house.allow(&asked());
    let same = house.memory();
    assert!(
        matches!(same.recall(&asked().with_claim("it is fine")).unwrap(), Some(Allowed::Always(ids)) if ids.len() == 1)
    );
    let other = |change: fn(&mut Asker)| {
        let mut changed = asker();
        change(&mut changed);
        house.memory_of(changed)
    };
    for (what, memory, ask) in [
        ("tool", other(|asker| asker.tool = "write".to_owned()), asked()),
        ("source", other(|asker| asker.source = "plugin".to_owned()), asked()),
        ("agent", other(|asker| asker.agent = Some("kid".to_owned())), asked()),
        ("no agent", other(|asker| asker.agent = None), asked()),
        ("channel", other(|asker| asker.channel = Some("telegram".to_owned())), asked()),
        ("conversation", other(|asker| asker.conversation = Some("group".to_owned())), asked()),
        ("sender", other(|asker| asker.sender = Some("ada".to_owned())), asked()),
        ("sandbox", other(|asker| asker.sandboxed = true), asked()),
        ("delegating caller", other(|asker| asker.delegated_by = vec![Delegator::default()]), asked()),
        ("access", house.memory(), asked().with_path("out", Access::Write)),
        ("change", house.memory(), asked().with_diff("out", "+")),
        (
            "directory",
            house.memory(),
            ask(&["make"]).with_command("make", "/tmp").with_path("out", Access::Read),
        ),
        ("no directory", house.memory(), ask(&["make"]).with_path("out", Access::Read)),
        ("another directory too", house.memory(), asked().with_command("make", "/tmp")),
        ("kind", house.memory(), {
            let mut ask = asked();
            ask.kind = "exec".to_owned();
            ask
        }),
        ("raised", house.memory(), asked().raised()),
        ("once only", house.memory(), asked().once_only()),
        ("session at most", house.memory(), asked().at_most(AllowScope::Session)),
    ] {
        assert_eq!(memory.recall(&ask), Ok(None), "{what}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = Memory::new(asker(), Session::unnamed(), house.store(), elsewhere.path());
    assert_eq!(elsewhere.recall(&asked()), Ok(None));
}

#[test]
fn a_session_forgets_nothing_and_tells_no_other() {
    let house = House::new();
    let (memory, other) = (house.memory(), house.memory());
    let raised = ask(&["rm x"]).raised();
    pollster(memory.keep(&raised, AllowScope::Session));
    assert_eq!(memory.recall(&raised), Ok(Some(Allowed::Session)));
    assert_eq!(memory.recall(&ask(&["rm x"])), Ok(None), "what raised it is no part of the pattern");
    assert_eq!(other.recall(&raised), Ok(None));
    pollster(memory.keep(&ask(&["once"]), AllowScope::Once));
    assert_eq!(memory.recall(&ask(&["once"])), Ok(None));
    assert!(!house.data().exists(), "nothing of it is on disk");
}

fn of(patterns: &[String]) -> Ask {
    patterns.iter().fold(Ask::new("edit", "t"), Ask::with_pattern)
}

fn texts() -> impl Strategy<Value = String> {
    let characters =
        proptest::sample::select(vec!['a', 'A', 'á', '*', '?', '/', '.', ' ', '\n', '"', '\\', '\0']);
    proptest::collection::vec(characters, 0..4).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Compares with the plain rule: every pattern of the question was approved, unchanged.
    #[test]
    fn no_other_pattern_matches(
        approved in proptest::collection::vec(texts(), 1..4),
        asked in proptest::collection::vec(texts(), 1..4),
    ) {
        let house = House::new();
        house.allow(&of(&approved));
        let expected = asked.iter().all(|pattern| approved.contains(pattern));
        prop_assert_eq!(house.recalls(&of(&asked)), expected);
        let memory = Memory::new(asker(), Session::unnamed(), Approvals::default(), Path::new("/"));
        pollster(memory.keep(&of(&approved), AllowScope::Session));
        prop_assert_eq!(memory.recall(&of(&asked)).ok().flatten().is_some(), expected);
    }
}

/// Two processes with one file, as far as locks and files are concerned: each store opens its own.
#[test]
fn nothing_is_lost_when_many_write() {
    const EACH: usize = 25;
    let house = House::new();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let (store, place) = (house.store(), house.place());
            std::thread::spawn(move || {
                for number in 0..EACH {
                    let grounds = Grounds::of(&asker(), &ask(&[]), None);
                    store
                        .add(&place, &grounds, &[format!("{thread}/{number}"), "of all".to_owned()])
                        .unwrap();
                    if number % 5 == 4 {
                        let mine = format!("{thread}/{}", number - 1);
                        let all = store.list().approvals;
                        let own = all.iter().find(|approval| approval.pattern == mine).unwrap();
                        assert_eq!(store.revoke(&own.id).unwrap(), *own);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let list = house.store().list();
    assert_eq!(list.problems, [""; 0]);
    let mut patterns: Vec<String> = list.approvals.into_iter().map(|approval| approval.pattern).collect();
    patterns.sort();
    let mut expected: Vec<String> = (0..8)
        .flat_map(|thread| {
            (0..EACH).filter(|number| number % 5 != 3).map(move |number| format!("{thread}/{number}"))
        })
        .collect();
    expected.push("of all".to_owned());
    expected.sort();
    assert_eq!(patterns, expected);
}

#[test]
fn what_is_revoked_is_asked_again() {
    let house = House::new();
    assert_eq!(house.store().revoke("x"), Err(ApprovalError::Unknown { id: "x".to_owned() }));
    assert_eq!(house.store().revoke_all(), Ok(0));
    house.allow(&ask(&["a", "b"]));
    house.allow(&ask(&["a"]));
    let list = house.store().list().approvals;
    let patterns: Vec<&str> = list.iter().map(|approval| &*approval.pattern).collect();
    assert_eq!(patterns.len(), 2, "{patterns:?}");
    let first = list.iter().find(|approval| approval.pattern == "a").unwrap();
    assert_eq!(Path::new(&first.workspace), house.workspace().canonicalize().unwrap());
    assert_eq!(
        (&*first.kind, &*first.tool, &*first.source, first.agent.as_deref()),
        ("edit", "edit", "fixture", Some("ada"))
    );
    assert!(first.approved_at.elapsed().unwrap().as_secs() < 60);
    assert_eq!(house.store().revoke(&first.id).as_ref(), Ok(first));
    assert!(!house.recalls(&ask(&["a"])) && house.recalls(&ask(&["b"])));
    assert_eq!(house.store().revoke_all(), Ok(1));
    assert!(!house.recalls(&ask(&["b"])));
    assert_eq!(house.store().list(), ApprovalList::default());
}

#[test]
fn what_is_revoked_is_found_whichever_workspace_it_is_of() {
    let house = House::new();
    let (store, grounds) = (house.store(), Grounds::of(&asker(), &ask(&[]), None));
    for name in ["one", "two", "three", "four"] {
        let workspace = house.base.path().join(name);
        fs::create_dir(&workspace).unwrap();
        store.add(&store.place(&workspace).unwrap(), &grounds, &[name.to_owned()]).unwrap();
    }
    let mut left = store.list().approvals;
    assert_eq!(left.len(), 4);
    while !left.is_empty() {
        let first = left.remove(0);
        assert_eq!(store.revoke(&first.id), Ok(first));
        assert_eq!(store.list().approvals, left);
    }
}

#[test]
fn there_is_an_end_to_what_is_remembered() {
    let house = House::new();
    let grounds = Grounds::of(&asker(), &ask(&[]), None);
    let patterns: Vec<String> = (0..file::MAX_APPROVALS).map(|number| number.to_string()).collect();
    house.store().add(&house.place(), &grounds, &patterns).unwrap();
    let full = house.store().add(&house.place(), &grounds, &["more".to_owned()]).unwrap_err();
    assert!(full.contains("holds 1000 approvals; revoke some"), "{full}");
    assert_eq!(house.store().list().approvals.len(), file::MAX_APPROVALS);
    // An approval that cannot be remembered always is at least remembered for the session.
    let memory = house.memory();
    pollster(memory.keep(&ask(&["more"]), AllowScope::Always));
    assert_eq!(memory.recall(&ask(&["more"])), Ok(Some(Allowed::Session)));
    assert!(!house.recalls(&ask(&["more"])));

    let house = House::new();
    let long: Vec<String> = (0..600).map(|number| format!("{number}{}", "\u{1}".repeat(990))).collect();
    let full = house.store().add(&house.place(), &grounds, &long).unwrap_err();
    assert!(full.contains("1048576 bytes; revoke some"), "{full}");
    assert_eq!(house.store().list(), ApprovalList::default());
}

#[test]
fn a_damaged_file_allows_nothing_and_says_so() {
    let house = House::new();
    house.allow(&ask(&["a"]));
    let good = fs::read_to_string(house.file()).unwrap();
    for (bad, problem) in [
        (good[..good.len() / 2].to_owned(), "it is damaged"),
        (String::new(), "it is damaged"),
        (format!("{good}{good}"), "it is damaged"),
        (good.replace("\"version\": 1", "\"version\": 2"), "it has version 2"),
        (good.replace("\"version\": 1,", "\"version\": 1, \"later\": true,"), "it is damaged (unknown field"),
        (
            good.replace("\"sandboxed\": false", "\"sandboxed\": false, \"account\": \"x\""),
            "it is damaged (unknown field",
        ),
        (good.replace("/workspace\"", "/elsewhere\""), "it belongs to another workspace"),
        (format!("{good}{}", " ".repeat(1 << 20)), "it has more than 1048576 bytes"),
        ("[".repeat(100_000), "it is damaged"),
    ] {
        assert_ne!(bad, good);
        fs::write(house.file(), &bad).unwrap();
        let error = house.memory().recall(&ask(&["a"])).unwrap_err();
        assert!(error.contains(problem) && error.contains("workspace"), "{error}");
        // Nothing is added to the file either: it might be another user's, or of a later version.
        let before = fs::read(house.file()).unwrap();
        house.allow(&ask(&["b"]));
        assert_eq!(fs::read(house.file()).unwrap(), before, "{problem}");
        if problem != "it belongs to another workspace" {
            assert_eq!(house.store().list().problems.len(), 1);
            assert!(matches!(house.store().revoke("x"), Err(ApprovalError::Unusable { .. })));
        }
    }
    assert_eq!(house.store().revoke_all(), Ok(1));
    house.allow(&ask(&["b"]));
    assert!(house.recalls(&ask(&["b"])) && !house.recalls(&ask(&["a"])));
}

#[test]
fn whoever_crashed_while_writing_is_cleaned_up_after() {
    let house = House::new();
    house.allow(&ask(&["a"]));
    let unfinished = house.file().with_extension("abcd.tmp");
    fs::write(&unfinished, "{").unwrap();
    house.allow(&ask(&["b"]));
    assert!(!unfinished.exists() && house.recalls(&ask(&["a", "b"])));
}

#[test]
fn nothing_is_kept_where_there_is_no_place() {
    let memory = Memory::new(asker(), Session::unnamed(), Approvals::default(), Path::new("."));
    assert_eq!(
        (memory.workspace(), memory.recall(&ask(&["a"])).unwrap_err()),
        (None, "there is no data directory".to_owned())
    );
    assert_eq!(Approvals::default().list(), ApprovalList::default());
    let house = House::new();
    let absent = Memory::new(asker(), Session::unnamed(), house.store(), &house.base.path().join("absent"));
    assert!(absent.recall(&ask(&["a"])).unwrap_err().contains("cannot be used"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::fs::Permissions;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn what_others_could_have_written_does_not_count() {
        let house = House::new();
        house.allow(&ask(&["a"]));
        let (file, directory) = (house.file(), house.data().join("approvals"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&directory)), (0o600, 0o700));
        for (path, mode, expected) in [
            (&file, 0o644, true),
            (&file, 0o620, false),
            (&file, 0o602, false),
            (&file, 0o666, false),
            (&file, 0o600, true),
            (&directory, 0o755, true),
            (&directory, 0o770, false),
            (&directory, 0o777, false),
            (&directory, 0o700, true),
        ] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            let recalled = house.memory().recall(&ask(&["a"]));
            match recalled {
                Ok(Some(_)) => assert!(expected, "{mode:o}"),
                Err(problem) => {
                    assert!(!expected && problem.contains("others can write to it"), "{mode:o} {problem}");
                    assert_eq!(house.store().list().problems, [problem]);
                }
                Ok(None) => panic!("{mode:o}"),
            }
        }
    }

    #[test]
    fn what_is_no_file_is_neither_followed_nor_waited_for() {
        let house = House::new();
        house.allow(&ask(&["a"]));
        let (file, aside) = (house.file(), house.base.path().join("aside"));
        fs::rename(&file, &aside).unwrap();
        let made: [(&str, &dyn Fn()); 3] = [
            ("link", &|| symlink(&aside, &file).unwrap()),
            ("directory", &|| fs::create_dir(&file).unwrap()),
            ("pipe", &|| {
                let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
                assert!(made.success());
            }),
        ];
        for (what, make) in made {
            make();
            assert!(house.memory().recall(&ask(&["a"])).is_err(), "{what}");
            assert_eq!(house.store().list().problems.len(), 1, "{what}");
            if what == "directory" { fs::remove_dir(&file).unwrap() } else { fs::remove_file(&file).unwrap() }
        }
        let root = house.data().join("approvals");
        fs::rename(&root, house.base.path().join("moved")).unwrap();
        symlink(house.base.path().join("moved"), &root).unwrap();
        assert!(house.memory().recall(&ask(&["a"])).unwrap_err().contains("it is not a directory"));
    }

    #[test]
    fn nothing_is_kept_within_the_workspace() {
        let house = House::new();
        let inside = house.workspace().join("deep/data");
        symlink(house.workspace(), house.base.path().join("way_in")).unwrap();
        for data in [inside, house.workspace(), house.base.path().join("way_in/data")] {
            let store = Approvals::new(Some(&data));
            let memory = Memory::new(asker(), Session::unnamed(), store, &house.workspace());
            let problem = memory.recall(&ask(&["a"])).unwrap_err();
            assert!(problem.contains("is inside the workspace"), "{problem}");
            assert_eq!(memory.workspace(), None);
            pollster(memory.keep(&ask(&["a"]), AllowScope::Always));
            assert_eq!(memory.recall(&ask(&["a"])), Ok(Some(Allowed::Session)));
        }
        assert_eq!(fs::read_dir(house.workspace()).unwrap().count(), 0);
    }

    #[test]
    fn a_workspace_is_known_by_its_real_path() {
        let house = House::new();
        house.allow(&ask(&["a"]));
        let link = house.base.path().join("link");
        symlink(house.workspace(), &link).unwrap();
        let of = |workspace: &Path| Memory::new(asker(), Session::unnamed(), house.store(), workspace);
        assert!(of(&link).recall(&ask(&["a"])).unwrap().is_some());
        assert!(of(&house.workspace().join(".")).recall(&ask(&["a"])).unwrap().is_some());
        // Another target of the same symlink is another workspace.
        let other = house.base.path().join("Workspace");
        fs::create_dir(&other).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        assert_eq!(of(&link).recall(&ask(&["a"])), Ok(None));

        let no_text = house.base.path().join(OsStr::from_bytes(b"w\xff"));
        fs::create_dir(&no_text).unwrap();
        assert!(of(&no_text).recall(&ask(&["a"])).unwrap_err().contains("is not UTF-8"));
    }
}
