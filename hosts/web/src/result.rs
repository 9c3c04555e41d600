//! The result of a call as JSON.

use crate::access::Access;
use crate::clients::Client;
use crate::files;
use crate::limits::{MAX_FILES, MAX_RESULT_MEDIA};
use crate::media::Medium;
use crate::problems::NO_ROOM;
use crate::room::Share;
use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use std::path::Path;
use toolkit::output::{Attachment, Resource, ResourceBody};
use toolkit::{Content, ToolError, ToolOutput, ToolResult, Toolbox};

/// The way in which pictures, sounds, documents and files are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Within the answer, as Base64.
    #[default]
    Inline,
    /// By the path of a later request.
    Reference,
}

/// The place that a medium has in the JSON: a pointer to its object.
type Pointer = String;

/// Returns the JSON of a result: `id`, `name`, `isError`, `content`, and what else there is; and the room that its data takes on its way.
pub(crate) async fn json_of(
    result: ToolResult,
    toolbox: &Toolbox,
    client: &Client,
    access: &Access,
    delivery: Delivery,
) -> (Value, Option<Share>) {
    let ToolResult { id, name, outcome, .. } = result;
    let mut shown = json!({ "id": id, "name": name, "isError": outcome.is_err() });
    match outcome {
        Err(error) => {
            add_error(&mut shown, &error);
            (shown, None)
        }
        Ok(output) => {
            let media = add_output(&mut shown, output, toolbox, &name, access).await;
            let room = deliver(&mut shown, media, client, delivery);
            (shown, room)
        }
    }
}

fn add_error(shown: &mut Value, error: &ToolError) {
    shown["content"] = json!([Content::text(error.message())]);
    let mut told = json!({ "kind": error.kind().to_string(), "message": error.message() });
    match error.retry() {
        toolkit::output::Retry::Now => told["retryAfterMs"] = 0.into(),
        toolkit::output::Retry::After(time) => {
            told["retryAfterMs"] = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).into();
        }
        _ => {}
    }
    shown["error"] = told;
    if let Some(title) = error.title() {
        shown["title"] = title.into();
    }
}

/// Adds the parts of an output, and returns its media with the places of their objects.
async fn add_output(
    shown: &mut Value,
    output: ToolOutput,
    toolbox: &Toolbox,
    tool: &str,
    access: &Access,
) -> Vec<(Pointer, Medium)> {
    let attached = output.attached_files();
    let ToolOutput { content, details, title, mut metadata, files_modified, .. } = output;
    let mut media = Vec::new();
    let mut room = MAX_RESULT_MEDIA;
    let mut blocks = Vec::new();
    for (place, block) in content.into_iter().enumerate() {
        let (block, medium) = block_of(block, &mut room);
        media.extend(medium.map(|medium| (format!("/content/{place}"), medium)));
        blocks.push(block);
    }
    shown["content"] = blocks.into();
    if let Some(details) = details {
        shown["structured"] = details;
    }
    if let Some(title) = title {
        shown["title"] = title.into();
    }
    // The record of what was cut names files of the host.
    let cut = metadata.shift_remove("truncation");
    if cut.is_some() || metadata.get("truncated") == Some(&Value::Bool(true)) {
        shown["truncated"] = true.into();
    }
    if let Some(cut) = cut.filter(|_| access.is_owner()) {
        metadata.insert("truncation".to_owned(), cut);
    }
    if !access.is_owner() {
        metadata.retain(|_, value| !value.as_str().is_some_and(|text| Path::new(text).is_absolute()));
    }
    if !metadata.is_empty() {
        shown["metadata"] = metadata.into();
    }
    if !files_modified.is_empty() && access.is_owner() {
        let paths = files_modified.iter().map(|path| Value::from(path.to_string_lossy())).collect::<Vec<_>>();
        shown["filesModified"] = paths.into();
    }
    if !attached.is_empty() {
        let mut entries = Vec::new();
        let count = attached.len();
        for (place, file) in attached.into_iter().take(MAX_FILES).enumerate() {
            let (entry, medium) = file_of(&file, toolbox, tool, access, &mut room).await;
            media.extend(medium.map(|medium| (format!("/files/{place}"), medium)));
            entries.push(entry);
        }
        if count > MAX_FILES {
            entries.push(
                json!({ "name": "", "error": format!("{} more files are left out", count - MAX_FILES) }),
            );
        }
        shown["files"] = entries.into();
    }
    media
}

/// Returns a block without its data, and the data if there is room for it.
fn block_of(block: Content, room: &mut usize) -> (Value, Option<Medium>) {
    let (mut shown, mime_type, data) = match block {
        Content::Image { data, mime_type } => (json!({ "type": "image" }), mime_type, data.0),
        Content::Audio { data, mime_type } => (json!({ "type": "audio" }), mime_type, data.0),
        Content::Resource { resource: Resource { uri, mime_type, body: ResourceBody::Blob(data), .. } } => {
            let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            (json!({ "type": "blob", "uri": uri }), mime_type, data.0)
        }
        other => return (json!(other), None),
    };
    shown["mimeType"] = mime_type.as_str().into();
    shown["bytes"] = data.len().into();
    if data.len() > *room {
        shown["error"] = format!("a result has {MAX_RESULT_MEDIA} bytes of data at most").into();
        return (shown, None);
    }
    *room -= data.len();
    (shown, Some(Medium { mime_type, name: None, data: data.into() }))
}

async fn file_of(
    file: &Attachment,
    toolbox: &Toolbox,
    tool: &str,
    access: &Access,
    room: &mut usize,
) -> (Value, Option<Medium>) {
    let name = file_name(&file.path);
    let mut shown = Map::new();
    shown.insert("name".to_owned(), name.as_str().into());
    shown.insert("mimeType".to_owned(), file.mime_type.as_str().into());
    if access.is_owner() {
        shown.insert("path".to_owned(), file.path.to_string_lossy().into());
    }
    match files::read(toolbox, tool, &file.path, *room).await {
        Ok(data) => {
            *room -= data.len();
            shown.insert("bytes".to_owned(), data.len().into());
            let medium = Medium { mime_type: file.mime_type.clone(), name: Some(name), data: data.into() };
            (shown.into(), Some(medium))
        }
        Err(unread) => {
            shown.insert("error".to_owned(), unread.reason(access.is_owner()).into());
            (shown.into(), None)
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns a result without its content, for a client that has no room for it: the outcome is told.
pub(crate) fn without_content(shown: &Value, bytes: usize) -> Value {
    let why = format!("the call has ended, and its answer of {bytes} bytes is not sent: {NO_ROOM}");
    let mut short = json!({ "truncated": true, "content": [Content::text(&*why)] });
    for key in ["id", "name", "isError"] {
        short[key] = shown[key].clone();
    }
    if let Some(error) = shown.get("error") {
        short["error"] = json!({ "kind": error["kind"], "message": why });
    }
    short
}

/// Adds the data of media to their objects, or the paths of later requests. Returns the room that data takes on its way.
fn deliver(
    shown: &mut Value,
    media: Vec<(Pointer, Medium)>,
    client: &Client,
    delivery: Delivery,
) -> Option<Share> {
    let (places, media): (Vec<Pointer>, Vec<Medium>) = media.into_iter().unzip();
    if media.is_empty() {
        return None;
    }
    if delivery == Delivery::Reference {
        let kept = client.media.keep(media);
        for (number, place) in places.iter().enumerate() {
            match &kept {
                Some(id) => set(shown, place, "href", format!("/v1/results/{id}/{number}").into()),
                None => {
                    let why = "there is no room to keep it; call without `media=reference`";
                    set(shown, place, "error", why.into());
                }
            }
        }
        return None;
    }
    let bytes = media.iter().map(|medium| BASE64.encode_len(medium.data.len())).sum();
    let room = client.sent.take(bytes);
    for (place, medium) in places.iter().zip(&media) {
        if room.is_some() {
            set(shown, place, "data", BASE64.encode(&medium.data).into());
        } else {
            set(shown, place, "error", NO_ROOM.into());
        }
    }
    room
}

fn set(shown: &mut Value, place: &str, key: &str, value: Value) {
    if let Some(Value::Object(object)) = shown.pointer_mut(place) {
        object.insert(key.to_owned(), value);
    }
}
