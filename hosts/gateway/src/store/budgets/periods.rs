//! The day and the month in which something is counted.

use toolkit_models::Budget;

use crate::moment::Moment;
use crate::recurrence::Zone;
use crate::settings::{PeriodLimits, UsageLimits};
use crate::store::damage::Fault;

/// The periods of one time.
pub(super) struct Periods {
    pub(super) day: Period,
    pub(super) month: Period,
}

pub(super) struct Period {
    /// Its name, such as `2026-11-30` or `2026-11`: use is counted under it, also after the time zone was changed.
    pub(super) name: String,
    pub(super) begin: Moment,
    pub(super) end: Moment,
    /// Its end, as in RFC 3339.
    until: String,
    limits_of: fn(&PeriodLimits) -> &UsageLimits,
}

impl Periods {
    pub(super) fn at(zone: &Zone, time: Moment) -> Result<Self, Fault> {
        let beyond = || Fault::Refused("the clock shows no time of the calendar: set it".to_owned());
        let period = |found: Option<(String, Moment, Moment)>, limits_of| {
            let (name, begin, end) = found.ok_or_else(beyond)?;
            let until = zone.show(end).ok_or_else(beyond)?;
            Ok::<_, Fault>(Period { name, begin, end, until, limits_of })
        };
        Ok(Self {
            day: period(zone.day_of(time), |limits| &limits.day)?,
            month: period(zone.month_of(time), |limits| &limits.month)?,
        })
    }
}

impl Period {
    /// The limits of this period.
    pub(super) fn limits<'a>(&self, limits: &'a PeriodLimits) -> &'a UsageLimits {
        (self.limits_of)(limits)
    }

    /// The budget of an account with these limits.
    pub(super) fn budget(&self, limits: &PeriodLimits) -> Budget {
        let limits = self.limits(limits);
        Budget::unlimited()
            .period(&*self.name, &*self.until)
            .max_tokens(limits.tokens)
            .max_cost(limits.cost)
            .max_runs(limits.runs)
    }
}
