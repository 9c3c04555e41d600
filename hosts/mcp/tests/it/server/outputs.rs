//! Outputs that are too long for an answer.

use super::{GENERATIONS, Person, connect, nothing, text};
use rmcp::model::{ContentBlock, ReadResourceRequestParams, ResourceContents};
use toolkit::prelude::*;
use toolkit::tool_ref;

/// Says more than fits: three megabytes, in which characters of three bytes stand.
#[tool(read_only)]
async fn floods() -> String {
    "wörtlich: ein Zeichen ist ☃ davon\n".repeat(100_000)
}

#[tokio::test]
async fn what_is_cut_can_be_read_whole() {
    for version in &GENERATIONS {
        let connected = connect(version, Person::default(), Toolkit::empty().tool(tool_ref!(floods))).await;
        let result = connected.call("floods", nothing()).await;
        let whole = "wörtlich: ein Zeichen ist ☃ davon\n".repeat(100_000);
        assert!(text(&result).len() < 100_000);
        let link = result.content.iter().find_map(|block| block.as_resource_link()).unwrap();
        assert_eq!(link.size, Some(whole.len() as u64));
        let listed = connected.client.list_all_resources().await.unwrap();
        assert_eq!(listed.iter().map(|resource| &resource.uri).collect::<Vec<_>>(), [&link.uri]);
        let (mut read, mut next, mut parts) = (String::new(), Some(link.uri.clone()), 0);
        while let Some(uri) = next {
            let part = connected.client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
            let ResourceContents::TextResourceContents { text, meta, .. } = &part.contents[0] else {
                panic!("no text")
            };
            assert!(text.len() <= 256 << 10, "{}", text.len());
            read.push_str(text);
            next = meta.as_ref().and_then(|meta| Some(meta.0.get("next")?.as_str()?.to_owned()));
            parts += 1;
        }
        assert!(read == whole && parts > 2, "{} of {} bytes in {parts} parts", read.len(), whole.len());
        assert!(matches!(result.content[0], ContentBlock::Text(_)));
        drop(connected.directory);
    }
}

#[tokio::test]
async fn nothing_else_can_be_read() {
    let connected =
        connect(&GENERATIONS[0], Person::default(), Toolkit::empty().tool(tool_ref!(floods))).await;
    connected.call("floods", nothing()).await;
    let known = connected.client.list_all_resources().await.unwrap()[0].uri.clone();
    for uri in [
        "toolkit://output/".to_owned(),
        "toolkit://output/../../etc/passwd".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("{known}?offset=-1"),
        format!("{known}?offset=x"),
        format!("{known}/.."),
    ] {
        let error =
            connected.client.read_resource(ReadResourceRequestParams::new(uri.clone())).await.unwrap_err();
        assert!(error.to_string().contains("no such resource"), "{uri}: {error}");
    }
}
