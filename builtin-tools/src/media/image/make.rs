//! Pictures made and changed: `POST /images/generations` and `POST /images/edits`.

use super::super::endpoint::{self, Body, Endpoint, Failure, Turns};
use super::super::form::Form;
use super::super::kept;
use super::super::meter::Expected;
use super::details::{ImageDetails, MadePicture, MadePictures};
use super::input::{self, Input};
use super::made::{self, Made};
use super::{ImageAction, ImageRequest, MAX_PICTURES, endpoints, needed};
use crate::config::ImageSettings;
use crate::files::saved::{self, Allowed};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{Content, ToolErrorKind, output::Detailed, text::escape_line};

/// The model where none is configured.
const MODEL: &str = "gpt-image-2";
/// Maximum number of bytes of an answer, for each of its pictures.
const MAX_ANSWER_BYTES: usize = 48 << 20;
/// Maximum number of words of a prompt in the name of a file.
const MAX_NAME_WORDS: usize = 6;
/// Maximum number at the end of a file name.
const MAX_NUMBER: u32 = 1_000;

/// Makes or changes pictures.
pub(super) async fn make(
    ctx: &ToolContext,
    settings: &ImageSettings,
    request: &ImageRequest,
) -> Result<Detailed<ImageDetails>, ToolError> {
    let prompt = needed(request, "prompt", request.prompt.as_deref())?;
    let count = request.n.clamp(1, MAX_PICTURES);
    let endpoints = endpoints(settings, &settings.providers)?;
    if endpoints.is_empty() {
        return Err(ToolError::unavailable(
            "no endpoint is configured that makes pictures: a person has to set the variable OPENAI_API_KEY, or `tools.image.providers`, such \
             as [{ baseUrl: \"http://localhost:8080/v1\", model: \"…\" }]",
        ));
    }
    let inputs = inputs(ctx, request).await?;
    let places = places(ctx, request, prompt, count).await?;
    let verb = if inputs.is_some() { "Change" } else { "Make" };
    let pictures = if count == 1 { "a picture".to_owned() } else { format!("{count} pictures") };
    let title =
        format!("{verb} {pictures} of {} pixels by {}", request.size.name(), endpoint::names(&endpoints));
    let ask = endpoint::ask("image", title, &endpoints).with_text("prompt", prompt);
    let ask = inputs.iter().flat_map(|(image, mask)| [Some(image), mask.as_ref()]).flatten().fold(
        ask,
        |ask, input| {
            let (width, height) = input.size;
            ask.with_text("sends", format!("{} ({width} × {height} pixels)", input.shown))
        },
    );
    ctx.ask(ask).await?;
    // Asked before anything is charged.
    let mut allowed = Vec::new();
    for place in places {
        allowed.push(place.allow("a PNG picture").await?);
    }
    let mut turns = Turns::new(&endpoints);
    let (made, provider) = loop {
        let endpoint = turns.next()?;
        match turns.wait(ctx, by(ctx, endpoint, request, prompt, count, inputs.as_ref())).await {
            Ok(made) => break (made, endpoint.name.clone()),
            Err(failure) => turns.failed(failure)?,
        }
    };
    output(ctx, made, allowed, provider, count).await
}

/// The pictures, as an endpoint makes them.
async fn by(
    ctx: &ToolContext,
    endpoint: &Endpoint,
    request: &ImageRequest,
    prompt: &str,
    count: usize,
    inputs: Option<&(Input, Option<Input>)>,
) -> Result<Vec<Made>, Failure> {
    let (most, expected) = (MAX_ANSWER_BYTES * count, Expected::images(count, prompt));
    let (model, size) = (endpoint.model(MODEL), request.size.name());
    let Some((image, mask)) = inputs else {
        let body = json!({ "model": model, "prompt": prompt, "n": count, "size": size });
        let answer = endpoint.post(ctx, "images/generations", Body::Json(body), expected, most).await?;
        return made::pictures(ctx, endpoint, &answer, count).await;
    };
    let form = Form::new().map_err(|error| Failure { error, was_refused: false })?;
    let form =
        form.text("model", model).text("prompt", prompt).text("n", &count.to_string()).text("size", size);
    let form = form.file("image", "image.png", "image/png", &image.png);
    let form = match mask {
        Some(mask) => form.file("mask", "mask.png", "image/png", &mask.png),
        None => form,
    };
    let answer = endpoint.post(ctx, "images/edits", Body::Form(form), expected, most).await?;
    made::pictures(ctx, endpoint, &answer, count).await
}

/// The pictures that are sent, with `action: "edit"`.
async fn inputs(
    ctx: &ToolContext,
    request: &ImageRequest,
) -> Result<Option<(Input, Option<Input>)>, ToolError> {
    let invalid = |message: String| Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
    if request.action == ImageAction::Generate {
        return if request.image.is_some() || request.mask.is_some() {
            invalid(
                "`image` and `mask` are for `action: \"edit\"`; leave them out, or change the action"
                    .to_owned(),
            )
        } else {
            Ok(None)
        };
    }
    let image = input::file(ctx, needed(request, "image", request.image.as_deref())?).await?;
    let Some(mask) = request.mask.as_deref() else { return Ok(Some((image, None))) };
    let mask = input::file(ctx, mask).await?;
    if mask.size != image.size {
        return invalid(format!(
            "{} has {} × {} pixels and {} has {} × {}; a mask has to have the size of its picture",
            mask.shown, mask.size.0, mask.size.1, image.shown, image.size.0, image.size.1
        ));
    }
    if !mask.has_alpha {
        return invalid(format!(
            "{} has no transparent part, so nothing would be changed; make the part to change transparent",
            mask.shown
        ));
    }
    Ok(Some((image, Some(mask))))
}

/// Returns the places of the pictures' files.
async fn places(
    ctx: &ToolContext,
    request: &ImageRequest,
    prompt: &str,
    count: usize,
) -> Result<Vec<saved::Place>, ToolError> {
    let mut places = Vec::new();
    if let Some(path) = &request.save_as {
        for number in 1..=count {
            let path = if count == 1 { path.clone() } else { numbered(path, number) };
            places.push(saved::place(ctx, &path, &["png"]).await?);
        }
        return Ok(places);
    }
    // A free name of our own: what is there is not replaced.
    let name = file_name(prompt);
    for number in 1..=MAX_NUMBER {
        if places.len() == count {
            return Ok(places);
        }
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let place = saved::place(ctx, Path::new(&format!("images/{name}{end}.png")), &["png"]).await;
        match place {
            Ok(place) if place.is_new() => places.push(place),
            Ok(_) => {}
            // Something that the session does not know is there.
            Err(error) if error.kind() == ToolErrorKind::Failed => {}
            Err(error) => return Err(error),
        }
    }
    Err(ToolError::failed("`images/` has no free name for this picture; give `save_as`"))
}

/// `a.png` as `a-2.png`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// The first words of a prompt, as the name of a file.
fn file_name(prompt: &str) -> String {
    let words = prompt.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: Vec<String> = words.take(MAX_NAME_WORDS).map(str::to_ascii_lowercase).collect();
    let name: String = name.join("-").chars().take(60).collect();
    if name.is_empty() { "picture".to_owned() } else { name }
}

async fn output(
    ctx: &ToolContext,
    made: Vec<Made>,
    allowed: Vec<Allowed>,
    provider: String,
    wanted: usize,
) -> Result<Detailed<ImageDetails>, ToolError> {
    let count = made.len();
    let mut text = match count {
        1 => format!("made a picture by {provider}"),
        _ => format!("made {count} pictures by {provider}"),
    };
    if count < wanted {
        text = format!(
            "{text}\n(it made {count} of the {wanted} pictures that were requested; call again for more)"
        );
    }
    let (mut output, mut images, mut media) = (ToolOutput::default(), Vec::new(), String::new());
    let mut blocks = Vec::new();
    for (made, allowed) in made.into_iter().zip(allowed) {
        let (width, height) = made.size;
        // A paid result is kept elsewhere if its file cannot be written.
        let (path, shown, notes) = match allowed.write(ctx, made.png.clone()).await {
            Ok(saved) => (saved.path, Some(saved.shown), saved.notes),
            Err(error) => {
                let kept = kept::keep(ctx, "png", made.png.clone()).await?;
                let note = kept.note(&error);
                (kept.path, None, vec![note])
            }
        };
        let name = shown.clone().unwrap_or_else(|| escape_line(&path.to_string_lossy()).into_owned());
        text = format!("{text}\n{name}: {width} × {height} pixels, {} bytes", made.png.len());
        if let Some(revised) = &made.revised_prompt {
            let revised: String = escape_line(revised).chars().take(500).collect();
            text = format!("{text}\n(the prompt was changed to: {revised})");
        }
        for note in notes {
            text = format!("{text}\n({note})");
        }
        media = format!("{media}\nMEDIA:{}", escape_line(&path.to_string_lossy()));
        images.push(MadePicture { path: name, width, height, bytes: made.png.len() });
        output = output.with_attachment(&path);
        if shown.is_some() {
            output = output.with_file_modified(path);
        }
        blocks.push(Content::image(made.shown.data, made.shown.mime_type));
    }
    let output = output.with_content(format!("{text}{media}"));
    let output = blocks.into_iter().fold(output, ToolOutput::with_content);
    let title = if count == 1 { "Made a picture".to_owned() } else { format!("Made {count} pictures") };
    let details = ImageDetails::Made(MadePictures { images, provider });
    Ok(Detailed::new(output.with_title(title), details))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for (prompt, expected) in [
            ("A lighthouse at dusk, as a woodcut!", "a-lighthouse-at-dusk-as-a"),
            ("../../etc/passwd", "etc-passwd"),
            ("ein Löwe", "ein-l-we"),
            ("猫", "picture"),
            (&"x".repeat(100), &"x".repeat(60)),
        ] {
            assert_eq!(file_name(prompt), expected);
        }
        assert_eq!(numbered(Path::new("out/a.png"), 2), Path::new("out/a-2.png"));
    }
}
