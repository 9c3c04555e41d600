//! Files are sent by the rules for reading them, and within limits; texts never name one.

use super::outbox::{Bench, FILE};
use builtin_tools::messaging::{MessageContent, MessagePartKind};
use serde_json::json;
use std::fs;
use toolkit::ToolErrorKind;
use toolkit::approval::Answer;

#[tokio::test]
async fn a_text_is_only_text() {
    let bench = Bench::allowed();
    fs::write(bench.root.path().join("secret.txt"), "secret").unwrap();
    bench.file("a.txt", "hello");
    for (id, text) in
        ["MEDIA:/etc/passwd", "Look:\nMEDIA:a.txt\n", "![](a.txt)", "[[reply_to:1]] telegram:-200"]
            .iter()
            .enumerate()
    {
        bench.call_as(&id.to_string(), json!({ "message": text })).await.unwrap();
        let row = bench.rows().pop().unwrap();
        let MessageContent::Send { text: sent, media, .. } = &row.message.content else { panic!("{row:?}") };
        assert_eq!((sent.as_deref(), media.len()), (Some(*text), 0));
        assert_eq!((row.part.kind, &*row.message.target), (MessagePartKind::Text, "100"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_may_not_be_read_are_not_sent() {
    let bench = Bench::allowed();
    fs::write(bench.root.path().join("outside.txt"), "outside").unwrap();
    bench.file(".env", "KEY=1");
    bench.file("empty.txt", "");
    let work = bench.work();
    fs::create_dir(work.join("directory")).unwrap();
    std::os::unix::fs::symlink(bench.root.path().join("outside.txt"), work.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(bench.root.path(), work.join("up")).unwrap();
    std::os::unix::fs::symlink(work.join(".env"), work.join("harmless.txt")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(work.join("fifo")).status().unwrap();
    assert!(status.success());
    let absolute = bench.root.path().join("outside.txt");
    for (path, kind) in [
        ("../outside.txt", ToolErrorKind::Denied),
        (absolute.to_str().unwrap(), ToolErrorKind::Denied),
        ("link.txt", ToolErrorKind::Denied),
        ("up/outside.txt", ToolErrorKind::Denied),
        (".env", ToolErrorKind::Denied),
        ("harmless.txt", ToolErrorKind::Denied),
        ("/etc/passwd", ToolErrorKind::Denied),
        ("/proc/self/environ", ToolErrorKind::Denied),
        ("/dev/zero", ToolErrorKind::Denied),
        ("fifo", ToolErrorKind::Failed),
        ("directory", ToolErrorKind::InvalidArguments),
        (".", ToolErrorKind::InvalidArguments),
        ("empty.txt", ToolErrorKind::InvalidArguments),
        ("missing.txt", ToolErrorKind::NotFound),
        ("https://example.com/a.png", ToolErrorKind::NotFound),
        ("MEDIA:/etc/passwd", ToolErrorKind::NotFound),
    ] {
        let error = bench.fails(json!({ "media": [path] })).await;
        assert_eq!(error.kind(), kind, "{path}: {error:?}");
        // One file that cannot be sent keeps the others back.
        bench.file("a.txt", "hello");
        bench.fails(json!({ "media": ["a.txt", path], "message": "x" })).await;
    }
    assert!(bench.asked().iter().all(|ask| ask.kind != "message"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_person_who_allows_everything_still_sends_no_special_files() {
    let bench = Bench::new(Answer::allow());
    fs::write(bench.root.path().join("outside.txt"), "outside").unwrap();
    bench.call(json!({ "media": ["../outside.txt"] })).await.unwrap();
    let kinds: Vec<String> = bench.asked().iter().map(|ask| ask.kind.clone()).collect();
    assert_eq!(kinds, ["external_directory", "message"]);
    for path in ["/dev/zero", "/dev/null"] {
        let error = bench.fails(json!({ "media": [path] })).await;
        assert!(error.message().contains("not a regular file"), "{error:?}");
    }
}

#[tokio::test]
async fn files_have_limits() {
    let bench = Bench::allowed();
    let most = usize::try_from(FILE).unwrap();
    bench.file("most.bin", vec![1; most]);
    bench.file("large.bin", vec![1; most + 1]);
    bench.call(json!({ "media": ["most.bin"] })).await.unwrap();
    let error = bench.fails(json!({ "media": ["large.bin"] })).await;
    assert!(error.message().contains("large.bin has more than 1000 bytes"), "{error:?}");
    let error = bench.fails(json!({ "buffer": "A".repeat(1_336) })).await;
    assert!(error.message().contains("`buffer` has more than 1000 bytes"), "{error:?}");
    bench.outbox.channels.lock().unwrap()[0].limits.media_bytes = 1 << 30;
    let error = bench.fails(json!({ "buffer": "A".repeat(1_398_104) })).await;
    assert!(error.message().contains("at most 1048576"), "{error:?}");
    let error = bench.fails(json!({ "buffer": "A".repeat(1_400_001) })).await;
    assert!(error.message().contains("buffer"), "{error:?}");
    // All files of a message together, too.
    let large = fs::File::create(bench.work().join("sparse.bin")).unwrap();
    large.set_len(33 << 20).unwrap();
    let error = bench.fails(json!({ "media": ["sparse.bin", "sparse.bin"] })).await;
    assert!(error.message().contains("together"), "{error:?}");
}

#[tokio::test]
async fn a_buffer_has_a_name_of_its_own() {
    let bench = Bench::allowed();
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNwaDjwHwAFBAKAPJ4DgAAAAABJRU5ErkJggg==";
    bench.call_as("1", json!({ "buffer": format!("data:text/html;base64,{png}") })).await.unwrap();
    bench.call_as("2", json!({ "buffer": "aGk=", "filename": "note.txt" })).await.unwrap();
    let names: Vec<(String, String)> = bench
        .rows()
        .iter()
        .map(|row| match &row.message.content {
            MessageContent::Send { media, .. } => (media[0].name.clone(), media[0].media_type.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [("file.png", "image/png"), ("note.txt", "text/plain")];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    for filename in ["../../etc/passwd", "a/b", "a\nb", "..", "a\u{202e}b"] {
        let error = bench.fails(json!({ "buffer": "aGk=", "filename": filename })).await;
        assert!(error.message().contains("`filename`"), "{filename:?}: {error:?}");
    }
}
