//! Answers over HTTP stay below 1 MiB, whatever a call returns.

use super::TOKEN;
use super::clients::{Client, House};
use serde_json::{Value, json};

/// Reads a resource piece by piece, and returns its bytes.
async fn read(client: &mut Client, uri: &str) -> Vec<u8> {
    let (mut whole, mut next, mut pieces) = (Vec::new(), Some(uri.to_owned()), 0);
    while let Some(uri) = next {
        let message =
            json!({"jsonrpc": "2.0", "id": 50 + pieces, "method": "resources/read", "params": {"uri": uri}});
        let answered = client.post(message).await;
        assert!(answered.text.len() < 1 << 20, "{} bytes", answered.text.len());
        let contents = answered.message()["result"]["contents"][0].take();
        match (contents["text"].as_str(), contents["blob"].as_str()) {
            (Some(text), None) => {
                assert!(text.len() <= 256 << 10, "{}", text.len());
                whole.extend(text.as_bytes());
            }
            (None, Some(blob)) => {
                assert!(blob.len() <= 256 << 10, "{}", blob.len());
                whole.extend(data_encoding::BASE64.decode(blob.as_bytes()).unwrap());
            }
            _ => panic!("{contents}"),
        }
        next = contents["_meta"]["next"].as_str().map(str::to_owned);
        pieces += 1;
    }
    assert!(pieces > 1, "in one piece");
    whole
}

fn links(message: &Value) -> Vec<(String, String)> {
    let content = message["result"]["content"].as_array().unwrap_or_else(|| panic!("{message}"));
    let links = content.iter().filter(|block| block["type"] == "resource_link");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    links.map(|link| (text(&link["uri"]), text(&link["mimeType"]))).collect()
}

#[tokio::test]
async fn pictures_beyond_the_limit_of_a_message_are_linked_and_read_in_pieces() {
    let house = House::new(None).await;
    let mut client = house.begin(TOKEN, false).await;
    let answered = client.start_call("pictures").await.whole().await;
    assert!(answered.text.len() < 1 << 20, "{} bytes", answered.text.len());
    let message = answered.message();
    let content = message["result"]["content"].as_array().unwrap();
    assert_eq!(content.iter().filter(|block| block["type"] == "image").count(), 1, "{content:?}");
    assert!(content[0]["text"].as_str().unwrap().contains("the links of this result lead to them"));
    let links = links(&message);
    assert_eq!(links.len(), 2);
    for (number, (uri, kind)) in (1_u8..).zip(links) {
        assert!(uri.starts_with("toolkit://output/") && kind == "image/png", "{uri} {kind}");
        assert!(read(&mut client, &uri).await == vec![number; 300_000]);
    }
}

#[tokio::test]
async fn text_whose_characters_json_escapes_is_read_in_small_pieces() {
    let house = House::new(None).await;
    let mut client = house.begin(TOKEN, false).await;
    let message = client.call("controls").await;
    let [(uri, _)] = &links(&message)[..] else { panic!("no link") };
    assert!(read(&mut client, uri).await == "\u{1}".repeat(3_000_000).as_bytes());
}
