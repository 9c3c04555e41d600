//! Approvals for a session, in a file for each session: for hosts whose process ends before the session does, such as a command
//! that makes one call.

use super::file::{self, MAX_APPROVALS, VERSION, random_name};
use super::place::Place;
use super::session::{Deed, What, deeds};
use super::{Approval, Asker, Grounds};
use crate::output_store::directory_name;
use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use toolkit_core::ask::Ask;
use toolkit_core::unix_time;

/// The directory of these files, within the approvals directory.
pub(super) const DIRECTORY: &str = "sessions";
/// The most sessions whose approvals are kept.
pub(super) const MAX_SESSIONS: usize = 1_000;

/// The place where the approvals of one session in one workspace are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionPlace {
    pub(super) workspace: String,
    pub(super) session: String,
    pub(super) file: PathBuf,
}

impl SessionPlace {
    /// Returns the file of a session. A session of the same name in another workspace has another file, because patterns are
    /// often relative paths.
    pub(super) fn new(root: &Path, place: &Place, session: &str) -> Self {
        let name = directory_name(Some(&format!("{session}\0{}", place.workspace)));
        Self {
            workspace: place.workspace.clone(),
            session: session.to_owned(),
            file: root.join(DIRECTORY).join(name).with_added_extension("json"),
        }
    }
}

/// The approvals of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SessionFile {
    version: u32,
    /// The real path of the workspace. A file that was moved is not valid for another workspace.
    pub(super) workspace: String,
    pub(super) session: String,
    pub(super) approvals: Vec<Stored>,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) id: String,
    of: Grounds,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    raised: bool,
    what: StoredWhat,
    /// In milliseconds since 1970.
    approved_at: u64,
    /// In milliseconds since 1970.
    expires_at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum StoredWhat {
    Pattern(String),
    /// A question without a pattern. Its details may be large or secret, so only their digest is kept.
    Whole {
        title: String,
        digest: String,
    },
}

impl StoredWhat {
    fn of(what: &What) -> Self {
        match what {
            What::Pattern(pattern) => Self::Pattern(pattern.clone()),
            What::Whole { title, details } => {
                // Serialising plain structs of strings cannot fail; with an empty text, the title would still distinguish the
                // questions.
                let text = serde_json::to_vec(&(title, details)).unwrap_or_default();
                Self::Whole { title: title.clone(), digest: HEXLOWER.encode(&Hash::hash(&text)) }
            }
        }
    }
}

impl SessionFile {
    pub(super) fn new(place: &SessionPlace) -> Self {
        let (workspace, session) = (place.workspace.clone(), place.session.clone());
        Self { version: VERSION, workspace, session, approvals: Vec::new() }
    }

    /// Reads a file; returns `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, String> {
        let Some(file) = file::read_json::<Self>(path)? else { return Ok(None) };
        file::check_version(path, file.version)?;
        Ok(Some(file))
    }

    /// Reads the file of a session; returns an empty one if there is none.
    pub(super) fn of(place: &SessionPlace) -> Result<Self, String> {
        match Self::read(&place.file)? {
            None => Ok(Self::new(place)),
            Some(file) if (&file.workspace, &file.session) == (&place.workspace, &place.session) => Ok(file),
            Some(_) => Err(format!("{} is not read: it belongs to another session", place.file.display())),
        }
    }

    /// Returns the askers with an approval that is still valid.
    pub(super) fn askers(self, lifetime: Duration) -> impl Iterator<Item = Asker> {
        let now = unix_time::now();
        let valid = self.approvals.into_iter().filter(move |stored| stored.is_valid(now, lifetime));
        valid.map(|stored| stored.of.asker)
    }

    /// Returns true if everything that the question asks was allowed and still is.
    pub(super) fn covers(&self, grounds: &Grounds, ask: &Ask, lifetime: Duration) -> bool {
        let now = unix_time::now();
        deeds(grounds, ask).all(|deed| {
            self.approvals.iter().any(|stored| stored.is_valid(now, lifetime) && stored.is_same(&deed))
        })
    }

    /// Adds everything that the question asks; the oldest approvals are dropped to make room.
    pub(super) fn add(&mut self, grounds: &Grounds, ask: &Ask, lifetime: Duration) -> Result<(), String> {
        let now = unix_time::now();
        self.drop_expired(lifetime);
        for deed in deeds(grounds, ask) {
            self.approvals.retain(|stored| !stored.is_same(&deed));
            self.approvals.push(Stored {
                id: random_name()?,
                of: deed.grounds.clone(),
                raised: deed.raised,
                what: StoredWhat::of(&deed.what),
                approved_at: now,
                expires_at: now.saturating_add(milliseconds(lifetime)),
            });
        }
        let surplus = self.approvals.len().saturating_sub(MAX_APPROVALS);
        self.approvals.drain(..surplus);
        Ok(())
    }

    pub(super) fn drop_expired(&mut self, lifetime: Duration) {
        let now = unix_time::now();
        self.approvals.retain(|stored| stored.is_valid(now, lifetime));
    }

    /// Replaces a file with these approvals, or removes the file if no approval is left.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        if self.approvals.is_empty() { file::remove(path) } else { file::write_json(path, self) }
    }

    /// Returns the approvals that are still valid, in the public form.
    pub(super) fn shown(mut self, lifetime: Duration) -> Vec<Approval> {
        self.drop_expired(lifetime);
        let Self { workspace, session, approvals, .. } = self;
        let time = |at: u64| unix_time::time(at).unwrap_or(UNIX_EPOCH);
        let show = |stored: Stored| {
            let pattern = match stored.what {
                StoredWhat::Pattern(pattern) => pattern,
                StoredWhat::Whole { title, .. } => title,
            };
            let shown = stored.of.shown(stored.id, workspace.clone(), pattern, time(stored.approved_at));
            Approval { session: Some(session.clone()), expires_at: Some(time(stored.expires_at)), ..shown }
        };
        approvals.into_iter().map(show).collect()
    }
}

impl Stored {
    fn is_same(&self, deed: &Deed) -> bool {
        self.of == deed.grounds && self.raised == deed.raised && self.what == StoredWhat::of(&deed.what)
    }

    /// Returns true if an approval is still valid. It is not valid if it ends later than any new approval would, because then
    /// the clock was set back.
    fn is_valid(&self, now: u64, lifetime: Duration) -> bool {
        now < self.expires_at && self.expires_at - now <= milliseconds(lifetime)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
