//! The entries of a directory that `read` lists.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::testing::TestToolbox;

fn toolbox() -> TestToolbox {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(json!({
        "read": [{ "match": "*", "do": "allow" }, { "match": "d/secret*", "do": "deny" }, { "match": "all/*", "do": "deny" }],
    }))
    .unwrap();
    TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::read))
        .build(|builder| builder.permissions(Permissions::new([settings])))
}

#[tokio::test]
async fn what_must_not_be_read_is_not_named() {
    let toolbox = toolbox()
        .file("d/a", "")
        .file("d/secret-1", "")
        .file("d/secret-2", "")
        .file("d/z", "")
        .file("d/.env", "")
        .file("all/x", "");
    for (arguments, expected) in [
        // A file that would have to be asked for is no secret by its name.
        (json!({ "file_path": "d" }), ".env\na\nz\n(2 entries left out, which must not be read)"),
        (
            json!({ "file_path": "d", "offset": 2, "limit": 1 }),
            "a\n(entries 2 to 2 of 3: continue with offset 3)\n(2 entries left out, which must not be read)",
        ),
        (json!({ "file_path": "all" }), "(1 entry left out, which must not be read)"),
    ] {
        assert_eq!(toolbox.call(arguments.clone()).await.text(), expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_name_leads_to_its_file_as_it_is_listed() {
    let toolbox = toolbox().file("plain", "");
    let root = toolbox.workspace().path().to_owned();
    for name in [&b"x\xff.txt"[..], b"two\nlines"] {
        fs::write(root.join(OsStr::from_bytes(name)), "found\n").unwrap();
    }
    let listed = toolbox.call(json!({ "file_path": "." })).await.text();
    assert_eq!(listed, "plain\ntwo\\u{a}lines\nx\\x{ff}.txt\n");
    for name in listed.lines().skip(1) {
        let text = toolbox.call(json!({ "file_path": name })).await.text();
        assert!(text.contains("     1→found"), "{name}: {text}");
    }
}
