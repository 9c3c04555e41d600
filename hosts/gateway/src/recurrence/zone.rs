//! Time zones: from the minutes of a calendar to instants.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use super::cron::CronExpression;
use crate::moment::Moment;

/// A time zone by its name in the IANA database, such as `Europe/Berlin`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A text that names no time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the time zone `{0}` is not known: write a name of the IANA database, such as `Europe/Berlin` or `UTC`"
)]
pub struct ZoneError(String);

/// A text that is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time: write one such as `2027-03-01T09:00:00+01:00`, or without an offset in the time zone"
)]
pub struct TimeError(String);

impl Zone {
    /// Coordinated Universal Time.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Shows a time with the zone's offset, as in RFC 3339; `None` if it is not in the years 0 to 9999.
    pub fn show(&self, time: Moment) -> Option<String> {
        let instant = Timestamp::from_millisecond(time.0).ok()?;
        let offset = self.zone.to_offset(instant);
        let (local, seconds) = (offset.to_datetime(instant), offset.seconds());
        // Offsets of long ago have seconds, which RFC 3339 has not.
        let minutes = (seconds.unsigned_abs() + 30) / 60;
        let sign = if seconds < 0 { '-' } else { '+' };
        let shown = format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        (local.year() >= 0).then_some(shown)
    }

    /// Reads a time: with an offset, or on the zone's wall clock. One in a gap is the first instant after the gap, and a repeated one its first
    /// occurrence.
    ///
    /// # Errors
    ///
    /// It is no time as in RFC 3339.
    pub fn read(&self, text: &str) -> Result<Moment, TimeError> {
        let shown = || TimeError(text.chars().take(60).collect());
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Ok(Moment(instant.as_millisecond()));
        }
        let local: DateTime = text.parse().map_err(|_| shown())?;
        let instant = self.first_instant(local).ok_or_else(shown)?;
        Ok(Moment(instant.as_millisecond()))
    }

    /// Returns the day in which an instant is: its name, such as `2026-11-30`, and the first instants of it and of the next day.
    pub(crate) fn day_of(&self, time: Moment) -> Option<(String, Moment, Moment)> {
        let date = self.date_of(time)?;
        Some((date.to_string(), self.begin_of(date)?, self.begin_of(date.tomorrow().ok()?)?))
    }

    /// Returns the month in which an instant is: its name, such as `2026-11`, and the first instants of it and of the next month.
    pub(crate) fn month_of(&self, time: Moment) -> Option<(String, Moment, Moment)> {
        let first = self.date_of(time)?.first_of_month();
        let next = first.checked_add(1.month()).ok()?;
        Some((first.strftime("%Y-%m").to_string(), self.begin_of(first)?, self.begin_of(next)?))
    }

    fn date_of(&self, time: Moment) -> Option<Date> {
        Some(self.zone.to_datetime(Timestamp::from_millisecond(time.0).ok()?).date())
    }

    fn begin_of(&self, date: Date) -> Option<Moment> {
        Some(Moment(self.first_instant(date.to_datetime(Time::midnight()))?.as_millisecond()))
    }

    /// Returns the first instant at which the wall clock shows a time, or has passed it.
    fn first_instant(&self, local: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                offset.to_timestamp(local).ok()
            }
            AmbiguousOffset::Gap { after, .. } => {
                // Read with the offset after the gap, the time is before the clock is set.
                let earlier = after.to_timestamp(local).ok()?;
                self.zone.following(earlier).find(|set| set.offset() == after).map(|set| set.timestamp())
            }
        }
    }

    /// The offset from an instant on, and the next instant at which the clock may be set.
    fn stretch(&self, from: Timestamp) -> (Offset, Option<Timestamp>) {
        (self.zone.to_offset(from), self.zone.following(from).next().map(|set| set.timestamp()))
    }
}

/// Returns the first time of an expression that is strictly later than this one.
pub(super) fn next_after(expression: &CronExpression, zone: &Zone, after: Moment) -> Option<Moment> {
    let after = Timestamp::from_millisecond(after.0).ok()?;
    let next = if expression.is_fixed() {
        next_fixed(expression, zone, after)
    } else {
        next_shown(expression, zone, after)
    };
    next.map(|next| Moment(next.as_millisecond()))
}

/// Each time of the calendar once.
fn next_fixed(expression: &CronExpression, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let mut local = zone.zone.to_datetime(after);
    loop {
        local = expression.first_from(local, None)?;
        let instant = zone.first_instant(local)?;
        // One that is repeated has occurred, while its second occurrence is later.
        if instant > after {
            return Some(instant);
        }
        local = local.checked_add(1.minute()).ok()?;
    }
}

/// Each time that the wall clock shows.
fn next_shown(expression: &CronExpression, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let local = zone.zone.to_datetime(after);
    // An expression that names no day of any year would be looked for in each stretch.
    expression.first_from(local, None)?;
    let last_year = local.year().saturating_add(400);
    let mut from = after.checked_add(1.millisecond()).ok()?;
    loop {
        let (offset, end) = zone.stretch(from);
        let (local, local_end) = (offset.to_datetime(from), end.map(|end| offset.to_datetime(end)));
        if let Some(found) = expression.first_from(local, local_end) {
            return offset.to_timestamp(found).ok();
        }
        from = end.filter(|_| local.year() <= last_year)?;
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(name: &str) -> Result<Self, ZoneError> {
        let shown = || ZoneError(name.chars().take(60).collect());
        if name.eq_ignore_ascii_case("utc") {
            return Ok(Self::utc());
        }
        let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| shown())?;
        // As the database writes it.
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Ok(Self { name, zone })
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.name).finish()
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl TryFrom<String> for Zone {
    type Error = ZoneError;

    fn try_from(name: String) -> Result<Self, ZoneError> {
        name.parse()
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}
