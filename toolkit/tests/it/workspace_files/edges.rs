//! Edge cases of rules: the last matching rule, a name that is nearly allowed, a link whose target may be read.

use crate::workspace_files::{Places, content};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{
    approval::Answer,
    files::{Expected, FileState, FileVersion, OpenError, OpenedPath, PriorContent, ReadState},
    permission::{PermissionSettings, Permissions},
};

/// As the other, with the tools of this file.
async fn asked(
    places: &Places,
    tool: &str,
    arguments: serde_json::Value,
    answers: impl IntoIterator<Item = Answer>,
    build: impl FnOnce(toolkit::Builder) -> toolkit::Builder,
) -> (String, Vec<String>) {
    let tools = |builder: toolkit::Builder| {
        let builder = builder.tool(toolkit::tool_ref!(peek)).tool(toolkit::tool_ref!(propose));
        let builder = builder.tool(toolkit::tool_ref!(read_later)).tool(toolkit::tool_ref!(begin));
        build(builder.tool(toolkit::tool_ref!(put_over)).leave_out_incomplete())
    };
    crate::workspace_files::asked(places, tool, arguments, answers, tools).await
}

/// The paths that may be read where nobody is asked: everything outside, too.
fn all_outside() -> Permissions {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(json!({ "external_directory": "allow" })).unwrap();
    let mut exact = PermissionSettings::default();
    exact.everybody =
        serde_json::from_value(json!({ "external_directory": [{ "match": "*", "do": "allow" }] })).unwrap();
    Permissions::new([settings, exact])
}

#[tokio::test]
async fn a_workspace_is_known_by_its_real_path() {
    let places = Places::new();
    places.link("inside", "named");
    let caller = Caller::new().with_workspace(places.base.join("named"));
    let workspace = ToolContext::detached(caller).workspace();
    assert_eq!(workspace.root().unwrap(), places.base.join("inside"));
    assert_eq!(
        format!("{workspace:?}"),
        format!("Workspace {{ directory: {:?}, .. }}", places.base.join("named"))
    );
}

#[tokio::test]
async fn a_repair_is_asked_about_where_it_needs_leave_also_within_the_workspace() {
    let places = Places::new();
    // Nothing is there, and that is not told.
    let arguments = json!({ "path": "@id_rsa" });
    let (text, titles) = asked(&places, "open", arguments, [Answer::deny()], |builder| builder).await;
    assert!(text.starts_with("denied: "), "{text}");
    assert!(titles[0].starts_with("read id_rsa, which "), "{titles:?}");
}

#[tokio::test]
async fn what_a_repair_leads_to_is_not_repaired_again() {
    let places = Places::new();
    let absent = places.path("outside/absent");
    let arguments = json!({ "path": format!("@{absent}") });
    let (text, titles) = asked(&places, "open", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!((text, titles.len()), (format!("not_found: {absent} does not exist"), 1));
}

#[tokio::test]
async fn a_url_has_its_bytes_written_in_two_digits() {
    let places = Places::new();
    places.write("inside/a+b~c", "text");
    let url = format!("file://{}", places.path("inside/a%2Bb%7ec"));
    assert!(content(&places.workspace(), &url).await.ends_with(") text"));
    for wrong in ["a%2", "a%", "a%2gb"] {
        let url = format!("file://{}", places.path(&format!("inside/{wrong}")));
        assert!(content(&places.workspace(), &url).await.starts_with("not_found: "), "{wrong}");
    }
}

#[tokio::test]
async fn a_name_that_leads_outside_is_no_repair_even_where_that_may_be_read() {
    let places = Places::new();
    places.write("outside/secret", "canary").link("../outside/secret", "inside/a\u{a0}b");
    let open = |path: &str| {
        let arguments = json!({ "path": path });
        let places = &places;
        async move { asked(places, "open", arguments, [], |builder| builder.permissions(all_outside())).await }
    };
    assert_eq!(open("a\u{a0}b").await.0, "canary");
    let (text, _) = open("a b").await;
    assert_eq!(text, "not_found: a b does not exist");
}

#[tokio::test]
async fn as_many_places_as_four_are_followed() {
    let spaces = ['\u{a0}', '\u{2000}', '\u{2001}', '\u{2002}', '\u{2003}'];
    for (count, is_followed) in [(1, true), (4, true), (5, false)] {
        let places = Places::new();
        for space in &spaces[..count] {
            places.write(&format!("inside/d{space}e/f"), "text");
        }
        let text = content(&places.workspace(), "d e/f").await;
        let expected = if count == 1 { ") text" } else { "/f`" };
        assert_eq!(text.ends_with(expected), is_followed, "{count}: {text}");
    }
}

#[tokio::test]
async fn only_a_plain_name_that_may_be_read_is_opened_in_a_directory() {
    let places = Places::new();
    places.write("inside/folder/deep/file", "text").write("inside/folder/key.pem", "KEY");
    places.write("inside/other", "linked").link("../other", "inside/folder/link");
    places.write("outside/secret", "canary").link("../../outside/secret", "inside/folder/away");
    let Ok(OpenedPath::Directory(directory)) = places.workspace().open("folder").await else {
        panic!("a directory")
    };
    for (name, expected) in [
        ("deep/file", "it needs approval"),
        ("key.pem", "it needs approval"),
        ("away", "it needs approval"),
        ("deep", "it is not a regular file but a directory"),
        ("absent", "it does not exist"),
        ("link", "linked"),
    ] {
        let said = match directory.try_open(name.as_ref()) {
            Ok(file) => std::io::read_to_string(file.into_file()).unwrap(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected, "{name}");
    }
    assert!(directory.repaired().is_none());
    let Ok(OpenedPath::Directory(directory)) = places.workspace().open("@folder").await else {
        panic!("a directory")
    };
    assert_eq!(directory.repaired().unwrap().note(), "there is no `@folder`; this is `folder`");
    assert!(matches!(places.workspace().try_open("folder/absent"), Err(OpenError::Absent)));
}

#[test]
fn a_path_may_have_4096_bytes() {
    let root = tempfile::tempdir().unwrap();
    for (bytes, is_contained) in [(4_096, true), (4_097, false)] {
        let path = "a/".repeat(bytes / 2) + &"b".repeat(bytes % 2);
        assert_eq!(toolkit::files::is_path_contained(root.path(), &path), is_contained, "{bytes}");
    }
}

#[tokio::test]
async fn a_session_remembers_a_thousand_files_those_it_used_last() {
    let places = Places::new();
    places.write("inside/f", "text");
    let workspace = places.workspace();
    let version = workspace.try_open("f").unwrap().version();
    let path = |number: u32| PathBuf::from(format!("/{number}"));
    for number in 0..1_000 {
        workspace.saw(&path(number), version.clone());
    }
    assert_eq!(workspace.seen(&path(0), &version), ReadState::Same);
    workspace.saw(&path(0), version.clone());
    workspace.saw(&path(1_000), version.clone());
    let forgotten: Vec<u32> =
        (0..=1_000).filter(|number| workspace.seen(&path(*number), &version) == ReadState::Never).collect();
    assert_eq!(forgotten, [1]);
}

#[tokio::test]
async fn what_is_of_the_toolkits_own_is_not_opened_unasked() {
    let places = Places::new();
    places.write("inside/data/approvals.json", "canary").write("inside/other", "text");
    let build = |builder: toolkit::Builder| builder.data_dir(places.base.join("inside/data"));
    for (path, expected) in [("data/approvals.json", "it needs approval"), ("other", "text")] {
        let (text, _) = asked(&places, "peek", json!({ "path": path }), [], build).await;
        assert_eq!(text, expected);
    }
}

#[tokio::test]
async fn what_begins_as_home_does_is_a_file_of_that_name_where_one_is() {
    let places = Places::new();
    places.write("inside/~/kept", "old");
    let arguments = json!({ "path": "~/kept", "text": "new" });
    let (text, titles) = asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!((text.as_str(), titles), ("~/kept", vec!["write ~/kept (permission.edit)".to_owned()]));
    assert_eq!(places.read("inside/~/kept"), "new");
}

#[tokio::test]
async fn what_is_alike_is_told_only_where_it_may_be_read_and_leads_somewhere() {
    let places = Places::new();
    places.write("inside/d e/it\u{2019}s", "one").write("inside/d\u{a0}e/it\u{2019}s", "other");
    places.write("inside/a\u{a0}b", "asked").link("nowhere", "inside/c\u{a0}d");
    let mut settings = PermissionSettings::default();
    settings.everybody =
        serde_json::from_value(json!({ "read": [{ "match": "a\u{a0}b", "do": "ask" }] })).unwrap();
    for (path, expected) in [
        // The directory of just that name is the one that is meant.
        ("d e/it's", "(there is no `d e/it's`; this is `d e/it\u{2019}s`) one"),
        ("a b", "not_found: a b does not exist"),
        ("c d", "not_found: c d does not exist"),
    ] {
        let permissions = Permissions::new([settings.clone()]);
        let arguments = json!({ "path": path });
        let (text, titles) =
            asked(&places, "open", arguments, [], |builder| builder.permissions(permissions)).await;
        assert_eq!((text.as_str(), titles.len()), (expected, 0), "{path}");
    }
}

#[tokio::test]
async fn a_proposal_says_whether_it_is_asked_and_what_has_to_be_there_still() {
    let places = Places::new();
    places.write("inside/f", "text").write("inside/k.pem", "KEY");
    let (text, _) = asked(&places, "propose", json!({ "path": "f" }), [], |builder| builder).await;
    assert_eq!(text, "asked version 4 true");
    let allowed = |builder: toolkit::Builder| {
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(json!({ "edit": "allow" })).unwrap();
        builder.permissions(Permissions::new([settings]))
    };
    for (path, expected) in [
        ("f", "unasked version 4 true"),
        ("@f", "unasked version 4 true there is no `@f`; this is `f`"),
        ("k.pem", "asked unknown"),
        ("absent", "absent does not exist"),
    ] {
        let (text, _) = asked(&places, "propose", json!({ "path": path }), [], allowed).await;
        assert!(text.starts_with(expected), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_target_reads_what_stands_there_by_then() {
    for (then, expected) in [
        ("nothing", "text"),
        ("remove", "nothing"),
        ("link", "f is not a regular file but a symbolic link"),
        ("directory", "f is a directory; name a file in it"),
        ("file above", "above/f cannot exist: a part of its path is a file, not a directory"),
    ] {
        let places = Places::new();
        places.write("inside/f", "text").write("outside/secret", "canary");
        let arguments = json!({ "path": if then == "file above" { "above/f" } else { "f" }, "then": then });
        let (text, _) = asked(&places, "read_later", arguments, [Answer::allow()], |builder| builder).await;
        assert_eq!(text, expected, "{then}");
    }
}

#[tokio::test]
async fn a_content_of_the_same_size_is_another() {
    let places = Places::new();
    places.write("inside/f", "one");
    let workspace = places.workspace();
    let file = workspace.try_open("f").unwrap();
    let seen = FileVersion::of(b"one", file.metadata());
    for (now, expected) in [("two", "f was changed by something else meanwhile"), ("one", "done")] {
        // Made anew, so that its time and identity are others.
        std::fs::remove_file(places.base.join("inside/f")).unwrap();
        places.write("inside/f", now);
        let build = |builder: toolkit::Builder| builder.service(seen.clone());
        let (text, _) = asked(&places, "put_over", json!({}), [Answer::allow()], build).await;
        assert!(text.starts_with(expected), "{now}: {text}");
    }
}

#[tokio::test]
async fn what_several_files_were_to_have_is_told_once_and_only_of_the_dead_of_this_workspace() {
    let places = Places::new();
    places.write("inside/one", "old").write("inside/other", "old").write("inside/third", "old");
    let build = |builder: toolkit::Builder| builder.data_dir(places.base.join("data"));
    for (count, expected) in [(1, "none"), (2, "nothing is interrupted"), (3, "nothing is interrupted")] {
        let arguments = json!({ "count": count });
        let answers = vec![Answer::allow(); 3];
        let (text, _) = asked(&places, "begin", arguments, answers, build).await;
        assert_eq!(text, expected, "{count}");
    }
}

/// Opens a file if nobody has to be asked for that.
#[tool(read_only, asks)]
async fn peek(ctx: &ToolContext, path: &str) -> Result<String, ToolError> {
    Ok(match ctx.workspace().try_open(path) {
        Ok(file) => std::io::read_to_string(file.into_file()).unwrap(),
        Err(error) => error.to_string(),
    })
}

/// Says what is proposed of a file that has to exist.
#[tool(permission = "edit", asks)]
async fn propose(ctx: &ToolContext, path: &str) -> Result<String, ToolError> {
    let proposal = ctx.workspace().propose_existing(path).await?;
    let asked = if proposal.is_asked() { "asked" } else { "unasked" };
    let before = proposal.before(100).await?;
    let expected = match (&before, before.expected()) {
        (PriorContent::File(file), Some(Expected::Version(version))) => {
            format!("version {} {}", version.size(), version.is_same(&file.version))
        }
        (PriorContent::Absent, Some(Expected::Absent)) => "absent".to_owned(),
        (PriorContent::Unknown, None) => "unknown".to_owned(),
        other => format!("{other:?}"),
    };
    let repaired = proposal.repaired().map_or(String::new(), |repaired| format!(" {}", repaired.note()));
    Ok(format!("{asked} {expected}{repaired}"))
}

/// Reads a file that may be written, after something happened.
#[tool(permission = "edit", asks)]
async fn read_later(ctx: &ToolContext, path: &str, then: &str) -> Result<String, ToolError> {
    let workspace = ctx.workspace();
    let target = workspace.target(path, |ask| ask).await?;
    let f = workspace.root()?.join("f");
    match then {
        "remove" => std::fs::remove_file(&f).unwrap(),
        "link" => {
            std::fs::remove_file(&f).unwrap();
            std::os::unix::fs::symlink("../outside/secret", &f).unwrap();
        }
        "directory" => {
            std::fs::remove_file(&f).unwrap();
            std::fs::create_dir(&f).unwrap();
        }
        "file above" => std::fs::write(f.with_file_name("above"), "").unwrap(),
        _ => {}
    }
    let content = target.read(100)?;
    Ok(content.map_or("nothing".to_owned(), |content| String::from_utf8(content.bytes).unwrap()))
}

/// Writes `f` where it has the content that was seen.
#[tool(permission = "edit", asks)]
async fn put_over(ctx: &ToolContext, seen: State<FileVersion>) -> Result<String, ToolError> {
    let target = ctx.workspace().target("f", |ask| ask).await?;
    target.write(b"new", &Expected::Version((*seen).clone()))?;
    Ok("done".to_owned())
}

/// Notes that so many files are about to be changed as one, and looks what is interrupted.
#[tool(permission = "edit", asks)]
async fn begin(ctx: &ToolContext, count: usize) -> Result<String, ToolError> {
    let workspace = ctx.workspace();
    let mut targets = Vec::new();
    for name in ["one", "other", "third"].into_iter().take(count) {
        targets.push(workspace.target(name, |ask| ask).await?);
    }
    let changes = targets.iter().map(|target| (target, Some(&b"old"[..]), Some(&b"new"[..])));
    let Some(unfinished) = workspace.begin_together(changes) else { return Ok("none".to_owned()) };
    // Of the files one has what it was to have, so this would be told if it was nobody's.
    std::fs::write(workspace.root()?.join("one"), "new").unwrap();
    let told = workspace.interrupted(|| true);
    let records = workspace.root()?.join("../data/unfinished");
    let of_workspace = std::fs::read_dir(&records).unwrap().next().unwrap().unwrap().path();
    let record = std::fs::read_dir(of_workspace).unwrap().next().unwrap().unwrap().path();
    // A copy of it is nobody's: once told of this workspace, and left alone by another.
    let copy = record.with_file_name("0.json");
    std::fs::copy(&record, &copy).unwrap();
    let elsewhere = ToolContext::detached(Caller::new().with_workspace(workspace.root()?.join("..")));
    assert!(elsewhere.workspace().interrupted(|| true).is_empty());
    assert!(copy.exists());
    assert!(workspace.interrupted(|| false).is_empty());
    let mut of_the_dead = workspace.interrupted(|| true);
    assert_eq!(of_the_dead.len(), 1);
    let of: Vec<FileState> = of_the_dead[0].files.iter().map(|(_, left)| *left).collect();
    assert_eq!(of[..2], [FileState::New, FileState::Old]);
    // Nobody else finds it meanwhile; who dies before he tells it leaves it to the next.
    assert!(copy.exists() && workspace.interrupted(|| true).is_empty());
    drop(of_the_dead);
    of_the_dead = workspace.interrupted(|| true);
    of_the_dead.remove(0).told();
    assert!(!copy.exists() && workspace.interrupted(|| true).is_empty());
    // One that is old tells of a time that nobody remembers, as long as it is nobody's.
    std::fs::copy(&record, &copy).unwrap();
    for (of, stays) in [(&copy, false), (&record, true)] {
        let month = std::time::Duration::from_hours(31 * 24);
        let file = std::fs::File::options().write(true).open(of).unwrap();
        file.set_modified(std::time::SystemTime::now() - month).unwrap();
        drop(file);
        assert!(workspace.interrupted(|| true).is_empty());
        assert_eq!(of.exists(), stays);
    }
    drop(unfinished);
    assert!(!record.exists());
    std::fs::write(workspace.root()?.join("one"), "old").unwrap();
    Ok(if told.is_empty() { "nothing is interrupted".to_owned() } else { format!("{told:?}") })
}
