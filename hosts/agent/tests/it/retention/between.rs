//! A clean-up of one process, while another process opens, copies or begins conversations.

use super::{DAY, age, agent, conversation, ids, path, settled};
use crate::common::transcripts;
use crate::watched_store::{Step, WatchedStore};
use std::fs;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use toolkit_agent::{
    CleanUp, DelegationRequest, FileStore, Retention, TranscriptError, TranscriptStore as _, Transcripts,
};

/// Everything is beyond this limit.
fn nothing() -> Retention {
    Retention::new().max_count(0)
}

/// The transcripts as another process has them: nothing but the directory is shared.
fn elsewhere(transcripts: &Transcripts) -> Transcripts {
    Transcripts::new(transcripts.directory())
}

/// Returns what a clean-up does that must not wait.
fn at_once(clean_up: impl FnOnce() -> CleanUp + Send + 'static) -> CleanUp {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || done.send(clean_up()));
    is_done.recv_timeout(Duration::from_mins(1)).expect("it waits")
}

#[tokio::test]
async fn nothing_is_begun_below_or_opened_within_a_conversation_that_is_being_removed() {
    for is_opened in [false, true] {
        let (_directory, transcripts) = transcripts();
        let left = settled(&transcripts).await;
        let root = conversation(&transcripts, 9).await;
        let below = agent(&transcripts, []).session_below(&root, &DelegationRequest::default()).unwrap();
        let id = below.id().to_owned();
        below.close();
        age(&transcripts, &id, 9);
        let other = elsewhere(&transcripts);
        let worker = Arc::new(Mutex::new(None));
        // The first look is at all conversations, the second one is the last before the removal.
        let store = WatchedStore::new(&transcripts, Step::Listed, 2, {
            let worker = Arc::clone(&worker);
            move || {
                let (done, is_done) = mpsc::channel();
                *worker.lock().unwrap() = Some(std::thread::spawn(move || {
                    let agent = agent(&other, []);
                    let outcome = if is_opened {
                        agent.resume(&id).map(drop)
                    } else {
                        agent.session_below(&root, &DelegationRequest::default()).map(drop)
                    };
                    let _ = done.send(());
                    outcome
                }));
                // One that does not wait for the clean-up is done by then.
                let _ = is_done.recv_timeout(Duration::from_millis(500));
            }
        });
        let cleaned = store.transcripts(&transcripts).clean_up(&Retention::new().max_age(DAY * 2));
        let worker = worker.lock().unwrap().take().expect("there was a last look");
        let outcome = worker.join().unwrap();
        assert!(matches!(outcome, Err(TranscriptError::Unknown { .. })), "{is_opened}: {outcome:?}");
        assert_eq!(cleaned.removed.len(), 1, "{is_opened}: {cleaned:?}");
        assert_eq!(ids(&transcripts).len(), left.len(), "{is_opened}");
    }
}

#[tokio::test]
async fn a_copy_is_not_removed_before_it_is_open() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 1).await;
    let (cleaned, other) = (Arc::new(Mutex::new(None)), elsewhere(&transcripts));
    let store = WatchedStore::new(&transcripts, Step::FindsCopy, 1, {
        let cleaned = Arc::clone(&cleaned);
        move || *cleaned.lock().unwrap() = Some(at_once(move || other.clean_up(&nothing())))
    });
    let fork = agent(&store.transcripts(&transcripts), []).fork(&id, None).unwrap();
    let cleaned = cleaned.lock().unwrap().take().expect("there was a copy");
    assert_eq!(cleaned.removed, []);
    assert!(cleaned.in_use.contains(&id) && cleaned.in_use.iter().any(|id| id == fork.id()), "{cleaned:?}");
    // Once it is open, everything else goes.
    let removed = transcripts.clean_up(&nothing()).removed;
    assert_eq!(removed.iter().map(|removed| &removed.id).collect::<Vec<_>>(), [&id]);
}

/// The conversation above it is gone, so that the fork belongs to none that is open.
#[tokio::test]
async fn a_fork_before_a_damage_is_not_removed_before_it_is_open() {
    let (_directory, transcripts) = transcripts();
    let root = conversation(&transcripts, 1).await;
    let below = agent(&transcripts, []).session_below(&root, &DelegationRequest::default()).unwrap();
    let id = below.id().to_owned();
    below.close();
    fs::remove_file(path(&transcripts, &root)).unwrap();
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    fs::write(path(&transcripts, &id), text + "{\n").unwrap();
    let (cleaned, other) = (Arc::new(Mutex::new(None)), elsewhere(&transcripts));
    let store = WatchedStore::new(&transcripts, Step::FindsCopy, 1, {
        let cleaned = Arc::clone(&cleaned);
        move || *cleaned.lock().unwrap() = Some(at_once(move || other.clean_up(&nothing())))
    });
    let session = agent(&store.transcripts(&transcripts), []).resume_or_fork(&id).unwrap();
    assert_eq!(session.damage().unwrap().fork, session.id());
    let cleaned = cleaned.lock().unwrap().take().expect("there was a copy");
    assert_eq!((cleaned.removed, cleaned.in_use.len()), (Vec::new(), 2));
}

#[tokio::test]
async fn a_conversation_can_be_opened_while_a_clean_up_reads_it() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 1).await;
    let (opened, other) = (Arc::new(Mutex::new(None)), elsewhere(&transcripts));
    // The first time, its first line is read.
    let store = WatchedStore::new(&transcripts, Step::Reads(id.clone()), 2, {
        let (opened, id) = (Arc::clone(&opened), id.clone());
        move || *opened.lock().unwrap() = Some(agent(&other, []).resume(&id))
    });
    let cleaned = store.transcripts(&transcripts).clean_up(&nothing());
    assert!(store.has_worked());
    assert_eq!((cleaned.removed, cleaned.in_use), (Vec::new(), vec![id.clone()]));
    let opened = opened.lock().unwrap().take().unwrap().unwrap();
    assert_eq!(opened.id(), id);
}

#[tokio::test]
async fn a_clean_up_does_not_wait_for_those_who_open() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 1).await;
    let opening = FileStore::new(transcripts.directory()).hold_off_removal().unwrap();
    let other = transcripts.clone();
    let cleaned = at_once(move || other.clean_up(&nothing()));
    assert_eq!((cleaned.removed, cleaned.in_use), (Vec::new(), vec![id.clone()]));
    drop(opening);
    assert_eq!(transcripts.clean_up(&nothing()).removed[0].id, id);
}
