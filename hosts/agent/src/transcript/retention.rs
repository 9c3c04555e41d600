//! The removal of old transcripts.

use super::file::Writer;
use super::{Header, Transcripts, read_header};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Which transcripts are kept. Without a limit, all are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// How long a conversation is kept after its last line was written.
    pub max_age: Option<Duration>,
    /// The most conversations that are kept.
    pub max_count: Option<usize>,
    /// The most bytes of the conversations that are kept, with the copies of changed files.
    pub max_bytes: Option<u64>,
}

impl Retention {
    /// Returns limits that keep everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a conversation is kept after its last line was written.
    #[must_use]
    pub fn max_age(self, max_age: impl Into<Option<Duration>>) -> Self {
        Self { max_age: max_age.into(), ..self }
    }

    /// Sets the most conversations that are kept.
    #[must_use]
    pub fn max_count(self, max_count: impl Into<Option<usize>>) -> Self {
        Self { max_count: max_count.into(), ..self }
    }

    /// Sets the most bytes of the conversations that are kept.
    #[must_use]
    pub fn max_bytes(self, max_bytes: impl Into<Option<u64>>) -> Self {
        Self { max_bytes: max_bytes.into(), ..self }
    }
}

/// The result of a clean-up of transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CleanUp {
    /// The conversations that were removed, the latest first.
    pub removed: Vec<RemovedConversation>,
    /// The ids of conversations that are beyond a limit, but in use.
    pub in_use: Vec<String>,
    /// The ids of conversations that could not be removed, and why.
    pub failed: Vec<(String, String)>,
    /// How many conversations are left.
    pub left: usize,
    /// Their bytes.
    pub left_bytes: u64,
}

/// A conversation that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemovedConversation {
    /// The id of its transcript.
    pub id: String,
    /// The ids of the transcripts that went with it: those of its sub-agents and of the conversations below it, and the forks in which damaged
    /// ones went on.
    pub with: Vec<String>,
    /// The limit because of which it was removed.
    pub reason: RemovalReason,
    /// The bytes that it had.
    pub bytes: u64,
}

/// The limit because of which a conversation was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemovalReason {
    /// [`Retention::max_age`].
    Age,
    /// [`Retention::max_count`].
    Count,
    /// [`Retention::max_bytes`].
    Bytes,
}

/// A transcript, and those that go with it.
struct Family {
    /// The first one is the root.
    members: Vec<Member>,
    changed: SystemTime,
    bytes: u64,
}

struct Member {
    id: String,
    path: PathBuf,
    changed: SystemTime,
    bytes: u64,
}

impl Transcripts {
    /// Removes the conversations that are beyond a limit, the oldest ones first. A conversation goes whole, with the transcripts of its sub-agents
    /// and of the conversations below it, and with its copies of changed files; it stays whole as long as one of these is in use. Blocks.
    pub fn clean_up(&self, retention: &Retention) -> CleanUp {
        let mut cleaned = CleanUp::default();
        self.remove_unfinished_copies();
        let now = SystemTime::now();
        let mut is_full = false;
        for family in self.families() {
            let reason = reason(retention, &cleaned, &family, now);
            // Where one has no room, none that is older has it.
            is_full |= reason == Some(RemovalReason::Bytes);
            let Some(reason) = reason.or(is_full.then_some(RemovalReason::Bytes)) else {
                cleaned.keep(&family);
                continue;
            };
            let id = family.members[0].id.clone();
            let Some(held) = family.hold() else {
                cleaned.keep(&family);
                cleaned.in_use.push(id);
                continue;
            };
            let removed = family.remove();
            drop(held);
            if let Err(error) = removed {
                cleaned.keep(&family);
                cleaned.failed.push((id, error));
                continue;
            }
            tracing::info!(target: "toolkit::agent", transcript = id, ?reason, "a conversation was removed");
            let with = family.members.iter().skip(1).map(|member| member.id.clone()).collect();
            cleaned.removed.push(RemovedConversation { id, with, reason, bytes: family.bytes });
        }
        cleaned
    }

    /// All transcripts, each root with those that go with it, the latest first.
    fn families(&self) -> Vec<Family> {
        let members: BTreeMap<String, (Member, Option<Header>)> = self
            .ids()
            .filter_map(|id| {
                let path = self.path(&id).ok()?;
                let metadata = path.metadata().ok()?;
                let bytes = metadata.len() + bytes_below(&path.with_extension(super::COPIES));
                let header = read_header(&path);
                let member = Member { id: id.clone(), path, changed: metadata.modified().ok()?, bytes };
                Some((id, (member, header)))
            })
            .collect();
        let root_of = |id: &str| {
            let mut root = id.to_owned();
            let mut seen = BTreeSet::from([root.clone()]);
            while let Some(above) = members.get(&root).and_then(|(_, header)| above(header.as_ref()?)) {
                // One that is not there any more stands above nothing.
                if !members.contains_key(above) || !seen.insert(above.to_owned()) {
                    break;
                }
                above.clone_into(&mut root);
            }
            root
        };
        let roots: BTreeMap<String, String> = members.keys().map(|id| (id.clone(), root_of(id))).collect();
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        for (id, (member, _)) in members {
            let root = &roots[&id];
            let family = families.entry(root.clone()).or_insert_with(|| Family {
                members: Vec::new(),
                changed: member.changed,
                bytes: 0,
            });
            family.changed = family.changed.max(member.changed);
            family.bytes += member.bytes;
            let place = if *root == id { 0 } else { family.members.len() };
            family.members.insert(place, member);
        }
        let mut families: Vec<Family> = families.into_values().collect();
        families.sort_by_key(|family| std::cmp::Reverse(family.changed));
        families
    }

    /// Removes copies of transcripts that no process goes on with: it was killed meanwhile.
    fn remove_unfinished_copies(&self) {
        let entries = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == super::NEW)
                && Writer::hold(&path).is_ok()
            {
                // Another process may have been faster.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The transcript with which another one goes.
fn above(header: &Header) -> Option<&str> {
    let goes_on = header.forked_from.as_ref().filter(|fork| fork.damaged_line.is_some());
    header.parent.as_deref().or(goes_on.map(|fork| &*fork.transcript))
}

/// The limit that a family is beyond, after those that are kept.
fn reason(retention: &Retention, kept: &CleanUp, family: &Family, now: SystemTime) -> Option<RemovalReason> {
    let age = now.duration_since(family.changed).unwrap_or_default();
    if retention.max_age.is_some_and(|most| age > most) {
        Some(RemovalReason::Age)
    } else if retention.max_count.is_some_and(|most| kept.left >= most) {
        Some(RemovalReason::Count)
    } else if retention.max_bytes.is_some_and(|most| kept.left_bytes + family.bytes > most) {
        Some(RemovalReason::Bytes)
    } else {
        None
    }
}

impl CleanUp {
    fn keep(&mut self, family: &Family) {
        self.left += 1;
        self.left_bytes += family.bytes;
    }
}

impl Family {
    /// Locks all files, so that nobody opens one; `None` if one is open, or was written since it was looked at.
    fn hold(&self) -> Option<Vec<File>> {
        let held: Option<Vec<File>> =
            self.members.iter().map(|member| Writer::hold(&member.path).ok()).collect();
        let is_unchanged = |member: &Member| {
            let changed = member.path.metadata().and_then(|metadata| metadata.modified());
            changed.is_ok_and(|changed| changed == member.changed)
        };
        held.filter(|_| self.members.iter().all(is_unchanged))
    }

    /// Removes all files, the root last: as long as it is there, the others belong to it.
    fn remove(&self) -> Result<(), String> {
        for Member { path, .. } in self.members.iter().rev() {
            let copies = path.with_extension(super::COPIES);
            let removed = if copies.exists() { fs::remove_dir_all(&copies) } else { Ok(()) };
            removed.and_then(|()| fs::remove_file(path)).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// The bytes of the files of a directory.
fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
