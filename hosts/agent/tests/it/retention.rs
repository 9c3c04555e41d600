//! Transcripts that are removed after a time or beyond a number or a size, and conversations that stand below another one.

mod between;

use crate::common::{builder, call, finish, log, scripted, transcripts};
use serde_json::json;
use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use toolkit_agent::{
    Agent, CleanUp, DelegationRequest, FileStore, Limits, RemovalReason, Retention, RunOptions,
    StoredTranscript, TranscriptError, TranscriptStore, TranscriptWriter, Transcripts,
};
use toolkit_models::Answer;

/// The directory of transcripts of the child, which cleans it up.
const DIRECTORY: &str = "TOOLKIT_AGENT_TEST_CLEANS_UP";
const DAY: Duration = Duration::from_hours(24);

fn agent(transcripts: &Transcripts, answers: impl IntoIterator<Item = Answer>) -> Agent {
    let limits = Limits::none().max_turns(50).max_depth(2);
    builder(&log(), &scripted(answers)).limits(limits).transcripts(transcripts.clone()).build()
}

fn path(transcripts: &Transcripts, id: &str) -> PathBuf {
    transcripts.directory().join(format!("{id}.jsonl"))
}

/// Has a transcript be written so many days ago.
fn age(transcripts: &Transcripts, id: &str, days: u32) {
    let file = File::options().write(true).open(path(transcripts, id)).unwrap();
    file.set_modified(SystemTime::now() - DAY * days).unwrap();
}

/// A conversation that was written so many days ago.
async fn conversation(transcripts: &Transcripts, days: u32) -> String {
    let mut session = agent(transcripts, [finish("done")]).session(&DelegationRequest::default()).unwrap();
    let id = session.id().to_owned();
    assert!(session.run(DelegationRequest::new("do it"), RunOptions::new()).await.success);
    session.close();
    age(transcripts, &id, days);
    id
}

/// Two conversations since yesterday: the clock is right.
async fn settled(transcripts: &Transcripts) -> [String; 2] {
    [conversation(transcripts, 0).await, conversation(transcripts, 1).await]
}

fn ids(transcripts: &Transcripts) -> Vec<String> {
    transcripts.list().into_iter().map(|info| info.id).collect()
}

#[tokio::test]
async fn conversations_beyond_a_limit_are_removed_the_oldest_ones_first() {
    let limits = |id: &str, transcripts: &Transcripts| -> Vec<(Retention, RemovalReason)> {
        // Copies of changed files count, too.
        let copies = path(transcripts, id).with_extension("files");
        fs::create_dir(&copies).unwrap();
        fs::write(copies.join("copy"), vec![0; 100_000]).unwrap();
        vec![
            (Retention::new().max_age(DAY * 2), RemovalReason::Age),
            (Retention::new().max_count(2), RemovalReason::Count),
            (Retention::new().max_bytes(100_000), RemovalReason::Bytes),
        ]
    };
    for case in 0..3 {
        let (_directory, transcripts) = transcripts();
        let (new, middle) = (conversation(&transcripts, 0).await, conversation(&transcripts, 1).await);
        let old = conversation(&transcripts, 3).await;
        let (retention, reason) = limits(&old, &transcripts)[case];
        assert_eq!(transcripts.clean_up(&Retention::new()).removed, []);
        let cleaned = transcripts.clean_up(&retention);
        let removed: Vec<_> = cleaned.removed.iter().map(|removed| (&*removed.id, removed.reason)).collect();
        assert_eq!(removed, [(&*old, reason)]);
        assert!(cleaned.removed[0].bytes > 100_000);
        let left = [&new, &middle].map(|id| path(&transcripts, id).metadata().unwrap().len());
        assert_eq!((cleaned.left, cleaned.left_bytes), (2, left.iter().sum()));
        assert_eq!(ids(&transcripts), [new, middle]);
        assert_eq!(fs::read_dir(transcripts.directory()).unwrap().count(), 2);
        assert!(matches!(agent(&transcripts, []).resume(&old), Err(TranscriptError::Unknown { .. })));
    }
}

#[tokio::test]
async fn one_that_is_open_is_kept_with_all_that_belongs_to_it() {
    let (_directory, transcripts) = transcripts();
    let kept = settled(&transcripts).await;
    let parent = conversation(&transcripts, 9).await;
    let opened = agent(&transcripts, [finish("done")]);
    let mut below = opened.session_below(&parent, &DelegationRequest::default()).unwrap();
    assert!(below.run(DelegationRequest::new("help"), RunOptions::new()).await.success);
    let id = below.id().to_owned();
    age(&transcripts, &id, 9);
    let retention = Retention::new().max_age(DAY * 2);
    let cleaned = transcripts.clean_up(&retention);
    assert_eq!((cleaned.removed, cleaned.in_use, cleaned.left), (Vec::new(), vec![parent.clone()], 3));
    below.close();
    // As long as one of them is younger, the others stay.
    age(&transcripts, &id, 0);
    assert_eq!(transcripts.clean_up(&retention).removed, []);
    age(&transcripts, &id, 9);
    let cleaned = transcripts.clean_up(&retention);
    assert_eq!((&cleaned.removed[0].id, &cleaned.removed[0].with), (&parent, &vec![id]));
    assert_eq!(ids(&transcripts), kept);
}

#[tokio::test]
async fn the_transcripts_of_sub_agents_go_with_that_of_their_root() {
    let (_directory, transcripts) = transcripts();
    let delegate = call("1", "delegate", json!({"task": "help", "expected_outcome": "helped"}));
    let answers = [Answer::calls([delegate]), finish("helped"), finish("done")];
    let mut session = agent(&transcripts, answers).session(&DelegationRequest::default()).unwrap();
    assert!(session.run(DelegationRequest::new("do it"), RunOptions::new()).await.success);
    let root = session.id().to_owned();
    session.close();
    let others: Vec<String> = ids(&transcripts).into_iter().filter(|id| *id != root).collect();
    assert_eq!(others.len(), 1);
    assert_eq!(transcripts.list().iter().filter(|info| info.parent.as_ref() == Some(&root)).count(), 1);
    settled(&transcripts).await;
    // That of the sub-agent alone is old.
    age(&transcripts, &others[0], 9);
    assert_eq!(transcripts.clean_up(&Retention::new().max_age(DAY * 2)).removed, []);
    age(&transcripts, &root, 9);
    let cleaned = transcripts.clean_up(&Retention::new().max_age(DAY * 2));
    assert_eq!((&cleaned.removed[0].id, &cleaned.removed[0].with), (&root, &others));
}

#[tokio::test]
async fn a_damaged_one_is_kept_as_long_as_its_fork() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 0).await;
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    fs::write(path(&transcripts, &id), text + "{\n").unwrap();
    let fork = agent(&transcripts, []).resume_or_fork(&id).unwrap().id().to_owned();
    settled(&transcripts).await;
    age(&transcripts, &id, 9);
    assert_eq!(transcripts.clean_up(&Retention::new().max_age(DAY * 2)).removed, []);
    assert_eq!(agent(&transcripts, []).resume_or_fork(&id).unwrap().id(), fork);
    // A copy that was not finished is removed.
    let unfinished = transcripts.directory().join("x.new");
    fs::write(&unfinished, "{}").unwrap();
    transcripts.clean_up(&Retention::new());
    assert!(!unfinished.exists());
}

#[tokio::test]
async fn a_clock_that_runs_ahead_removes_nothing() {
    let (_directory, transcripts) = transcripts();
    let retention = Retention::new().max_age(DAY * 2);
    let all = [conversation(&transcripts, 9).await, conversation(&transcripts, 10).await];
    // Nothing was written since: the clock may have jumped.
    assert_eq!(transcripts.clean_up(&retention).removed, []);
    // The first conversation behind the jump.
    let new = conversation(&transcripts, 0).await;
    assert_eq!(transcripts.clean_up(&retention).removed, []);
    let old = conversation(&transcripts, 12).await;
    let removed = transcripts.clean_up(&retention).removed;
    assert_eq!(removed.iter().map(|removed| &removed.id).collect::<Vec<_>>(), [&old]);
    // Once the time goes on there, the ones before are old.
    age(&transcripts, &new, 1);
    let newer = conversation(&transcripts, 0).await;
    let removed = transcripts.clean_up(&retention).removed;
    assert_eq!(removed.iter().map(|removed| &removed.id).collect::<Vec<_>>(), all.each_ref());
    assert_eq!(ids(&transcripts), [newer, new]);
    // One that seems to be of the future makes no other one old.
    let later = conversation(&transcripts, 0).await;
    let file = File::options().write(true).open(path(&transcripts, &later)).unwrap();
    file.set_modified(SystemTime::now() + DAY * 400).unwrap();
    assert_eq!(transcripts.clean_up(&retention).removed, []);
}

#[tokio::test]
async fn several_jumps_of_the_clock_remove_nothing() {
    let (_directory, transcripts) = transcripts();
    for days in [900, 901, 400, 0] {
        conversation(&transcripts, days).await;
    }
    assert_eq!(transcripts.clean_up(&Retention::new().max_age(DAY * 2)).removed, []);
}

/// Gives a conversation copies of changed files that alone are larger than 100,000 bytes.
fn enlarge(transcripts: &Transcripts, id: &str) {
    let copies = path(transcripts, id).with_extension("files");
    fs::create_dir(&copies).unwrap();
    fs::write(copies.join("copy"), vec![0; 100_000]).unwrap();
}

#[tokio::test]
async fn one_that_is_larger_than_the_limit_takes_no_room_from_others() {
    let retention = Retention::new().max_bytes(100_000);
    let (_directory, transcripts) = transcripts();
    let large = conversation(&transcripts, 1).await;
    enlarge(&transcripts, &large);
    let old = conversation(&transcripts, 2).await;
    // The latest one is kept.
    let cleaned = transcripts.clean_up(&retention);
    assert_eq!((cleaned.removed, cleaned.in_use, cleaned.left), (Vec::new(), Vec::new(), 2));
    let new = conversation(&transcripts, 0).await;
    let session = agent(&transcripts, []).resume(&large).unwrap();
    age(&transcripts, &large, 1);
    let cleaned = transcripts.clean_up(&retention);
    assert_eq!((cleaned.removed, cleaned.in_use, cleaned.left), (Vec::new(), vec![large.clone()], 3));
    drop(session);
    let removed = transcripts.clean_up(&retention).removed;
    assert_eq!(removed.iter().map(|removed| &removed.id).collect::<Vec<_>>(), [&large]);
    assert_eq!(ids(&transcripts), [new, old]);
}

/// Cleans up as `clean_up` does, and does something between the look at the conversations and the first removal.
fn clean_up_while(transcripts: &Transcripts, retention: &Retention, work: impl FnOnce()) -> CleanUp {
    let work = Cell::new(Some(work));
    transcripts.clean_up_except(retention, |_| {
        if let Some(work) = work.take() {
            work();
        }
        false
    })
}

#[tokio::test]
async fn one_that_is_begun_or_forked_meanwhile_keeps_those_above_it() {
    let (_directory, transcripts) = transcripts();
    settled(&transcripts).await;
    let parent = conversation(&transcripts, 9).await;
    let opened = agent(&transcripts, [finish("done"), finish("done")]);
    let retention = Retention::new().max_age(DAY * 2);
    let mut begun = None;
    let cleaned = clean_up_while(&transcripts, &retention, || {
        begun = Some(opened.session_below(&parent, &DelegationRequest::default()).unwrap());
    });
    assert_eq!((cleaned.removed, cleaned.in_use), (Vec::new(), vec![parent.clone()]));
    let mut begun = begun.unwrap();
    assert!(begun.run(DelegationRequest::new("help"), RunOptions::new()).await.success);
    let below = begun.id().to_owned();
    begun.close();
    let text = fs::read_to_string(path(&transcripts, &below)).unwrap();
    fs::write(
        path(&transcripts, &below),
        text + "{
",
    )
    .unwrap();
    age(&transcripts, &below, 9);
    age(&transcripts, &parent, 9);
    let mut fork = None;
    let cleaned = clean_up_while(&transcripts, &retention, || {
        fork = Some(opened.resume_or_fork(&below).unwrap());
    });
    assert_eq!((cleaned.removed, cleaned.in_use), (Vec::new(), vec![parent]));
    let fork = fork.unwrap();
    let id = fork.id().to_owned();
    fork.close();
    assert_eq!(opened.resume_or_fork(&below).unwrap().id(), id);
}

#[tokio::test]
async fn one_whose_run_has_not_ended_is_kept() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 0).await;
    // As if the program had been killed before the end of the run was written.
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap() + 1;
    fs::write(path(&transcripts, &id), &text[..cut]).unwrap();
    let none = Retention::new().max_count(0);
    let cleaned = transcripts.clean_up(&none);
    assert_eq!((cleaned.removed, cleaned.waiting), (Vec::new(), vec![id.clone()]));
    let mut session = agent(&transcripts, [finish("done")]).resume(&id).unwrap();
    assert!(session.go_on(RunOptions::new()).await.success);
    session.close();
    assert_eq!(transcripts.clean_up(&none).removed[0].id, id);
}

/// A run of a program that is gone does not keep its conversation for ever.
#[tokio::test]
async fn one_whose_run_has_not_ended_grows_old_as_others_do() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 0).await;
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap() + 1;
    fs::write(path(&transcripts, &id), &text[..cut]).unwrap();
    let left = settled(&transcripts).await;
    let retention = Retention::new().max_age(DAY * 2);
    assert_eq!(transcripts.clean_up(&retention).removed, []);
    age(&transcripts, &id, 3);
    // A host that goes on with it says so.
    assert_eq!(transcripts.clean_up_except(&retention, |other| other == id).waiting, [&*id]);
    let removed = transcripts.clean_up(&retention).removed;
    assert_eq!((removed.len(), &removed[0].id, removed[0].reason), (1, &id, RemovalReason::Age));
    assert_eq!(ids(&transcripts).len(), left.len());
}

/// A store that can be read so many times.
#[derive(Debug)]
struct Broken(FileStore, AtomicU32);

impl TranscriptStore for Broken {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        self.0.list()
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        self.0.get(id)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn io::Read + Send>> {
        let left = self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| io::Error::other("the disk is broken"))?;
        self.0.read(id, segment)
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        self.0.create(id, line)
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.0.create_whole(id, lines)
    }

    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>> {
        self.0.open(id)
    }

    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()> {
        self.0.remove_oldest(id, segment)
    }

    fn path(&self, id: &str, segment: u32) -> PathBuf {
        self.0.path(id, segment)
    }
}

#[tokio::test]
async fn one_that_cannot_be_read_is_kept() {
    let (directory, _) = transcripts();
    let files = directory.path().join("agents");
    let store = Arc::new(Broken(FileStore::new(&files), AtomicU32::new(u32::MAX)));
    let transcripts = Transcripts::in_store(Arc::clone(&store) as _, files);
    let id = conversation(&transcripts, 0).await;
    let none = Retention::new().max_count(0);
    // Its first line can be read, but not whether it waits.
    store.1.store(1, Ordering::SeqCst);
    let cleaned = transcripts.clean_up(&none);
    assert_eq!((cleaned.removed, cleaned.failed.len()), (Vec::new(), 1));
    assert!(cleaned.failed[0].1.contains("the disk is broken"), "{:?}", cleaned.failed);
    store.1.store(u32::MAX, Ordering::SeqCst);
    assert_eq!(transcripts.clean_up(&none).removed[0].id, id);
}

#[tokio::test]
async fn files_of_others_are_left_alone() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 0).await;
    let file = |name: &str| transcripts.directory().join(name);
    let gap = format!("{id}.3.jsonl");
    let others = ["notes.jsonl", "notes.2.jsonl", "my notes.jsonl", "my notes.new", "notes.1.new", &gap];
    for name in others {
        fs::write(file(name), "{}\n").unwrap();
    }
    fs::create_dir(file("notes.files")).unwrap();
    let unfinished = [file("notes.new"), file("notes.2.new")];
    for path in &unfinished {
        fs::write(path, "").unwrap();
    }
    // Behind a gap there is no segment.
    assert_eq!(agent(&transcripts, []).resume(&id).unwrap().id(), id);
    let cleaned = transcripts.clean_up(&Retention::new().max_count(0).max_segments(1));
    assert_eq!((cleaned.removed[0].id.as_str(), cleaned.removed.len(), cleaned.left), (&*id, 1, 0));
    assert_eq!((cleaned.removed_segments, cleaned.failed), (0, Vec::new()));
    assert!(others.iter().all(|name| file(name).exists()) && file("notes.files").exists());
    assert!(!unfinished.iter().any(|path| path.exists()));
}

#[tokio::test]
async fn a_segment_can_have_the_last_number() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 0).await;
    let last = transcripts.directory().join(format!("{id}.{}.jsonl", u32::MAX));
    fs::rename(path(&transcripts, &id), last).unwrap();
    let mut session = agent(&transcripts, [finish("done")]).resume(&id).unwrap();
    assert!(session.run(DelegationRequest::new("and more"), RunOptions::new()).await.success);
}

/// The open files of this process are limited to a few more than it has.
#[cfg(target_os = "linux")]
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let transcripts = Transcripts::new(PathBuf::from(directory));
    let limit = rustix::process::Rlimit { current: Some(40), maximum: Some(40) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let cleaned = transcripts.clean_up(&Retention::new().max_count(0));
    assert_eq!((cleaned.removed.len(), cleaned.failed), (1, Vec::new()));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_conversation_with_many_below_it_is_removed_with_few_open_files() {
    let (_directory, transcripts) = transcripts();
    let parent = conversation(&transcripts, 0).await;
    let agent = agent(&transcripts, []);
    for _ in 0..60 {
        agent.session_below(&parent, &DelegationRequest::default()).unwrap().close();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "retention::child", "--test-threads", "1"]);
    let output = command.env(DIRECTORY, transcripts.directory()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(ids(&transcripts), [""; 0]);
}

#[tokio::test]
async fn a_conversation_below_another_one_is_one_of_its_own() {
    let (_directory, transcripts) = transcripts();
    let parent = conversation(&transcripts, 0).await;
    let agent = agent(&transcripts, [finish("one"), finish("two")]);
    let mut session = agent.session_below(&parent, &DelegationRequest::default()).unwrap();
    let id = session.id().to_owned();
    assert!(session.run(DelegationRequest::new("help"), RunOptions::new()).await.success);
    session.close();
    let list = transcripts.list();
    let info = list.iter().find(|info| info.id == id).unwrap();
    assert_eq!((info.parent.as_ref(), info.depth, &*info.task), (Some(&parent), 0, "help"));
    assert_eq!(list.iter().find(|info| info.id == parent).unwrap().parent, None);
    let mut session = agent.resume(&id).unwrap();
    assert!(session.run(DelegationRequest::new("and more"), RunOptions::new()).await.success);
    drop(session);
    transcripts.rewind(&id, toolkit_agent::RewindOptions::new()).unwrap();
    let unknown = agent.session_below("nothing", &DelegationRequest::default()).unwrap_err();
    assert!(matches!(unknown, TranscriptError::Unknown { .. }), "{unknown}");
    // A copy is a conversation beside it.
    let copy = transcripts.fork(&id, None).unwrap();
    assert_eq!(transcripts.list().iter().find(|info| info.id == copy).unwrap().parent, None);
}
