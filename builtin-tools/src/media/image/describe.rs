//! Pictures described: by the endpoints of `tools.image.vision`, with `POST /chat/completions`, or else by the host's model.

use super::super::endpoint::{self, Body, Endpoint, Failure, Turns};
use super::details::{DescribedPicture, ImageDetails};
use super::input::{self, Input};
use super::{ImageRequest, endpoints, needed};
use crate::config::{ImageSettings, MediaProvider};
use crate::media::meter::Expected;
use crate::media::reader::{PictureQuestion, PictureReader};
use data_encoding::BASE64;
use serde_json::{Value, json};
use toolkit::Ask;
use toolkit::output::Detailed;
use toolkit::prelude::*;
use toolkit::text::estimated_tokens;

/// The question where none is given.
const QUESTION: &str = "Describe this picture: what it shows, and the text in it.";
/// Maximum number of bytes of an answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The tokens that a picture is taken for where the endpoint does not report them.
const PICTURE_TOKENS: u64 = 1_500;
/// The tokens that are expected of an answer.
const ANSWER_TOKENS: u64 = 1_000;

/// Looks at a picture and answers a question about it.
pub(super) async fn describe(
    ctx: &ToolContext,
    settings: &ImageSettings,
    request: &ImageRequest,
) -> Result<Detailed<ImageDetails>, ToolError> {
    let place = needed(request, "image", request.image.as_deref())?;
    let question = request.prompt.as_deref().unwrap_or(QUESTION);
    let models: Vec<MediaProvider> =
        settings.vision.iter().filter(|provider| provider.model.is_some()).cloned().collect();
    if models.is_empty() {
        return match ctx.service::<dyn PictureReader>() {
            Some(reader) => by_reader(ctx, &*reader, place, question).await,
            None => Err(ToolError::unavailable(
                "no model that reads pictures is configured: a person has to set `models.default`, or `tools.image.vision`, \
                 such as [{ model: \"gpt-5-mini\", apiKey: \"${env:OPENAI_API_KEY}\" }]",
            )),
        };
    }
    let endpoints = endpoints(settings, &models)?;
    let picture = input::file_or_address(ctx, place).await?;
    let title = title(&picture, &endpoint::names(&endpoints));
    ctx.ask(endpoint::ask("image", title, &endpoints).with_text("prompt", question)).await?;
    let address = format!("data:image/png;base64,{}", BASE64.encode(&picture.png));
    let mut turns = Turns::new(&endpoints);
    let (text, provider) = loop {
        let endpoint = turns.next()?;
        match turns.wait(ctx, by(ctx, endpoint, question, &address)).await {
            Ok(text) => break (text, endpoint.name.clone()),
            Err(failure) => turns.failed(failure)?,
        }
    };
    Ok(described(picture, text, provider))
}

/// Returns the description of a picture by the host's model.
async fn by_reader(
    ctx: &ToolContext,
    reader: &dyn PictureReader,
    place: &str,
    question: &str,
) -> Result<Detailed<ImageDetails>, ToolError> {
    let picture = input::file_or_address(ctx, place).await?;
    let name = reader.name();
    let ask = Ask::new("image", title(&picture, name)).with_pattern(name);
    ctx.ask(ask.with_text("prompt", question)).await?;
    let text = reader.describe(PictureQuestion::new(&picture.png, question, ctx.caller())).await?;
    Ok(described(picture, text, name.to_owned()))
}

/// The title of the question whether a picture may be sent.
fn title(picture: &Input, to: &str) -> String {
    let (width, height) = picture.size;
    format!("Send {} ({width} × {height} pixels) to {to}", picture.shown)
}

fn described(picture: Input, text: String, provider: String) -> Detailed<ImageDetails> {
    let (width, height) = picture.size;
    let output =
        ToolOutput::text(text).with_title(format!("Described {}", crate::titles::short(&picture.shown)));
    let details = DescribedPicture { image: picture.shown, width, height, provider };
    Detailed::new(output, ImageDetails::Described(details))
}

/// Returns the description of a picture by an endpoint's model.
async fn by(
    ctx: &ToolContext,
    endpoint: &Endpoint,
    question: &str,
    address: &str,
) -> Result<String, Failure> {
    let input = PICTURE_TOKENS + estimated_tokens(question) as u64;
    let body = json!({
        "model": endpoint.model(""),
        "messages": [{ "role": "user", "content": [
            { "type": "text", "text": question },
            { "type": "image_url", "image_url": { "url": address } },
        ] }],
    });
    let expected = Expected::tokens(input, ANSWER_TOKENS);
    let answer = endpoint.post(ctx, "chat/completions", Body::Json(body), expected, MAX_ANSWER_BYTES).await?;
    let value: Value =
        serde_json::from_slice(&answer.body).map_err(|_| endpoint.unusable("it is not JSON"))?;
    let message = value.pointer("/choices/0/message");
    let said = |name: &str| message.and_then(|message| message.get(name)).and_then(Value::as_str);
    if let Some(refusal) = said("refusal").filter(|refusal| !refusal.is_empty()) {
        return Err(endpoint.unusable(&format!("the model refused: {}", toolkit::text::escape_line(refusal))));
    }
    let text = said("content").map(str::trim).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| endpoint.unusable("the model said nothing"))?;
    Ok(endpoint.said(text))
}
