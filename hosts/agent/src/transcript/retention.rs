//! The removal of old transcripts.

use super::store::{StoredTranscript, TranscriptWriter};
use super::{Header, Loaded, Pending, TranscriptError, Transcripts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long conversations are written again after a pause that is longer than the age limit, until those before the pause count as old: the pause
/// may be a clock that was set wrong.
const SETTLED: Duration = Duration::from_hours(12);

/// Which transcripts are kept. Without a limit, all are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// How long a conversation is kept after its last line was written, and an earlier segment of it after its own last line. The time is counted up
    /// to the newest line of all, so that a clock that is set wrong removes nothing.
    pub max_age: Option<Duration>,
    /// The most conversations that are kept.
    pub max_count: Option<usize>,
    /// The most bytes of the conversations that are kept, with the copies of changed files.
    pub max_bytes: Option<u64>,
    /// The most segments of a conversation that are kept, the last one in any case. A conversation goes on without the earlier ones, also while it is
    /// open; what they had can be shown and forked no more.
    pub max_segments: Option<usize>,
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

    /// Sets the most segments of a conversation that are kept.
    #[must_use]
    pub fn max_segments(self, max_segments: impl Into<Option<usize>>) -> Self {
        Self { max_segments: max_segments.into(), ..self }
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
    /// The ids of conversations that are beyond a limit, but have a question that a person has not answered, or were to be kept.
    pub waiting: Vec<String>,
    /// How many earlier segments of conversations were removed.
    pub removed_segments: usize,
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
    stored: StoredTranscript,
    bytes: u64,
}

/// Why a conversation beyond a limit is not removed.
enum Obstacle {
    InUse,
    Waits,
    Failed(String),
}

impl Transcripts {
    /// Removes the conversations that are beyond a limit, the oldest ones first. A conversation goes whole, with the transcripts of its sub-agents
    /// and of the conversations below it, and with its copies of changed files; it stays whole as long as one of these is in use, or has a question
    /// that a person has not answered. Blocks.
    pub fn clean_up(&self, retention: &Retention) -> CleanUp {
        self.clean_up_except(retention, |_| false)
    }

    /// Removes conversations as [`clean_up`](Self::clean_up) does, except those for which the function returns true: a host that keeps messages for
    /// them that no run has consumed keeps them so. It gets the id of each transcript. Blocks.
    pub fn clean_up_except(&self, retention: &Retention, is_kept: impl Fn(&str) -> bool) -> CleanUp {
        let mut cleaned = CleanUp::default();
        self.store.remove_unfinished();
        let mut families = self.families();
        let oldest = retention.max_age.and_then(|max_age| oldest(SystemTime::now(), &families, max_age));
        for family in &mut families {
            cleaned.removed_segments += self.remove_segments(family, retention, oldest);
        }
        let mut is_full = false;
        for family in families {
            let reason = reason(retention, &cleaned, &family, oldest);
            // Where one has no room, none that is older has it.
            is_full |= reason == Some(RemovalReason::Bytes);
            let Some(reason) = reason.or(is_full.then_some(RemovalReason::Bytes)) else {
                cleaned.keep(&family);
                continue;
            };
            let id = family.members[0].stored.id.clone();
            if let Err(obstacle) = self.remove_family(&family, &is_kept) {
                cleaned.keep(&family);
                match obstacle {
                    Obstacle::InUse => cleaned.in_use.push(id),
                    Obstacle::Waits => cleaned.waiting.push(id),
                    Obstacle::Failed(error) => cleaned.failed.push((id, error)),
                }
                continue;
            }
            tracing::info!(target: "toolkit::agent", transcript = id, ?reason, "a conversation was removed");
            let with = family.members.iter().skip(1).map(|member| member.stored.id.clone()).collect();
            cleaned.removed.push(RemovedConversation { id, with, reason, bytes: family.bytes });
        }
        cleaned
    }

    /// All transcripts, each root with those that go with it, the latest first.
    fn families(&self) -> Vec<Family> {
        let members: BTreeMap<String, (Member, Option<Header>)> = self
            .stored()
            .into_iter()
            .map(|stored| {
                let copies = self.copies(&stored.id).map(|copies| bytes_below(&copies)).unwrap_or_default();
                let header = self.header_of(&stored);
                let member = Member { bytes: stored.bytes() + copies, stored };
                (member.stored.id.clone(), (member, header))
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
            let changed = member.stored.changed();
            let family = families.entry(root.clone()).or_insert_with(|| Family {
                members: Vec::new(),
                changed,
                bytes: 0,
            });
            family.changed = family.changed.max(changed);
            family.bytes += member.bytes;
            let place = if *root == id { 0 } else { family.members.len() };
            family.members.insert(place, member);
        }
        let mut families: Vec<Family> = families.into_values().collect();
        families.sort_by_key(|family| std::cmp::Reverse(family.changed));
        families
    }

    /// Removes earlier segments that are beyond a limit, and returns how many. They do not change, so that no lock is needed.
    fn remove_segments(
        &self,
        family: &mut Family,
        retention: &Retention,
        oldest: Option<SystemTime>,
    ) -> usize {
        let mut count = 0;
        for member in &mut family.members {
            while let [first, _, ..] = *member.stored.segments {
                let is_old = oldest.is_some_and(|oldest| first.changed < oldest);
                let is_beyond =
                    retention.max_segments.is_some_and(|most| member.stored.segments.len() > most);
                if !(is_old || is_beyond) {
                    break;
                }
                if let Err(error) = self.store.remove_oldest(&member.stored.id, first.number) {
                    tracing::warn!(target: "toolkit::agent", transcript = member.stored.id, %error, "a segment cannot be removed");
                    break;
                }
                member.stored.segments.remove(0);
                member.bytes -= first.bytes;
                family.bytes -= first.bytes;
                count += 1;
            }
        }
        count
    }

    /// Removes a conversation with all that belongs to it, if nothing speaks against it.
    fn remove_family(&self, family: &Family, is_kept: &impl Fn(&str) -> bool) -> Result<(), Obstacle> {
        let Some((root, others)) = family.members.split_first() else { return Ok(()) };
        if family.members.iter().any(|member| is_kept(&member.stored.id)) {
            return Err(Obstacle::Waits);
        }
        // One lock at a time, beside that of the root: a conversation may have thousands below it.
        let held = self.hold_unchanged(root)?;
        for member in others {
            drop(self.hold_unchanged(member)?);
        }
        for member in &family.members {
            match self.load_stored(&member.stored) {
                Ok(loaded) if asks_again(&loaded) => return Err(Obstacle::Waits),
                // Whether it waits is known to the program that wrote it.
                Err(error @ TranscriptError::NewerVersion { .. }) => {
                    return Err(Obstacle::Failed(error.to_string()));
                }
                _ => {}
            }
        }
        // The root goes last: as long as it is there, the others belong to it.
        for member in others.iter().rev() {
            let held = self.hold_unchanged(member)?;
            self.remove_member(member, held)?;
        }
        self.remove_member(root, held)
    }

    /// Locks a transcript, so that nobody opens it, unless it is open or was written since it was looked at.
    fn hold_unchanged(&self, member: &Member) -> Result<Box<dyn TranscriptWriter>, Obstacle> {
        let id = &member.stored.id;
        let held = self.hold(id).map_err(|error| match error {
            TranscriptError::InUse { .. } => Obstacle::InUse,
            error => Obstacle::Failed(error.to_string()),
        })?;
        let is_unchanged = self.store.get(id).is_ok_and(|stored| stored == member.stored);
        if is_unchanged { Ok(held) } else { Err(Obstacle::InUse) }
    }

    fn remove_member(&self, member: &Member, held: Box<dyn TranscriptWriter>) -> Result<(), Obstacle> {
        let failed = |error: &dyn std::fmt::Display| Obstacle::Failed(error.to_string());
        let copies = self.copies(&member.stored.id).map_err(|error| failed(&error))?;
        let removed = if copies.exists() { fs::remove_dir_all(&copies) } else { Ok(()) };
        removed.and_then(|()| held.remove()).map_err(|error| failed(&error))
    }
}

/// Returns true if a question is asked again when the conversation is opened. One of a sub-agent is not, and neither is one before a damage.
fn asks_again(loaded: &Loaded) -> bool {
    let waits = loaded.conversation.pending().is_some_and(Pending::waits_for_a_person);
    waits && loaded.header.depth == 0 && loaded.damage.is_none()
}

/// The transcript with which another one goes.
fn above(header: &Header) -> Option<&str> {
    let goes_on = header.forked_from.as_ref().filter(|fork| fork.damaged_line.is_some());
    header.parent.as_deref().or(goes_on.map(|fork| &*fork.transcript))
}

/// The time before which conversations are beyond the age limit. They are sorted, the latest first.
fn oldest(now: SystemTime, families: &[Family], max_age: Duration) -> Option<SystemTime> {
    let mut changes = families.iter().map(|family| family.changed);
    let newest = changes.next()?;
    // A clock that runs ahead ages nothing while nothing is written.
    let mut until = newest.min(now);
    let mut since = newest;
    for before in changes {
        if since.duration_since(before).is_ok_and(|pause| pause > max_age) {
            // Nor do its first lines.
            if newest.duration_since(since).is_ok_and(|settled| settled < SETTLED) {
                until = before.min(now);
            }
            break;
        }
        since = before;
    }
    until.checked_sub(max_age)
}

/// The limit that a family is beyond, after those that are kept.
fn reason(
    retention: &Retention,
    kept: &CleanUp,
    family: &Family,
    oldest: Option<SystemTime>,
) -> Option<RemovalReason> {
    if oldest.is_some_and(|oldest| family.changed < oldest) {
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

/// The bytes of the files of a directory.
fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
