//! The removal of old transcripts.

use super::store::{StoreLock, StoredTranscript, TranscriptWriter};
use super::{Header, Loaded, Pending, TranscriptError, Transcripts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLockReadGuard, TryLockError};
use std::time::{Duration, SystemTime};

/// How long conversations are written again after a pause that is longer than the age limit, until those before the pause count as old: the pause
/// may be a clock that was set wrong.
const SETTLED: Duration = Duration::from_hours(12);

/// Which transcripts are kept. Without a limit, all are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// How long a conversation is kept after its last line was written, and an earlier segment of it after its own last line. The time is counted up
    /// to the newest line of all that belongs to 12 hours of lines, so that a clock that runs ahead removes nothing. A conversation that was written
    /// while the clock was behind counts as that much older.
    pub max_age: Option<Duration>,
    /// The most conversations that are kept.
    pub max_count: Option<usize>,
    /// The most bytes of the conversations that are kept, with the copies of changed files. One that does not fit beside later ones is removed; the
    /// latest one is kept whatever its size, and one that is larger than the limit takes no room from others.
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
    /// The ids of conversations that are beyond a limit, but in use, or could not be locked because another one was being opened.
    pub in_use: Vec<String>,
    /// The ids of conversations that are beyond a limit, but have a question that a person has not answered or a run that has not ended, or were to
    /// be kept.
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

/// Keeps the transcripts above a new one from being removed until the new one is there.
pub(crate) struct KeptFamily<'a> {
    _removal: HeldOff<'a>,
    /// Unless it is open anyway.
    _root: Option<Box<dyn TranscriptWriter>>,
}

/// Holds removals off while a conversation is opened or copied, or begun below another one.
pub(crate) struct HeldOff<'a> {
    /// Those of this process.
    _joining: RwLockReadGuard<'a, ()>,
    /// Those of others.
    _store: StoreLock,
}

/// Why a conversation beyond a limit is not removed.
enum Obstacle {
    InUse,
    Waits,
    Failed(String),
}

impl Transcripts {
    /// Removes the conversations that are beyond a limit. A conversation goes whole, with the transcripts of its sub-agents and of the conversations
    /// below it, and with its copies of changed files; it stays whole as long as one of these is in use, or has a question that a person has not
    /// answered or a run that has not ended; such a run keeps it from all limits but that of age. Files of others, which do not begin as a transcript of their name does, stay. Blocks.
    pub fn clean_up(&self, retention: &Retention) -> CleanUp {
        self.clean_up_except(retention, |_| false)
    }

    /// Removes conversations as [`clean_up`](Self::clean_up) does, except those for which the function returns true: a host that keeps messages for
    /// them that no run has consumed keeps them so. It gets the id of each transcript of a conversation, while that of its root is locked. Earlier
    /// segments are removed as those of an open conversation are. Blocks.
    pub fn clean_up_except(&self, retention: &Retention, is_kept: impl Fn(&str) -> bool) -> CleanUp {
        let mut cleaned = CleanUp::default();
        self.store.remove_unfinished();
        let (mut families, known) = self.families();
        let oldest = retention.max_age.and_then(|max_age| oldest(SystemTime::now(), &families, max_age));
        for family in &mut families {
            cleaned.removed_segments += self.remove_segments(family, retention, oldest);
        }
        // The bytes of those that are kept, without those that would leave no room for any other one.
        let mut counted: u64 = 0;
        for (place, family) in families.into_iter().enumerate() {
            let fits = |bytes: u64| retention.max_bytes.is_none_or(|most| bytes <= most);
            let has_room = fits(counted.saturating_add(family.bytes));
            let reason = if oldest.is_some_and(|oldest| family.changed < oldest) {
                Some(RemovalReason::Age)
            } else if retention.max_count.is_some_and(|most| cleaned.left >= most) {
                Some(RemovalReason::Count)
            } else {
                (!has_room && place > 0).then_some(RemovalReason::Bytes)
            };
            let id = family.members[0].stored.id.clone();
            let removed =
                reason.map(|reason| (reason, self.remove_family(&family, reason, &known, &is_kept)));
            if let Some((reason, Ok(()))) = removed {
                tracing::info!(target: "toolkit::agent", transcript = id, ?reason, "a conversation was removed");
                let with = family.members.iter().skip(1).map(|member| member.stored.id.clone()).collect();
                cleaned.removed.push(RemovedConversation { id, with, reason, bytes: family.bytes });
                continue;
            }
            cleaned.left += 1;
            cleaned.left_bytes += family.bytes;
            if fits(family.bytes) {
                counted = counted.saturating_add(family.bytes);
            }
            match removed {
                Some((_, Err(Obstacle::InUse))) => cleaned.in_use.push(id),
                Some((_, Err(Obstacle::Waits))) => cleaned.waiting.push(id),
                Some((_, Err(Obstacle::Failed(error)))) => cleaned.failed.push((id, error)),
                _ => {}
            }
        }
        cleaned
    }

    /// Keeps the transcripts from being removed with which a new one will go that stands below this one.
    pub(crate) fn keep_family(&self, id: &str) -> Result<KeptFamily<'_>, TranscriptError> {
        let removal = self.hold_off_removal()?;
        let root = self.hold_root(id)?;
        Ok(KeptFamily { _removal: removal, _root: root })
    }

    /// Locks the transcript with which those go that stand below this one; `None` if it is open.
    pub(super) fn hold_root(&self, id: &str) -> Result<Option<Box<dyn TranscriptWriter>>, TranscriptError> {
        let mut root = id.to_owned();
        let mut seen = BTreeSet::from([root.clone()]);
        while let Some(header) = self.header(&root) {
            match above(&header) {
                Some(above) if seen.insert(above.to_owned()) && self.existing(above).is_ok() => {
                    above.clone_into(&mut root);
                }
                _ => break,
            }
        }
        let root = match self.hold(&root) {
            Ok(root) => Some(root),
            Err(TranscriptError::InUse { .. }) => None,
            Err(error) => return Err(error),
        };
        self.existing(id)?;
        Ok(root)
    }

    /// Waits for a removal under way. A clean-up removes nothing until what is returned is dropped.
    pub(crate) fn hold_off_removal(&self) -> Result<HeldOff<'_>, TranscriptError> {
        let joining = self.joining.read().unwrap_or_else(PoisonError::into_inner);
        let store = self.store.hold_off_removal();
        let store = store.map_err(|error| TranscriptError::io("lock", &self.directory, &error))?;
        Ok(HeldOff { _joining: joining, _store: store })
    }

    /// All transcripts, each root with those that go with it, the latest first, and the ids of all that the store lists.
    fn families(&self) -> (Vec<Family>, BTreeSet<String>) {
        let mut known = BTreeSet::new();
        let members: BTreeMap<String, (Member, Header)> = self
            .stored()
            .into_iter()
            .filter_map(|stored| {
                known.insert(stored.id.clone());
                // Something else may have put a file there.
                let header = self.header_of(&stored).filter(|header| header.id == stored.id)?;
                let copies = self.copies(&stored.id).map(|copies| bytes_below(&copies)).unwrap_or_default();
                let member = Member { bytes: stored.bytes() + copies, stored };
                Some((member.stored.id.clone(), (member, header)))
            })
            .collect();
        let root_of = |id: &str| {
            let mut root = id.to_owned();
            let mut seen = BTreeSet::from([root.clone()]);
            while let Some(above) = members.get(&root).and_then(|(_, header)| above(header)) {
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
        (families, known)
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
    fn remove_family(
        &self,
        family: &Family,
        reason: RemovalReason,
        known: &BTreeSet<String>,
        is_kept: &impl Fn(&str) -> bool,
    ) -> Result<(), Obstacle> {
        let Some((root, others)) = family.members.split_first() else { return Ok(()) };
        // One lock at a time, beside that of the root: a conversation may have thousands below it.
        let are_free = || others.iter().try_for_each(|member| self.hold_unchanged(member).map(drop));
        drop(self.hold_unchanged(root)?);
        are_free()?;
        // Without a lock, since it takes a while: whoever opens one meanwhile goes on with it.
        for member in &family.members {
            match self.load_stored(&member.stored) {
                Ok(loaded) if goes_on_later(&loaded, reason) => return Err(Obstacle::Waits),
                Ok(_) | Err(TranscriptError::Corrupt { .. }) => {}
                // It is unknown whether it waits.
                Err(error) => return Err(Obstacle::Failed(error.to_string())),
            }
        }
        let held = self.hold_unchanged(root)?;
        if family.members.iter().any(|member| is_kept(&member.stored.id)) {
            return Err(Obstacle::Waits);
        }
        // Whoever opens, copies or begins one at this moment is not waited for, since others would have to wait, too.
        let _nobody_joins = match self.joining.try_write() {
            Ok(joining) => joining,
            Err(TryLockError::Poisoned(joining)) => joining.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Obstacle::InUse),
        };
        let _locked = self.store.lock_for_removal().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => Obstacle::InUse,
            _ => Obstacle::Failed(error.to_string()),
        })?;
        // Meanwhile one may have been opened or begun, which goes on.
        are_free()?;
        if self.has_grown(family, known) {
            return Err(Obstacle::InUse);
        }
        // The root goes last: as long as it is there, the others belong to it.
        for member in others.iter().rev() {
            let held = self.hold_unchanged(member)?;
            self.remove_member(member, held)?;
        }
        self.remove_member(root, held)
    }

    /// Returns true if a transcript that was not known belongs to the family.
    fn has_grown(&self, family: &Family, known: &BTreeSet<String>) -> bool {
        let members: BTreeSet<&str> = family.members.iter().map(|member| &*member.stored.id).collect();
        self.stored().iter().filter(|stored| !known.contains(&stored.id)).any(|stored| {
            let header = self.header_of(stored);
            header.as_ref().and_then(above).is_some_and(|above| members.contains(above))
        })
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

/// Returns true if a run goes on when the conversation is opened, or a question is asked again. That of a sub-agent does not, and neither does one
/// before a damage. A run that nobody went on with until it was too old was that of a program that is gone.
fn goes_on_later(loaded: &Loaded, reason: RemovalReason) -> bool {
    let conversation = &loaded.conversation;
    let waits = conversation.pending().is_some_and(Pending::waits_for_a_person);
    let is_open = conversation.runs.open().is_some() && reason != RemovalReason::Age;
    (waits || is_open) && loaded.header.depth == 0 && loaded.damage.is_none()
}

/// The transcript with which another one goes.
fn above(header: &Header) -> Option<&str> {
    let goes_on = header.forked_from.as_ref().filter(|fork| fork.damaged_line.is_some());
    header.parent.as_deref().or(goes_on.map(|fork| &*fork.transcript))
}

/// The time before which conversations are beyond the age limit.
///
/// It is counted from the latest lines that go on for a while without a pause that is longer than the limit: lines behind such a pause may be
/// those of a clock that ran ahead.
fn oldest(now: SystemTime, families: &[Family], max_age: Duration) -> Option<SystemTime> {
    let is_longer = |since: SystemTime, before: SystemTime, than: Duration| {
        since.duration_since(before).is_ok_and(|pause| pause > than)
    };
    let segments =
        families.iter().flat_map(|family| &family.members).flat_map(|member| &member.stored.segments);
    let mut changes: Vec<SystemTime> = segments.map(|segment| segment.changed).collect();
    changes.sort_unstable_by_key(|changed| std::cmp::Reverse(*changed));
    let settled = SETTLED.min(max_age);
    let mut until = *changes.first()?;
    let mut since = until;
    for before in changes {
        if is_longer(since, before, max_age) {
            if is_longer(until, since, settled) {
                break;
            }
            until = before;
        }
        since = before;
    }
    // A clock that runs ahead ages nothing while nothing is written.
    is_longer(until, since, settled).then(|| until.min(now).checked_sub(max_age)).flatten()
}

/// The bytes of the files of a directory.
fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
