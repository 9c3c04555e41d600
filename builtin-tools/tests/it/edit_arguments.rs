//! Arguments of `edit` that nothing has checked before.

#![cfg(feature = "fs")]

use builtin_tools::fs::{Edit, edit};
use std::path::Path;
use toolkit::ToolErrorKind;
use toolkit::prelude::*;

#[tokio::test]
async fn from_one_to_a_thousand_replacements_are_taken_and_nothing_beside_them() {
    let workspace = tempfile::tempdir().unwrap();
    let ctx = ToolContext::detached(Caller::new().with_workspace(workspace.path()));
    let edits = |count: usize| {
        let edit = Edit { old_string: "a".to_owned(), new_string: "b".to_owned(), replace_all: false };
        Some(vec![edit; count])
    };
    let text = || Some("a".to_owned());
    for (old, new, replace_all, edits, expected) in [
        (None, None, false, edits(0), "`edits` has from 1 to 1,000 replacements"),
        (None, None, false, edits(1_001), "`edits` has from 1 to 1,000 replacements"),
        (None, None, true, edits(1), "`replace_all` belongs in each entry of `edits`"),
        (text(), None, false, edits(1), "not both"),
        (text(), None, false, None, "`new_string` is missing"),
        (None, text(), false, None, "`old_string` and `new_string` are missing"),
    ] {
        let error = edit(&ctx, Path::new("absent"), old, new, replace_all, edits).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{error}");
        assert!(error.message().contains(expected), "{error}");
    }
    for count in [1, 999, 1_000] {
        let error = edit(&ctx, Path::new("absent"), None, None, false, edits(count)).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::NotFound, "{error}");
    }
}
