//! The commands of a session that live on when their call is over.

use super::job::{Running, Why};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use toolkit::ToolError;

/// How long a job that has ended is kept.
const KEPT: Duration = Duration::from_mins(30);
/// How many that have ended are kept at most; beyond, the one that ended first goes.
const MOST_ENDED: usize = 200;

/// Those of one session. Dropping them ends all.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    count: AtomicU64,
    by_number: Mutex<BTreeMap<u64, Arc<Running>>>,
}

impl Jobs {
    /// A name for the next one.
    pub(super) fn next_id(&self) -> String {
        format!("job_{}", self.count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Takes one up, to live on when its call is over.
    ///
    /// # Errors
    ///
    /// `Unavailable` where `most` run already.
    pub(super) fn take_up(&self, running: &Arc<Running>, most: usize) -> Result<(), ToolError> {
        let mut jobs = self.lock();
        prune(&mut jobs);
        self.check(&jobs, most)?;
        jobs.insert(number(&running.id), Arc::clone(running));
        running.to_background();
        Ok(())
    }

    /// Whether one more may run.
    ///
    /// # Errors
    ///
    /// `Unavailable` where `most` run already.
    pub(super) fn has_room(&self, most: usize) -> Result<(), ToolError> {
        let mut jobs = self.lock();
        prune(&mut jobs);
        self.check(&jobs, most)
    }

    #[expect(clippy::unused_self, reason = "it is about these jobs")]
    fn check(&self, jobs: &BTreeMap<u64, Arc<Running>>, most: usize) -> Result<(), ToolError> {
        let running: Vec<&str> = jobs.values().filter(|job| !job.is_gone()).map(|job| &*job.id).collect();
        if running.len() < most {
            return Ok(());
        }
        let shown = running.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        Err(ToolError::unavailable(format!(
            "{most} commands run in the background of this session already ({shown}{}); stop one of them with the tool `process` \
             first",
            if running.len() > 10 { ", …" } else { "" }
        )))
    }

    /// All, those that were started first before others.
    pub(super) fn all(&self) -> Vec<Arc<Running>> {
        let mut jobs = self.lock();
        prune(&mut jobs);
        jobs.values().cloned().collect()
    }

    /// One of them.
    ///
    /// # Errors
    ///
    /// `NotFound`, naming those that there are.
    pub(super) fn get(&self, id: &str) -> Result<Arc<Running>, ToolError> {
        let jobs = self.all();
        if let Some(job) = jobs.iter().find(|job| job.id == id) {
            return Ok(Arc::clone(job));
        }
        let known: Vec<&str> = jobs.iter().rev().take(20).map(|job| &*job.id).collect();
        let known = match known.as_slice() {
            [] => "no command runs in the background of this session, and none ended lately".to_owned(),
            known => format!("those of this session are {}", known.join(", ")),
        };
        Err(ToolError::not_found(format!("there is no job `{}`; {known}", toolkit::escape_line(id))))
    }

    /// Forgets one.
    pub(super) fn remove(&self, running: &Running) {
        self.lock().remove(&number(&running.id));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Running>>> {
        self.by_number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        for job in self.lock().values() {
            job.end(Why::Stopped);
        }
    }
}

fn number(id: &str) -> u64 {
    id.trim_start_matches("job_").parse().unwrap_or(u64::MAX)
}

/// Forgets those that ended long ago.
fn prune(jobs: &mut BTreeMap<u64, Arc<Running>>) {
    let ended_at = |job: &Running| job.has_ended().filter(|_| job.is_gone()).map(|ended| ended.at);
    jobs.retain(|_, job| ended_at(job).is_none_or(|at| at.elapsed() < KEPT));
    let mut ended: Vec<_> = jobs.iter().filter_map(|(number, job)| Some((ended_at(job)?, *number))).collect();
    if ended.len() > MOST_ENDED {
        ended.sort_unstable();
        for (_, number) in &ended[..ended.len() - MOST_ENDED] {
            jobs.remove(number);
        }
    }
}
