//! The lives of the process: each is ended at a random time, and some take the end of the transcripts with them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::platform::Incoming;
use super::random::Random;
use super::{CHILD, LONG, PLACE, Place, in_time};
use crate::process;

/// The variable under which the process notes how much of its transcripts has reached the disk.
const SYNCED: &str = "TOOLKIT_SYNCED_LENGTHS";
/// The longest life after the start, and the longest of one that may end before it has started, in milliseconds.
const LIFE: (u64, u64) = (1_200, 400);
/// The most messages that reach the platform in one life.
const INCOMING: u64 = 4;
const PAUSE: Duration = Duration::from_millis(5);

/// The losses of all kills.
#[derive(Debug, Default)]
pub(super) struct Killed {
    pub(super) kills: usize,
    /// Transcripts of which the end was cut off, or that were removed.
    pub(super) cut: usize,
    /// The parts that were on their way to the platforms, with their conversations.
    pub(super) on_their_way: BTreeMap<i64, String>,
}

pub(super) struct Processes {
    place: Place,
    random: Random,
    child: Option<Child>,
    starts: usize,
    killed: Killed,
}

impl Processes {
    pub(super) fn new(place: &Place, random: Random) -> Self {
        Self { place: place.clone(), random, child: None, starts: 0, killed: Killed::default() }
    }

    /// Starts the process. The first one is waited for.
    pub(super) async fn start(&mut self) {
        let errors = File::options().create(true).append(true).open(self.place.file("stderr")).unwrap();
        let mut command = process::of_test(CHILD, PLACE, &self.place.0);
        command
            .env(SYNCED, self.place.file("synced"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors);
        // Before the process begins: afterwards it might be its own.
        let _ = fs::remove_file(self.place.file("ready"));
        self.child = Some(command.spawn().unwrap());
        self.starts += 1;
        if self.starts == 1 {
            self.ready().await;
        }
    }

    async fn ready(&mut self) {
        in_time("the gateway starts", async {
            while self.place.lines("ready").is_empty() {
                self.check_alive();
                tokio::time::sleep(PAUSE).await;
            }
        })
        .await;
    }

    fn check_alive(&mut self) {
        if let Some(status) = self.child.as_mut().unwrap().try_wait().unwrap() {
            panic!("the gateway ended by itself ({status}): {}", self.errors());
        }
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.place.file("stderr")).unwrap_or_default()
    }

    /// Lets the process live for a time, and returns this time.
    pub(super) async fn live(&mut self, incoming: &mut Incoming) -> Duration {
        let is_early = self.random.below(4) == 0;
        if !is_early {
            self.ready().await;
        }
        let life = self.random.millis(if is_early { LIFE.1 } else { LIFE.0 });
        let messages = u32::try_from(self.random.below(INCOMING + 1)).unwrap();
        for _ in 0..messages {
            tokio::time::sleep(life / (messages + 1)).await;
            incoming.write();
        }
        tokio::time::sleep(life / (messages + 1)).await;
        life
    }

    /// Kills the process, and loses what a loss of power could lose.
    pub(super) fn kill(&mut self) {
        use std::os::unix::process::ExitStatusExt as _;
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "the gateway ended by itself ({status}): {}", self.errors());
        self.killed.kills += 1;
        self.note_on_their_way();
        if self.random.below(2) == 0 {
            self.cut_transcripts();
        }
    }

    /// Waits for the orderly end of the process, for as long as some of its work gets done: how much is left depends on the load.
    pub(super) async fn ended(mut self) -> Killed {
        let mut left = (self.left(), Instant::now());
        loop {
            if let Some(status) = self.child.as_mut().unwrap().try_wait().unwrap() {
                assert!(status.success(), "{status}: {}", self.errors());
                let errors = self.errors();
                assert!(!errors.contains("panicked"), "{errors}");
                return std::mem::take(&mut self.killed);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = self.left();
            if now == left.0 {
                assert!(left.1.elapsed() < LONG, "nothing gets done any more: {now:?} are left");
            } else {
                left = (now, Instant::now());
            }
        }
    }

    /// The numbers of messages and parts that are not done, and of runs.
    fn left(&self) -> [i64; 3] {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let store = Connection::open_with_flags(self.place.data().join("gateway.db"), flags).unwrap();
        store.busy_timeout(LONG).unwrap();
        [
            "SELECT count(*) FROM inbox WHERE state IN ('queued', 'claimed')",
            "SELECT count(*) FROM outbox WHERE state IN ('prepared', 'sending')",
            "SELECT count(*) FROM runs",
        ]
        .map(|sql| store.query_row(sql, [], |row| row.get(0)).unwrap())
    }

    /// Reads a copy of the store: the next process is to find it as it was left.
    fn note_on_their_way(&mut self) {
        let copy = self.place.file("copy.db");
        for end in ["", "-wal"] {
            let to = self.place.file(&format!("copy.db{end}"));
            let _ = fs::remove_file(&to);
            let from = self.place.data().join(format!("gateway.db{end}"));
            if from.exists() {
                fs::copy(from, to).unwrap();
            }
        }
        let store = Connection::open(&copy).unwrap();
        let sql =
            "SELECT id, conversation FROM outbox WHERE state = 'sending' AND channel IN ('chat', 'telegram')";
        let mut statement = store.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let on_their_way: BTreeMap<i64, String> = rows.map(Result::unwrap).collect();
        let mut conversations: Vec<&String> = on_their_way.values().collect();
        conversations.sort();
        conversations.dedup();
        assert_eq!(
            conversations.len(),
            on_their_way.len(),
            "one at a time of each conversation: {on_their_way:?}"
        );
        self.killed.on_their_way.extend(on_their_way);
    }

    /// Cuts each transcript to a length between what had reached the disk and what was written.
    fn cut_transcripts(&mut self) {
        let Ok(files) = fs::read_dir(self.place.data().join("agents")) else { return };
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        // The seed is to decide, not the order in the directory.
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|of| of == "jsonl")) {
            let written = path.metadata().unwrap().len();
            let synced = self.synced(path);
            if synced.is_some_and(|synced| written <= synced) {
                continue;
            }
            self.killed.cut += 1;
            match synced {
                Some(synced) if self.random.below(2) == 0 => cut(path, synced),
                Some(synced) => cut(path, synced + self.random.below(written - synced)),
                // Its name has not reached the disk, and perhaps not its content.
                None if is_first(path) && self.random.below(2) == 0 => cut(path, 0),
                None => fs::remove_file(path).unwrap(),
            }
        }
    }

    fn synced(&self, path: &Path) -> Option<u64> {
        let name = path.file_name().unwrap().to_str().unwrap();
        let lines = self.place.lines(&format!("synced/{name}"));
        lines.iter().map(|line| line.parse::<u64>().unwrap()).max()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn cut(path: &Path, length: u64) {
    File::options().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// Returns true for the first segment of a transcript: the others are on the disk before they have their names.
fn is_first(path: &Path) -> bool {
    !path.file_stem().unwrap().to_str().unwrap().contains('.')
}
