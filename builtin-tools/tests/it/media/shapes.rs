//! Requests have the shapes that the provider's own types document.

use super::{documented, forms, provider, speaking, toolbox, wav, writing_down};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use toolkit::tool_ref;
use toolkit_loopback::{Answer, Request};

/// Checks pairs of a type's name and a value.
const CHECK: &str = "
import json, sys
from typing_extensions import Required, get_args, get_origin, get_type_hints
from openai.types import image_edit_params, image_generate_params
from openai.types.audio import SpeechCreateParams, transcription_create_params
from openai.types.chat import completion_create_params
from pydantic import TypeAdapter
types = {
    'speech': SpeechCreateParams,
    'transcription': transcription_create_params.TranscriptionCreateParamsNonStreaming,
    'image': image_generate_params.ImageGenerateParamsNonStreaming,
    'edit': image_edit_params.ImageEditParamsNonStreaming,
    'chat': completion_create_params.CompletionCreateParamsNonStreaming,
}
files = ('file', 'image', 'mask')
for name, value in json.load(sys.stdin):
    hints = get_type_hints(types[name], include_extras=True)
    required = {key for key, hint in hints.items() if get_origin(hint) is Required}
    assert required <= set(value) <= set(hints), (name, required, set(value))
    if name == 'edit':
        value['n'] = int(value['n'])
    for key in set(value) - set(files):
        hint = get_args(hints[key])[0] if key in required else hints[key]
        TypeAdapter(hint).validate_python(value[key], strict=True)
print('checked')
";

/// A PNG file of one transparent pixel.
fn pixel() -> Vec<u8> {
    let mut data = std::io::Cursor::new(Vec::new());
    image::RgbaImage::new(1, 1).write_to(&mut data, image::ImageFormat::Png).unwrap();
    data.into_inner()
}

fn python() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/tools/python/bin/python")
}

#[tokio::test]
#[ignore = "needs Python packages: cargo xtask test"]
async fn every_request_fits_the_types_of_the_provider() {
    let server = documented::serve(|request: &Request| match request.path.as_str() {
        "/v1/audio/speech" => Answer::bytes(200, wav(1, 1)).with_header("content-type", "audio/wav"),
        "/v1/audio/transcriptions" => Answer::json(200, &json!({ "text": "Hello." })),
        "/v1/chat/completions" => {
            Answer::json(200, &json!({ "choices": [{ "message": { "content": "A boat." } }] }))
        }
        _ => Answer::json(200, &json!({ "data": [{ "b64_json": data_encoding::BASE64.encode(&pixel()) }] })),
    })
    .await;
    speaking(server.url()).call(json!({ "text": "Hello.", "voice": "nova" })).await.expect_ok();
    speaking(server.url()).call(json!({ "text": "Hello." })).await.expect_ok();
    let listening = writing_down(server.url()).file("a.wav", wav(1, 1));
    listening.call(json!({ "audio": "a.wav", "language": "de", "prompt": "Ada" })).await.expect_ok();
    listening.call(json!({ "audio": "a.wav" })).await.expect_ok();
    let providers = json!([provider(server.url())]);
    let settings = json!({ "image": { "providers": providers, "vision": providers } });
    let painting = toolbox(tool_ref!(builtin_tools::media::image), &settings).file("a.png", pixel());
    painting.call(json!({ "prompt": "A boat", "size": "1792x1024", "n": 2 })).await.expect_ok();
    painting
        .call(json!({ "action": "edit", "prompt": "x", "image": "a.png", "mask": "a.png" }))
        .await
        .expect_ok();
    painting.call(json!({ "action": "describe", "image": "a.png" })).await.expect_ok();
    let value = |request: &Request| match request.path.as_str() {
        "/v1/audio/speech" => json!(["speech", request.json()]),
        "/v1/images/generations" => json!(["image", request.json()]),
        "/v1/chat/completions" => json!(["chat", request.json()]),
        path => {
            let name = if path.ends_with("edits") { "edit" } else { "transcription" };
            let parts = forms::parts(request).into_iter();
            let parts =
                parts.map(|part| (part.name, Value::from(String::from_utf8_lossy(&part.data).into_owned())));
            json!([name, parts.collect::<Map<_, _>>()])
        }
    };
    let values: Vec<Value> = server.requests().iter().map(value).collect();
    assert_eq!(values.len(), 7);
    let mut child = Command::new(python())
        .args(["-c", CHECK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &values).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "checked\n");
}
