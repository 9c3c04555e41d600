//! Notes through the call path, as an agent's host has them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit::prelude::*;
use toolkit::{Answer, Configuration, LoadOptions, Retry, ScriptedApprover, Source, ToolErrorKind, Toolbox};
use toolkit_memory::{Memory, MemorySettings};

toolkit::link!(toolkit_memory);

const ALLOWED: &str = "permission.memory=allow";

fn toolkit(data: &Path, settings: &[&str]) -> Toolkit {
    let options = settings.iter().fold(LoadOptions::new(), |options, setting| options.set(*setting));
    Toolkit::builder()
        .configuration(Configuration::load(options).unwrap())
        .data_dir(data)
        .approver(ScriptedApprover::new([Answer::deny_saying("not now")]))
        .build()
        .unwrap()
}

async fn toolbox(data: &Path, agent: &str, settings: &[&str]) -> Toolbox {
    toolkit(data, settings).toolbox(&Caller::new().with_agent(agent)).await
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResult {
    toolbox.call(ToolCall::new("1", name, arguments)).await
}

/// What is told of a call that succeeds.
async fn told(toolbox: &Toolbox, name: &str, arguments: Value) -> Value {
    let result = call(toolbox, name, arguments).await;
    assert!(!result.is_error(), "{name}: {}", result.text());
    serde_json::from_str(&result.text()).unwrap()
}

async fn store(toolbox: &Toolbox, text: &str) -> i64 {
    told(toolbox, "memory_store", json!({ "text": text })).await["id"].as_i64().unwrap()
}

/// The texts that a query finds.
async fn found(toolbox: &Toolbox, query: &str) -> Vec<String> {
    let found = told(toolbox, "memory_search", json!({ "query": query, "limit": 20 })).await;
    found["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

async fn error(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolError {
    call(toolbox, name, arguments).await.outcome.unwrap_err()
}

fn file_of(data: &Path, agent: &str) -> PathBuf {
    let settings = MemorySettings { max_notes: 1, wait_ms: 0 };
    Memory::new(data.join("memory"), &settings).file_of(Some(agent))
}

#[tokio::test]
async fn notes_are_found_by_their_words_the_best_first() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    for text in [
        "The deployment of the shop runs on Tuesdays",
        "We deploy the shop with `make deploy`; deploy twice a week",
        "Ada likes Café au lait",
        "東京の会議は金曜日です",
        "ประชุมที่กรุงเทพ",
        "हिन्दी में लिखें",
        "회의는 서울에서 합니다",
        "Überraschung für Zoë",
        "C++ and C# notes",
    ] {
        store(&toolbox, text).await;
    }
    for (query, expected) in [
        (
            "deploy",
            &[
                "We deploy the shop with `make deploy`; deploy twice a week",
                "The deployment of the shop runs on Tuesdays",
            ][..],
        ),
        ("DEPLOYMENT", &["The deployment of the shop runs on Tuesdays"]),
        ("cafe", &["Ada likes Café au lait"]),
        ("CAFÉ", &["Ada likes Café au lait"]),
        ("cafe\u{301}", &["Ada likes Café au lait"]),
        ("会議", &["東京の会議は金曜日です"]),
        ("京", &["東京の会議は金曜日です"]),
        ("いつ東京で会いますか", &["東京の会議は金曜日です"]),
        ("กรุงเทพ", &["ประชุมที่กรุงเทพ"]),
        ("हिन्दी", &["हिन्दी में लिखें"]),
        ("회의", &["회의는 서울에서 합니다"]),
        ("uberraschung zoe", &["Überraschung für Zoë"]),
        ("ploy", &[]),
        ("議会", &[]),
        ("hin", &[]),
    ] {
        assert_eq!(found(&toolbox, query).await, expected, "{query}");
    }
    let limited = told(&toolbox, "memory_search", json!({ "query": "the deploy", "limit": 1 })).await;
    assert_eq!(limited["notes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn tags_find_a_note_and_count_more() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "billing is mentioned here, among other words").await;
    let tagged = json!({ "text": "Invoices go out on the first", "tags": ["billing", "Buchführung"] });
    told(&toolbox, "memory_store", tagged).await;
    let notes = told(&toolbox, "memory_search", json!({ "query": "billing" })).await;
    assert_eq!(notes["notes"][0]["text"], "Invoices go out on the first");
    assert_eq!(notes["notes"][0]["tags"], json!(["billing", "Buchführung"]));
    assert_eq!(notes["notes"][1]["text"], "billing is mentioned here, among other words");
    let stored = notes["notes"][0]["stored"].as_str().unwrap();
    assert!(stored.len() == 20 && stored.starts_with("20") && stored.ends_with('Z'), "{stored}");
    assert_eq!(found(&toolbox, "buchfuhrung").await, ["Invoices go out on the first"]);
}

#[tokio::test]
async fn a_query_has_no_operators() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "apple banana").await;
    store(&toolbox, "cherry").await;
    for (query, expected) in [
        ("apple NOT banana", 1),
        ("cherry AND apple", 2),
        ("NEAR(apple cherry, 1)", 2),
        ("tags : apple", 1),
        ("{tags text} : cherry", 1),
        ("-text : apple", 1),
        ("^apple", 1),
        ("\"apple", 1),
        ("\"\"\" cherry", 1),
        ("app*", 1),
        ("(((((((((( apple", 1),
        ("apple + banana", 1),
        ("apple\u{0}cherry", 2),
        ("x' OR 1=1 --", 0),
    ] {
        assert_eq!(found(&toolbox, query).await.len(), expected, "{query:?}");
    }
    for query in ["*", "\"\"", "()", "^", ":", " ", "🎉", "\u{0}", "'; -- "] {
        let error = error(&toolbox, "memory_search", json!({ "query": query })).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{query:?}: {error}");
        assert!(error.message().contains("holds no word"), "{error}");
    }
}

#[test]
fn no_query_is_a_fault_of_syntax() {
    let data = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let toolbox = runtime.block_on(toolbox(data.path(), "ada", &[ALLOWED]));
    runtime.block_on(store(&toolbox, "a note"));
    let cases = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(cases, |(query in "(?s)(\\PC|[\"'*^:(){}+\\-]|AND|OR|NOT|NEAR|.| ){1,80}")| {
        if query.chars().count() <= 500 {
            let result = runtime.block_on(call(&toolbox, "memory_search", json!({ "query": query })));
            prop_assert!(!result.is_error() || result.text().contains("holds no word"), "{}", result.text());
        }
    });
}

/// Whatever is stored is found by each of its own words.
#[test]
fn what_is_stored_is_found() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let data = tempfile::tempdir().unwrap();
    let toolbox = runtime.block_on(toolbox(data.path(), "ada", &[ALLOWED]));
    let cases = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let word = "[a-zäöüßéñçøåœ]{1,8}|[α-ωά]{2,6}|[а-я]{2,6}|\\p{Han}{1,4}|[ぁ-んァ-ヶ]{1,5}|[가-힣]{1,4}|\\p{Thai}{2,4}|\\p{Devanagari}{2,5}|\\p{Arabic}{2,5}|[0-9]{1,5}";
    proptest!(cases, |(words in proptest::collection::vec(word, 1..5))| {
        let text = words.join(" ");
        let result = runtime.block_on(call(&toolbox, "memory_store", json!({ "text": text })));
        prop_assume!(!result.text().contains("holds no word"));
        prop_assert!(!result.is_error(), "{}", result.text());
        let id = serde_json::from_str::<Value>(&result.text()).unwrap()["id"].clone();
        let found = runtime.block_on(call(&toolbox, "memory_search", json!({ "query": text, "limit": 20 })));
        let found: Value = serde_json::from_str(&found.text()).unwrap();
        let ids: Vec<&Value> = found["notes"].as_array().unwrap().iter().map(|note| &note["id"]).collect();
        prop_assert!(ids.contains(&&id), "{text:?}: {id} in {ids:?}");
    });
}

#[tokio::test]
async fn agents_see_nothing_of_each_other() {
    let data = tempfile::tempdir().unwrap();
    let toolkit = toolkit(data.path(), &[ALLOWED]);
    let long = "x".repeat(5_000);
    let agents = ["ada", "Ada", "../ada", "a/b", "", "nobody", "\u{0}", "*", long.as_str()];
    for agent in agents {
        let toolbox = toolkit.toolbox(&Caller::new().with_agent(agent)).await;
        assert!(found(&toolbox, "secret").await.is_empty(), "{agent:?}");
        store(&toolbox, &format!("secret of {}", agent.len())).await;
        store(&toolbox, "secret").await;
        assert_eq!(found(&toolbox, "secret").await.len(), 2, "{agent:?}");
    }
    let nobody = toolkit.toolbox(&Caller::new()).await;
    assert!(found(&nobody, "secret").await.is_empty());
    assert_eq!(
        error(&nobody, "memory_store", json!({ "text": "x y", "replaces": 1 })).await.kind(),
        ToolErrorKind::NotFound
    );
    let files: Vec<PathBuf> =
        fs::read_dir(data.path().join("memory")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let databases =
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "sqlite3"));
    assert_eq!(databases.count(), agents.len() + 1, "{files:?}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1, "nothing elsewhere");
}

#[tokio::test]
async fn limits_hold_and_say_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED, "plugins.memory.maxNotes=2"]).await;
    let first = store(&toolbox, "first note").await;
    store(&toolbox, "second note").await;
    let full = error(&toolbox, "memory_store", json!({ "text": "third note" })).await;
    assert!(full.message().contains("the memory is full: it holds 2 notes"), "{full}");
    assert!(
        full.message().contains("`replaces`") && full.message().contains("plugins.memory.maxNotes"),
        "{full}"
    );
    // The same again is no further note, and one that is replaced makes room.
    let again = told(&toolbox, "memory_store", json!({ "text": "first note" })).await;
    assert_eq!(again, json!({ "id": first, "is_new": false, "notes": 2 }));
    let third = told(&toolbox, "memory_store", json!({ "text": "third note", "replaces": first })).await;
    assert_eq!((&third["is_new"], &third["notes"]), (&json!(true), &json!(2)));
    assert!(third["id"].as_i64().unwrap() > first, "an id is never used again");
    assert!(found(&toolbox, "first").await.is_empty());
    assert_eq!(found(&toolbox, "note").await.len(), 2);
    let gone = error(&toolbox, "memory_store", json!({ "text": "fourth", "replaces": first })).await;
    assert_eq!(gone.kind(), ToolErrorKind::NotFound);
    for arguments in [
        json!({ "text": "" }),
        json!({ "text": "x".repeat(4_001) }),
        json!({ "text": "x", "tags": [""] }),
        json!({ "text": "x", "tags": ["y".repeat(41)] }),
        json!({ "text": "x", "tags": vec!["y"; 11] }),
        json!({ "text": "x", "replaces": 0 }),
        json!({ "text": " -- " }),
    ] {
        let error = error(&toolbox, "memory_store", arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
    }
    for arguments in
        [json!({ "query": "" }), json!({ "query": "x".repeat(501) }), json!({ "query": "x", "limit": 21 })]
    {
        let error = error(&toolbox, "memory_search", arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
    }
    let longest = "漢".repeat(4_000);
    let arguments = json!({ "text": longest, "replaces": third["id"] });
    told(&toolbox, "memory_store", arguments).await;
    assert_eq!(found(&toolbox, "漢").await, [longest]);
}

#[tokio::test]
async fn a_damaged_memory_says_so_and_takes_nothing() {
    let garbage = vec![b'x'; 5_000];
    for (what, damage) in [
        (
            "no database",
            Box::new(move |file: &Path| fs::write(file, &garbage).unwrap()) as Box<dyn Fn(&Path)>,
        ),
        (
            "cut short",
            Box::new(|file| {
                let whole = fs::read(file).unwrap();
                fs::write(file, &whole[..whole.len() / 2]).unwrap();
            }),
        ),
        (
            "other tables",
            Box::new(|file| {
                fs::remove_file(file).unwrap();
                let other = rusqlite::Connection::open(file).unwrap();
                other.execute_batch("CREATE TABLE notes (x); PRAGMA user_version = 1;").unwrap();
            }),
        ),
        (
            "an index of nonsense",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database
                    .execute_batch("UPDATE words_data SET block = x'ffffffffffffffffffffffffffff';")
                    .unwrap();
            }),
        ),
        (
            "tags of nonsense",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("UPDATE notes SET tags = 'nonsense';").unwrap();
            }),
        ),
        (
            "an index without what it was",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("DELETE FROM words_data WHERE id > 10;").unwrap();
            }),
        ),
        (
            "a huge value",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("UPDATE notes SET text = hex(zeroblob(2000000));").unwrap();
            }),
        ),
    ] {
        let data = tempfile::tempdir().unwrap();
        let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
        store(&toolbox, "a note").await;
        let file = file_of(data.path(), "ada");
        damage(&file);
        let result = call(&toolbox, "memory_search", json!({ "query": "note" })).await;
        let Err(error) = result.outcome else { panic!("{what}: {}", result.text()) };
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{what}: {error}");
        assert!(
            error.message().contains("damaged") && error.message().contains(file.to_str().unwrap()),
            "{what}: {error}"
        );
        // What the error says to do helps.
        for file in fs::read_dir(data.path().join("memory")).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        store(&toolbox, "a note").await;
        assert_eq!(found(&toolbox, "note").await.len(), 1, "{what}");
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_told() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "a note").await;
    let file = file_of(data.path(), "ada");
    let newer = rusqlite::Connection::open(&file).unwrap();
    newer.execute_batch("PRAGMA user_version = 7;").unwrap();
    drop(newer);
    let newer = error(&toolbox, "memory_search", json!({ "query": "note" })).await;
    assert!(newer.message().contains("newer version of the plugin"), "{newer}");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    for name in ["memory_store", "memory_search"] {
        let argument = if name == "memory_store" { json!({ "text": "x" }) } else { json!({ "query": "x" }) };
        let error = error(&toolbox, name, argument).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("cannot be used"), "{error}");
    }
    // The directory itself is in the way.
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("memory"), "").unwrap();
    let toolbox = self::toolbox(other.path(), "ada", &[ALLOWED]).await;
    let error = error(&toolbox, "memory_store", json!({ "text": "x" })).await;
    assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
}

#[tokio::test]
async fn a_writer_elsewhere_is_waited_for_and_then_told() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED, "plugins.memory.waitMs=50"]).await;
    store(&toolbox, "a note").await;
    let other = rusqlite::Connection::open(file_of(data.path(), "ada")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = error(&toolbox, "memory_store", json!({ "text": "another" })).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("in use"), "{error}");
    assert_eq!(found(&toolbox, "note").await, ["a note"], "readers need not wait");
    other.execute_batch("COMMIT").unwrap();
    store(&toolbox, "another").await;
}

const WHERE: &str = "TOOLKIT_MEMORY_TEST_DATA";
const PROCESSES: usize = 4;
const NOTES: usize = 25;

/// A process of its own for the test below; without that, nothing.
#[tokio::test]
async fn child() {
    let Ok(data) = std::env::var(WHERE) else { return };
    let toolbox = toolbox(Path::new(&data), "ada", &[ALLOWED]).await;
    for number in 0..NOTES {
        store(&toolbox, &format!("note {number} of the process {}", std::process::id())).await;
        store(&toolbox, &format!("number {number}")).await;
    }
}

/// They all begin with the file not there.
#[tokio::test]
async fn processes_write_at_once_and_nothing_is_lost() {
    let data = tempfile::tempdir().unwrap();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child"])
            .env(WHERE, data.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    let last = told(&toolbox, "memory_store", json!({ "text": "last" })).await;
    assert_eq!(last["notes"], PROCESSES * NOTES + NOTES + 1, "the same note is there once");
    assert_eq!(found(&toolbox, "number").await.len(), 20);
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "a note").await;
    let keeps = rusqlite::Connection::open(file_of(data.path(), "ada")).unwrap();
    keeps.query_row("SELECT count(*) FROM notes", [], |_| Ok(())).unwrap();
    store(&toolbox, "another").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data.path().join("memory")), 0o700);
    let files: Vec<PathBuf> =
        fs::read_dir(data.path().join("memory")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "with what SQLite keeps beside it: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn it_is_a_plugin_as_others() {
    let data = tempfile::tempdir().unwrap();
    let plain = toolkit(data.path(), &[]);
    for name in ["memory_store", "memory_search"] {
        let tool = plain.tool(name).unwrap();
        assert_eq!(*tool.source(), Source::Plugin { id: "memory".into() });
    }
    let toolbox = plain.toolbox(&Caller::new()).await;
    assert_eq!(
        error(&toolbox, "memory_store", json!({ "text": "x" })).await.kind(),
        ToolErrorKind::Denied,
        "it asks"
    );
    assert!(found(&toolbox, "x").await.is_empty(), "and nothing was stored");
    for settings in
        [["tools.deny=[\"memory\"]"], ["tools.allow=[\"read\"]"], ["plugins.memory.enabled=false"]]
    {
        let toolbox = toolkit(data.path(), &settings).toolbox(&Caller::new()).await;
        assert!(!toolbox.definitions().iter().any(|tool| tool.name.starts_with("memory")), "{settings:?}");
    }
    let denied = toolkit(data.path(), &["permission.memory=deny"]).toolbox(&Caller::new()).await;
    for (name, arguments) in
        [("memory_store", json!({ "text": "x" })), ("memory_search", json!({ "query": "x" }))]
    {
        assert_eq!(error(&denied, name, arguments).await.kind(), ToolErrorKind::Denied, "{name}");
    }
    for wrong in [
        "plugins.memory.maxNotes=0",
        "plugins.memory.maxNotes=1000001",
        "plugins.memory.waitMs=-1",
        "plugins.memory.file=x",
    ] {
        assert!(Configuration::load(LoadOptions::new().set(wrong)).is_err(), "{wrong}");
    }
}
