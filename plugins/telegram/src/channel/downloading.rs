//! Files that came with messages.

use super::errors::{self, RECEIVING};
use crate::request::Bot;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use toolkit_channel::{Media, ReceiveError};

/// A file, as the Bot API describes it.
#[derive(Deserialize)]
struct File {
    file_path: Option<String>,
    file_size: Option<u64>,
}

/// Gets the bytes of a file, and keeps at most `max` of them in memory.
pub(super) async fn fetch(bot: &Bot, media: &Media, max: u64) -> Result<Bytes, ReceiveError> {
    let payload = errors::json(&json!({ "file_id": media.reference }))?;
    let file = bot.call(&RECEIVING, "getFile", payload, bot.timeout()).await;
    let File { file_path, file_size } = file.map_err(errors::receive)?;
    if file_size.is_some_and(|size| size > max) {
        return Err(too_long(max));
    }
    let path = file_path.ok_or_else(|| ReceiveError::new("Telegram gives no path for the file"))?;
    let request = bot.file(&path).ok_or_else(|| {
        ReceiveError::new(
            "the path that Telegram gives for the file is none of its address: a server of the Bot API in local mode is not \
             supported",
        )
    })?;
    let request = request.timeout(bot.transfer_timeout(max));
    let lost = |error| {
        ReceiveError::new(format!(
            "the file cannot be fetched from Telegram ({})",
            toolkit_http::reason(error)
        ))
    };
    let mut response = request.send().await.map_err(lost)?;
    let status = response.status();
    if !status.is_success() {
        let wait = toolkit_http::retry_after(response.headers());
        let reason = format!("Telegram does not give the file (HTTP status {})", status.as_u16());
        return Err(ReceiveError::new(reason).with_retry_after(wait));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if (bytes.len() + chunk.len()) as u64 > max {
            return Err(too_long(max));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

fn too_long(max: u64) -> ReceiveError {
    ReceiveError::new(format!("the file has more than {max} bytes, which is the limit"))
}
