//! Content of a response by its type: a page, data, an image, a PDF file.

use super::super::extract::{self, Form};
use super::{PageFormat, charset, pdf};
use toolkit::prelude::*;
use toolkit_http::Response;
use toolkit_http::http::HeaderMap;
use toolkit_http::http::header::CONTENT_TYPE;

/// Maximum size of a shown image in bytes, which providers of models accept.
const MAX_PICTURE_BYTES: usize = 3_750_000;

/// A document.
pub(super) struct Document {
    pub(super) title: Option<String>,
    pub(super) shown: Shown,
    /// A note for the reader.
    pub(super) note: Option<&'static str>,
}

/// The part of a document that is shown.
pub(super) enum Shown {
    Text(String),
    Picture { data: Vec<u8>, media_type: &'static str },
}

impl Document {
    fn text(text: String) -> Self {
        Self { title: None, shown: Shown::Text(text), note: None }
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.shown {
            Shown::Text(text) => text.len(),
            Shown::Picture { data, .. } => data.len(),
        }
    }
}

/// Returns the media type of a response in lower case, without parameters; empty if the header is missing or invalid.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if name.contains('/') { name } else { String::new() }
}

fn charset_of(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let parameter = value.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    });
    Some(parameter?.trim().trim_matches(['"', '\'']).to_owned())
}

/// Makes a document of a response.
pub(super) async fn document(
    ctx: &ToolContext,
    response: Response,
    format: PageFormat,
) -> Result<Document, ToolError> {
    let (media_type, charset) = (media_type(&response.headers), charset_of(&response.headers));
    let (url, body) = (response.url.to_string(), response.body);
    match kind(&media_type, &body) {
        Kind::Picture(media_type) => {
            if body.len() > MAX_PICTURE_BYTES {
                let size = body.len();
                return Err(ToolError::failed(format!(
                    "the picture is too large to be shown: {size} bytes, more than {MAX_PICTURE_BYTES}; use a smaller one"
                )));
            }
            Ok(Document { title: None, shown: Shown::Picture { data: body, media_type }, note: None })
        }
        Kind::Pdf => Ok(Document::text(pdf::text(&body).await?)),
        Kind::Other => Err(ToolError::failed(format!(
            "the address leads to a file that cannot be shown: {} bytes of the type {}; use another source",
            body.len(),
            if media_type.is_empty() { "that the server does not name" } else { &media_type }
        ))),
        Kind::Json => {
            let text = charset::decoded(&body, charset.as_deref(), false);
            let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
            let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
            Ok(Document::text(pretty.unwrap_or(text)))
        }
        Kind::Text => Ok(Document::text(charset::decoded(&body, charset.as_deref(), false))),
        Kind::Page => {
            let page = move || {
                let html = charset::decoded(&body, charset.as_deref(), true);
                let form = match format {
                    PageFormat::Markdown => Form::Markdown,
                    PageFormat::Text => Form::Text,
                    PageFormat::Html => {
                        return Document {
                            title: extract::title(&html),
                            shown: Shown::Text(html),
                            note: None,
                        };
                    }
                };
                let page = extract::extract(&html, &url, form);
                Document { title: page.title, shown: Shown::Text(page.text), note: page.note }
            };
            ctx.blocking(move |_| Ok(page())).await
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Json,
    Text,
    Picture(&'static str),
    Pdf,
    Other,
}

/// Returns the kind of a body: images and PDF files by their first bytes, other content by its media type, or by its form if the
/// type is not informative.
fn kind(media_type: &str, body: &[u8]) -> Kind {
    let is_source = matches!(media_type, "text/html" | "application/xhtml+xml");
    if !is_source {
        if let Some(picture) = picture(body) {
            return Kind::Picture(picture);
        }
        if body[..body.len().min(1024)].windows(5).any(|bytes| bytes == b"%PDF-")
            && (media_type == "application/pdf" || body.starts_with(b"%PDF-"))
        {
            return Kind::Pdf;
        }
    }
    let is_text = || !body.contains(&0);
    match media_type {
        "text/html" | "application/xhtml+xml" => Kind::Page,
        "application/json" | "text/json" => Kind::Json,
        "" | "application/octet-stream" | "application/x-unknown" | "application/unknown" => {
            if looks_like_a_page(body) {
                Kind::Page
            } else if is_text() && std::str::from_utf8(body).is_ok() {
                Kind::Text
            } else {
                Kind::Other
            }
        }
        "application/xml"
        | "application/javascript"
        | "application/ecmascript"
        | "application/x-javascript"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/sql"
        | "application/graphql"
        | "application/x-sh"
        | "application/x-tex"
        | "application/rtf"
        | "application/x-httpd-php"
        | "application/csv"
        | "application/x-subrip"
        | "application/typescript" => Kind::Text,
        other if other.ends_with("+json") => Kind::Json,
        other if other.ends_with("+xml") || other.ends_with("+yaml") => Kind::Text,
        other if other.starts_with("text/") && (is_text() || has_mark(body)) => Kind::Text,
        _ => Kind::Other,
    }
}

/// UTF-16 has zeros.
fn has_mark(body: &[u8]) -> bool {
    body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff")
}

fn looks_like_a_page(body: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&body[..body.len().min(512)]).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype html", "<html", "<head", "<body", "<title"].iter().any(|start| head.starts_with(start))
}

fn picture(body: &[u8]) -> Option<&'static str> {
    match body {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let png = b"\x89PNG\r\n\x1a\n....".as_slice();
        for (media_type, body, expected) in [
            ("text/html", b"hello".as_slice(), Kind::Page),
            ("text/html", png, Kind::Page),
            ("", b"<!DOCTYPE html><p>", Kind::Page),
            ("", b"\xef\xbb\xbf \n<HTML>", Kind::Page),
            ("application/octet-stream", b"plain", Kind::Text),
            ("application/octet-stream", b"a\0b", Kind::Other),
            ("text/plain", b"<html>", Kind::Text),
            ("text/plain", b"a\0b", Kind::Other),
            ("text/plain", b"\xff\xfea\0", Kind::Text),
            ("text/markdown", b"# a", Kind::Text),
            ("text/csv", b"a,b", Kind::Text),
            ("application/json", b"{}", Kind::Json),
            ("application/ld+json", b"{}", Kind::Json),
            ("application/rss+xml", b"<rss>", Kind::Text),
            ("image/svg+xml", b"<svg>", Kind::Text),
            ("image/png", png, Kind::Picture("image/png")),
            ("application/octet-stream", png, Kind::Picture("image/png")),
            ("image/png", b"not a picture", Kind::Other),
            ("application/pdf", b"%PDF-1.7", Kind::Pdf),
            ("", b"%PDF-1.7", Kind::Pdf),
            ("application/zip", b"PK", Kind::Other),
            ("video/mp4", b"text", Kind::Other),
        ] {
            assert_eq!(kind(media_type, body), expected, "{media_type} {body:?}");
        }
    }
}
