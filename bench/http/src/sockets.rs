//! Many clients of one gateway, over WebSockets: without work, and with calls at a rate.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::Result;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::people::{PeoplesGateway, call_path};
use crate::tool::{ARGUMENTS, is_right};
use crate::tool_client::ToolClient;

/// A person has 64 clients at most.
const PEOPLE: usize = 4;
const CLIENTS_OF_PERSON: usize = 50;
/// Calls a second, of all clients together.
const RATE: usize = 50;
/// Time without work before memory is looked at.
const QUIET: Duration = Duration::from_secs(5);
/// The contender of all series.
const CONTENDER: &str = "gateway";

/// Measures with calls for so many seconds, and without work for half as long.
pub(crate) async fn run(toolkit: &Path, seconds: usize) -> Result<()> {
    let print = |name: &str, figures: Vec<f64>| crate::print(&format!("sockets, {name}"), CONTENDER, figures);
    let mut people = PeoplesGateway::start(toolkit).await?;
    tokio::time::sleep(QUIET).await;
    print("memory before, MB", vec![people.gateway.memory()?]);

    let begun = Instant::now();
    let (mut tokens, mut clients) = (Vec::new(), Vec::new());
    for _ in 0..PEOPLE {
        let token = people.person().await?;
        for number in 0..CLIENTS_OF_PERSON {
            let (name, tool) = (format!("client{number}"), tool(number));
            clients.push(ToolClient::connect(&people.gateway.address, &token, &name, &tool).await?);
        }
        tokens.push(token);
    }
    print("all connected after, s", vec![begun.elapsed().as_secs_f64()]);
    tokio::time::sleep(QUIET).await;
    print("memory, MB", vec![people.gateway.memory()?]);

    let idle = Duration::from_secs(u64::try_from(seconds)?) / 2;
    let before = people.gateway.processor_seconds()?;
    tokio::time::sleep(idle).await;
    let used = people.gateway.processor_seconds()? - before;
    print("processor without work, % of one", vec![100.0 * used / idle.as_secs_f64()]);

    let before = people.gateway.processor_seconds()?;
    let begun = Instant::now();
    let load = load(&people.gateway.address, &tokens, seconds * RATE).await?;
    let used = people.gateway.processor_seconds()? - before;
    print("processor with calls, % of one", vec![100.0 * used / begun.elapsed().as_secs_f64()]);
    print("memory after calls, MB", vec![people.gateway.memory()?]);
    print("answered after, ms", load.times);
    print("failures", vec![f64::from(load.failures)]);
    drop(clients);
    Ok(())
}

/// The name of the tool of a client: within a session, one name is one tool.
fn tool(number: usize) -> String {
    format!("greet{number}")
}

/// The person and the client of a call: all people by turns, each of whose clients has its turn, too.
fn target(number: usize) -> (usize, usize) {
    (number % PEOPLE, number / PEOPLE % CLIENTS_OF_PERSON)
}

struct Load {
    /// Of each call that was answered right, in milliseconds since it was to be sent.
    times: Vec<f64>,
    failures: u32,
}

/// Connections of one person that are not in use.
type Idle = Arc<Mutex<Vec<Client>>>;

/// Sends calls at their times, whether or not the ones before were answered.
async fn load(address: &str, tokens: &[String], calls: usize) -> Result<Load> {
    let idle: Vec<Idle> = tokens.iter().map(|_| Idle::default()).collect();
    let between = Duration::from_secs(1) / u32::try_from(RATE)?;
    let begun = Instant::now() + Duration::from_millis(100);
    let mut sending = JoinSet::new();
    for number in 0..calls {
        let due = begun + between * u32::try_from(number)?;
        tokio::time::sleep_until(due.into()).await;
        let (person, client) = target(number);
        let (idle, address, token) = (Arc::clone(&idle[person]), address.to_owned(), tokens[person].clone());
        sending.spawn(async move {
            call(&idle, &address, &token, client).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(due.elapsed().as_secs_f64() * 1e3)
        });
    }
    let mut load = Load { times: Vec::new(), failures: 0 };
    while let Some(sent) = sending.join_next().await {
        match sent? {
            Ok(time) => load.times.push(time),
            Err(error) => {
                load.failures += 1;
                eprintln!("{error}");
            }
        }
    }
    if load.times.is_empty() {
        return Err("no call was answered".into());
    }
    Ok(load)
}

/// Calls the tool of one client, over a connection of the person that is not in use.
async fn call(idle: &Idle, address: &str, token: &str, client: usize) -> Result<()> {
    let mut connection = loop {
        let found = idle.lock().await.pop();
        match found {
            Some(connection) if connection.is_closed() => {}
            Some(connection) => break connection,
            None => break Client::open(address, token).await?,
        }
    };
    let accept = [("accept", "application/json")];
    let answer = connection.post(&call_path(&tool(client)), &accept, ARGUMENTS.to_owned()).await?;
    idle.lock().await.push(connection);
    if answer.status == 200 && is_right(&answer.json()?) {
        Ok(())
    } else {
        Err(answer.wrong("a call failed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn calls_go_to_all_clients_alike() {
        let all = PEOPLE * CLIENTS_OF_PERSON;
        let mut calls = HashMap::new();
        for number in 0..3 * all {
            *calls.entry(target(number)).or_insert(0) += 1;
        }
        assert_eq!(calls.len(), all);
        assert!(calls.values().all(|count| *count == 3), "{calls:?}");
    }
}
