//! `gateway TOOLKIT STARTS SESSIONS RATE SECONDS` measures a gateway of this command, with a scripted model that answers at once: so many starts, the
//! memory of so many sessions, and a load of so many messages a second. Prints a line a series: its name, a tab, and its figures.

mod load;
mod model;

use std::path::Path;
use std::time::Duration;

use gateway::Result;
use gateway::process::{self, Gateway};

/// Time after which a gateway with nothing to do is looked at.
const IDLE: Duration = Duration::from_secs(5);
/// The sessions of a load.
const AT_ONCE: usize = 100;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [toolkit, numbers @ ..] = &words[..] else {
        return Err("usage: gateway TOOLKIT STARTS SESSIONS RATE SECONDS".into());
    };
    let numbers: Vec<usize> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [starts, sessions, rate, seconds] = numbers[..] else { return Err("four numbers are needed".into()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = model::Model::start().await?;
        measure_starts(Path::new(toolkit), &model, starts).await?;
        measure_memory(Path::new(toolkit), &model, sessions, rate).await?;
        measure_load(Path::new(toolkit), &model, rate, seconds).await
    })
}

fn print(name: &str, figures: impl IntoIterator<Item = f64>) {
    let figures: Vec<String> = figures.into_iter().map(|figure| format!("{figure:.3}")).collect();
    println!("{name}\t{}", figures.join(" "));
}

/// The time from the start of the process to the answer that it is healthy, with a new data directory and with one that is there.
async fn measure_starts(toolkit: &Path, model: &model::Model, starts: usize) -> Result<()> {
    let kept = process::directory(&model.url, "")?;
    Gateway::start(toolkit, kept.path()).await?.stop().await?;
    let (mut new, mut again) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        let directory = process::directory(&model.url, "")?;
        for (directory, times) in [(directory.path(), &mut new), (kept.path(), &mut again)] {
            let gateway = Gateway::start(toolkit, directory).await?;
            times.push(gateway.healthy_after.as_secs_f64() * 1e3);
            gateway.stop().await?;
        }
    }
    print("start, new data directory, ms", new);
    print("start, ms", again);
    Ok(())
}

/// The resident memory of a gateway with nothing to do, and of one that has answered a message in each of many sessions.
async fn measure_memory(toolkit: &Path, model: &model::Model, sessions: usize, rate: usize) -> Result<()> {
    let directory = process::directory(&model.url, "")?;
    let gateway = Gateway::start(toolkit, directory.path()).await?;
    tokio::time::sleep(IDLE).await;
    print("idle, MB", [gateway.memory()?]);
    load::run(&gateway, model, sessions, rate, sessions).await?;
    tokio::time::sleep(IDLE).await;
    print("with sessions, MB", [gateway.memory()?]);
    gateway.stop().await
}

/// The times of acceptance, and until the model is asked, of messages at a rate.
async fn measure_load(toolkit: &Path, model: &model::Model, rate: usize, seconds: usize) -> Result<()> {
    let directory = process::directory(&model.url, "")?;
    let gateway = Gateway::start(toolkit, directory.path()).await?;
    let load = load::run(&gateway, model, rate * seconds, rate, AT_ONCE).await?;
    print("accepted after, ms", load.accepted);
    print("model asked after, ms", load.asked);
    print("all answered after the last message, s", [load.drained.as_secs_f64()]);
    print("under load, MB", [gateway.memory()?]);
    print("processor, s", [gateway.processor_seconds()?]);
    gateway.stop().await
}
