use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::*;

fn zone(name: &str) -> Zone {
    name.parse().unwrap()
}

fn cron(expression: &str, zone_name: &str) -> Schedule {
    Schedule::Cron { expression: expression.parse().unwrap(), zone: zone(zone_name) }
}

/// The next times, as the zone shows them.
fn times(expression: &str, zone_name: &str, from: &str, count: usize) -> Vec<String> {
    let (schedule, zone) = (cron(expression, zone_name), zone(zone_name));
    let mut at = zone.read(from).unwrap();
    let next = std::iter::from_fn(|| {
        at = schedule.next_after(at)?;
        Some(zone.show(at).unwrap())
    });
    next.take(count).collect()
}

#[test]
fn the_next_time_is_strictly_later() {
    assert_eq!(
        times("0 9 * * *", "UTC", "2027-01-01T09:00:00Z", 2),
        ["2027-01-02T09:00:00+00:00", "2027-01-03T09:00:00+00:00"]
    );
    assert_eq!(times("0 9 * * *", "UTC", "2027-01-01T08:59:59.999Z", 1), ["2027-01-01T09:00:00+00:00"]);
    assert_eq!(times("59 23 31 12 *", "UTC", "2027-12-31T23:59:00Z", 1), ["2028-12-31T23:59:00+00:00"]);
}

#[test]
fn a_fixed_time_fires_once_on_days_on_which_the_clock_is_set() {
    // Forward at 02:00.
    assert_eq!(
        times("30 2 * * *", "America/New_York", "2027-03-13T12:00:00", 2),
        ["2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00"]
    );
    assert_eq!(
        times("0,20,40 2,3 * * *", "America/New_York", "2027-03-14T01:59:00", 2),
        ["2027-03-14T03:00:00-04:00", "2027-03-14T03:20:00-04:00"],
        "several times of one gap are one fire"
    );
    // Back at 02:00.
    assert_eq!(
        times("30 1 * * *", "America/New_York", "2027-11-07T00:00:00", 2),
        ["2027-11-07T01:30:00-04:00", "2027-11-08T01:30:00-05:00"]
    );
    assert_eq!(
        times("30 1 * * *", "America/New_York", "2027-11-07T01:10:00-05:00", 1),
        ["2027-11-08T01:30:00-05:00"],
        "its second occurrence is later, and does not fire"
    );
    // By half an hour.
    assert_eq!(
        times("15 2 * * *", "Australia/Lord_Howe", "2027-10-03T00:00:00", 1),
        ["2027-10-03T02:30:00+11:00"]
    );
    // By a whole day.
    assert_eq!(
        times("0 12 * * *", "Pacific/Apia", "2011-12-29T13:00:00", 2),
        ["2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"]
    );
}

#[test]
fn other_expressions_follow_real_time() {
    assert_eq!(
        times("*/30 * * * *", "America/New_York", "2027-11-07T00:45:00", 5),
        [
            "2027-11-07T01:00:00-04:00",
            "2027-11-07T01:30:00-04:00",
            "2027-11-07T01:00:00-05:00",
            "2027-11-07T01:30:00-05:00",
            "2027-11-07T02:00:00-05:00"
        ]
    );
    assert_eq!(
        times("*/30 2 * * *", "America/New_York", "2027-03-13T02:30:00", 1),
        ["2027-03-15T02:00:00-04:00"],
        "the clock does not show it on the 14th"
    );
    assert_eq!(
        times("10 * * * *", "Australia/Lord_Howe", "2027-04-04T01:00:00", 3),
        ["2027-04-04T01:10:00+11:00", "2027-04-04T02:10:00+10:30", "2027-04-04T03:10:00+10:30"]
    );
}

#[test]
fn a_day_fits_by_one_of_its_fields_where_both_are_given() {
    let days = |expression| {
        let times = times(expression, "UTC", "2027-02-01T00:00:00Z", 4);
        times.iter().map(|time| time[5..10].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(days("0 12 13 * fri"), ["02-05", "02-12", "02-13", "02-19"]);
    assert_eq!(days("0 12 */2 * fri"), ["02-05", "02-19", "03-05", "03-19"], "`*/2` begins with `*`");
    assert_eq!(days("0 12 * * 5-7"), ["02-05", "02-06", "02-07", "02-12"]);
    assert_eq!(days("0 12 * * FRI-sun"), days("0 12 * * 0,5,6"));
}

#[test]
fn a_day_that_is_rare_is_found_and_one_that_never_comes_ends_the_search() {
    assert_eq!(times("0 0 29 2 *", "UTC", "2097-01-01T00:00:00Z", 1), ["2104-02-29T00:00:00+00:00"]);
    // A Sunday: `*/7` begins with `*`, so that both fields have to fit.
    assert_eq!(times("0 0 29 2 */7", "UTC", "2088-03-01T00:00:00Z", 1), ["2128-02-29T00:00:00+00:00"]);
    for never in ["0 0 30 2 *", "* * 30 2 *", "0 0 31 4,6,9,11 *", "*/5 * 31 2 */7"] {
        for zone in ["UTC", "America/New_York"] {
            assert_eq!(cron(never, zone).next_after(Moment(1_800_000_000_000)), None, "{never}");
        }
    }
    for end in [Moment(i64::MAX), Moment(i64::MIN), zone("UTC").read("9999-12-30T00:00:00Z").unwrap()] {
        assert_eq!(cron("0 0 29 2 *", "America/New_York").next_after(end), None);
    }
}

#[test]
fn names_and_nicknames_stand_for_numbers() {
    for (one, other) in [
        ("@yearly", "0 0 1 jan *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@Weekly", "0 0 * * 7"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "00 00 * * *"),
        ("@hourly", "0 */1 * * *"),
        ("*/20 1-5/2 * JAN,dec mon-wed", "0,20,40 1,3,5 * 1,12 1,2,3"),
        ("  0\t9  * * * ", "0 9 * * 0-7"),
    ] {
        let (one, other): (CronExpression, CronExpression) = (one.parse().unwrap(), other.parse().unwrap());
        for zone in ["UTC", "Europe/Berlin"] {
            let mut at = Moment(1_800_000_000_000);
            for _ in 0..40 {
                let next = |expression: &CronExpression| {
                    zone::next_after(expression, &zone.parse().unwrap(), at).unwrap()
                };
                assert_eq!(next(&one), next(&other), "{one} {other}");
                at = next(&one);
            }
        }
    }
}

#[test]
fn an_error_says_which_part_is_wrong_and_what_to_write() {
    for (expression, expected) in [
        ("", "`` has 0 fields: a cron expression has five"),
        ("* * * *", "`* * * *` has 4 fields"),
        (
            "0 * * * * *",
            "has 6 fields: a cron expression has five, `minute hour day-of-month month day-of-week`; seconds and years",
        ),
        (
            "61 * * * *",
            "`61` in the field minute of `61 * * * *`, at character 1: 61 is out of range; write a number from 0 to 59",
        ),
        ("0 9,24 * * *", "`24` in the field hour of `0 9,24 * * *`, at character 5: 24 is out of range"),
        ("0 9 0 * *", "write a number from 1 to 31"),
        ("0 9 * foo *", "`foo` is not known; write a number from 1 to 12, or a name from `jan` to `dec`"),
        ("0 9 * * 8", "a name from `sun` to `sat`"),
        ("0 22-2 * * *", "the range begins after its end; write `22-23,0-2`"),
        ("5/15 * * * *", "a step follows `*` or a range; write `5-59/…`"),
        ("*/0 * * * *", "a step of 0 goes nowhere"),
        ("*/60 * * * *", "the step 60 is greater than 59"),
        ("*/x * * * *", "the step `x` is no number"),
        ("1,,2 * * * *", "`1,,2` in the field minute of `1,,2 * * * *`, at character 1: a value is missing"),
        ("1- * * * *", "a value is missing"),
        ("-1 * * * *", "a value is missing"),
        ("0 0 L * *", "`L`, `W` and `#` are not known"),
        ("0 0 15W * *", "`L`, `W` and `#` are not known"),
        ("0 0 * * 5#2", "`L`, `W` and `#` are not known"),
        ("0 0 ? * *", "`?` is not known; write `*`"),
        ("+1 * * * *", "`+1` is not known"),
        ("٣ * * * *", "`٣` is not known"),
        ("0 0 é 13 *", "`é` in the field day of month of `0 0 é 13 *`, at character 5"),
        ("@reboot", "`@reboot` is not known: write `@yearly`"),
        ("@every 5m", "or an interval (`every`)"),
    ] {
        let error = expression.parse::<CronExpression>().unwrap_err().to_string();
        assert!(error.contains(expected), "{expression}: {error}");
    }
    let long = "0,".repeat(200) + "0 * * * *";
    assert!(long.parse::<CronExpression>().unwrap_err().to_string().contains("at most 256 bytes"));
    let error = "Mars/Phobos".parse::<Zone>().unwrap_err().to_string();
    assert!(error.contains("`Mars/Phobos` is not known: write a name of the IANA database"), "{error}");
}

#[test]
fn an_interval_is_counted_from_its_anchor() {
    let anchor = Moment(1_000_000);
    let every = |text: &str| Schedule::Every { interval: text.parse().unwrap(), anchor };
    let next = |text: &str, after| every(text).next_after(Moment(after)).unwrap().0;
    assert_eq!(next("90s", 0), 1_000_000);
    assert_eq!(next("90s", 999_999), 1_000_000);
    assert_eq!(next("90s", 1_000_000), 1_090_000);
    assert_eq!(next("90s", 1_089_999), 1_090_000);
    assert_eq!(next("90s", 1_090_000), 1_180_000);
    assert_eq!(every("1s").next_after(Moment(i64::MAX)), None);
    assert_eq!(every("1w").next_after(Moment(i64::MIN)), Some(anchor));
    for (text, seconds) in
        [("1s", 1), ("1h30m", 5_400), ("1w2d3h4m5s", 788_645), ("90m", 5_400), (" 2d ", 172_800)]
    {
        let interval: Interval = text.parse().unwrap();
        assert_eq!(interval.duration(), Duration::from_secs(seconds));
        assert_eq!(interval.to_string().parse(), Ok(interval));
    }
    for wrong in
        ["", "5", "m", "1m1h", "1h1h", "-5s", "1.5h", "5 m", "5µ", "99999999999999999999w", "0s", "9999w"]
    {
        assert!(wrong.parse::<Interval>().is_err(), "{wrong}");
    }
}

#[test]
fn a_single_time_is_due_once() {
    let zone = zone("America/New_York");
    let time = zone.read("2027-03-14T02:30:00").unwrap();
    assert_eq!(zone.show(time).unwrap(), "2027-03-14T03:00:00-04:00", "in a gap: the first instant after it");
    let time = zone.read("2027-11-07T01:30").unwrap();
    assert_eq!(zone.show(time).unwrap(), "2027-11-07T01:30:00-04:00", "repeated: the first occurrence");
    assert_eq!(zone.read("2027-11-07T06:30:00Z").unwrap(), time.after(Duration::from_hours(1)));
    let once = Schedule::At { time };
    assert_eq!(once.next_after(Moment(0)), Some(time));
    assert_eq!(once.next_after(time), None);
    assert!(
        zone.read("tomorrow").unwrap_err().to_string().contains("`tomorrow` is no time: write one such as")
    );
}

#[test]
fn a_schedule_is_read_back_as_it_was_written() {
    let every = Schedule::Every { interval: "1h".parse().unwrap(), anchor: Moment(7) };
    for schedule in [cron("0 9 * * MON", "america/new_york"), every, Schedule::At { time: Moment(5) }] {
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule, "{text}");
    }
    assert_eq!(zone("america/new_york").name(), "America/New_York");
}

#[test]
fn the_newest_times_are_found_without_a_walk_through_all() {
    let start = Moment(1_800_000_000_000);
    let end = start.after(Duration::from_hours(24 * 365 * 50));
    let every_minute = cron("* * * * *", "UTC");
    let newest = every_minute.newest_between(start, end, 3);
    assert_eq!(newest.len(), 3);
    assert_eq!(newest[2], Moment(end.0 - end.0 % 60_000));
    let yearly = cron("@yearly", "UTC");
    assert_eq!(yearly.newest_between(start, end, 100).len(), 50);
    assert_eq!(yearly.newest_between(start, end, 2).len(), 2);
    assert_eq!(yearly.newest_between(start, start, 2), []);
    assert_eq!(yearly.count_between(start, end, 100), 50);
    assert_eq!(every_minute.count_between(start, end, 100), 100);
}

/// Where the clocks of each zone are set within these days.
const ZONES: [(&str, &str); 8] = [
    ("America/New_York", "2027-03-12T00:00:00Z"),
    ("America/New_York", "2027-11-05T00:00:00Z"),
    ("Australia/Lord_Howe", "2027-04-02T00:00:00Z"),
    ("Australia/Lord_Howe", "2027-10-01T00:00:00Z"),
    ("Africa/Casablanca", "2027-02-05T00:00:00Z"),
    ("Africa/Casablanca", "2027-03-12T00:00:00Z"),
    ("Pacific/Apia", "2011-12-28T12:00:00Z"),
    ("UTC", "2028-02-27T00:00:00Z"),
];
const MINUTES: i64 = 4 * 24 * 60;

fn expressions() -> impl Strategy<Value = String> {
    fn field(values: RangeInclusive<u8>, last_step: u8) -> impl Strategy<Value = String> {
        let (first, last) = values.into_inner();
        let range = (first..=last).prop_flat_map(move |from| (Just(from), from..=last));
        let ranges = range.clone().prop_map(|(from, to)| format!("{from}-{to}"));
        prop_oneof![
            3 => Just("*".to_owned()),
            2 => (1..=last_step).prop_map(|step| format!("*/{step}")),
            4 => (first..=last).prop_map(|value| value.to_string()),
            2 => ranges.clone(),
            1 => (ranges, 1..=last_step).prop_map(|(range, step)| format!("{range}/{step}")),
            2 => proptest::collection::vec(first..=last, 1..4).prop_map(|values| {
                values.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
            }),
        ]
    }
    let hour = prop_oneof![field(0..=23, 23), field(0..=4, 3)];
    (field(0..=59, 59), hour, field(1..=31, 31), field(1..=12, 12), field(0..=7, 7))
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}

/// The values of a field, as a text says: without a bit set.
fn values(text: &str, first: i8, last: i8) -> BTreeSet<i8> {
    let parts = text.split(',').map(|part| {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (from.parse().unwrap(), to.parse().unwrap()),
            None if range == "*" => (first, last),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        (from..=to).step_by(step.parse().unwrap())
    });
    parts.flatten().collect()
}

/// Every instant of these days at which an expression fires: each minute of real time is looked at.
fn slow(expression: &str, zone_name: &str, start: Moment) -> Vec<Moment> {
    let fields: Vec<&str> = expression.split(' ').collect();
    let ranges = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
    let sets: Vec<_> =
        fields.iter().zip(ranges).map(|(field, (first, last))| values(field, first, last)).collect();
    let tz = jiff::tz::TimeZoneDatabase::bundled().get(zone_name).unwrap();
    let fits = |local: jiff::civil::DateTime| {
        let day = sets[2].contains(&local.day());
        let weekday = local.weekday().to_sunday_zero_offset();
        let weekday = sets[4].contains(&weekday) || weekday == 0 && sets[4].contains(&7);
        let either = !fields[2].starts_with('*') && !fields[4].starts_with('*');
        sets[0].contains(&local.minute())
            && sets[1].contains(&local.hour())
            && sets[3].contains(&local.month())
            && if either { day || weekday } else { day && weekday }
    };
    let shown = (0..MINUTES).map(|minute| {
        let instant = jiff::Timestamp::from_millisecond(start.0 + minute * 60_000).unwrap();
        (Moment(instant.as_millisecond()), tz.to_datetime(instant))
    });
    if fields[0].starts_with('*') || fields[1].starts_with('*') {
        return shown.filter(|(_, local)| fits(*local)).map(|(instant, _)| instant).collect();
    }
    // The calendar goes on minute by minute, and a minute is due once the clock has reached or passed it.
    let mut fires = Vec::new();
    let mut due = tz.to_datetime(jiff::Timestamp::from_millisecond(start.0).unwrap());
    for (instant, local) in shown {
        let mut fires_now = false;
        while due <= local {
            fires_now |= fits(due);
            due = due.checked_add(jiff::Span::new().minutes(1)).unwrap();
        }
        if fires_now {
            fires.push(instant);
        }
    }
    fires
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_times_increase_and_are_those_of_a_look_at_each_minute(expression in expressions(), place in 0..ZONES.len()) {
        let (zone_name, start) = ZONES[place];
        let start = zone("UTC").read(start).unwrap();
        let schedule = cron(&expression, zone_name);
        let end = Moment(start.0 + MINUTES * 60_000);
        let mut fires = Vec::new();
        let mut at = Moment(start.0 - 1);
        while let Some(next) = schedule.next_after(at).filter(|next| *next < end) {
            prop_assert!(next > at);
            fires.push(next);
            at = next;
        }
        prop_assert_eq!(&fires, &slow(&expression, zone_name, start), "{} in {}", expression, zone_name);
        // From any time between two, the next one is the same.
        for pair in fires.windows(2) {
            let between = Moment(pair[0].0 + (pair[1].0 - pair[0].0) / 2);
            prop_assert_eq!(schedule.next_after(between), Some(pair[1]));
        }
    }

    #[test]
    fn no_text_is_fatal(text in "[ -~\t*/,@é-]{0,40}") {
        let _ = text.parse::<CronExpression>();
        let _ = text.parse::<Interval>();
        let _ = text.parse::<Zone>();
        let _ = Zone::utc().read(&text);
    }
}
