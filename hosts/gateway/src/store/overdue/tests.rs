use super::*;

const HOUR: i64 = 3_600_000;
const START: i64 = 1_800_000_000_000;

/// A job that is due each hour, with its next time at hour 1, planned so many hours and minutes after the start.
fn plan(policy: Missed, hours: i64, minutes: i64) -> Plan {
    let schedule = Schedule::Every { interval: "1h".parse().unwrap(), anchor: Moment(START) };
    let next = Moment(START + HOUR);
    let overdue = Overdue { job: "job", schedule: &schedule, next, jitter: Duration::ZERO, policy, limit: 3 };
    overdue.plan(Moment(START + hours * HOUR + minutes * 60_000))
}

fn hour(number: i64) -> Moment {
    Moment(START + number * HOUR)
}

#[test]
fn a_time_that_has_just_come_is_run_by_each_policy() {
    for policy in [Missed::Skip, Missed::Once, Missed::All] {
        let expected = Plan { fire: Some(hour(1)), stands_for: 0, skipped: None, next: Some(hour(2)) };
        assert_eq!(plan(policy, 1, 0), expected);
        assert_eq!(plan(policy, 1, 1), expected);
    }
}

#[test]
fn missed_times_are_skipped_made_up_for_by_one_or_run_up_to_a_limit() {
    assert_eq!(
        plan(Missed::Skip, 5, 2),
        Plan { fire: None, stands_for: 0, skipped: Some((hour(1), 5)), next: Some(hour(6)) }
    );
    assert_eq!(
        plan(Missed::Skip, 5, 1),
        Plan { fire: Some(hour(5)), stands_for: 0, skipped: Some((hour(1), 4)), next: Some(hour(6)) }
    );
    assert_eq!(
        plan(Missed::Once, 5, 30),
        Plan { fire: Some(hour(1)), stands_for: 4, skipped: None, next: Some(hour(6)) }
    );
    assert_eq!(
        plan(Missed::All, 3, 30),
        Plan { fire: Some(hour(1)), stands_for: 0, skipped: None, next: Some(hour(2)) }
    );
    assert_eq!(
        plan(Missed::All, 5, 30),
        Plan { fire: Some(hour(3)), stands_for: 0, skipped: Some((hour(1), 2)), next: Some(hour(4)) }
    );
}

#[test]
fn a_long_absence_is_planned_without_a_walk_through_it() {
    let schedule = Schedule::Every { interval: "1s".parse().unwrap(), anchor: Moment(START) };
    let end = Moment(START + 20 * 365 * 24 * HOUR);
    for policy in [Missed::Skip, Missed::Once, Missed::All] {
        for jitter in [Duration::ZERO, Duration::from_mins(1)] {
            let next = Moment(START);
            let overdue = Overdue { job: "job", schedule: &schedule, next, jitter, policy, limit: 100 };
            let plan = overdue.plan(end);
            assert!(plan.next.unwrap() > end.before(Duration::from_mins(3)), "{plan:?}");
            let counted = plan.stands_for.max(plan.skipped.map_or(0, |(_, count)| count));
            assert_eq!(counted, MAX_COUNTED);
        }
    }
}

#[test]
fn a_jitter_is_the_same_each_time_and_below_its_limit() {
    let jitter = Duration::from_mins(10);
    let delays: Vec<i64> =
        (0..200).map(|number| due("job", hour(number), jitter).0 - hour(number).0).collect();
    assert!(delays.iter().all(|delay| (0..600_000).contains(delay)));
    let early = delays.iter().filter(|delay| **delay < 300_000).count();
    assert!((60..140).contains(&early), "{early} of 200 are in the first half");
    assert_eq!(due("job", hour(7), jitter), due("job", hour(7), jitter));
    assert_ne!(due("job", hour(7), jitter), due("other", hour(7), jitter));
    assert_eq!(due("job", hour(7), Duration::ZERO), hour(7));
}

#[test]
fn a_time_whose_jitter_has_not_passed_is_left_for_later() {
    let schedule = Schedule::Every { interval: "1h".parse().unwrap(), anchor: Moment(START) };
    let jitter = Duration::from_mins(30);
    let overdue =
        Overdue { job: "job", schedule: &schedule, next: hour(1), jitter, policy: Missed::Once, limit: 1 };
    let second = due("job", hour(2), jitter);
    assert!(second > hour(2));
    let before = overdue.plan(second.before(Duration::from_millis(1)));
    assert_eq!((before.stands_for, before.next), (0, Some(hour(2))));
    let at = overdue.plan(second);
    assert_eq!((at.stands_for, at.next), (1, Some(hour(3))));
}
