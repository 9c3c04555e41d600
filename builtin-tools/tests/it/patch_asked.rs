//! A patch that was allowed is made of the files as they are by then only if it is the change that was allowed.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use toolkit::prelude::*;
use toolkit::{
    Approver, Toolbox,
    approval::{Answer, Answering, PendingAsk},
};

/// Another process's change while the person is asked.
#[derive(Debug, Clone)]
enum Meanwhile {
    Nothing,
    /// The same session calls a tool.
    Call(&'static str, Value),
    /// Another hand writes a file.
    Write(&'static str, &'static str),
    /// Another hand removes a file.
    Remove(&'static str),
}
use Meanwhile::{Call, Nothing, Remove, Write};

/// Allows everything, and before the first answer something happens.
struct Thinking {
    root: PathBuf,
    meanwhile: Mutex<Meanwhile>,
    toolbox: OnceLock<Weak<Toolbox>>,
}

impl Approver for Thinking {
    fn ask<'a>(&'a self, _: &'a PendingAsk) -> Answering<'a> {
        let meanwhile = std::mem::replace(&mut *self.meanwhile.lock().unwrap(), Nothing);
        Box::pin(async move {
            match meanwhile {
                Nothing => {}
                Call(name, arguments) => {
                    let toolbox = self.toolbox.get().unwrap().upgrade().unwrap();
                    let result = toolbox.call(ToolCall::new("2", name, arguments)).await;
                    assert!(result.outcome.is_ok(), "{}", result.text());
                }
                Write(path, content) => fs::write(self.root.join(path), content).unwrap(),
                Remove(path) => fs::remove_file(self.root.join(path)).unwrap(),
            }
            Some(Answer::allow().into())
        })
    }
}

/// The report of a patch of files, and the files after it, in the order of their names.
async fn patched(
    files: &[(&str, &str)],
    input: &str,
    meanwhile: Meanwhile,
) -> (String, Vec<(String, String)>) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_owned();
    for (path, content) in files {
        fs::write(root.join(path), content).unwrap();
    }
    let thinking =
        Arc::new(Thinking { root: root.clone(), meanwhile: Mutex::new(meanwhile), toolbox: OnceLock::new() });
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .tool(toolkit::tool_ref!(builtin_tools::fs::write))
        .approver(Arc::clone(&thinking))
        .default_workspace(&root)
        // Files that were read before are not the subject of these tests.
        .for_one_call()
        .build()
        .unwrap();
    let toolbox = Arc::new(toolkit.toolbox(&Caller::new()).await);
    thinking.toolbox.set(Arc::downgrade(&toolbox)).unwrap();
    let result = toolbox.call(ToolCall::new("1", "apply_patch", json!({ "input": input }))).await;
    assert!(matches!(*thinking.meanwhile.lock().unwrap(), Nothing), "nobody was asked: {}", result.text());
    let names = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let content = |name: &String| fs::read_to_string(root.join(name)).unwrap();
    (result.text(), names.iter().map(|name| (name.clone(), content(name))).collect())
}

fn edit(old: &str, new: &str) -> Meanwhile {
    Call("edit", json!({ "file_path": "a", "old_string": old, "new_string": new }))
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

const OTHER: &str = "other calls of this session changed the same places of these files meanwhile; nothing was changed. Read \
                     them again";
const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// The error about a file that another process changed.
fn another_hand(path: &str) -> String {
    format!(
        "{path} was changed by something else during the approval prompt; nothing was changed. Read it again, then \
         make a patch of its current content"
    )
}

#[tokio::test]
async fn only_the_change_that_was_allowed_is_made() {
    let update = "*** Update File: a\n@@\n-2\n+two\n";
    let both = "*** Update File: a\n@@\n-2\n+two\n*** Update File: b\n@@\n-x\n+y\n";
    let moved = "*** Update File: a\n*** Move to: m\n@@\n-2\n+two\n";
    let delete = "*** Delete File: a\n";
    let add = "*** Update File: a\n@@\n-2\n+two\n*** Add File: c\n+x\n";
    let own = |body: &str| Call("apply_patch", json!({ "input": patch(body) }));
    let write = |path: &str, content: &str| Call("write", json!({ "file_path": path, "content": content }));
    for (input, meanwhile, said, after) in [
        (
            update,
            Nothing,
            "patched 1 file:\nM a",
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n")][..],
        ),
        // This session changes something else, or where it is.
        (
            update,
            edit("8", "eight"),
            "patched 1 file:\nM a",
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n"), ("b", "x\n")],
        ),
        (
            both,
            edit("8", "eight"),
            "patched 2 files:\nM a\nM b",
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n"), ("b", "y\n")],
        ),
        (
            "*** Update File: a\n@@\n-8\n+eight\n",
            edit("1", "0\n1"),
            "patched 1 file:\nM a",
            &[("a", "0\n1\n2\n3\n4\n5\n6\n7\neight\n9\n"), ("b", "x\n")],
        ),
        (
            update,
            own("*** Update File: b\n@@\n-x\n+y\n"),
            "patched 1 file:\nM a",
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "y\n")],
        ),
        // It makes another change of it.
        (update, edit("3", "three"), OTHER, &[("a", "1\n2\nthree\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n")]),
        (both, edit("3", "three"), OTHER, &[("a", "1\n2\nthree\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n")]),
        (moved, edit("3", "three"), OTHER, &[("a", "1\n2\nthree\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n")]),
        (delete, edit("9\n", "9\n10\n"), OTHER, &[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), ("b", "x\n")]),
        (
            update,
            write("a", "1\r\n2\r\n3\r\n4\r\n5\r\n"),
            OTHER,
            &[("a", "1\r\n2\r\n3\r\n4\r\n5\r\n"), ("b", "x\n")],
        ),
        // It makes the change impossible.
        (
            update,
            edit("2", "two"),
            &format!(
                "{OTHER}: hunk 1 of a (patch line 3): its old lines are not in the file; nothing was changed\nthere is no similar text in the file; read the file again"
            ),
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n")],
        ),
        (
            add,
            write("c", "y\n"),
            &format!(
                "{OTHER}: patch line 6: c already exists; use `*** Update File` to change it, or delete it first; nothing was \
                 changed"
            ),
            &[("a", LINES), ("b", "x\n"), ("c", "y\n")],
        ),
        // Another hand changes anything of the files that are named.
        (
            update,
            Write("b", "of another file\n"),
            "patched 1 file:\nM a",
            &[("a", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "of another file\n")],
        ),
        (
            update,
            Write("a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
            &another_hand("a"),
            &[("a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"), ("b", "x\n")],
        ),
        (both, Write("b", "x\nz\n"), &another_hand("b"), &[("a", LINES), ("b", "x\nz\n")]),
        (add, Write("c", "y\n"), &another_hand("c"), &[("a", LINES), ("b", "x\n"), ("c", "y\n")]),
        (delete, Write("a", "1\n"), &another_hand("a"), &[("a", "1\n"), ("b", "x\n")]),
        (both, Remove("b"), &another_hand("b"), &[("a", LINES)]),
    ] {
        let told = format!("{meanwhile:?}");
        let (text, files) = patched(&[("a", LINES), ("b", "x\n")], &patch(input), meanwhile).await;
        assert_eq!(text, said, "{input}\n{told}");
        let files: Vec<(&str, &str)> = files.iter().map(|(name, content)| (&**name, &**content)).collect();
        assert_eq!(files, after, "{input}\n{told}");
    }
}

#[tokio::test]
async fn what_was_not_shown_in_full_is_made_only_of_the_very_files() {
    let long = format!("{}last\n", "line\n".repeat(300_000));
    let delete = patch("*** Delete File: a\n");
    let (text, files) = patched(&[("a", &long)], &delete, Nothing).await;
    assert_eq!((text.as_str(), files.len()), ("patched 1 file:\nD a", 0));
    let (text, files) = patched(&[("a", &long)], &delete, edit("last", "other")).await;
    assert_eq!((text.as_str(), files.len()), (OTHER, 1));
}
