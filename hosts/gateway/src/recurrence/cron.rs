//! Cron expressions: five fields that name minutes of a calendar.
//!
//! ```text
//! minute  hour  day of month  month  day of week
//! 0-59    0-23  1-31          1-12   0-7, where 0 and 7 are Sunday
//! ```
//!
//! A field is `*`, a number, a range `9-17`, or several of these with `,` between them; `*` and a range take a step, `*/15` or `8-18/2`.
//! Months and days of the week have English names of three letters, in any case; `0` and `sun` end a range as 7. The names `@yearly`,
//! `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly` stand for a whole expression.
//!
//! A day fits if both its fields do; where neither begins with `*`, it fits if one of them does.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

/// The longest expression, in bytes.
pub const MAX_EXPRESSION_BYTES: usize = 256;

/// The calendar repeats itself after so many years: what has not come until then never comes.
const CYCLE_YEARS: i16 = 400;

/// A cron expression.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CronExpression {
    text: String,
    /// A bit for each value, in the order of `FIELDS`.
    sets: [u64; 5],
    /// Neither the minute nor the hour begins with `*`.
    is_fixed: bool,
    /// Neither the day of the month nor the day of the week begins with `*`.
    is_either_day: bool,
}

/// A text that is no cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It is too long.
    #[error(
        "a cron expression has at most {MAX_EXPRESSION_BYTES} bytes, and this one has {0}; split it into two jobs"
    )]
    Long(usize),
    /// It has too few or too many fields.
    #[error(
        "`{expression}` has {found} fields: a cron expression has five, `minute hour day-of-month month day-of-week`{advice}"
    )]
    Fields {
        /// The expression.
        expression: String,
        /// Its number of fields.
        found: usize,
        /// The advice.
        advice: &'static str,
    },
    /// It begins with `@`, and is not known.
    #[error("`{0}` is not known: write {NICKNAMES_SHOWN}, five fields, or an interval (`every`)")]
    Nickname(String),
    /// A part of a field is wrong.
    #[error("`{part}` in the field {field} of `{expression}`, at character {position}: {reason}")]
    Part {
        /// The expression.
        expression: String,
        /// The name of the field.
        field: &'static str,
        /// The part.
        part: String,
        /// The number of the part's first character, from 1.
        position: usize,
        /// The fault, and what to do.
        reason: String,
    },
}

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
const NICKNAMES_SHOWN: &str =
    "`@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`";

struct Field {
    name: &'static str,
    values: RangeInclusive<u8>,
    /// Names of the values, from the first on.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", values: 0..=59, names: &[] },
    Field { name: "hour", values: 0..=23, names: &[] },
    Field { name: "day of month", values: 1..=31, names: &[] },
    Field {
        name: "month",
        values: 1..=12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    Field { name: "day of week", values: 0..=7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];
const MINUTE: usize = 0;
const HOUR: usize = 1;
const DAY: usize = 2;
const MONTH: usize = 3;
const WEEKDAY: usize = 4;

impl FromStr for CronExpression {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let text = text.trim_matches([' ', '\t']);
        if text.len() > MAX_EXPRESSION_BYTES {
            return Err(CronError::Long(text.len()));
        }
        let meant = if text.starts_with('@') {
            let known = NICKNAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            known.ok_or_else(|| CronError::Nickname(text.to_owned()))?.1
        } else {
            text
        };
        let fields = fields(meant);
        let Ok(fields) = <[(usize, &str); 5]>::try_from(fields) else {
            let found = meant.split([' ', '\t']).filter(|field| !field.is_empty()).count();
            let advice = match found {
                6 | 7 => "; seconds and years are not among them",
                _ => "",
            };
            return Err(CronError::Fields { expression: text.to_owned(), found, advice });
        };
        let mut sets = [0; 5];
        for ((set, field), (at, written)) in sets.iter_mut().zip(&FIELDS).zip(fields) {
            *set = field.read(written).map_err(|(offset, part, reason)| CronError::Part {
                expression: text.to_owned(),
                field: field.name,
                part: part.to_owned(),
                position: meant[..at + offset].chars().count() + 1,
                reason,
            })?;
        }
        // Sunday has two numbers.
        if sets[WEEKDAY] & (1 << 7) != 0 {
            sets[WEEKDAY] = (sets[WEEKDAY] | 1) & 0x7f;
        }
        let has_star = |field: usize| fields[field].1.starts_with('*');
        Ok(Self {
            text: text.to_owned(),
            sets,
            is_fixed: !has_star(MINUTE) && !has_star(HOUR),
            is_either_day: !has_star(DAY) && !has_star(WEEKDAY),
        })
    }
}

/// Returns the fields, each with the number of its first byte.
fn fields(text: &str) -> Vec<(usize, &str)> {
    let mut fields = Vec::new();
    let mut at = 0;
    for field in text.split([' ', '\t']) {
        if !field.is_empty() {
            fields.push((at, field));
        }
        at += field.len() + 1;
    }
    fields
}

/// The number of a part's first byte in its field, the part, and what is wrong with it.
type Wrong<'a> = (usize, &'a str, String);

impl Field {
    fn read<'a>(&self, written: &'a str) -> Result<u64, Wrong<'a>> {
        let mut set = 0;
        let mut at = 0;
        for part in written.split(',') {
            set |= self.read_part(part).map_err(|reason| {
                // An empty part is shown with what is around it.
                let shown = if part.is_empty() { (0, written) } else { (at, part) };
                (shown.0, shown.1, reason)
            })?;
            at += part.len() + 1;
        }
        Ok(set)
    }

    fn read_part(&self, part: &str) -> Result<u64, String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let (first, last) = if range == "*" {
            (*self.values.start(), *self.values.end())
        } else if let Some((first, last)) = range.split_once('-') {
            let (first, mut last) = (self.value(first)?, self.value(last)?);
            // Sunday, as the end of a week.
            if self.names.len() == 7 && last == 0 && first > 0 {
                last = 7;
            }
            if first > last {
                let (start, end) = (self.values.start(), self.values.end());
                return Err(format!(
                    "the range begins after its end; write `{first}-{end},{start}-{last}` to go over the end"
                ));
            }
            (first, last)
        } else {
            let value = self.value(range)?;
            if step.is_some() {
                return Err(format!(
                    "a step follows `*` or a range; write `{value}-{}/…`",
                    self.values.end()
                ));
            }
            (value, value)
        };
        let step = match step {
            None => 1,
            Some(step) => self.step(step)?,
        };
        Ok((first..=last).step_by(step).fold(0, |set, value| set | 1 << value))
    }

    fn step(&self, step: &str) -> Result<usize, String> {
        let end = *self.values.end();
        let number = number(step).ok_or_else(|| format!("the step `{step}` is no number"))?;
        if number == 0 {
            return Err("a step of 0 goes nowhere; write at least 1".to_owned());
        }
        if number > u64::from(end) {
            return Err(format!(
                "the step {number} is greater than {end}, the greatest value, so that only the first would be left; write that one alone, or use an interval (`every`)"
            ));
        }
        usize::try_from(number).map_err(|error| error.to_string())
    }

    fn value(&self, text: &str) -> Result<u8, String> {
        let (start, end) = (*self.values.start(), *self.values.end());
        if let Some(index) = self.names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
            return u8::try_from(index).map(|index| index + start).map_err(|error| error.to_string());
        }
        let allowed = || match self.names {
            [first, .., last] => {
                format!("a number from {start} to {end}, or a name from `{first}` to `{last}`")
            }
            _ => format!("a number from {start} to {end}"),
        };
        match number(text) {
            Some(value) => u8::try_from(value)
                .ok()
                .filter(|value| self.values.contains(value))
                .ok_or_else(|| format!("{value} is out of range; write {}", allowed())),
            None if text.is_empty() => Err(format!("a value is missing; write {}", allowed())),
            None if text == "?" => Err("`?` is not known; write `*`".to_owned()),
            None if text.contains(['#', 'L', 'W', 'l', 'w'])
                && text.contains(|c: char| c.is_ascii_digit() || c == 'L' || c == 'W') =>
            {
                Err("`L`, `W` and `#` are not known; write the days of the month or of the week themselves"
                    .to_owned())
            }
            None => Err(format!("`{text}` is not known; write {}", allowed())),
        }
    }
}

/// Reads digits alone: no sign.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

impl CronExpression {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if neither the minute nor the hour begins with `*`: each time of the calendar fires once.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    fn has(&self, field: usize, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.sets[field] >> value & 1 == 1)
    }

    fn has_day(&self, date: Date) -> bool {
        let of_month = self.has(DAY, date.day());
        let of_week = self.has(WEEKDAY, date.weekday().to_sunday_zero_offset());
        if self.is_either_day { of_month || of_week } else { of_month && of_week }
    }

    /// Returns the first minute of the calendar that it names, from this one on, and before another; `None` if there is none.
    pub(super) fn first_from(&self, from: DateTime, before: Option<DateTime>) -> Option<DateTime> {
        let mut date = from.date();
        let last_year = date.year().saturating_add(CYCLE_YEARS);
        let mut minute = minute_of_day(from);
        while date.year() <= last_year && before.is_none_or(|before| date <= before.date()) {
            if !self.has(MONTH, date.month()) {
                date = date.last_of_month().tomorrow().ok()?;
                minute = 0;
                continue;
            }
            if self.has_day(date)
                && let Some((hour, minute)) = self.first_in_day(minute)
            {
                let found = date.at(hour, minute, 0, 0);
                return before.is_none_or(|before| found < before).then_some(found);
            }
            date = date.tomorrow().ok()?;
            minute = 0;
        }
        None
    }

    /// Returns the first hour and minute from this minute of a day on.
    fn first_in_day(&self, from: u32) -> Option<(i8, i8)> {
        (from / 60..24).filter(|hour| self.sets[HOUR] >> hour & 1 == 1).find_map(|hour| {
            let earliest = if hour == from / 60 { from % 60 } else { 0 };
            let left = self.sets[MINUTE] >> earliest;
            let minute = earliest + left.trailing_zeros();
            (left != 0).then_some((i8::try_from(hour).ok()?, i8::try_from(minute).ok()?))
        })
    }
}

/// The minute of a day; for a time within one, that of the next. It is 1,440 after the last.
fn minute_of_day(time: DateTime) -> u32 {
    let whole = u32::try_from(time.hour()).unwrap_or(0) * 60 + u32::try_from(time.minute()).unwrap_or(0);
    whole + u32::from(time.second() != 0 || time.subsec_nanosecond() != 0)
}

impl fmt::Debug for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CronExpression").field(&self.text).finish()
    }
}

impl fmt::Display for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for CronExpression {
    type Error = CronError;

    fn try_from(text: String) -> Result<Self, CronError> {
        text.parse()
    }
}

impl From<CronExpression> for String {
    fn from(expression: CronExpression) -> Self {
        expression.text
    }
}
