//! The documented shapes of requests: a server that refuses every other request, as the provider does.

use super::{KEY, forms};
use serde_json::{Map, Value, json};
use toolkit_loopback::{Answer, Loopback, Request};

/// Largest picture that the provider takes, in bytes.
const MAX_PICTURE_BYTES: usize = 50 << 20;
/// Largest audio file that the provider takes, in bytes.
const MAX_AUDIO_BYTES: usize = 25 << 20;

/// Starts a server that gives these answers to documented requests, and refuses all others.
pub(super) async fn serve(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Loopback {
    Loopback::start(move |request: &Request| match fault(request) {
        None => answer(request),
        Some(fault) => Answer::json(
            400,
            &json!({ "error": { "message": fault, "type": "invalid_request_error", "param": null, "code": "invalid_value" } }),
        ),
    })
    .await
}

/// Returns the first fault of a request.
pub(super) fn fault(request: &Request) -> Option<String> {
    check(request).err()
}

type Checked = Result<(), String>;

fn check(request: &Request) -> Checked {
    if request.method != "POST" {
        return Err(format!("{} is not POST", request.method));
    }
    if request.header("authorization") != Some(format!("Bearer {KEY}").as_str()) {
        return Err("there is no bearer token".to_owned());
    }
    match request.path.as_str() {
        "/v1/images/generations" => generation(&members(request)?),
        "/v1/images/edits" => edit(request),
        "/v1/chat/completions" => chat(&members(request)?),
        "/v1/audio/speech" => speech(&members(request)?),
        "/v1/audio/transcriptions" => transcription(request),
        path => Err(format!("Invalid URL (POST {path})")),
    }
}

fn members(request: &Request) -> Result<Map<String, Value>, String> {
    if request.header("content-type") != Some("application/json") {
        return Err("the content type is not application/json".to_owned());
    }
    match request.json() {
        Value::Object(members) => Ok(members),
        other => Err(format!("{other} is not an object")),
    }
}

/// Checks that there are only known members, and all that are needed.
fn names<'a>(found: impl Iterator<Item = &'a str>, needed: &[&str], others: &[&str]) -> Checked {
    let found: Vec<&str> = found.collect();
    if let Some(unknown) = found.iter().find(|name| !needed.contains(name) && !others.contains(name)) {
        return Err(format!("Unknown parameter: '{unknown}'."));
    }
    match needed.iter().find(|name| found.iter().filter(|found| found == name).count() != 1) {
        Some(missing) => Err(format!("Missing required parameter: '{missing}'.")),
        None => Ok(()),
    }
}

fn text<'a>(members: &'a Map<String, Value>, name: &str, most: usize) -> Result<&'a str, String> {
    let text = members.get(name).and_then(Value::as_str).ok_or(format!("'{name}' is not a string"))?;
    if (1..=most).contains(&text.chars().count()) {
        Ok(text)
    } else {
        Err(format!("'{name}' has a wrong length"))
    }
}

fn size(value: &str) -> Checked {
    let known =
        ["auto", "256x256", "512x512", "1024x1024", "1536x1024", "1024x1536", "1792x1024", "1024x1792"];
    if known.contains(&value) { Ok(()) } else { Err(format!("'{value}' is not a size")) }
}

fn count(value: Option<u64>) -> Checked {
    if value.is_some_and(|count| (1..=10).contains(&count)) { Ok(()) } else { Err("a wrong 'n'".to_owned()) }
}

fn generation(members: &Map<String, Value>) -> Checked {
    let others = ["background", "moderation", "output_format", "quality", "response_format", "style", "user"];
    let needed = ["model", "prompt", "n", "size"];
    names(members.keys().map(String::as_str), &needed, &others)?;
    text(members, "model", 200)?;
    text(members, "prompt", 32_000)?;
    count(members["n"].as_u64())?;
    size(text(members, "size", 20)?)
}

fn edit(request: &Request) -> Checked {
    let parts = forms::parts(request);
    let others = ["mask", "background", "output_format", "quality", "user"];
    names(parts.iter().map(|part| part.name.as_str()), &["model", "prompt", "n", "size", "image"], &others)?;
    let value = |name| forms::text(&parts, name).unwrap_or_default();
    if value("model").is_empty() || !(1..=32_000).contains(&value("prompt").chars().count()) {
        return Err("'model' or 'prompt' has a wrong length".to_owned());
    }
    count(value("n").parse().ok())?;
    size(&value("size"))?;
    let mut sizes = Vec::new();
    for part in parts.iter().filter(|part| ["image", "mask"].contains(&part.name.as_str())) {
        let name = part.file_name.as_deref().unwrap_or_default();
        let picture = image::load_from_memory_with_format(&part.data, image::ImageFormat::Png)
            .map_err(|error| format!("'{}' is not a PNG file: {error}", part.name))?;
        let is_named = name.rsplit_once('.').is_some_and(|(_, end)| end == "png")
            && part.media_type.as_deref() == Some("image/png");
        if !is_named || part.data.len() >= MAX_PICTURE_BYTES {
            return Err(format!("'{}' is too large, or not named as PNG", part.name));
        }
        if part.name == "mask" && !picture.color().has_alpha() {
            return Err("'mask' has no alpha channel".to_owned());
        }
        sizes.push((picture.width(), picture.height()));
    }
    if sizes.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err("'mask' has another size than 'image'".to_owned());
    }
    Ok(())
}

fn chat(members: &Map<String, Value>) -> Checked {
    names(members.keys().map(String::as_str), &["model", "messages"], &["max_completion_tokens"])?;
    text(members, "model", 200)?;
    let messages = members["messages"].as_array().filter(|messages| !messages.is_empty());
    for message in messages.ok_or("'messages' is empty")? {
        if message["role"] != "user" {
            return Err("a wrong role".to_owned());
        }
        for part in message["content"].as_array().ok_or("'content' is not a list of parts")? {
            let is_right = match part["type"].as_str() {
                Some("text") => part["text"].as_str().is_some_and(|text| !text.is_empty()),
                Some("image_url") => part["image_url"]["url"]
                    .as_str()
                    .is_some_and(|url| url.starts_with("data:image/png;base64,iVBORw0KGgo")),
                _ => false,
            };
            if !is_right {
                return Err(format!("a wrong part: {}", part["type"]));
            }
        }
    }
    Ok(())
}

fn speech(members: &Map<String, Value>) -> Checked {
    let others = ["instructions", "response_format", "speed"];
    names(members.keys().map(String::as_str), &["model", "input", "voice"], &others)?;
    text(members, "model", 200)?;
    text(members, "voice", 64)?;
    text(members, "input", 4_096)?;
    let formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
    let format = members.get("response_format").and_then(Value::as_str);
    if format.is_none_or(|format| formats.contains(&format)) {
        Ok(())
    } else {
        Err("a wrong 'response_format'".to_owned())
    }
}

fn transcription(request: &Request) -> Checked {
    let parts = forms::parts(request);
    let others = ["language", "prompt", "response_format", "temperature"];
    names(parts.iter().map(|part| part.name.as_str()), &["model", "file"], &others)?;
    let file = parts.iter().find(|part| part.name == "file").ok_or("no file")?;
    let extension = file.file_name.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    let known = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"];
    if !extension.is_some_and(|extension| known.contains(&extension)) || file.data.len() > MAX_AUDIO_BYTES {
        return Err("Invalid file format.".to_owned());
    }
    match forms::text(&parts, "response_format").as_deref() {
        None | Some("json" | "text" | "srt" | "verbose_json" | "vtt") => Ok(()),
        Some(other) => Err(format!("'{other}' is not a format")),
    }
}

/// The checks refuse requests that the provider refuses.
#[test]
fn other_requests_are_refused() {
    let request = |path: &str, body: Value| Request {
        method: "POST".to_owned(),
        path: path.to_owned(),
        headers: vec![
            ("authorization".to_owned(), format!("Bearer {KEY}")),
            ("content-type".to_owned(), "application/json".to_owned()),
        ],
        body: body.to_string().into_bytes(),
    };
    let good = json!({ "model": "m", "prompt": "p", "n": 1, "size": "1024x1024" });
    assert_eq!(fault(&request("/v1/images/generations", good.clone())), None);
    for (name, value) in [
        ("n", json!("1")),
        ("n", json!(11)),
        ("size", json!("1x1")),
        ("prompt", json!("")),
        ("prompt", json!(["p"])),
        ("model", Value::Null),
        ("colour", json!("red")),
    ] {
        let mut body = good.clone();
        body[name] = value;
        assert!(fault(&request("/v1/images/generations", body.clone())).is_some(), "{body}");
    }
    for (path, body) in [
        ("/v1/images/generation", good),
        ("/v1/audio/speech", json!({ "model": "m", "input": "x".repeat(4_097), "voice": "alloy" })),
        ("/v1/audio/speech", json!({ "model": "m", "input": "x", "voice": "a", "response_format": "ogg" })),
        ("/v1/chat/completions", json!({ "model": "m", "messages": [] })),
        (
            "/v1/chat/completions",
            json!({ "model": "m", "messages": [{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "x" } }] }] }),
        ),
    ] {
        assert!(fault(&request(path, body.clone())).is_some(), "{path} {body}");
    }
}
