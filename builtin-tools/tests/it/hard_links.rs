//! A file with several names: what is written under one of them is said not to be under the others.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::testing::TestToolbox;

/// A tool's change of a file `a` that has this many other names, outside of the workspace.
async fn with_links(tool: toolkit::Tool, arguments: Value, links: usize) -> (String, String, Value, String) {
    let others = tempfile::tempdir().unwrap();
    let toolbox = TestToolbox::new(tool)
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()))
        .file("a", "old\n");
    for number in 0..links {
        let link = others.path().join(number.to_string());
        fs::hard_link(toolbox.workspace().path().join("a"), link).unwrap();
    }
    let call = toolbox.call(arguments).await;
    for number in 0..links {
        assert_eq!(fs::read_to_string(others.path().join(number.to_string())).unwrap(), "old\n");
    }
    call.expect_ok();
    (call.asks[0].to_text(), call.text(), call.details().clone(), call.file("a"))
}

#[tokio::test]
async fn a_tool_says_which_names_keep_the_old_content() {
    let update = "*** Begin Patch\n*** Update File: a\n@@\n-old\n+new\n*** End Patch";
    for (tool, arguments) in [
        (toolkit::tool_ref!(builtin_tools::fs::write), json!({ "file_path": "a", "content": "new\n" })),
        (
            toolkit::tool_ref!(builtin_tools::fs::edit),
            json!({ "file_path": "a", "old_string": "old", "new_string": "new" }),
        ),
        (toolkit::tool_ref!(builtin_tools::fs::apply_patch), json!({ "input": update })),
    ] {
        for (links, in_question, in_result) in [
            (0, None, None),
            (
                1,
                Some("hard links:\n  │ a is one of several: 1 other name keeps the old content"),
                Some(
                    "\n(a had 1 other name, a hard link, which keeps the old content: it is a separate file now)",
                ),
            ),
            (
                3,
                Some("hard links:\n  │ a is one of several: 3 other names keep the old content"),
                Some(
                    "\n(a had 3 other names, hard links, which keep the old content: it is a separate file now)",
                ),
            ),
        ] {
            let (asked, said, details, content) = with_links(tool.clone(), arguments.clone(), links).await;
            assert_eq!(content, "new\n");
            assert_eq!(asked.contains("hard link"), in_question.is_some(), "{asked}");
            assert!(in_question.is_none_or(|text| asked.contains(text)), "{asked}");
            assert_eq!(said.contains("hard link"), in_result.is_some(), "{said}");
            assert!(in_result.is_none_or(|text| said.contains(text)), "{said}");
            let told = details.get("otherNames").or_else(|| details["files"][0].get("otherNames"));
            assert_eq!(told, (links > 0).then(|| json!(links)).as_ref(), "{details}");
        }
    }
}

#[tokio::test]
async fn what_only_moves_or_goes_stays_linked() {
    let others = tempfile::tempdir().unwrap();
    let toolbox = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()))
        .file("a", "old\n")
        .file("b", "old\n");
    let toolbox = toolbox.file("d", "old\n");
    for name in ["a", "b", "d"] {
        fs::hard_link(toolbox.workspace().path().join(name), others.path().join(name)).unwrap();
    }
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: c\n*** Delete File: b\n*** End Patch";
    let call = toolbox.call(json!({ "input": patch })).await;
    assert_eq!(call.text(), "patched 2 files:\nR a -> c\nD b");
    assert!(!call.asks[0].to_text().contains("hard link"));
    fs::write(others.path().join("a"), "seen under both\n").unwrap();
    assert_eq!(call.file("c"), "seen under both\n");
    // The content that changes on the way does not.
    let patch = "*** Begin Patch\n*** Update File: d\n*** Move to: e\n@@\n-old\n+new\n*** End Patch";
    let call = toolbox.call(json!({ "input": patch })).await;
    assert!(call.asks[0].to_text().contains("d is one of several: 1 other name keeps the old content"));
    assert_eq!(
        call.text(),
        "patched 1 file:\nR d -> e\n(e had 1 other name, a hard link, which keeps the old content: it is a separate \
         file now)"
    );
    assert_eq!(fs::read_to_string(others.path().join("d")).unwrap(), "old\n");
}
