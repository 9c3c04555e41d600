//! A history whose file is removed, or cannot be written, while it is open.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::history::{History as _, HistoryItem, HistoryReader, JsonlHistory, JsonlOptions, RecordedCall};
use toolkit::prelude::*;

const LONG: Duration = Duration::from_secs(20);

/// A history, its file, and the problems that it told.
struct Watched {
    history: JsonlHistory,
    told: Arc<Mutex<Vec<String>>>,
    directory: tempfile::TempDir,
}

impl Watched {
    fn new() -> Self {
        Self::with(JsonlOptions::new())
    }

    fn with(options: JsonlOptions) -> Self {
        let (directory, told) = (tempfile::tempdir().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let telling = Arc::clone(&told);
        let options = options.on_problem(move |text| telling.lock().unwrap().push(text.to_owned()));
        let history = JsonlHistory::open(directory.path().join("calls.jsonl"), options).unwrap();
        Self { history, told, directory }
    }

    /// Records calls, and waits until they are written or lost.
    fn record(&self, count: usize) {
        record(&self.history, count);
    }

    /// Returns the problems that were told since the last time.
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

/// Records calls, and waits until they are written or lost.
fn record(history: &JsonlHistory, count: usize) {
    for _ in 0..count {
        let arguments = serde_json::json!({}).into();
        let call = RecordedCall::new(Arc::new(Caller::new()), "call", "one", None, &arguments);
        history.record(call.finished(&Ok(ToolOutput::text("two"))));
        assert!(history.flush(LONG));
    }
}

/// Returns the number of calls in a file, and of those that it says are lost.
fn counted(path: &Path) -> (usize, u64) {
    let (mut calls, mut lost) = (0, 0);
    for item in HistoryReader::open(path).unwrap() {
        match item.unwrap() {
            HistoryItem::Call(_) => calls += 1,
            HistoryItem::Lost { count, .. } => lost += count,
            other => panic!("{other:?}"),
        }
    }
    (calls, lost)
}

#[test]
fn a_file_that_was_removed_is_told_once_and_its_calls_are_counted() {
    for removes_directory in [false, true] {
        let watched = Watched::new();
        let path = watched.history.path().to_owned();
        watched.record(3);
        if removes_directory {
            fs::remove_dir_all(watched.directory.path()).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        watched.record(2);
        let told = watched.told();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("was removed") && told[0].contains("3 records"), "{told:?}");
        assert!(told[0].contains(&*path.to_string_lossy()), "{told:?}");
        assert_eq!(watched.history.status().lost, 3);
        // A file that was removed as the last thing is told at the end.
        fs::remove_file(&path).unwrap();
        let (told, directory) = (Arc::clone(&watched.told), watched.directory);
        drop(watched.history);
        assert_eq!(told.lock().unwrap().len(), 1);
        assert_eq!(counted(&path).0, 0);
        drop(directory);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_another_process_removed_for_its_size_is_no_loss() {
    const MAX_BYTES: u64 = 8 << 10;
    let watched = Watched::with(JsonlOptions::new().max_bytes(MAX_BYTES));
    let path = watched.history.path().to_owned();
    watched.record(3);
    // Another process closes the file, and removes it once there is enough in later ones.
    let other = JsonlHistory::open(&path, JsonlOptions::new().max_bytes(MAX_BYTES)).unwrap();
    let first = fs::File::open(&path).unwrap();
    let is_removed = || std::os::unix::fs::MetadataExt::nlink(&first.metadata().unwrap()) == 0;
    for number in 0.. {
        if is_removed() {
            break;
        }
        assert!(number < 1_000, "the first file is still there");
        record(&other, 10);
    }
    watched.record(2);
    assert_eq!(watched.told(), [""; 0]);
    assert_eq!(watched.history.status().lost, 0);
    assert_eq!(counted(&path).1, 0);
}

#[test]
fn a_file_that_cannot_be_written_is_told_once_and_once_when_it_can_be() {
    let watched = Watched::new();
    let path = watched.history.path().to_owned();
    watched.record(1);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    watched.record(3);
    let told = watched.told();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[1].contains("calls are not recorded") && told[1].contains(&*path.to_string_lossy()),
        "{told:?}"
    );
    assert_eq!(watched.history.status().lost, 4);
    fs::remove_dir(&path).unwrap();
    watched.record(2);
    let told = watched.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("written again; 3 records are lost"), "{told:?}");
    drop(watched.history);
    assert_eq!(counted(&path), (2, 4));
}
