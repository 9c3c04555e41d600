//! Which of the times that have come is run: the policy for missed ones.

use std::time::Duration;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use super::named::named;
use crate::moment::{Moment, millis};
use crate::recurrence::Schedule;

/// Time after which a fire that has not begun is late.
const GRACE: Duration = Duration::from_mins(1);
/// Missed times that are counted: where there are more, the number is the least.
const MAX_COUNTED: u32 = 1_000;

/// The policy for times at which a job could not begin, since the gateway did not run or the last fire was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// They are not made up for. The newest is run if it is at most a minute late.
    Skip,
    /// One fire stands for all.
    #[default]
    Once,
    /// Each is run, up to a limit; of more, the newest.
    All,
}

named!(Missed { Skip = "skip", Once = "once", All = "all" });

/// A schedule whose next time has come.
pub(super) struct Overdue<'a> {
    pub(super) job: &'a str,
    pub(super) schedule: &'a Schedule,
    pub(super) next: Moment,
    pub(super) jitter: Duration,
    pub(super) policy: Missed,
    pub(super) limit: u32,
}

/// The time that is run, those that are not, and the next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The time that is run.
    pub(super) fire: Option<Moment>,
    /// The number of others for which it stands.
    pub(super) stands_for: u32,
    /// Times that are not made up for: the first, and their number.
    pub(super) skipped: Option<(Moment, u32)>,
    pub(super) next: Option<Moment>,
}

impl Overdue<'_> {
    pub(super) fn plan(&self, now: Moment) -> Plan {
        let newest = self.newest(now);
        let skipped_before = |time: Moment| {
            let count = self.schedule.count_between(just_before(self.next), just_before(time), MAX_COUNTED);
            (count > 0).then_some((self.next, count))
        };
        match self.policy {
            Missed::Skip => {
                let late = now.since(due(self.job, newest, self.jitter));
                let is_on_time = late <= GRACE;
                let skipped = if is_on_time {
                    skipped_before(newest)
                } else {
                    let count = self.schedule.count_between(just_before(self.next), newest, MAX_COUNTED);
                    Some((self.next, count))
                };
                let next = self.schedule.next_after(newest);
                Plan { fire: is_on_time.then_some(newest), stands_for: 0, skipped, next }
            }
            Missed::Once => Plan {
                fire: Some(self.next),
                stands_for: self.schedule.count_between(self.next, newest, MAX_COUNTED),
                skipped: None,
                next: self.schedule.next_after(newest),
            },
            Missed::All => {
                let limit = usize::try_from(self.limit.max(1)).unwrap_or(usize::MAX);
                let all = self.schedule.newest_between(just_before(self.next), newest, limit);
                let fire = all.first().copied().unwrap_or(self.next);
                let next = self.schedule.next_after(fire);
                Plan { fire: Some(fire), stands_for: 0, skipped: skipped_before(fire), next }
            }
        }
    }

    /// The newest time that has come, with its jitter.
    fn newest(&self, now: Moment) -> Moment {
        let surely_due = now.before(self.jitter);
        let mut newest = None;
        let mut at = just_before(self.next).max(surely_due);
        while let Some(next) = self.schedule.next_after(at).filter(|next| *next <= now) {
            if due(self.job, next, self.jitter) <= now {
                newest = Some(next);
            }
            at = next;
        }
        newest
            .or_else(|| self.schedule.newest_between(just_before(self.next), surely_due, 1).pop())
            .unwrap_or(self.next)
    }
}

fn just_before(time: Moment) -> Moment {
    time.before(Duration::from_millis(1))
}

/// Returns the time at which a fire is due: with a part of the jitter that the job and the time decide.
pub(super) fn due(job: &str, time: Moment, jitter: Duration) -> Moment {
    let range = u64::try_from(millis(jitter)).unwrap_or(0);
    if range == 0 {
        return time;
    }
    let bytes = job.bytes().chain(time.0.to_le_bytes());
    // FNV-1a, with the end of SplitMix64 so that near times are far apart.
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    time.after(Duration::from_millis(hash % range))
}

#[cfg(test)]
mod tests;
