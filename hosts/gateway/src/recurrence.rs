//! When something recurs: the times of a schedule, without a store and without a clock.
//!
//! * [`cron`]: what an expression with five fields means, and which minutes of a calendar it names;
//! * [`zone`]: the wall clock of a time zone, with its gaps and repetitions;
//! * [`interval`]: lengths of time as text;
//! * [`written`]: schedules as they are written.
//!
//! # The rule of time zones
//!
//! A wall clock that is set forward has a *gap*: times that it never shows. One that is set back *repeats* times. The rule is that of Vixie's
//! cron:
//!
//! * Where neither the minute nor the hour begins with `*`, each time of the calendar fires once: one in a gap at the first instant after
//!   the gap, and a repeated one at its first occurrence. Several times of one gap are one fire.
//! * Any other expression follows real time: it fires whenever the wall clock shows one of its times, so in every repetition, and not in
//!   a gap.
//!
//! The zones are those of the database that is compiled in, so the times do not depend on the machine.

mod cron;
mod interval;
mod written;
mod zone;

pub use cron::{CronError, CronExpression, MAX_EXPRESSION_BYTES};
pub use interval::{Interval, IntervalError};
pub use zone::{TimeError, Zone, ZoneError};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::moment::{Moment, millis};

/// The times at which something is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Schedule {
    /// The times that an expression names on the wall clock of a zone.
    Cron {
        /// The expression.
        expression: CronExpression,
        /// The zone.
        zone: Zone,
    },
    /// Again and again after the same time, whatever the wall clock shows.
    Every {
        /// The time between two.
        interval: Interval,
        /// One of the times; the earliest.
        anchor: Moment,
    },
    /// Once.
    At {
        /// The time.
        time: Moment,
    },
}

impl Schedule {
    /// Returns the first time that is strictly later than this one; `None` if there is none, as for the 30th of February.
    pub fn next_after(&self, after: Moment) -> Option<Moment> {
        match self {
            Self::Cron { expression, zone } => zone::next_after(expression, zone, after),
            Self::Every { interval, anchor } => next_of_interval(interval.duration(), *anchor, after),
            Self::At { time } => (*time > after).then_some(*time),
        }
    }

    /// Returns the newest times that are later than the first and not later than the second, in order, at most `limit`.
    pub(crate) fn newest_between(&self, after: Moment, until: Moment, limit: usize) -> Vec<Moment> {
        let mut span = Duration::from_mins(1);
        loop {
            // The looks back grow, so that a long time is not walked through for its last few times.
            let from = until.before(span).max(after);
            let mut times = std::collections::VecDeque::with_capacity(limit);
            let mut at = from;
            while let Some(next) = self.next_after(at).filter(|next| *next <= until) {
                if times.len() == limit {
                    times.pop_front();
                }
                times.push_back(next);
                at = next;
            }
            if times.len() == limit || from == after {
                return times.into();
            }
            span = span.saturating_mul(2);
        }
    }

    /// Counts the times that are later than the first and not later than the second, up to `limit`.
    pub(crate) fn count_between(&self, after: Moment, until: Moment, limit: u32) -> u32 {
        let mut at = after;
        let mut count = 0;
        while count < limit
            && let Some(next) = self.next_after(at).filter(|next| *next <= until)
        {
            count += 1;
            at = next;
        }
        count
    }
}

fn next_of_interval(interval: Duration, anchor: Moment, after: Moment) -> Option<Moment> {
    if anchor > after {
        return Some(anchor);
    }
    let interval = millis(interval).max(1);
    let passed = after.0.checked_sub(anchor.0)? / interval;
    anchor.0.checked_add(interval.checked_mul(passed.checked_add(1)?)?).map(Moment)
}

#[cfg(test)]
mod tests;
