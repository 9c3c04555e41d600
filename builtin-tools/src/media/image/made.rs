//! Pictures in the answer of an endpoint.

use super::super::endpoint::{Answer, Endpoint, Failure};
use super::input;
use crate::picture::{self, Picture};
use data_encoding::BASE64;
use serde_json::Value;
use toolkit::prelude::*;

/// Maximum number of pixels per side that are kept of a picture.
const MAX_SIDE: u32 = 8_192;

/// A picture that an endpoint made.
pub(super) struct Made {
    /// Its PNG file.
    pub(super) png: Vec<u8>,
    pub(super) size: (u32, u32),
    /// As a model gets it.
    pub(super) shown: Picture,
    /// The prompt as the endpoint changed it.
    pub(super) revised_prompt: Option<String>,
}

/// Reads the pictures of an answer. They are decoded and written anew: an endpoint is not trusted more than any other place.
pub(super) async fn pictures(
    ctx: &ToolContext,
    endpoint: &Endpoint,
    answer: &Answer,
    most: usize,
) -> Result<Vec<Made>, Failure> {
    let value: Value =
        serde_json::from_slice(&answer.body).map_err(|_| endpoint.unusable("it is not JSON"))?;
    let entries = value.get("data").and_then(Value::as_array).filter(|entries| !entries.is_empty());
    let entries = entries.ok_or_else(|| endpoint.unusable("it holds no pictures"))?;
    let mut made = Vec::new();
    for entry in entries.iter().take(most) {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let data = match (text("b64_json"), text("url")) {
            (Some(encoded), _) => {
                let encoded: Vec<u8> = encoded.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64.decode(&encoded).map_err(|_| endpoint.unusable("a picture is not Base64"))?
            }
            (None, Some(address)) => input::made(ctx, endpoint, address).await.map_err(|error| {
                endpoint.unusable(&format!("its picture cannot be fetched: {}", error.message()))
            })?,
            (None, None) => return Err(endpoint.unusable("an entry holds no picture")),
        };
        let revised_prompt = text("revised_prompt").map(|text| endpoint.said(text));
        let work = move |token: &toolkit::CancellationToken| {
            let decoded = picture::decoded("the picture", &data, MAX_SIDE, &input::check(token))?;
            let (png, size) = (picture::png(&decoded)?, (decoded.width(), decoded.height()));
            let shown = picture::for_model("the picture", png.clone(), &input::check(token))?;
            Ok(Made { png, size, shown, revised_prompt })
        };
        made.push(ctx.blocking(work).await.map_err(|error| endpoint.unusable(error.message()))?);
    }
    Ok(made)
}
