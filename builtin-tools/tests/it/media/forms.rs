//! Forms with files, taken apart again.

use toolkit_loopback::Request;

/// A part of a form.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) data: Vec<u8>,
}

fn find(data: &[u8], what: &[u8]) -> Option<usize> {
    data.windows(what.len()).position(|window| window == what)
}

/// The parts of a request, which must be a whole form.
pub(super) fn parts(request: &Request) -> Vec<Part> {
    let kind = request.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let line = format!("--{boundary}");
    let mut rest = request.body.strip_prefix(line.as_bytes()).unwrap();
    let mut parts = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = find(part, format!("\r\n{line}").as_bytes()).unwrap();
        let head_end = find(part, b"\r\n\r\n").unwrap();
        let head = std::str::from_utf8(&part[..head_end]).unwrap();
        let value = |name: &str| {
            let (_, value) = head.split_once(&format!("; {name}=\""))?;
            Some(value.split_once('"')?.0.to_owned())
        };
        parts.push(Part {
            name: value("name").unwrap(),
            file_name: value("filename"),
            media_type: head.split_once("Content-Type: ").map(|(_, kind)| kind.to_owned()),
            data: part[head_end + 4..end].to_vec(),
        });
        rest = &part[end + 2 + line.len()..];
    }
    assert_eq!(rest, b"--\r\n");
    parts
}

/// The text of a part.
pub(super) fn text(parts: &[Part], name: &str) -> Option<String> {
    let part = parts.iter().find(|part| part.name == name)?;
    Some(String::from_utf8(part.data.clone()).unwrap())
}
