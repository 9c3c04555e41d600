//! The commands of a session that live on when their call is over.

use super::job::{Running, Why};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use toolkit::ToolError;

/// Time for which an ended job is kept.
const KEPT: Duration = Duration::from_mins(30);
/// Maximum number of ended jobs that are kept; beyond it, the one that ended first is removed.
const MAX_ENDED: usize = 200;

/// The jobs of one session. Dropping them ends all.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    count: AtomicU64,
    taken_up: Mutex<TakenUp>,
}

#[derive(Debug, Default)]
struct TakenUp {
    by_number: BTreeMap<u64, Arc<Running>>,
    /// Number of places reserved for commands that are not jobs yet.
    reserved: usize,
}

/// A reserved place for a job. Dropping it releases the place.
#[derive(Debug)]
pub(super) struct Place(Option<Arc<Jobs>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(jobs) = &self.0 {
            jobs.lock().reserved -= 1;
        }
    }
}

impl Jobs {
    /// A name for the next one.
    pub(super) fn next_id(&self) -> String {
        format!("job_{}", self.count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Reserves a place for a command that is about to start.
    ///
    /// # Errors
    ///
    /// `Unavailable` if `most` jobs are running or reserved.
    pub(super) fn reserve(self: &Arc<Self>, most: usize) -> Result<Place, ToolError> {
        let mut jobs = self.lock();
        jobs.prune();
        jobs.check(most)?;
        jobs.reserved += 1;
        Ok(Place(Some(Arc::clone(self))))
    }

    /// Adds a command as a job, which outlives its call: in its reserved place, or else in a free one.
    ///
    /// # Errors
    ///
    /// `Unavailable` without a reserved place, if `most` jobs are running or reserved.
    pub(super) fn take_up(
        self: &Arc<Self>,
        running: &Arc<Running>,
        most: usize,
        place: &mut Option<Place>,
    ) -> Result<(), ToolError> {
        let mut place = place.take().map_or_else(|| self.reserve(most), Ok)?;
        let mut jobs = self.lock();
        jobs.by_number.insert(number(&running.id), Arc::clone(running));
        // The place now belongs to the job.
        jobs.reserved -= 1;
        place.0 = None;
        running.to_background();
        Ok(())
    }

    /// Returns all jobs in the order of their start.
    pub(super) fn all(&self) -> Vec<Arc<Running>> {
        let mut jobs = self.lock();
        jobs.prune();
        jobs.by_number.values().cloned().collect()
    }

    /// Returns a job by its ID.
    ///
    /// # Errors
    ///
    /// `NotFound`, with a list of the existing jobs.
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
        Err(ToolError::not_found(format!("there is no job `{}`; {known}", toolkit::text::escape_line(id))))
    }

    /// Forgets one.
    pub(super) fn remove(&self, running: &Running) {
        self.lock().by_number.remove(&number(&running.id));
    }

    fn lock(&self) -> MutexGuard<'_, TakenUp> {
        self.taken_up.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        for job in self.lock().by_number.values() {
            job.end(Why::Stopped);
        }
    }
}

fn number(id: &str) -> u64 {
    id.trim_start_matches("job_").parse().unwrap_or(u64::MAX)
}

impl TakenUp {
    /// Returns an error if there is no room for one more job.
    fn check(&self, most: usize) -> Result<(), ToolError> {
        let running = self.by_number.values().filter(|job| !job.is_gone());
        let running: Vec<&str> = running.map(|job| &*job.id).collect();
        if running.len() + self.reserved < most {
            return Ok(());
        }
        let mut shown = running.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        if running.len() > 10 {
            shown.push_str(", …");
        }
        if self.reserved > 0 {
            let begun = format!("{} that only just start", self.reserved);
            shown = if shown.is_empty() { begun } else { format!("{shown} and {begun}") };
        }
        Err(ToolError::unavailable(format!(
            "{most} commands run in the background of this session already ({shown}), the limit here; stop one of \
             them with the tool `process` first"
        )))
    }

    /// Removes jobs that ended long ago.
    fn prune(&mut self) {
        let ended_at = |job: &Running| job.has_ended().filter(|_| job.is_gone()).map(|ended| ended.at);
        let jobs = &mut self.by_number;
        jobs.retain(|_, job| ended_at(job).is_none_or(|at| at.elapsed() < KEPT));
        let mut ended: Vec<_> =
            jobs.iter().filter_map(|(number, job)| Some((ended_at(job)?, *number))).collect();
        if ended.len() > MAX_ENDED {
            ended.sort_unstable();
            for (_, number) in &ended[..ended.len() - MAX_ENDED] {
                jobs.remove(number);
            }
        }
    }
}
