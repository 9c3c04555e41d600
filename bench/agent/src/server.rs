//! A server of Chat Completions that answers by a script: the name of the model says how.
//!
//! * `calls-N` calls the tool N times at once, and then answers in words;
//! * `turns-N` calls it once in each of N turns, and then answers in words.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The bodies of all requests.
pub(crate) type Bodies = Arc<Mutex<Vec<Vec<u8>>>>;

/// Starts the server on a thread, and returns its address. Bodies are kept if there is a place for them.
pub(crate) fn start(bodies: Option<Bodies>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bodies = bodies.clone();
            thread::spawn(move || serve(&stream, bodies.as_ref()));
        }
    });
    url
}

fn serve(stream: &TcpStream, bodies: Option<&Bodies>) {
    let _ = stream.set_nodelay(true);
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    while let Some(body) = request(&mut reader) {
        let answer = answer(&body);
        if let Some(bodies) = bodies {
            bodies.lock().expect("nobody panics").push(body);
        }
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

/// Reads a request; `None` at the end of the connection.
fn request(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

/// The whole response to a request.
fn answer(body: &[u8]) -> Vec<u8> {
    let request: Value = serde_json::from_slice(body).expect("a request is JSON");
    let (kind, number) = request["model"]
        .as_str()
        .and_then(|name| name.split_once('-'))
        .expect("the model is `calls-N` or `turns-N`");
    let number: usize = number.parse().expect("a number");
    let messages = request["messages"].as_array().expect("messages");
    let answered = messages.iter().filter(|message| message["role"] == "assistant").count();
    let calls = match kind {
        "calls" if answered == 0 => number,
        "turns" if answered < number => 1,
        _ => 0,
    };
    let calls: Vec<Value> = (0..calls)
        .map(|call| {
            let function = json!({"name": "noop", "arguments": json!({"number": answered + call}).to_string()});
            json!({"index": call, "id": format!("call_{answered}_{call}"), "type": "function", "function": function})
        })
        .collect();
    let (message, reason) = if calls.is_empty() {
        (json!({"role": "assistant", "content": "It is done."}), "stop")
    } else {
        (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    let head = json!({"id": "1", "created": 1, "model": "m"});
    let with = |more: Value| {
        let mut all = head.clone();
        for (name, value) in more.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        all
    };
    let (kind, body) = if request["stream"] == true {
        let chunk = |choice: Value| {
            let chunk = with(json!({"object": "chat.completion.chunk", "choices": [choice]}));
            format!("data: {chunk}\n\n")
        };
        let usage = with(json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}));
        let body = chunk(json!({"index": 0, "delta": message, "finish_reason": null}))
            + &chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}))
            + &format!("data: {usage}\n\ndata: [DONE]\n\n");
        ("text/event-stream", body)
    } else {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        let body = with(json!({"object": "chat.completion", "choices": [choice], "usage": usage}));
        ("application/json", body.to_string())
    };
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}
