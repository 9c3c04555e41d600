//! Pictures and speech, against servers on loopback and the programs of this machine.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod approvals;
mod bombs;
mod documented;
mod failures;
mod forms;
mod local;
mod metered;
mod picture_failures;
mod pictures;
mod shapes;
mod speech;
mod transcription;

use serde_json::{Value, json};
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    Content, Tool,
    approval::{Answer as Reply, ScriptedApprover},
    config::{Configuration, LoadOptions},
    tool_ref,
};

/// The key of all endpoints here.
const KEY: &str = "sk-test-2718281828";

/// A toolbox in which everything is allowed, with these settings of `tools`.
fn toolbox(tool: Tool, settings: &Value) -> TestToolbox {
    denying(tool, settings).approve(ScriptedApprover::always(Reply::allow()))
}

/// The same, in which everything that is asked is denied.
fn denying(tool: Tool, settings: &Value) -> TestToolbox {
    let options = settings
        .as_object()
        .unwrap()
        .iter()
        .fold(LoadOptions::new(), |options, (name, value)| options.set(format!("tools.{name}={value}")));
    let configuration = Configuration::load(options).unwrap();
    TestToolbox::new(tool).build(|builder| builder.configuration(configuration))
}

fn speaking(url: &str) -> TestToolbox {
    toolbox(tool_ref!(builtin_tools::media::tts), &json!({ "tts": { "providers": [provider(url)] } }))
}

fn writing_down(url: &str) -> TestToolbox {
    toolbox(
        tool_ref!(builtin_tools::media::transcribe),
        &json!({ "transcribe": { "providers": [provider(url)] } }),
    )
}

fn provider(url: &str) -> Value {
    json!({ "baseUrl": format!("{url}/v1"), "apiKey": KEY, "model": "voice-1" })
}

/// The audio of an answer.
fn audio(call: &TestCall) -> (Vec<u8>, String) {
    let found = call.expect_ok().content.iter().find_map(|block| match block {
        Content::Audio { data, mime_type, .. } => Some((data.0.clone(), mime_type.clone())),
        _ => None,
    });
    found.expect("audio")
}

/// A WAV file of one channel, 8,000 frames a second and 16 bits, with so many frames of a value.
fn wav(frames: usize, value: i16) -> Vec<u8> {
    let size = u32::try_from(frames * 2).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend_from_slice(&(36 + size).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data");
    file.extend_from_slice(&size.to_le_bytes());
    file.extend(std::iter::repeat_n(value.to_le_bytes(), frames).flatten());
    file
}
