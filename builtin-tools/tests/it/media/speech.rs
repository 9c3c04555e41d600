//! `tts` by an endpoint.

use super::{KEY, audio, denying, documented, provider, speaking, toolbox, wav};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, output::Retry, tool_ref};
use toolkit_loopback::{Answer, Loopback, Request};

/// Speaks 100 frames for each request.
async fn speaker() -> Loopback {
    documented::serve(|request: &Request| match request.json()["response_format"].as_str() {
        Some("mp3") => {
            Answer::bytes(200, [&b"ID3\x04"[..], &[7; 20]].concat()).with_header("content-type", "audio/mpeg")
        }
        Some("opus") => Answer::bytes(200, &b"OggS rest"[..]).with_header("content-type", "audio/ogg"),
        _ => Answer::bytes(200, wav(100, 5)).with_header("content-type", "audio/wav"),
    })
    .await
}

#[tokio::test]
async fn a_text_is_sent_once_and_its_audio_returned() {
    let server = speaker().await;
    let toolbox = speaking(server.url());
    let call = toolbox.call(json!({ "text": " Hello there. ", "save_as": "out/hello.wav" })).await;
    assert_eq!(audio(&call), (wav(100, 5), "audio/wav".to_owned()));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/audio/speech"));
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        requests[0].json(),
        json!({ "model": "voice-1", "input": "Hello there.", "voice": "alloy", "response_format": "wav" })
    );
    assert_eq!(toolbox.workspace().read_bytes("out/hello.wav"), wav(100, 5));
    let path = toolbox.workspace().path().canonicalize().unwrap().join("out/hello.wav");
    assert!(call.text().ends_with(&format!("\nMEDIA:{}", path.display())), "{}", call.text());
    assert_eq!(call.expect_ok().attachments, [path]);
    let details = call.details();
    assert_eq!(
        (&details["path"], &details["format"], &details["bytes"], &details["pieces"]),
        (&json!("out/hello.wav"), &json!("wav"), &json!(244), &json!(1))
    );
    assert!((details["durationSeconds"].as_f64().unwrap() - 0.0125).abs() < 1e-9);
    // The text leaves this machine, and a file is written.
    let asked: Vec<String> = call.asks.iter().map(toolkit::approval::PendingAsk::to_text).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].contains("speak 12 characters") && asked[0].contains("Hello there."), "{}", asked[0]);
    assert!(!format!("{call:?}").contains(KEY));
}

#[tokio::test]
async fn formats_follow_from_what_is_said() {
    let server = speaker().await;
    let toolbox = speaking(server.url());
    for (arguments, format, media_type) in [
        (json!({}), "wav", "audio/wav"),
        (json!({ "format": "mp3" }), "mp3", "audio/mpeg"),
        (json!({ "format": "opus" }), "opus", "audio/ogg"),
        (json!({ "channel": "telegram" }), "opus", "audio/ogg"),
        (json!({ "channel": " WhatsApp" }), "opus", "audio/ogg"),
        (json!({ "channel": "irc" }), "wav", "audio/wav"),
        (json!({ "channel": "telegram", "format": "wav" }), "wav", "audio/wav"),
        (json!({ "save_as": "a.mp3" }), "mp3", "audio/mpeg"),
        (json!({ "save_as": "a.ogg" }), "opus", "audio/ogg"),
        (json!({ "voice": "nova", "format": "wav" }), "wav", "audio/wav"),
    ] {
        let mut arguments = arguments;
        arguments["text"] = json!("Hello.");
        let call = toolbox.call(arguments.clone()).await;
        assert_eq!(audio(&call).1, media_type, "{arguments}");
        let last = server.requests().pop().unwrap().json();
        assert_eq!(last["response_format"], format, "{arguments}");
        assert_eq!(last["voice"], arguments.get("voice").cloned().unwrap_or(json!("alloy")));
    }
    let wrong = toolbox.call(json!({ "text": "a", "format": "mp3", "save_as": "a.wav" })).await;
    let error = wrong.expect_error(ToolErrorKind::InvalidArguments).message().to_owned();
    assert!(error.contains("the file must end with `.mp3`"), "{error}");
}

#[tokio::test]
async fn a_long_text_is_joined_from_sentences() {
    let server = speaker().await;
    let toolbox = speaking(server.url());
    let sentence = "This sentence has exactly forty-six letters.. ";
    let text = sentence.repeat(50_000 / sentence.len());
    let call = toolbox.call(json!({ "text": text, "format": "wav" })).await;
    let requests = server.requests();
    assert!((12..=16).contains(&requests.len()), "{}", requests.len());
    let inputs: Vec<String> =
        requests.iter().map(|request| request.json()["input"].as_str().unwrap().to_owned()).collect();
    assert!(inputs.iter().all(|input| input.chars().count() <= 4_000 && input.ends_with('.')));
    assert_eq!(inputs.join(" "), text.trim());
    assert_eq!(audio(&call).0, wav(100 * requests.len(), 5));
    assert_eq!(call.details()["pieces"], requests.len());
}

#[tokio::test]
async fn a_piece_that_has_to_wait_does_not_lose_those_before() {
    let text = "A sentence of a long text. ".repeat(400);
    for (limited, is_spoken) in [(1, true), (usize::MAX, false)] {
        let asked = AtomicUsize::new(0);
        let server = Loopback::start(move |_: &Request| match asked.fetch_add(1, Ordering::SeqCst) {
            at if at >= 1 && at - 1 < limited => {
                let error = json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } });
                Answer::json(429, &error).with_header("retry-after", "1")
            }
            _ => Answer::bytes(200, wav(100, 5)).with_header("content-type", "audio/wav"),
        })
        .await;
        let outcome = speaking(server.url()).call(json!({ "text": text, "save_as": "long.wav" })).await;
        if is_spoken {
            outcome.expect_ok();
        } else {
            let error = outcome.expect_error(ToolErrorKind::Unavailable);
            assert!(error.message().contains("1 of 3 pieces of the text had been spoken"), "{error}");
            assert_eq!(error.retry(), Retry::Never);
            assert_eq!(server.requests().len(), 1 + 4);
        }
    }
}

#[tokio::test]
async fn speech_whose_place_was_taken_is_kept() {
    let place = Arc::new(Mutex::new(None::<std::path::PathBuf>));
    let taken = Arc::clone(&place);
    let server = Loopback::start(move |_: &Request| {
        std::fs::write(taken.lock().unwrap().as_ref().unwrap(), "of somebody else").unwrap();
        Answer::bytes(200, wav(100, 5)).with_header("content-type", "audio/wav")
    })
    .await;
    let toolbox = speaking(server.url());
    *place.lock().unwrap() = Some(toolbox.workspace().path().join("race.wav"));
    let call = toolbox.call(json!({ "text": "Hello.", "save_as": "race.wav" })).await;
    let path = call.expect_ok().attachments[0].clone();
    assert_eq!(std::fs::read(&path).unwrap(), wav(100, 5));
    assert!(call.text().contains("is kept for 7 days"), "{}", call.text());
    assert_eq!(toolbox.workspace().read_bytes("race.wav"), b"of somebody else");
}

#[tokio::test]
async fn without_a_name_the_file_is_kept_in_the_data_directory() {
    let server = speaker().await;
    let toolbox = speaking(server.url());
    let call = toolbox.call(json!({ "text": "Hello." })).await;
    let path = call.expect_ok().attachments[0].clone();
    assert!(path.starts_with(toolbox.workspace().data_dir().join("media")), "{}", path.display());
    assert_eq!(std::fs::read(&path).unwrap(), wav(100, 5));
    assert!(toolbox.workspace().files().is_empty());
    assert_eq!(call.details()["path"].as_str(), path.to_str());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn the_directory_of_kept_files_has_a_limit() {
    let server = speaker().await;
    let settings = json!({ "tts": { "providers": [provider(server.url())] }, "media": { "keepDays": 2, "maxTotalBytes": 1 << 20 } });
    let toolbox = toolbox(tool_ref!(builtin_tools::media::tts), &settings);
    let directory = toolbox.workspace().data_dir().join("media");
    std::fs::create_dir_all(&directory).unwrap();
    for (name, hours, bytes) in
        [("old", 49, 1), ("first", 30, 600_000), ("second", 20, 400_000), ("third", 10, 400_000)]
    {
        let file = std::fs::File::create(directory.join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(hours)).unwrap();
    }
    let call = toolbox.call(json!({ "text": "Hello." })).await;
    let path = call.expect_ok().attachments[0].clone();
    let is_there = |name: &str| directory.join(name).exists();
    let found = ["old", "first", "second", "third"].map(is_there);
    assert_eq!((found, path.exists()), ([false, false, true, true], true));
}

#[tokio::test]
async fn nothing_is_sent_that_a_person_denies() {
    let server = speaker().await;
    let settings = json!({ "tts": { "providers": [provider(server.url())] } });
    let toolbox = denying(tool_ref!(builtin_tools::media::tts), &settings);
    toolbox.call(json!({ "text": "Hello." })).await.expect_error(ToolErrorKind::Denied);
    assert!(server.requests().is_empty() && toolbox.workspace().files().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_ends_the_request() {
    let server = Loopback::start(|_: &Request| Answer::Hang).await;
    let token = CancellationToken::new();
    let toolbox = speaking(server.url()).options(CallOptions::new().cancel(token.clone()));
    let (call, ()) = tokio::join!(toolbox.call(json!({ "text": "Hello." })), async {
        server.received(1).await;
        token.cancel();
    });
    call.expect_error(ToolErrorKind::Aborted);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_blank_text_is_refused() {
    let server = speaker().await;
    for text in [Value::from(" \n "), Value::from("")] {
        let call = speaking(server.url()).call(json!({ "text": text })).await;
        call.expect_error(ToolErrorKind::InvalidArguments);
    }
    assert!(server.requests().is_empty());
}
