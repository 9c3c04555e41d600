//! Tests that take minutes: a process that is killed 200 times at random points.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "../it/common.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod common;
#[path = "../it/kill.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod kill;

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
