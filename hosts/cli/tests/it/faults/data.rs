//! The data directory: full, read-only, removed, replaced.

use super::{is_well, place, read};
use crate::hosts::{PATIENCE, Pipe, Place};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// A host whose data directory is a file system of its own.
fn on_a_file_system(place: &Place, mount: &str) -> Pipe {
    let line = format!("{mount} && exec \"$0\" \"$@\"");
    Pipe::of(place.command_by(&["unshare", "-rm", "/bin/sh", "-c", &line], &["mcp", "serve"]))
}

/// The data directory as the host sees it.
fn seen(server: &Pipe, place: &Place) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{}/root", server.host.child.id()));
    root.join(place.data().strip_prefix("/").unwrap())
}

/// The number of calls in the history.
fn recorded(directory: &std::path::Path) -> usize {
    fs::read_to_string(directory.join("history/calls.jsonl")).unwrap_or_default().lines().count()
}

#[test]
fn a_full_one_takes_no_result_away() {
    let place = place();
    let mut server = on_a_file_system(&place, "mount -t tmpfs -o size=512k none \"$DATA\"");
    is_well(&mut server);
    let data = seen(&server, &place);
    let filler = data.join("filler");
    // Until not a byte is free.
    fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
    // The last page of the history has room for a few records.
    for _ in 0..10 {
        is_well(&mut server);
    }
    let said = server.host.says("calls.jsonl");
    assert!(said.contains("No space left"), "{said}");
    fs::remove_file(filler).unwrap();
    let before = recorded(&data);
    is_well(&mut server);
    server.host.becomes("calls are recorded again", |_| (recorded(&data) > before).then_some(()));
}

#[test]
fn a_read_only_one_takes_no_result_away() {
    let place = place();
    let mount = "mount --bind \"$DATA\" \"$DATA\" && mount -o remount,ro,bind \"$DATA\"";
    let mut server = on_a_file_system(&place, mount);
    is_well(&mut server);
    let said = server.host.says("Read-only");
    assert!(said.contains("calls.jsonl"), "{said}");
}

#[test]
fn one_that_is_removed_is_made_again() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    is_well(&mut server);
    let data = place.data();
    // Calls are recorded after their answers.
    server.host.becomes("calls are recorded", |_| (recorded(&data) > 0).then_some(()));
    // Gone at once: while it is removed file by file, the host would make new ones in it.
    let gone = place.path().join("gone");
    fs::rename(&data, &gone).unwrap();
    fs::remove_dir_all(gone).unwrap();
    is_well(&mut server);
    server.host.says("calls.jsonl");
    server.host.becomes("calls are recorded again", |_| (recorded(&data) > 0).then_some(()));
    is_well(&mut server);
}

#[test]
fn one_that_is_replaced_by_a_file_takes_no_result_away() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    is_well(&mut server);
    fs::rename(place.data(), place.path().join("old")).unwrap();
    fs::write(place.data(), "").unwrap();
    // The records of the next second are still in the file that was moved.
    let began = Instant::now();
    while !server.host.said().contains("calls.jsonl") {
        is_well(&mut server);
        assert!(began.elapsed() < PATIENCE, "{}", server.host.said());
    }
    fs::remove_file(place.data()).unwrap();
    fs::rename(place.path().join("old"), place.data()).unwrap();
    let data = place.data();
    let before = recorded(&data);
    is_well(&mut server);
    server.host.becomes("calls are recorded again", |_| (recorded(&data) > before).then_some(()));
    assert!(server.call(read().0, &read().1).contains("two"));
}
