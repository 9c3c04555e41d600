//! Schedules as a person or a model writes them.

use crate::moment::Moment;

use super::{Schedule, Zone};

impl Schedule {
    /// Reads a cron expression, with the name of a time zone; UTC without one. An error says what is wrong.
    pub(crate) fn read_cron(expression: &str, zone: Option<&str>) -> Result<Self, String> {
        let expression = expression.parse().map_err(|error| format!("{error}"))?;
        Ok(Self::Cron { expression, zone: read_zone(zone)? })
    }

    /// Reads an interval that is counted from now.
    pub(crate) fn read_every(interval: &str, now: Moment) -> Result<Self, String> {
        let interval = interval.parse().map_err(|error| format!("{error}"))?;
        Ok(Self::Every { interval, anchor: now })
    }

    /// Reads a single time; one without an offset is on the wall clock of the time zone.
    pub(crate) fn read_at(time: &str, zone: Option<&str>) -> Result<Self, String> {
        let time = read_zone(zone)?.read(time).map_err(|error| error.to_string())?;
        Ok(Self::At { time })
    }
}

fn read_zone(name: Option<&str>) -> Result<Zone, String> {
    name.map_or_else(|| Ok(Zone::utc()), |name| name.parse().map_err(|error| format!("{error}")))
}
