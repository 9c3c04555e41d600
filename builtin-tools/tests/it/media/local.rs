//! `tts` by espeak-ng, measured.

#![expect(clippy::cast_precision_loss, reason = "audio has few samples")]

use super::{audio, toolbox};
use crate::commands::house;
use serde_json::json;
use toolkit::ToolErrorKind;
use toolkit::testing::TestToolbox;
use toolkit::tool_ref;

fn speaking() -> TestToolbox {
    toolbox(tool_ref!(builtin_tools::media::tts), &json!({}))
}

/// The samples of a WAV file with one channel of 16 bits, and their rate.
fn samples(file: &[u8]) -> (Vec<i16>, u32) {
    assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
    assert_eq!((&file[20..24], &file[34..36]), (&[1, 0, 1, 0][..], &[16, 0][..]));
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(number(4) as usize, file.len() - 8);
    assert_eq!((&file[36..40], number(40) as usize), (&b"data"[..], file.len() - 44));
    let samples = file[44..].chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
    (samples.collect(), number(24))
}

/// The square root of the mean square, as a share of the loudest possible.
fn loudness(samples: &[i16]) -> f64 {
    let sum: f64 = samples.iter().map(|sample| f64::from(*sample).powi(2)).sum();
    (sum / f64::from(u32::try_from(samples.len().max(1)).unwrap())).sqrt() / 32_768.0
}

#[tokio::test]
#[ignore = "needs espeak-ng: cargo xtask test"]
async fn speech_is_as_long_and_as_loud_as_its_text() {
    assert!(house::is_whole(), "this system has no sandbox");
    let toolbox = speaking();
    let call = toolbox
        .call(json!({ "text": "The quick brown fox jumps over the lazy dog.", "save_as": "fox.wav" }))
        .await;
    let (file, media_type) = audio(&call);
    assert_eq!(media_type, "audio/wav");
    assert_eq!(toolbox.workspace().read_bytes("fox.wav"), file);
    let (short, rate) = samples(&file);
    let seconds = short.len() as f64 / f64::from(rate);
    // Nine words at 175 words a minute are three seconds.
    assert!((1.5..6.0).contains(&seconds), "{seconds}");
    assert!((call.details()["durationSeconds"].as_f64().unwrap() - seconds).abs() < 0.01);
    assert!((0.01..0.5).contains(&loudness(&short)), "{}", loudness(&short));
    let call =
        toolbox.call(json!({ "text": "The quick brown fox jumps over the lazy dog. ".repeat(4) })).await;
    let (long, _) = samples(&audio(&call).0);
    let ratio = long.len() as f64 / short.len() as f64;
    assert!((3.0..5.0).contains(&ratio), "{ratio}");
    let other =
        toolbox.call(json!({ "text": "The quick brown fox jumps over the lazy dog.", "voice": "de" })).await;
    assert_ne!(audio(&other).0, file);
}

#[tokio::test]
#[ignore = "needs espeak-ng: cargo xtask test"]
async fn a_text_of_fifty_thousand_characters_is_one_file() {
    assert!(house::is_whole(), "this system has no sandbox");
    let toolbox = speaking();
    let text = "The tide turns twice a day, and nobody stops it. ".repeat(1_021);
    assert!(text.len() > 50_000);
    let call = toolbox.call(json!({ "text": text, "save_as": "long.wav" })).await;
    let output = call.expect_ok();
    let (samples, rate) = samples(&toolbox.workspace().read_bytes("long.wav"));
    // 10,210 words at 175 words a minute are 58 minutes.
    let minutes = samples.len() as f64 / f64::from(rate) / 60.0;
    assert!((30.0..90.0).contains(&minutes), "{minutes}");
    for part in samples.chunks_exact(samples.len() / 20) {
        assert!(loudness(part) > 0.01);
    }
    assert_eq!(call.details()["pieces"], 13);
    assert!(
        call.text().contains("the audio is too large to be returned here; it is in the file"),
        "{}",
        call.text()
    );
    assert_eq!(output.content.len(), 1);
}

#[tokio::test]
#[ignore = "needs espeak-ng: cargo xtask test"]
async fn wrong_voices_and_missing_encoders_are_told() {
    assert!(house::is_whole(), "this system has no sandbox");
    let toolbox = speaking();
    let call = toolbox.call(json!({ "text": "Hello.", "voice": "zz-none" })).await;
    let error = call.expect_error(ToolErrorKind::InvalidArguments).message().to_owned();
    assert!(error.contains("espeak-ng has no voice `zz-none`"), "{error}");
    for voice in ["-w/tmp/x", "../x", "a b"] {
        toolbox
            .call(json!({ "text": "Hello.", "voice": voice }))
            .await
            .expect_error(ToolErrorKind::InvalidArguments);
    }
    // A text that looks like an option or a control is spoken like any other.
    let call = toolbox.call(json!({ "text": "-w out.wav\u{0}\u{7} --help <speak>" })).await;
    assert!(loudness(&samples(&audio(&call).0).0) > 0.005);
    assert!(toolbox.workspace().files().is_empty());
}
