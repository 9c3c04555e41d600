//! The store of approvals that are always valid: one file for each workspace, in the user's data directory.

use super::file::{Approved, Lock, MAX_APPROVALS, Stored, UNFINISHED, check_directory, random_name, remove};
use super::place::Place;
use super::session_file::{self, MAX_SESSIONS, SessionFile, SessionPlace};
use super::{Approval, Grounds};
use crate::output_store::{directory_name, make_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use toolkit_core::ask::Ask;
use toolkit_core::unix_time;

/// The directory of approvals, within the data directory.
const DIRECTORY: &str = "approvals";
/// The extension of a workspace's file.
const EXTENSION: &str = "json";
/// The most workspaces for which approvals are remembered.
const MAX_WORKSPACES: usize = 10_000;

/// The remembered approvals of all workspaces: [`Toolkit::approvals`](crate::Toolkit::approvals). Cheap to clone.
///
/// They are kept in the directory `approvals` of the user's data directory, one file for each workspace with up to 1,000 approvals, and
/// never in the workspace itself: if the data directory lies within the workspace, nothing is remembered. A file or directory that is
/// damaged, belongs to another user, or is writable by others, counts as empty. Files are read again for each question, so a revoked
/// approval ends at once, in every process.
///
/// An approval for a session ends with the process and after a day, unless the host keeps it
/// ([`Builder::keep_session_approvals`](crate::Builder::keep_session_approvals)). Then it is in the directory `approvals/sessions`, one
/// file for each session and workspace, and ends after the host's time limit or when the host ends the session.
///
/// A deny rule of the configuration takes precedence: an approval only answers a question.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// The directory; `None` without a data directory, and then nothing is remembered.
    root: Option<Arc<Path>>,
    /// How long an approval for a session is valid, if such approvals are kept in files.
    session_lifetime: Option<Duration>,
}

/// All remembered approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalList {
    /// The approvals, by workspace, then in the order in which they were given.
    pub approvals: Vec<Approval>,
    /// The files that could not be read, and why. They count as empty.
    pub problems: Vec<String>,
}

/// The reason why no approval was revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is no such approval.
    #[error("there is no approval with the id `{id}`; list the approvals for their ids")]
    Unknown {
        /// The id that was given.
        id: String,
    },
    /// A file cannot be read, locked or written.
    #[error("{problem}")]
    Unusable {
        /// The problem, with the file's path.
        problem: String,
    },
}

impl Approvals {
    /// Creates a store. Directories are created with the first approval.
    pub(crate) fn new(data_dir: Option<&Path>) -> Self {
        Self { root: data_dir.map(|directory| directory.join(DIRECTORY).into()), session_lifetime: None }
    }

    /// Keeps approvals for named sessions in files, each for this time.
    pub(crate) fn keeping_sessions(self, lifetime: Option<Duration>) -> Self {
        Self { session_lifetime: lifetime, ..self }
    }

    /// Returns how long an approval for a named session is valid, if such approvals are kept in files.
    pub(super) fn session_lifetime(&self) -> Option<Duration> {
        self.session_lifetime
    }

    /// Returns all remembered approvals, of all workspaces. Blocks.
    pub fn list(&self) -> ApprovalList {
        let mut list = ApprovalList::default();
        let files = match self.files() {
            Ok(files) => files,
            Err(problem) => {
                list.problems.push(problem);
                return list;
            }
        };
        for file in files {
            match Approved::read(&file) {
                Ok(None) => {}
                Ok(Some(approved)) => list.approvals.extend(shown(approved)),
                Err(problem) => list.problems.push(problem),
            }
        }
        // A host without a lifetime of its own shows what other hosts keep: the files say when each approval ends.
        let lifetime = self.session_lifetime.unwrap_or(Duration::MAX);
        for file in self.session_files().unwrap_or_default() {
            match SessionFile::read(&file) {
                Ok(None) => {}
                Ok(Some(session)) => list.approvals.extend(session.shown(lifetime)),
                Err(problem) => list.problems.push(problem),
            }
        }
        list.approvals.sort_by(|one, other| {
            (&one.workspace, one.approved_at, &one.id).cmp(&(&other.workspace, other.approved_at, &other.id))
        });
        list
    }

    /// Revokes an approval. Blocks, for some seconds if another process holds the lock.
    ///
    /// # Errors
    ///
    /// When there is no approval with this id, or its file cannot be changed.
    pub fn revoke(&self, id: &str) -> Result<Approval, ApprovalError> {
        let unknown = || ApprovalError::Unknown { id: id.to_owned() };
        let Some(_lock) = self.lock()? else { return Err(unknown()) };
        let mut revoked = None;
        let mut unread = None;
        for file in self.files().map_err(unusable)? {
            match Approved::read(&file) {
                Ok(Some(mut approved)) if approved.approvals.iter().any(|stored| stored.id == id) => {
                    revoked = shown(approved.clone()).into_iter().find(|approval| approval.id == id);
                    approved.approvals.retain(|stored| stored.id != id);
                    approved.write(&file).map_err(unusable)?;
                }
                Ok(_) => {}
                Err(problem) => unread = Some(problem),
            }
        }
        for file in self.session_files().map_err(unusable)? {
            match SessionFile::read(&file) {
                Ok(Some(mut session)) if session.approvals.iter().any(|stored| stored.id == id) => {
                    let all = session.clone().shown(Duration::MAX);
                    revoked = all.into_iter().find(|approval| approval.id == id);
                    session.approvals.retain(|stored| stored.id != id);
                    session.write(&file).map_err(unusable)?;
                }
                Ok(_) => {}
                Err(problem) => unread = Some(problem),
            }
        }
        revoked.ok_or_else(|| unread.map_or_else(unknown, unusable))
    }

    /// Revokes all approvals, of all workspaces and sessions, unreadable files included; returns the number of files removed. Blocks,
    /// for some seconds if another process holds the lock.
    ///
    /// # Errors
    ///
    /// When a file cannot be removed.
    pub fn revoke_all(&self) -> Result<usize, ApprovalError> {
        let Some(_lock) = self.lock()? else { return Ok(0) };
        let mut files = self.files().map_err(unusable)?;
        files.extend(self.session_files().map_err(unusable)?);
        for file in &files {
            remove(file).map_err(unusable)?;
        }
        Ok(files.len())
    }

    /// Returns the place where the approvals of a workspace are kept. The error says why there is none.
    pub(super) fn place(&self, workspace: &Path) -> Result<Place, String> {
        let Some(root) = &self.root else { return Err("there is no data directory".to_owned()) };
        let real = workspace
            .canonicalize()
            .map_err(|error| format!("the workspace {} cannot be used: {error}", workspace.display()))?;
        let Some(name) = real.to_str() else {
            return Err(format!("the path of the workspace {} is not UTF-8", real.display()));
        };
        if nearest_real(root).starts_with(&real) {
            return Err(format!(
                "the data directory {} is inside the workspace, where tools could write to it",
                root.display()
            ));
        }
        let file = root.join(directory_name(Some(name))).with_added_extension(EXTENSION);
        Ok(Place { workspace: name.to_owned(), file })
    }

    /// Returns the approvals of a workspace. Blocks.
    pub(super) fn read(&self, place: &Place) -> Result<Vec<Stored>, String> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        if !check_directory(root)? {
            return Ok(Vec::new());
        }
        let Some(approved) = Approved::read(&place.file)? else { return Ok(Vec::new()) };
        if approved.workspace != place.workspace {
            return Err(format!("{} is not read: it belongs to another workspace", place.file.display()));
        }
        Ok(approved.approvals)
    }

    /// Remembers patterns. Blocks, for some seconds if another process holds the lock.
    pub(super) fn add(&self, place: &Place, grounds: &Grounds, patterns: &[String]) -> Result<(), String> {
        let Some(root) = &self.root else { return Err("there is no data directory".to_owned()) };
        make_directory(root)?;
        check_directory(root)?;
        let _lock = Lock::take(root)?;
        let mut approved = Approved::new(&place.workspace);
        approved.approvals = self.read(place)?;
        if approved.approvals.is_empty() && self.files()?.len() >= MAX_WORKSPACES {
            return Err(format!(
                "{} holds files of {MAX_WORKSPACES} workspaces; revoke some",
                root.display()
            ));
        }
        let now = unix_time::now();
        for pattern in patterns {
            let is_same = |stored: &Stored| stored.pattern == *pattern && stored.of == *grounds;
            if approved.approvals.iter().any(is_same) {
                continue;
            }
            if approved.approvals.len() >= MAX_APPROVALS {
                return Err(format!("{} holds {MAX_APPROVALS} approvals; revoke some", place.file.display()));
            }
            approved.approvals.push(Stored {
                id: random_name()?,
                pattern: pattern.clone(),
                of: grounds.clone(),
                approved_at: now,
            });
        }
        self.sweep();
        approved.write(&place.file)
    }

    /// Returns the place where the approvals of a session are kept.
    pub(super) fn session_place(&self, place: &Place, session: &str) -> Option<SessionPlace> {
        self.session_lifetime?;
        Some(SessionPlace::new(self.root.as_deref()?, place, session))
    }

    /// Returns the approvals of a session. Blocks.
    pub(super) fn read_session(&self, place: &SessionPlace) -> Result<SessionFile, String> {
        let Some(root) = &self.root else { return Ok(SessionFile::new(place)) };
        if !check_directory(root)? || !check_directory(&root.join(session_file::DIRECTORY))? {
            return Ok(SessionFile::new(place));
        }
        SessionFile::of(place)
    }

    /// Remembers everything that a question asks, for a session. Blocks, for some seconds if another process holds the lock.
    pub(super) fn add_to_session(
        &self,
        place: &SessionPlace,
        grounds: &Grounds,
        ask: &Ask,
    ) -> Result<(), String> {
        let (Some(root), Some(lifetime)) = (&self.root, self.session_lifetime) else {
            return Err("approvals for sessions are not kept".to_owned());
        };
        let directory = root.join(session_file::DIRECTORY);
        make_directory(root)?;
        check_directory(root)?;
        make_directory(&directory)?;
        check_directory(&directory)?;
        let _lock = Lock::take(root)?;
        self.sweep_sessions(lifetime);
        let mut session = self.read_session(place)?;
        if session.approvals.is_empty() && self.session_files()?.len() >= MAX_SESSIONS {
            return Err(format!(
                "{} holds files of {MAX_SESSIONS} sessions; revoke some",
                directory.display()
            ));
        }
        session.add(grounds, ask, lifetime)?;
        session.write(&place.file)
    }

    /// Removes the approvals of a session, in all workspaces. Blocks; approvals that cannot be removed expire at their time.
    pub(crate) fn end_session(&self, session_id: &str) {
        if self.session_lifetime.is_none() {
            return;
        }
        let Ok(Some(_lock)) = self.lock() else { return };
        for file in self.session_files().unwrap_or_default() {
            let is_same = matches!(SessionFile::read(&file), Ok(Some(found)) if found.session == session_id);
            if is_same && let Err(problem) = remove(&file) {
                tracing::warn!("an approval of the ended session was not removed: {problem}");
            }
        }
    }

    /// Removes the files of sessions of which every approval has expired. The caller must hold the lock.
    fn sweep_sessions(&self, lifetime: Duration) {
        for file in self.session_files().unwrap_or_default() {
            if let Ok(Some(mut session)) = SessionFile::read(&file) {
                session.drop_expired(lifetime);
                if session.approvals.is_empty() {
                    let _ = remove(&file);
                }
            }
        }
    }

    /// Returns the files of all sessions, sorted by name.
    fn session_files(&self) -> Result<Vec<PathBuf>, String> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        with_extension(&root.join(session_file::DIRECTORY), EXTENSION)
    }

    /// Takes the lock, which keeps others from changing files until it is dropped; returns `None` if there is no directory.
    fn lock(&self) -> Result<Option<Lock>, ApprovalError> {
        let Some(root) = &self.root else { return Ok(None) };
        if !check_directory(root).map_err(unusable)? {
            return Ok(None);
        }
        Lock::take(root).map(Some).map_err(unusable)
    }

    /// Returns the files of all workspaces, sorted by name.
    fn files(&self) -> Result<Vec<PathBuf>, String> {
        self.root.as_deref().map_or_else(|| Ok(Vec::new()), |root| with_extension(root, EXTENSION))
    }

    /// Removes the unfinished files of processes that crashed while writing. The caller must hold the lock.
    fn sweep(&self) {
        let Some(root) = &self.root else { return };
        for file in with_extension(root, UNFINISHED.trim_start_matches('.')).unwrap_or_default() {
            // On failure the file just stays, which does no harm.
            let _ = remove(&file);
        }
    }
}

/// Returns the files of a directory with this extension, sorted by name.
fn with_extension(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    if !check_directory(directory)? {
        return Ok(Vec::new());
    }
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", directory.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|other| other == extension) {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn unusable(problem: String) -> ApprovalError {
    ApprovalError::Unusable { problem }
}

/// Returns the real path of a directory that may not exist yet.
fn nearest_real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

fn shown(approved: Approved) -> Vec<Approval> {
    let Approved { workspace, approvals, .. } = approved;
    let show = |stored: Stored| {
        let Stored { id, pattern, of, approved_at } = stored;
        let approved_at = unix_time::time(approved_at).unwrap_or(UNIX_EPOCH);
        of.shown(id, workspace.clone(), pattern, approved_at)
    };
    approvals.into_iter().map(show).collect()
}
