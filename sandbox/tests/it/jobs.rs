//! Commands are run, and told of as they are.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use std::time::Duration;

use common::{Place, finish, within};
use toolkit_sandbox::{Drained, End, SpawnError};

#[tokio::test]
async fn a_command_is_run_and_told_of() {
    let place = Place::new();
    let (job, exit) = finish(place.sh("echo out; echo err >&2; printf 'last'; exit 3")).await;
    assert_eq!(exit.end, End::Code(3));
    assert_eq!(place.text(), "out\nerr\nlast");
    let progress = job.progress();
    assert_eq!((progress.bytes, progress.newlines, progress.written), (12, 2, 12));
    assert!(progress.closed && progress.exited);
    assert_eq!(within(5, job.drained(Duration::ZERO)).await, Drained::Closed);
    within(5, job.gone()).await;
    place.nothing_left();
}

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    let place = Place::new();
    let error = place.command("no-such-program").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("in none of the directories of `PATH` (/usr/local/bin"), "{error}");
    let error = place.command("/etc/passwd").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error}");
    let error = place.command("true").current_dir("/no/such/place").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::Directory { .. }), "{error}");
    let error = place.command("true").arg("a\0b").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::Nul { what: "an argument" }), "{error}");
    let error = place.command("true").arg("x".repeat(4 << 20)).spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::TooLong), "{error}");
    place.nothing_left();
}
