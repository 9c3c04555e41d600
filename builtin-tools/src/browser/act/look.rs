//! Looking at a page: as a tree, as a picture, on paper, by its console.

use super::{Call, Done};
use crate::browser::cdp::CdpError;
use crate::browser::element::{Needs, ready};
use crate::browser::page::COMMAND;
use crate::browser::{files, snapshot};
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::fmt::Write as _;
use toolkit::prelude::*;
use toolkit::{Content, text::escape_line};

/// The most pixels of a picture, downwards.
const MAX_HEIGHT: f64 = 8_000.0;
/// The most pixels of a picture, across.
const MAX_WIDTH: f64 = 4_000.0;
/// The most bytes of a PNG; a larger picture becomes a JPEG.
const MAX_PNG_BYTES: usize = 3 << 20;
/// The most bytes of a PDF file.
const MAX_PDF_BYTES: usize = 64 << 20;
/// Bytes of a PDF file that are read at once.
const PIECE: usize = 1 << 20;

pub(super) async fn snapshot(call: &Call<'_>) -> Result<Done, ToolError> {
    let page = &call.page;
    let frames = snapshot::read(page).await?;
    let is_cut = frames.is_cut;
    let (text, before) = {
        let mut state = page.shared.lock();
        let tab = state.tab_mut(page.number).ok_or(CdpError::Detached)?;
        let text = snapshot::render(&frames, &mut tab.refs);
        let before = tab.snapshot.replace(text.clone());
        (text, before)
    };
    let mut done = match (call.args.diff, before) {
        (true, Some(before)) => match snapshot::changes(&before, &text) {
            Some(changes) => {
                Done { page: Some(changes), ..Done::looked("The changes since the last snapshot:") }
            }
            None => Done::looked("Nothing changed since the last snapshot."),
        },
        (true, None) => Done {
            page: Some(text),
            ..Done::looked("There is no earlier snapshot of this page, so this is a full one:")
        },
        (false, _) => Done { page: Some(text), ..Done::looked("The page:") },
    };
    if is_cut {
        done.notes.push("The page is so large that parts of it are left out.".to_owned());
    }
    Ok(done)
}

pub(super) async fn screenshot(call: &Call<'_>) -> Result<Done, ToolError> {
    let page = &call.page;
    let mut params = json!({ "format": "png" });
    let mut done = Done::looked("A picture of the page:");
    if let Some(locator) = call.args.locator()? {
        let (_, place) = ready(page, &locator, Needs::SHOWN, &call.deadline).await?;
        let metrics = page.call("Page.getLayoutMetrics", json!({})).await?;
        let scrolled = |key: &str| metrics["cssVisualViewport"][key].as_f64().unwrap_or_default();
        params["clip"] = json!({
            "x": place.left + scrolled("pageX"), "y": place.top + scrolled("pageY"),
            "width": place.width.min(MAX_WIDTH), "height": place.height.min(MAX_HEIGHT), "scale": 1,
        });
        params["captureBeyondViewport"] = true.into();
        done.said = format!("A picture of {}:", locator.shown());
    } else if call.args.full_page {
        let metrics = page.call("Page.getLayoutMetrics", json!({})).await?;
        let size = |key: &str| metrics["cssContentSize"][key].as_f64().unwrap_or(1.0).max(1.0);
        let (width, height) = (size("width"), size("height"));
        if width > MAX_WIDTH || height > MAX_HEIGHT {
            done.notes.push(format!(
                "The page has {width} x {height} pixels; the picture shows the first {} x {}.",
                width.min(MAX_WIDTH),
                height.min(MAX_HEIGHT)
            ));
        }
        params["clip"] = json!({ "x": 0, "y": 0, "width": width.min(MAX_WIDTH), "height": height.min(MAX_HEIGHT), "scale": 1 });
        params["captureBeyondViewport"] = true.into();
    }
    let mut media_type = "image/png";
    let mut picture = capture(call, params.clone()).await?;
    if picture.len() > MAX_PNG_BYTES {
        params["format"] = "jpeg".into();
        params["quality"] = 75.into();
        (picture, media_type) = (capture(call, params).await?, "image/jpeg");
    }
    if let Some(path) = &call.args.path {
        let written = files::write(call.ctx, path, picture.clone(), "a picture of a page").await?;
        done.notes.push(format!("Written to {}.", written.shown));
        done.files.push(written.path);
    }
    done.pictures.push(Content::image(picture, media_type));
    Ok(done)
}

async fn capture(call: &Call<'_>, params: Value) -> Result<Vec<u8>, ToolError> {
    let answer = call.page.call("Page.captureScreenshot", params).await?;
    decoded(&answer["data"])
}

fn decoded(data: &Value) -> Result<Vec<u8>, ToolError> {
    let data = data.as_str().unwrap_or_default().as_bytes();
    BASE64.decode(data).map_err(|_| ToolError::failed("the browser sent data that cannot be read"))
}

pub(super) async fn pdf(call: &Call<'_>) -> Result<Done, ToolError> {
    let page = &call.page;
    let params = json!({ "printBackground": true, "transferMode": "ReturnAsStream" });
    let printed = page.call("Page.printToPDF", params).await?;
    let stream = printed["stream"].clone();
    let read = read_stream(call, &stream).await;
    page.commands.post(Some(&page.session), "IO.close", &json!({ "handle": stream }));
    let pdf = read?;
    let path = call.args.path.as_deref().unwrap_or("page.pdf");
    let bytes = pdf.len();
    let written = files::write(call.ctx, path, pdf, "a page as PDF").await?;
    let said = format!("Wrote the page to {} ({bytes} bytes).", written.shown);
    Ok(Done { files: vec![written.path], ..Done::looked(said) })
}

async fn read_stream(call: &Call<'_>, stream: &Value) -> Result<Vec<u8>, ToolError> {
    let page = &call.page;
    let mut all = Vec::new();
    loop {
        let params = json!({ "handle": stream, "size": PIECE });
        let piece = page.commands.call(Some(&page.session), "IO.read", params, COMMAND).await?;
        if piece["base64Encoded"] == true {
            all.extend(decoded(&piece["data"])?);
        } else {
            all.extend_from_slice(piece["data"].as_str().unwrap_or_default().as_bytes());
        }
        if all.len() > MAX_PDF_BYTES {
            return Err(ToolError::failed(format!(
                "the PDF file is larger than {MAX_PDF_BYTES} bytes; take pictures instead"
            )));
        }
        if piece["eof"] == true {
            return Ok(all);
        }
    }
}

pub(super) fn console(call: &Call<'_>) -> Done {
    let mut state = call.page.shared.lock();
    let Some(tab) = state.tab_mut(call.page.number) else { return Done::looked("The tab is closed.") };
    let dropped = tab.console.dropped;
    let messages = tab.console.take();
    if messages.is_empty() {
        return Done::looked("The console has no new messages.");
    }
    let mut list = String::new();
    for message in &messages {
        let _ = writeln!(list, "[{}] {}", message.level.name(), escape_line(&message.text));
    }
    let mut done =
        Done { page: Some(list), ..Done::looked(format!("{} new messages of the console:", messages.len())) };
    if dropped > 0 {
        done.notes.push(format!("{dropped} older messages were dropped."));
    }
    done
}
