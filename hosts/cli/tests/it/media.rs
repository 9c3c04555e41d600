//! Pictures and speech by the command and over MCP.

#![cfg(all(target_os = "linux", feature = "canvas", feature = "mcp", feature = "media"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
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
    let mut serve = toolkit(&user, &["mcp", "serve"]);
    let mut child = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, params: Value| {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    };
    let info = json!({ "name": "test", "version": "1" });
    ask(0, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
    let arguments: Value = serde_json::from_str(CHART).unwrap();
    let drawn = ask(1, "tools/call", json!({ "name": "canvas", "arguments": arguments }));
    let picture = drawn["content"].as_array().unwrap().iter().find(|block| block["type"] == "image");
    let picture = picture.unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(picture["mimeType"], "image/png");
    assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let refused = ask(
        2,
        "tools/call",
        json!({ "name": "canvas", "arguments": { "width": 9, "height": 9, "commands": [{ "type": "square" }] } }),
    );
    assert_eq!(refused["isError"], true, "{refused}");
    drop(input);
    child.wait().unwrap();
}

/// A GIF file with a frame of one pixel in a picture of this size.
fn gif(side: u16) -> Vec<u8> {
    let side = side.to_le_bytes();
    let mut file = [b"GIF89a".as_slice(), &side, &side].concat();
    file.extend_from_slice(b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    file
}

/// Less address space than the picture of a hostile file takes: a process that decodes it ends.
#[test]
fn a_small_file_of_a_huge_picture_is_refused_in_little_memory() {
    let user = user();
    let draw = |file: &str| {
        let arguments = json!({ "width": 60, "height": 40, "commands": [{ "type": "image", "path": file, "x": 0, "y": 0 }] });
        fs::write(user.path().join("work/draw.json"), arguments.to_string()).unwrap();
        let mut command = toolkit(&user, &[]);
        command.args(["call", "canvas", "--args", "@draw.json", "--save", "out.png"]);
        let mut limited = Command::new("sh");
        limited.arg("-c").arg("ulimit -v 700000 && exec \"$@\"").arg("sh").arg(command.get_program());
        limited.args(command.get_args()).current_dir(user.path().join("work")).stdin(Stdio::null());
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // Each further arena would reserve address space.
        limited.env("MALLOC_ARENA_MAX", "1").output().unwrap()
    };
    // 4 bytes for each of 14,000 × 14,000 pixels are 784 MB.
    fs::write(user.path().join("work/huge.gif"), gif(14_000)).unwrap();
    fs::write(user.path().join("work/fits.gif"), gif(2_000)).unwrap();
    let fits = draw("fits.gif");
    assert!(fits.status.success(), "{fits:?}");
    let refused = draw("huge.gif");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told.contains("commands[0].path: cannot read huge.gif"), "{told}");
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
    let spoken = toolkit(&user, &["call", "tts", "--text", "The build is green.", "--save", "out.wav"])
        .output()
        .unwrap();
    assert!(spoken.status.success(), "{spoken:?}");
    let file = fs::read(user.path().join("work/out.wav")).unwrap();
    assert_eq!((&file[..4], &file[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    assert!(file.len() > 30_000, "{}", file.len());
    let told = String::from_utf8_lossy(&spoken.stdout).into_owned();
    let (_, path) = told.split_once("MEDIA:").unwrap_or_else(|| panic!("{told}"));
    let path = path.lines().next().unwrap();
    assert!(path.starts_with(user.path().join("data/media").to_str().unwrap()), "{path}");
    assert_eq!(fs::read(path).unwrap(), file);
}
