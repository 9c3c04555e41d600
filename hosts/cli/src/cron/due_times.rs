//! `cron next`: shows when an expression is due.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command, value_parser};
use toolkit_gateway::{Clock, CronExpression, Moment, Schedule, Zone};

/// The number of times that are shown unless `--count` says another.
const COUNT: &str = "5";
/// The most times that are shown; a year has 527,040 minutes.
const MAX_COUNT: u32 = 1_000_000;
/// Times that are printed at once.
const AT_ONCE: usize = 1_000;

/// Arguments of `cron next`.
#[derive(Debug, Clone)]
pub(crate) struct NextRequest {
    schedule: Schedule,
    zone: Zone,
    from: Moment,
    count: u32,
}

pub(super) fn command() -> Command {
    Command::new("next")
        .about("Shows the next times of a cron expression, one a line")
        .long_about(
            "Shows the next times of a cron expression, one a line, as RFC 3339 with the offset of the time zone.\n\nAn expression has five fields: minute, hour, day of month, month, day of week. Where neither the minute nor the hour begins with `*`, a time that the clock skips is due at the first instant after the gap, and a repeated one is due once. Other expressions follow real time: they are due whenever the clock shows one of their times.",
        )
        .arg(
            Arg::new("expression")
                .value_name("EXPRESSION")
                .required(true)
                .help("The expression, such as \"0 9 * * mon-fri\" or @daily"),
        )
        .arg(
            Arg::new("zone")
                .long("zone")
                .value_name("ZONE")
                .default_value("UTC")
                .help("The time zone, by its name in the IANA database, such as Europe/Berlin"),
        )
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("TIME")
                .help("The times later than this one, such as 2027-03-01T09:00:00+01:00, or without an offset in the time zone [default: now]"),
        )
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("NUMBER")
                .default_value(COUNT)
                .value_parser(value_parser!(u32).range(1..=i64::from(MAX_COUNT)))
                .help("At most so many times"),
        )
}

pub(super) fn request(matches: &mut ArgMatches) -> Result<NextRequest, Stop> {
    let wrong = |error: &dyn std::fmt::Display| Stop::usage(error.to_string());
    let expression: CronExpression =
        required(text(matches, "expression"))?.parse().map_err(|error| wrong(&error))?;
    let zone: Zone = required(text(matches, "zone"))?.parse().map_err(|error| wrong(&error))?;
    let from = match text(matches, "from") {
        Some(from) => zone.read(&from).map_err(|error| wrong(&error))?,
        None => Clock::system().now(),
    };
    let count = required(matches.remove_one("count"))?;
    Ok(NextRequest { schedule: Schedule::Cron { expression, zone: zone.clone() }, zone, from, count })
}

impl NextRequest {
    fn times(&self) -> impl Iterator<Item = String> {
        let next =
            std::iter::successors(self.schedule.next_after(self.from), |at| self.schedule.next_after(*at));
        next.map_while(|at| self.zone.show(at)).take(usize::try_from(self.count).unwrap_or(usize::MAX))
    }
}

pub(super) fn run(request: &NextRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    if start.format == Format::Json {
        print_json(&request.times().collect(), console)?;
        return Ok(Exit::Success);
    }
    let mut times = request.times().peekable();
    if times.peek().is_none() {
        console.note("The expression names no further time.");
    }
    while times.peek().is_some() {
        let lines: String = times.by_ref().take(AT_ONCE).map(|time| time + "\n").collect();
        console.print(&lines)?;
    }
    Ok(Exit::Success)
}
