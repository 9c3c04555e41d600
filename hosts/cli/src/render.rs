//! A tool's answer as text.

use toolkit::{
    Content, ToolOutput,
    output::{Resource, ResourceBody},
};

/// The part of a result that was saved to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    Text,
    /// The bytes of the attached file.
    File,
    /// The bytes of the block at this place.
    Block(usize),
}

/// All blocks, joined by a newline as the model gets the text blocks, with a newline at the end.
pub(crate) fn text(output: &ToolOutput, saved: Option<Saved>) -> String {
    let blocks = output.content.iter().enumerate();
    let blocks = blocks.map(|(index, content)| block(content, saved == Some(Saved::Block(index))));
    let mut text = blocks.collect::<Vec<_>>().join("\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn block(content: &Content, is_saved: bool) -> String {
    let hint = if is_saved { "" } else { "; --save FILE writes it" };
    let bytes = |kind: &str, length: usize| format!("[{kind}, {length} bytes{hint}]");
    match content {
        Content::Text { text }
        | Content::Resource { resource: Resource { body: ResourceBody::Text(text), .. } } => text.clone(),
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            bytes(mime_type, data.0.len())
        }
        Content::ResourceLink { uri, name, .. } => format!("[{name}: {uri}]"),
        Content::Resource { resource: Resource { uri, mime_type, body: ResourceBody::Blob(data), .. } } => {
            let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
            bytes(&format!("{uri}, {kind}"), data.0.len())
        }
        _ => "[a block that only `-o json` shows]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let image = || Content::image(*b"1234", "image/png");
        let link = Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            description: None,
            mime_type: None,
        };
        let document = |resource| Content::Resource { resource };
        for (blocks, saved, expected) in [
            (vec![], None, ""),
            (vec![Content::text("")], None, ""),
            (vec![Content::text("a")], None, "a\n"),
            (vec![Content::text("a\n")], None, "a\n"),
            (vec![Content::text("a\n\n")], Some(Saved::Text), "a\n\n"),
            (vec![Content::text("a"), Content::text("b")], None, "a\nb\n"),
            (vec![Content::text("a"), image()], None, "a\n[image/png, 4 bytes; --save FILE writes it]\n"),
            (
                vec![image(), image()],
                Some(Saved::Block(0)),
                "[image/png, 4 bytes]\n[image/png, 4 bytes; --save FILE writes it]\n",
            ),
            (vec![link], None, "[a: file:///a]\n"),
            (vec![document(Resource::text("x:1", "t"))], None, "t\n"),
            (
                vec![document(Resource::blob("x:1", *b"12"))],
                None,
                "[x:1, application/octet-stream, 2 bytes; --save FILE writes it]\n",
            ),
        ] {
            let mut output = ToolOutput::default();
            output.content = blocks;
            assert_eq!(text(&output, saved), expected, "{:?}", output.content);
        }
    }
}
