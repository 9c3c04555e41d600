//! Tests that take minutes: a gateway that is killed 200 times at random times under load.

#[path = "../it/process.rs"]
mod process;
#[path = "../it/random_kills/mod.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod random_kills;

// Registers the platform and its tools.
use toolkit_telegram as _;

/// The variable with another number of kills.
const KILLS: &str = "GATEWAY_KILLS";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_is_killed_200_times_loses_and_repeats_nothing() {
    let kills = std::env::var(KILLS).map_or(200, |kills| kills.parse().unwrap());
    random_kills::check(kills).await;
}
