//! The contract of a store of transcripts, held by each of them, and a conversation that is kept in each of them.

use crate::common::{builder, finish, log, scripted};
use std::io::{ErrorKind, Read as _};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use toolkit_agent::{
    DelegationRequest, FileStore, MemoryStore, Retention, RunOptions, TranscriptError, TranscriptStore,
    Transcripts,
};

type Store = Arc<dyn TranscriptStore>;

/// Each store, empty.
fn stores() -> (tempfile::TempDir, [Store; 2]) {
    let directory = tempfile::tempdir().unwrap();
    let files = FileStore::new(directory.path().join("agents"));
    (directory, [Arc::new(files), Arc::new(MemoryStore::new())])
}

fn text(store: &Store, id: &str, segment: u32) -> String {
    let mut text = String::new();
    store.read(id, segment).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The numbers and sizes of the segments.
fn segments(store: &Store, id: &str) -> Vec<(u32, u64)> {
    let stored = store.get(id).unwrap();
    assert!(store.list().unwrap().contains(&stored));
    stored.segments.iter().map(|segment| (segment.number, segment.bytes)).collect()
}

fn kind<T>(outcome: std::io::Result<T>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

#[test]
fn a_conversation_that_was_never_kept_is_not_found() {
    let (_directory, stores) = stores();
    for store in stores {
        assert_eq!(store.list().unwrap(), []);
        assert_eq!(kind(store.get("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(store.open("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(store.read("a", 1)), Some(ErrorKind::NotFound));
        drop(store.create("a", b"1\n").unwrap());
        assert_eq!(kind(store.read("a", 2)), Some(ErrorKind::NotFound));
        assert_eq!(kind(store.remove_oldest("a", 2)), Some(ErrorKind::NotFound));
    }
}

#[test]
fn lines_follow_each_other_and_are_read_meanwhile() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut writer = store.create("a", b"1\n").unwrap();
        writer.append(b"2\n").unwrap();
        assert_eq!((text(&store, "a", 1), segments(&store, "a")), ("1\n2\n".to_owned(), vec![(1, 4)]));
        // A part of a line is taken back.
        writer.append(b"3").unwrap();
        writer.truncate(4).unwrap();
        writer.append(b"4\n").unwrap();
        let sync = writer.sync();
        drop(writer);
        sync().unwrap();
        let mut writer = store.open("a").unwrap();
        assert_eq!(writer.read(3).unwrap(), b"1\n2");
        writer.append(b"5\n").unwrap();
        assert_eq!(writer.read(100).unwrap(), b"1\n2\n4\n5\n");
        writer.append(b"6\n").unwrap();
        writer.sync()().unwrap();
        assert_eq!(text(&store, "a", 1), "1\n2\n4\n5\n6\n");
    }
}

#[test]
fn the_end_of_a_segment_is_read_alone() {
    let (_directory, stores) = stores();
    for store in stores {
        assert_eq!(kind(store.read_end("a", 1, 9)), Some(ErrorKind::NotFound));
        let mut writer = store.create("a", b"1\n").unwrap();
        writer.begin_segment(b"2\n").unwrap();
        writer.append(b"34\n").unwrap();
        for (most, expected) in [(0, ""), (1, "\n"), (4, "\n34\n"), (5, "2\n34\n"), (u64::MAX, "2\n34\n")] {
            assert_eq!(store.read_end("a", 2, most).unwrap(), expected.as_bytes(), "{most}");
        }
        assert_eq!(store.read_end("a", 1, 9).unwrap(), b"1\n");
    }
}

#[test]
fn a_lock_for_removal_fails_at_once_while_removals_are_held_off() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = [FileStore::new(directory.path()), FileStore::new(directory.path())];
    let held = (one.hold_off_removal().unwrap(), other.hold_off_removal().unwrap());
    // Where directories can be locked.
    let expected = cfg!(unix).then_some(ErrorKind::WouldBlock);
    assert_eq!(kind(one.lock_for_removal()), expected);
    drop(held);
    let removing = one.lock_for_removal().unwrap();
    assert_eq!(kind(other.lock_for_removal()), expected);
    drop(removing);
    assert_eq!(kind(other.lock_for_removal()), None);
}

#[test]
fn a_file_that_was_removed_or_replaced_while_it_is_written_is_an_error_of_the_next_sync() {
    for (is_replaced, expected) in [(false, "was removed"), (true, "was replaced")] {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::new(directory.path().join("agents"));
        let mut writer = store.create("a", b"1\n").unwrap();
        writer.sync()().unwrap();
        let path = store.path("a", 1);
        std::fs::remove_file(&path).unwrap();
        if is_replaced {
            std::fs::write(&path, "1\n").unwrap();
        }
        writer.append(b"2\n").unwrap();
        let error = writer.sync()().unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
fn one_writer_has_a_transcript() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut writer = store.create("a", b"1\n").unwrap();
        assert_eq!(kind(store.open("a")), Some(ErrorKind::WouldBlock));
        assert_eq!(kind(store.create("a", b"2\n")), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind(store.create_whole("a", b"2\n")), Some(ErrorKind::AlreadyExists));
        writer.begin_segment(b"2\n").unwrap();
        assert_eq!(kind(store.open("a")), Some(ErrorKind::WouldBlock));
        drop(writer);
        let writer = store.open("a").unwrap();
        assert_eq!(writer.segment(), 2);
        assert_eq!(kind(store.open("a")), Some(ErrorKind::WouldBlock));
        drop(writer);
        // One that is copied is nobody's.
        store.create_whole("b", b"1\n2\n").unwrap();
        drop(store.open("b").unwrap());
    }
}

#[test]
fn writers_that_open_at_once_have_it_one_after_the_other() {
    let (_directory, stores) = stores();
    for store in stores {
        drop(store.create("a", b"0\n").unwrap());
        let (writers, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut written = 0;
                    while written < 10 {
                        let Ok(mut writer) = store.open("a") else { continue };
                        most.fetch_max(writers.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        writer.begin_segment(b"0\n").unwrap();
                        written += 1;
                        writers.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        assert_eq!(store.get("a").unwrap().last(), 41);
    }
}

#[test]
fn segments_are_read_apart_and_the_oldest_ones_can_be_removed() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut writer = store.create("a", b"1\n").unwrap();
        writer.begin_segment(b"2\n3\n").unwrap();
        writer.append(b"4\n").unwrap();
        assert_eq!((text(&store, "a", 1), text(&store, "a", 2)), ("1\n".to_owned(), "2\n3\n4\n".to_owned()));
        assert_eq!(segments(&store, "a"), [(1, 2), (2, 6)]);
        assert_eq!(kind(store.remove_oldest("a", 2)), Some(ErrorKind::InvalidInput));
        // Also while it is written.
        store.remove_oldest("a", 1).unwrap();
        assert_eq!(kind(store.remove_oldest("a", 2)), Some(ErrorKind::InvalidInput));
        assert_eq!(segments(&store, "a"), [(2, 6)]);
        writer.begin_segment(b"5\n").unwrap();
        writer.truncate(0).unwrap();
        writer.append(b"6\n").unwrap();
        drop(writer);
        assert_eq!((store.open("a").unwrap().segment(), segments(&store, "a")), (3, vec![(2, 6), (3, 2)]));
        assert_eq!(text(&store, "a", 3), "6\n");
    }
}

#[test]
fn a_removed_conversation_is_not_found_and_its_id_can_be_used_again() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut writer = store.create("a", b"1\n").unwrap();
        writer.begin_segment(b"2\n").unwrap();
        drop(store.create("b", b"1\n").unwrap());
        writer.remove().unwrap();
        assert_eq!(kind(store.get("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(store.open("a")), Some(ErrorKind::NotFound));
        assert_eq!(store.list().unwrap().len(), 1);
        let writer = store.create("a", b"3\n").unwrap();
        assert_eq!((writer.segment(), text(&store, "a", 1)), (1, "3\n".to_owned()));
        store.remove_unfinished();
        assert_eq!(store.list().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_conversation_is_kept_in_each_store() {
    let (directory, stores) = stores();
    for store in stores {
        let transcripts = Transcripts::in_store(store, directory.path().join("copies"));
        let model = scripted([finish("one"), finish("two"), finish("three")]);
        let agent = builder(&log(), &model).transcripts(transcripts.clone()).build();
        let mut session = agent.session(&DelegationRequest::default()).unwrap();
        let id = session.id().to_owned();
        assert!(session.run(DelegationRequest::new("do it"), RunOptions::new()).await.success);
        let in_use = agent.resume(&id).unwrap_err();
        assert!(matches!(in_use, TranscriptError::InUse { .. }), "{in_use}");
        let messages = session.messages();
        drop(session);
        assert_eq!(transcripts.messages(&id).unwrap(), messages);
        let mut session = agent.resume(&id).unwrap();
        assert!(session.run(DelegationRequest::new("and more"), RunOptions::new()).await.success);
        drop(session);
        let fork = transcripts.fork(&id, Some(1)).unwrap();
        assert_eq!(transcripts.messages(&fork).unwrap(), messages[..1]);
        let info = transcripts.list().into_iter().find(|info| info.id == id).unwrap();
        assert_eq!((&*info.task, info.turns), ("do it", 2));
        let cleaned = transcripts.clean_up(&Retention::new().max_count(0));
        assert_eq!((cleaned.removed.len(), transcripts.list()), (2, Vec::new()));
        assert!(matches!(agent.resume(&id), Err(TranscriptError::Unknown { .. })));
    }
}

/// Opening a named pipe waits for whoever writes to it.
#[cfg(unix)]
#[test]
fn a_pipe_among_the_files_is_no_transcript() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["x.jsonl", "x.new"] {
        assert!(Command::new("mkfifo").arg(directory.path().join(name)).status().unwrap().success());
    }
    let transcripts = Transcripts::new(directory.path());
    let (done, outcome) = channel();
    std::thread::spawn(move || {
        let list = transcripts.list().len();
        let cleaned = transcripts.clean_up(&Retention::new().max_count(0));
        let opened = transcripts.messages("x").unwrap_err().to_string();
        done.send((list, cleaned.removed.len(), opened)).unwrap();
    });
    let (list, removed, opened) = outcome.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!((list, removed), (0, 0));
    assert!(opened.contains("there is no transcript `x`"), "{opened}");
}
