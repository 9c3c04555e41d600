//! Bodies of requests: JSON, and forms with files.

use super::file::File;
use crate::Request;
use serde_json::{Map, Value};

/// The content of a request.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Its fields. Those of a form are texts.
    pub(super) fields: Map<String, Value>,
    /// Its files, by the names of their fields.
    pub(super) files: Vec<(String, File)>,
    /// True for a form.
    pub(super) is_form: bool,
}

/// Reads the body of a request.
pub(super) fn read(request: &Request) -> Result<Body, String> {
    if request.method != "POST" {
        return Err(format!("the method of HTTP is {}", request.method));
    }
    let media_type = request.header("content-type").unwrap_or_default();
    if media_type == "application/json" {
        let fields = match serde_json::from_slice(&request.body) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err("the body is not an object".to_owned()),
            Err(error) => return Err(format!("the body is not JSON: {error}")),
        };
        return Ok(Body { fields, ..Body::default() });
    }
    match media_type.strip_prefix("multipart/form-data; boundary=") {
        Some(boundary) => form(&request.body, boundary),
        None => Err(format!("the body is of the type {media_type:?}")),
    }
}

/// Reads a form (RFC 7578).
fn form(body: &[u8], boundary: &str) -> Result<Body, String> {
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    let mut read = Body { is_form: true, ..Body::default() };
    // The first delimiter has no line end before it.
    let mut rest = body.strip_prefix(&delimiter[2..]).ok_or("the form does not begin with its boundary")?;
    loop {
        if let Some(end) = rest.strip_prefix(b"--") {
            return match end {
                b"" | b"\r\n" => Ok(read),
                _ => Err("bytes follow the form".to_owned()),
            };
        }
        rest = rest.strip_prefix(b"\r\n").ok_or("a boundary is not a line of its own")?;
        let end = find(rest, &delimiter).ok_or("the form does not end")?;
        part(&rest[..end], &mut read)?;
        rest = &rest[end + delimiter.len()..];
    }
}

fn part(part: &[u8], read: &mut Body) -> Result<(), String> {
    let end = find(part, b"\r\n\r\n").ok_or("a part has no end of its headers")?;
    let (head, content) = (&part[..end], &part[end + 4..]);
    let head = std::str::from_utf8(head).map_err(|_| "headers of a part are not UTF-8".to_owned())?;
    let (mut disposition, mut media_type) = (None, None);
    for line in head.split("\r\n") {
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("{line:?} is no header"))?;
        match name.to_ascii_lowercase().as_str() {
            "content-disposition" => disposition = Some(value),
            "content-type" => media_type = Some(value),
            _ => return Err(format!("a part has the header {name:?}")),
        }
    }
    let disposition = disposition.and_then(|value| value.strip_prefix("form-data; name=\""));
    let (name, more) =
        disposition.and_then(|rest| rest.split_once('"')).ok_or("a part has no name".to_owned())?;
    let file_name = match more {
        "" => None,
        more => {
            let quoted = more.strip_prefix("; filename=\"").and_then(|rest| rest.strip_suffix('"'));
            let quoted = quoted.filter(|name| !name.is_empty() && !name.contains(['"', '\r', '\n']));
            Some(quoted.ok_or_else(|| format!("{more:?} is no name of a file"))?)
        }
    };
    let is_new = match file_name {
        Some(file_name) => {
            let is_new = read.files.iter().all(|(known, _)| known != name);
            let file = File {
                name: file_name.to_owned(),
                media_type: media_type.unwrap_or("application/octet-stream").to_owned(),
                bytes: content.to_vec(),
            };
            read.files.push((name.to_owned(), file));
            is_new
        }
        None => {
            let text = std::str::from_utf8(content).map_err(|_| format!("`{name}` is not UTF-8"))?;
            read.fields.insert(name.to_owned(), text.into()).is_none()
        }
    };
    if is_new { Ok(()) } else { Err(format!("`{name}` is there twice")) }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(media_type: &str, body: &[u8]) -> Request {
        Request {
            method: "POST".to_owned(),
            path: String::new(),
            headers: vec![("content-type".to_owned(), media_type.to_owned())],
            body: body.to_vec(),
        }
    }

    #[test]
    fn forms() {
        let body = b"--b\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\n\
            content-disposition: form-data; name=\"f\"; filename=\"x.png\"\r\ncontent-type: image/png\r\n\r\n\r\n--c\r\n\r\n--b--\r\n";
        let read = read(&request("multipart/form-data; boundary=b", body)).unwrap();
        assert_eq!(Value::from(read.fields), serde_json::json!({ "a": "1" }));
        let [(name, file)] = read.files.as_slice() else { panic!("{:?}", read.files) };
        assert_eq!(
            (name.as_str(), file.name.as_str(), file.media_type.as_str()),
            ("f", "x.png", "image/png")
        );
        assert_eq!(file.bytes, b"\r\n--c\r\n");
    }

    #[test]
    fn malformed_bodies() {
        let form = "multipart/form-data; boundary=b";
        for (media_type, body, expected) in [
            ("text/plain", "a", "of the type \"text/plain\""),
            ("application/json", "[]", "not an object"),
            ("application/json", "{", "not JSON"),
            (form, "--c\r\n", "does not begin"),
            (form, "--b\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n1", "does not end"),
            (form, "--b\r\nx: y\r\n\r\n1\r\n--b--", "has the header \"x\""),
            (form, "--b\r\ncontent-disposition: form-data\r\n\r\n1\r\n--b--", "no name"),
            (form, "--b--more", "bytes follow"),
        ] {
            let error = read(&request(media_type, body.as_bytes())).unwrap_err();
            assert!(error.contains(expected), "{body:?}: {error}");
        }
    }
}
