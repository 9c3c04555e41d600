//! Calls a second, and the time that a call takes, of all contenders by turns.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gateway::Result;
use tokio::task::JoinSet;

use crate::caller::Caller;
use crate::contender::Contender;

/// How many calls are under way at once, each over a connection of its own.
const AT_ONCE: [usize; 2] = [1, 16];
/// Calls of each caller before those that are measured.
const WARM_UP: usize = 20;

/// A measurement.
struct Measured {
    calls_a_second: f64,
    /// Of each call, in milliseconds, in ascending order.
    times: Vec<f64>,
}

pub(crate) async fn run(rounds: usize, span: Duration, contenders: &[&str]) -> Result<()> {
    let contenders: Vec<Contender> =
        contenders.iter().map(|text| Contender::parse(text)).collect::<Result<_>>()?;
    let mut figures: BTreeMap<(String, &str), Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let contender = &contenders[(round + turn) % contenders.len()];
            let of_contender = |error| format!("{}: {error}", contender.name);
            let mut server = contender.start().await.map_err(of_contender)?;
            for at_once in AT_ONCE {
                let callers = server.callers(at_once).await.map_err(of_contender)?;
                let measured = measure(callers, span, contender.max_calls()).await.map_err(of_contender)?;
                let Measured { calls_a_second, times } = measured;
                for (name, figure) in [
                    ("calls a second", calls_a_second),
                    ("p50, ms", percentile(&times, 50)),
                    ("p99, ms", percentile(&times, 99)),
                ] {
                    let series = (format!("{at_once} at once, {name}"), contender.name.as_str());
                    figures.entry(series).or_default().push(figure);
                }
            }
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    for ((measurement, contender), figures) in figures {
        crate::print(&measurement, contender, figures);
    }
    Ok(())
}

/// Lets each of the callers call again once its answer is there.
async fn measure(mut callers: Vec<Caller>, span: Duration, max_calls: usize) -> Result<Measured> {
    for caller in &mut callers {
        for _ in 0..WARM_UP {
            caller.call().await?;
        }
    }
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for mut caller in callers {
        tasks.spawn(async move {
            let mut times = Vec::new();
            while begun.elapsed() < span && times.len() + WARM_UP < max_calls {
                let sent = Instant::now();
                caller.call().await?;
                times.push(sent.elapsed().as_secs_f64() * 1e3);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        times.extend(ended??);
    }
    let calls_a_second = f64::from(u32::try_from(times.len())?) / begun.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    Ok(Measured { calls_a_second, times })
}

/// The figure below which so many of a hundred figures are.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or(f64::NAN)
}
