//! Tests that take minutes: a process that is killed 200 times at random points, or ends at each line of its transcript, and how long a cancelled run takes to end.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "../it/acp_crashes.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod acp_crashes;
#[path = "../it/cancel.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod cancel;
#[path = "../it/common.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod common;
#[path = "../it/conversations.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod conversations;
#[path = "../it/crashes.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod crashes;
#[path = "../it/kill.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod kill;

toolkit::link!(core: builtin_tools);

#[test]
fn killed_200_times_at_random_points() {
    let mut kills = 0;
    while kills < 200 {
        kills += kill::check(&mut || {
            let mut random = [0; 2];
            getrandom::fill(&mut random).unwrap();
            1 + usize::from(u16::from_le_bytes(random)) % 120
        });
    }
}

#[test]
fn a_conversation_that_ends_at_any_line_loses_and_repeats_nothing() {
    crashes::check_each_point();
}

#[test]
fn a_session_of_an_editor_that_ends_at_any_line_loses_and_repeats_nothing() {
    acp_crashes::check_each_point();
}

#[tokio::test]
async fn how_long_a_cancelled_run_takes_to_end() {
    for place in cancel::Place::ALL {
        let mut times = Vec::new();
        for _ in 0..30 {
            times.push(cancel::time_to_end(place).await);
        }
        times.sort();
        println!("{place:?}: median {:?}, 9 of 10 {:?}, longest {:?}", times[15], times[26], times[29]);
    }
}
