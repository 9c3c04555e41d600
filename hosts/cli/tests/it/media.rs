//! Pictures and speech by the command and over MCP.

#![cfg(all(target_os = "linux", feature = "canvas", feature = "mcp", feature = "media"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod bombs;
mod client;

use client::Client;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn user() -> TempDir {
    let user = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(user.path().join(directory)).unwrap();
    }
    user
}

/// Without a terminal, so that nobody can be asked.
fn toolkit(user: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new("setsid");
    command
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_toolkit"))
        .args(arguments)
        .current_dir(user.path().join("work"));
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command.env_remove("OPENAI_API_KEY").stdin(Stdio::null());
    command
}

const CHART: &str = r#"{ "width": 300, "height": 200, "commands": [
    { "type": "bar", "title": "Visitors", "labels": ["Mon", "Tue"], "series": [{ "values": [3, 5] }] }
] }"#;

#[test]
fn a_chart_is_drawn_from_a_file_and_saved() {
    let user = user();
    fs::write(user.path().join("work/chart.json"), CHART).unwrap();
    let drawn =
        toolkit(&user, &["call", "canvas", "--args", "@chart.json", "--save", "chart.png"]).output().unwrap();
    assert!(drawn.status.success(), "{drawn:?}");
    let file = fs::read(user.path().join("work/chart.png")).unwrap();
    assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&file[16..24], &[0, 0, 1, 44, 0, 0, 0, 200]);
    assert!(
        String::from_utf8_lossy(&drawn.stdout).contains("drew a picture of 300 × 200 pixels"),
        "{drawn:?}"
    );
}

#[test]
fn a_client_of_mcp_gets_the_picture() {
    let user = user();
    let mut client = Client::start(&user);
    let arguments: Value = serde_json::from_str(CHART).unwrap();
    let drawn = client.call("canvas", &arguments);
    let picture = drawn["content"].as_array().unwrap().iter().find(|block| block["type"] == "image");
    let picture = picture.unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(picture["mimeType"], "image/png");
    assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let refused = client.call(
        "canvas",
        &json!({ "width": 9, "height": 9, "commands": [{ "type": "polyline", "points": [[1, 2]] }] }),
    );
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(
        refused["content"][0]["text"].as_str().unwrap().contains("commands[0].points: expected"),
        "{refused}"
    );
}

/// The samples of a WAV file with one channel of 16 bits: their length in seconds and their loudness, as a share of the loudest possible.
fn measured(file: &[u8]) -> (f64, f64) {
    assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
    assert_eq!((&file[20..24], &file[34..40]), (&[1, 0, 1, 0][..], &b"\x10\0data"[..]));
    let rate = u32::from_le_bytes(file[24..28].try_into().unwrap());
    let samples = file[44..].chunks_exact(2).map(|pair| f64::from(i16::from_le_bytes([pair[0], pair[1]])));
    let count = f64::from(u32::try_from(samples.len()).unwrap());
    (count / f64::from(rate), (samples.map(|sample| sample * sample).sum::<f64>() / count).sqrt() / 32_768.0)
}

/// 14 words at 175 words a minute are 4.8 seconds.
const SENTENCE: &str = "The ship leaves the harbour at noon, and comes back in the evening with fish.";

fn assert_spoken(file: &[u8]) {
    let (seconds, loudness) = measured(file);
    assert!((3.0..8.0).contains(&seconds) && (0.01..0.5).contains(&loudness), "{seconds} {loudness}");
}

#[test]
#[ignore = "needs espeak-ng: cargo xtask test"]
fn a_client_of_mcp_gets_the_speech() {
    let user = user();
    let mut client = Client::start(&user);
    let spoken = client.call("tts", &json!({ "text": SENTENCE }));
    assert_ne!(spoken["isError"], true, "{spoken}");
    let blocks = spoken["content"].as_array().unwrap();
    let audio = blocks.iter().find(|block| block["type"] == "audio").unwrap_or_else(|| panic!("{spoken}"));
    assert_eq!(audio["mimeType"], "audio/wav");
    let file = client::decoded(audio["data"].as_str().unwrap());
    assert_spoken(&file);
    let text = blocks.iter().find_map(|block| block["text"].as_str()).unwrap();
    let (_, path) = text.split_once("\nMEDIA:").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(fs::read(path.lines().next().unwrap()).unwrap(), file);
    let refused = client.call("tts", &json!({ "text": SENTENCE, "voice": "zz-none" }));
    assert_eq!(refused["isError"], true, "{refused}");
}

/// Where nothing writes Opus, a channel that plays it gets WAV, and the result says so.
#[test]
#[ignore = "needs espeak-ng: cargo xtask test"]
fn a_format_that_nothing_writes_is_replaced_and_told() {
    let path = std::env::var_os("PATH").unwrap();
    let is_installed =
        |name: &str| std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
    let can_write = is_installed("opusenc") || is_installed("ffmpeg");
    let user = user();
    let call = |arguments: &[&str]| {
        let arguments = [&["call", "tts", "--text", SENTENCE][..], arguments].concat();
        let output = toolkit(&user, &arguments).output().unwrap();
        let (said, told) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        (output.status.success(), said, told)
    };
    let (is_spoken, said, told) = call(&["--channel", "Telegram", "--save", "out.opus"]);
    assert!(is_spoken, "{told}");
    let note = "(it is wav, since no program is installed that writes opus";
    assert_eq!(said.contains(note), !can_write, "{said}");
    let file = fs::read(user.path().join("work/out.opus")).unwrap();
    let note = "out.opus holds audio/wav, which does not match its name; rename it to end with `.wav`";
    assert_eq!((told.contains(note), file.starts_with(b"OggS")), (!can_write, can_write), "{told}");
    let (is_spoken, _, told) = call(&["--format", "opus"]);
    assert_eq!(is_spoken, can_write, "{told}");
    assert!(can_write || told.contains("no program is installed that writes opus"), "{told}");
    // A name that says another type than the call made.
    let (_, _, told) = call(&["--format", "wav", "--save", "out.mp3"]);
    assert!(told.contains("out.mp3 holds audio/wav, which does not match its name"), "{told}");
}

#[test]
fn without_a_program_that_speaks_the_error_names_it() {
    let user = user();
    let mut call = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    call.args(["call", "tts", "--text", "Hello."]).current_dir(user.path().join("work")).stdin(Stdio::null());
    call.env("TOOLKIT_CONFIG_DIR", user.path().join("user"))
        .env("TOOLKIT_DATA_DIR", user.path().join("data"));
    let failed = call.env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && told.contains("a person has to install `espeak-ng`"), "{told}");
}

#[test]
#[ignore = "needs espeak-ng: cargo xtask test"]
fn a_text_is_spoken_and_saved() {
    let user = user();
    let spoken = toolkit(&user, &["call", "tts", "--text", SENTENCE, "--save", "out.wav"]).output().unwrap();
    assert!(spoken.status.success(), "{spoken:?}");
    let file = fs::read(user.path().join("work/out.wav")).unwrap();
    assert_spoken(&file);
    let told = String::from_utf8_lossy(&spoken.stdout).into_owned();
    let (_, path) = told.split_once("MEDIA:").unwrap_or_else(|| panic!("{told}"));
    let path = path.lines().next().unwrap();
    assert!(path.starts_with(user.path().join("data/media").to_str().unwrap()), "{path}");
    assert_eq!(fs::read(path).unwrap(), file);
}

/// Answers one request of Chat Completions and returns its body.
#[cfg(feature = "agent")]
fn answer_one(listener: &std::net::TcpListener, answer: &str) -> Value {
    use std::io::{Read as _, Write as _};
    let (mut stream, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let said = chunk(json!({ "role": "assistant", "content": answer }), Value::Null);
    let ended = chunk(json!({}), "stop".into());
    let events = format!("data: {said}\n\ndata: {ended}\n\ndata: [DONE]\n\n");
    let length = events.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n{events}"
    )
    .unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
#[cfg(feature = "agent")]
fn a_picture_is_described_by_the_default_model() {
    let user = user();
    let drawn = toolkit(&user, &["call", "canvas", "--args", CHART, "--save", "chart.png"]);
    assert!({ drawn }.output().unwrap().status.success());
    let call =
        ["call", "image", "--action", "describe", "--image", "chart.png", "--prompt", "How many visitors?"];
    let without = toolkit(&user, &call).output().unwrap();
    let told = String::from_utf8_lossy(&without.stderr).into_owned();
    assert!(told.contains("`models.default`") && told.contains("`tools.image.vision`"), "{told}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || answer_one(&listener, "Eight visitors."));
    let models = format!("models: {{ local: {{ baseUrl: '{url}', model: 'm' }} }}");
    let config = user.path().join("user/toolkit.json5");
    fs::write(&config, format!("{{ {models} }}")).unwrap();
    let refused = toolkit(&user, &call).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("`permission.image`"), "nobody allowed it: {told}");
    fs::write(
        &config,
        format!("{{ {models}, permission: {{ image: [{{ match: 'local', do: 'allow' }}] }} }}"),
    )
    .unwrap();
    let described = toolkit(&user, &call).output().unwrap();
    assert!(described.status.success(), "{described:?}");
    assert!(String::from_utf8_lossy(&described.stdout).contains("Eight visitors."), "{described:?}");
    let request = server.join().unwrap();
    let content = request["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(content[0], json!({ "type": "text", "text": "How many visitors?" }), "{content}");
    let url = content[1]["image_url"]["url"].as_str().unwrap();
    let png = url.strip_prefix("data:image/png;base64,").unwrap_or_else(|| panic!("{content}"));
    assert!(png.starts_with("iVBORw0KGgo"), "{content}");

    fs::write(&config, "{ models: { local: { baseUrl: 'http://127.0.0.1:2/v1', model: 'm' } }, permission: { image: 'allow' } }")
        .unwrap();
    let failed = toolkit(&user, &call).output().unwrap();
    let told = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && told.contains("could not look at the picture"), "{told}");
}
