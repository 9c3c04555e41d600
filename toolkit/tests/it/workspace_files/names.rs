//! Names that are nearly right.

use crate::workspace_files::{Places, asked, content};
use serde_json::json;
use std::path::Path;
use toolkit::approval::Answer;

#[tokio::test]
async fn one_repair_is_used_and_said() {
    let places = Places::new();
    places
        .write("inside/src/lib.rs", "lib")
        .write("inside/Screenshot at 3.45\u{202f}PM.png", "picture")
        .write("inside/a b", "plain space")
        .write("inside/Re\u{301}sume\u{301}", "decomposed")
        .write("inside/Caf\u{e9}/menu", "composed")
        .write("inside/John\u{2019}s \u{201c}list\u{201d}", "curly")
        .write("inside/it's", "straight")
        .write("inside/@types/node", "scoped")
        .write("inside/~/kept", "literal");
    let workspace = places.workspace();
    for (path, expected) in [
        ("src/lib.rs", "lib"),
        ("@src/lib.rs", "(there is no `@src/lib.rs`; this is `src/lib.rs`) lib"),
        ("@types/node", "scoped"),
        ("~/kept", "literal"),
        ("./~/kept", "literal"),
        (
            "Screenshot at 3.45 PM.png",
            "(there is no `Screenshot at 3.45 PM.png`; this is `Screenshot at 3.45\\u{202f}PM.png`) picture",
        ),
        ("a\u{a0}b", "(there is no `a\\u{a0}b`; this is `a b`) plain space"),
        ("R\u{e9}sum\u{e9}", "decomposed"),
        ("Cafe\u{301}/menu", "composed"),
        (
            "John's \"list\"",
            "(there is no `John's \"list\"`; this is `John\u{2019}s \u{201c}list\u{201d}`) curly",
        ),
        ("it\u{2019}s", "(there is no `it\u{2019}s`; this is `it's`) straight"),
        ("@it\u{2019}s", "(there is no `@it\u{2019}s`; this is `it's`) straight"),
        ("src", "a directory"),
        ("@src", "a directory"),
    ] {
        let found = content(&workspace, path).await;
        assert!(found == expected || found.ends_with(&format!(") {expected}")), "{path}: {found}");
    }
    let url = format!("file://{}", places.path("inside/a%20b"));
    assert!(content(&workspace, &url).await.ends_with("this is `a b`) plain space"));
    let url = format!("file://localhost{}", places.path("inside/src/lib.rs"));
    assert!(content(&workspace, &url).await.ends_with(") lib"));
}

#[tokio::test]
async fn where_several_are_alike_none_is_used() {
    let places = Places::new();
    places.write("inside/a\u{a0}b", "one").write("inside/a\u{202f}b", "other");
    places.write("inside/@c", "with").write("inside/c", "without");
    let workspace = places.workspace();
    assert_eq!(
        content(&workspace, "a b").await,
        "not_found: a b does not exist; there are `a\\u{a0}b` and `a\\u{202f}b`"
    );
    // A file of exactly that name was meant.
    assert_eq!(content(&workspace, "@c").await, "with");
}

#[tokio::test]
async fn up_to_three_similar_names_are_told_of_those_that_may_be_read() {
    let places = Places::new();
    for name in
        ["config.json", "config.yaml", "config.yml", "configs.json", ".env", ".env2", "private/id_rsa"]
    {
        places.write(&format!("inside/{name}"), name);
    }
    places.write("outside/config.jsn", "").link("../outside/config.jsn", "inside/config.jsno");
    let workspace = places.workspace();
    for (path, expected) in [
        ("config.jso", "config.jso does not exist; there are `config.json`, `configs.json` and `config.yml`"),
        (".enw", ".enw does not exist"),
        ("private/id_rsb", "private/id_rsb does not exist"),
        ("privat/id_rsa2", "privat/id_rsa2 does not exist; there is `private`"),
        ("nothing like it", "nothing like it does not exist"),
    ] {
        assert_eq!(content(&workspace, path).await, format!("not_found: {expected}"), "{path}");
    }
}

#[tokio::test]
async fn a_repair_that_leads_outside_is_asked_about_whether_or_not_anything_is_there() {
    let places = Places::new();
    places.write("outside/there", "secret").write("inside/id_rsa", "KEY");
    for (given, leads_to) in [
        (format!("@{}", places.path("outside/there")), places.path("outside/there")),
        (format!("@{}", places.path("outside/absent")), places.path("outside/absent")),
        (format!("file://{}", places.path("outside/there")), places.path("outside/there")),
        ("@id_rsa".to_owned(), "id_rsa".to_owned()),
    ] {
        let arguments = json!({ "path": given });
        let (text, titles) = asked(&places, "open", arguments, [Answer::deny()], |builder| builder).await;
        assert!(text.starts_with("denied: ") && !text.contains("KEY") && !text.contains("secret"), "{text}");
        assert_eq!(titles.len(), 1, "{given}");
        assert!(titles[0].starts_with(&format!("read {leads_to}, which ")), "{titles:?}");
    }
}

#[tokio::test]
async fn home_is_understood_and_asked_about() {
    let places = Places::new();
    let home = etcetera::home_dir().unwrap();
    for path in ["~/no/such/file", "~", "@~/no/such/file"] {
        let (text, titles) =
            asked(&places, "open", json!({ "path": path }), [Answer::deny()], |builder| builder).await;
        assert!(text.starts_with("denied: "), "{path}: {text}");
        assert!(titles[0].starts_with(&format!("read {}", home.display())), "{path}: {titles:?}");
    }
    let arguments = json!({ "path": "~/no/such/file", "text": "x" });
    let (text, titles) = asked(&places, "put", arguments, [Answer::deny()], |builder| builder).await;
    assert!(text.contains("not allowed: write "), "{text}");
    assert!(titles[0].starts_with(&format!("write {}/no/such/file", home.display())), "{titles:?}");
    assert!(!Path::new(&places.path("inside/~")).exists());
}

#[tokio::test]
async fn a_file_to_be_made_has_just_the_name_that_was_given() {
    let places = Places::new();
    // Of several that look alike none is meant.
    places.write("inside/a\u{a0}b", "other").write("inside/a\u{202f}b", "other");
    for (path, expected) in [
        ("a b", "a b"),
        ("@types/new", "@types/new"),
        ("./~/new", "~/new"),
        ("..foo", "..foo"),
        ("file://elsewhere/new", "file:/elsewhere/new"),
    ] {
        let arguments = json!({ "path": path, "text": "new" });
        let (text, _) = asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
        assert_eq!(text, expected);
        assert_eq!(places.read(&format!("inside/{expected}")), "new");
    }
    assert_eq!(places.read("inside/a\u{a0}b"), "other");
    let arguments = json!({ "path": "new/directory/", "text": "new" });
    let (text, asked) = asked(&places, "put", arguments, [], |builder| builder).await;
    assert!(text.contains("new/directory/ names a directory, by the `/` at its end; name a file"), "{text}");
    assert_eq!((asked.len(), places.base.join("inside/new").exists()), (0, false));
}

#[tokio::test]
async fn no_twin_is_made_of_a_file_that_looks_alike() {
    let places = Places::new();
    for (path, there) in [
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("Screenshot 10.00 AM.txt", "Screenshot 10.00\u{202f}AM.txt"),
        ("don't.txt", "don\u{2019}t.txt"),
        ("@plain.txt", "plain.txt"),
        ("d/caf\u{e9}/menu", "d/cafe\u{301}/menu"),
    ] {
        places.write(&format!("inside/{there}"), "old");
        let names = places.names("inside");
        let arguments = json!({ "path": path, "text": "new" });
        let (text, asked) = asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
        assert_eq!(text, places.workspace().shown(&places.base.join("inside").join(there)), "{path}");
        assert_eq!(asked.len(), 1);
        assert_eq!(
            (places.read(&format!("inside/{there}")).as_str(), places.names("inside")),
            ("new", names)
        );
    }
    // A path that may not be known is no reason for another name.
    places.write("inside/x\u{a0}y.pem", "secret").write("outside/caf\u{e9}", "secret");
    places.link("../outside/caf\u{e9}", "inside/lin\u{a0}k");
    for path in ["x y.pem", "lin k"] {
        let arguments = json!({ "path": path, "text": "new" });
        let (text, _) = asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
        assert_eq!((text.as_str(), places.read(&format!("inside/{path}")).as_str()), (path, "new"));
    }
    assert_eq!(places.read("outside/caf\u{e9}"), "secret");
}

#[tokio::test]
async fn a_name_that_cannot_be_typed_is_given_back_as_it_was_shown() {
    use std::os::unix::ffi::OsStrExt as _;
    let places = Places::new();
    let odd: [&[u8]; 5] =
        [b"a\nb", b"bell\x07", b"no\xfftext", "wide\u{3000}space".as_bytes(), b"d\x1b/inner\r"];
    for (number, name) in odd.into_iter().enumerate() {
        let path = places.base.join("inside").join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, number.to_string()).unwrap();
        let shown = places.workspace().shown(&path);
        assert!(!shown.contains(char::is_control), "{shown:?}");
        assert!(content(&places.workspace(), &shown).await.ends_with(&number.to_string()), "{shown}");
    }
    // A file of exactly that name goes before.
    places.write(r"inside/a\u{a}b", "literal");
    assert_eq!(content(&places.workspace(), r"a\u{a}b").await, "literal");
    let absent = content(&places.workspace(), "no\n\u{1b}[2Jthing").await;
    assert_eq!(absent, r"not_found: no\u{a}\u{1b}[2Jthing does not exist");
}
