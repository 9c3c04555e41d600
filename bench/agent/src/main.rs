//! Measures the agent loop beside bare requests and rig's agent, against the same scripted server. Prints lines of words and figures,
//! separated by tabs.
//!
//! Usage: `agent ROUNDS`; the program starts itself as `agent memory NAME TURNS URL` and `agent serve`.

mod server;

use rig_agent::core::providers::openai::OpenAIConfig;
use rig_agent::rig_tool;
use rig_agent::tool::ToolExecutionError;
use rig_agent::{Agent as RigAgent, AgentBuilder};
use rig_reqwest::ReqwestClient;
use serde_json::{Value, json};
use server::Bodies;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use toolkit::config::{Configuration, LoadOptions};
use toolkit::{Tool, Toolkit};
use toolkit_agent::{Agent, DelegationRequest, FinalAnswer, Limits, Observer, StopReason, Transcripts};
use toolkit_models::Models;

/// The numbers of tool calls of a turn.
const CALLS: [usize; 3] = [1, 10, 100];
/// The turns of the conversation whose memory is measured.
const TURNS: usize = 1_000;
/// The text of a tool result in that conversation: 500 bytes.
const RESULT: &str = "0123456789";

/// Returns a text.
#[rig_tool]
async fn noop(
    /// A number.
    number: u32,
) -> Result<String, ToolExecutionError> {
    Ok(result(number.into()))
}

fn result(number: u64) -> String {
    format!("{number}: {}", RESULT.repeat(50))
}

fn main() {
    // The clients of the peers leave the choice to the program.
    rustls::crypto::ring::default_provider().install_default().expect("nothing else has set one");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve"] => {
            println!("{}", server::start(None));
            loop {
                std::thread::park();
            }
        }
        ["memory", name, turns, url] => memory_of(name, turns.parse().expect("a number"), url),
        [rounds] => {
            let rounds = rounds.parse().expect("the number of rounds");
            overhead(rounds);
            prefix();
            memory();
        }
        _ => panic!("usage: agent ROUNDS"),
    }
}

fn runtime() -> Runtime {
    RuntimeBuilder::new_current_thread().enable_all().build().expect("a runtime")
}

fn toolkit_agent(url: &str, model: &str, transcripts: Option<Transcripts>) -> Agent {
    let models = json!({"models": {"bench": {"baseUrl": url, "model": model}}});
    let configuration = Configuration::load(LoadOptions::new().program(models)).expect("a configuration");
    let model = Models::new(&configuration).and_then(|models| models.get(None)).expect("a model");
    let schema = json!({
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 0, "description": "A number."}},
        "required": ["number"],
        "additionalProperties": false
    });
    let noop = Tool::builder("noop").description("Returns a text.").input_schema(schema).read_only();
    let noop = noop.build(|_, arguments| async move {
        result(arguments.into_map().get("number").and_then(Value::as_u64).unwrap_or_default())
    });
    let toolkit = Toolkit::empty().tool(noop.expect("a tool")).build().expect("a toolkit");
    let mut builder = Agent::builder(toolkit, model).final_answer(FinalAnswer::Text).limits(Limits::none());
    if let Some(transcripts) = transcripts {
        builder = builder.transcripts(transcripts);
    }
    builder.build()
}

async fn run_toolkit(agent: &Agent) {
    let result = agent.run(DelegationRequest::new("Do it."), Observer::none()).await;
    assert_eq!(result.stop_reason, StopReason::Answered, "{result:?}");
}

fn rig_agent(url: &str, model: &str, turns: usize) -> RigAgent {
    let mut config = OpenAIConfig::new("none");
    url.clone_into(&mut config.base_url);
    let model = config.connect(ReqwestClient::default()).chat(model);
    AgentBuilder::new(model).preamble("Be brief.").default_max_turns(turns + 2).tool(Noop).build()
}

async fn run_rig(agent: &RigAgent) {
    let answer = agent.prompt("Do it.").tool_concurrency(4).await.expect("an answer");
    assert_eq!(answer.output(), "It is done.");
}

/// Sends the bodies of a run once more, and reads the answers.
async fn run_bare(client: &reqwest::Client, url: &str, bodies: &[Vec<u8>]) {
    for body in bodies {
        let request =
            client.post(format!("{url}/chat/completions")).header("content-type", "application/json");
        let answer = request.body(body.clone()).send().await.expect("an answer");
        assert!(!answer.bytes().await.expect("a body").is_empty());
    }
}

/// The time of a run with one turn of calls and one of words.
fn overhead(rounds: usize) {
    let runtime = runtime();
    let bodies = Bodies::default();
    let url = server::start(Some(Arc::clone(&bodies)));
    let taken = || std::mem::take(&mut *bodies.lock().expect("nobody panics"));
    let client = reqwest::Client::new();
    for calls in CALLS {
        let model = format!("calls-{calls}");
        let directory = tempfile::tempdir().expect("a directory");
        let plain = toolkit_agent(&url, &model, None);
        let kept = toolkit_agent(&url, &model, Some(Transcripts::new(directory.path())));
        let rig = rig_agent(&url, &model, 1);
        runtime.block_on(run_toolkit(&plain));
        let of_toolkit = taken();
        runtime.block_on(run_rig(&rig));
        let of_rig = taken();
        assert_eq!((of_toolkit.len(), of_rig.len()), (2, 2));
        let mut times: [Vec<Duration>; 5] = Default::default();
        for round in 0..rounds + 3 {
            let mut measured = [Duration::ZERO; 5];
            measured[0] = timed(&runtime, run_bare(&client, &url, &of_toolkit));
            measured[1] = timed(&runtime, run_toolkit(&plain));
            measured[2] = timed(&runtime, run_toolkit(&kept));
            measured[3] = timed(&runtime, run_bare(&client, &url, &of_rig));
            measured[4] = timed(&runtime, run_rig(&rig));
            taken();
            // The first rounds warm up.
            if round >= 3 {
                times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
            }
        }
        let names = ["bare, as toolkit", "toolkit", "toolkit, with transcript", "bare, as rig", "rig"];
        for (name, mut times) in names.into_iter().zip(times) {
            times.sort();
            let micros = |time: Duration| time.as_micros();
            let (median, least) = (times[times.len() / 2], times[0]);
            println!("time\t{calls}\t{name}\t{} {}", micros(median), micros(least));
        }
    }
}

fn timed(runtime: &Runtime, run: impl Future<Output = ()>) -> Duration {
    let start = Instant::now();
    runtime.block_on(run);
    start.elapsed()
}

/// The share of a prompt that is the same as in the request before, byte for byte.
fn prefix() {
    let runtime = runtime();
    let bodies = Bodies::default();
    let url = server::start(Some(Arc::clone(&bodies)));
    for (name, run) in [("toolkit", true), ("rig", false)] {
        if run {
            runtime.block_on(run_toolkit(&toolkit_agent(&url, "turns-50", None)));
        } else {
            runtime.block_on(run_rig(&rig_agent(&url, "turns-50", 50)));
        }
        let bodies = std::mem::take(&mut *bodies.lock().expect("nobody panics"));
        let prompts: Vec<Vec<String>> = bodies.iter().map(|body| prompt(body)).collect();
        let (mut same, mut all) = (0, 0);
        for pair in prompts.windows(2) {
            let length = |parts: &[String]| parts.iter().map(String::len).sum::<usize>();
            let common = pair[0].iter().zip(&pair[1]).take_while(|(one, other)| one == other).count();
            same += length(&pair[0][..common]);
            all += length(&pair[0]);
        }
        println!("prefix\t{}\t{name}\t{same} {all}", prompts.len());
    }
}

/// The parts of a prompt in the order in which a provider reads them: tools, then messages.
fn prompt(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    std::iter::once(body["tools"].to_string()).chain(messages.iter().map(Value::to_string)).collect()
}

/// The memory of a long conversation, each in a process of its own.
fn memory() {
    let program = std::env::current_exe().expect("this program");
    let mut serving =
        Command::new(&program).arg("serve").stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut url = String::new();
    BufReader::new(serving.stdout.take().expect("it is piped")).read_line(&mut url).expect("the address");
    for name in ["toolkit", "toolkit, with transcript", "rig"] {
        let turns = TURNS.to_string();
        let output =
            Command::new(&program).args(["memory", name, &turns, url.trim()]).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
    let _ = serving.kill();
    let _ = serving.wait();
}

fn memory_of(name: &str, turns: usize, url: &str) {
    let runtime = runtime();
    let model = |turns: usize| format!("turns-{turns}");
    let directory = tempfile::tempdir().expect("a directory");
    let transcripts = (name == "toolkit, with transcript").then(|| Transcripts::new(directory.path()));
    let run = |turns: usize| {
        if name == "rig" {
            runtime.block_on(run_rig(&rig_agent(url, &model(turns), turns)));
        } else {
            runtime.block_on(run_toolkit(&toolkit_agent(url, &model(turns), transcripts.clone())));
        }
    };
    run(3);
    let before = peak();
    let start = Instant::now();
    run(turns);
    let seconds = start.elapsed().as_secs_f64();
    println!("memory\t{turns}\t{name}\t{before} {} {seconds:.2}", peak());
}

/// The peak of the resident memory of this process, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number")
}
