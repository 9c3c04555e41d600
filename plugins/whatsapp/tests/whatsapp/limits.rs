//! Messages that are refused before anything is sent.

use super::bench::{Bench, cloud_api, contact, place, with};
use serde_json::json;
use toolkit::ToolErrorKind;
use toolkit_loopback::Loopback;

#[tokio::test]
async fn what_whatsapp_would_refuse_is_never_sent() {
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    let card = |more| contact(more);
    for (name, arguments, expected) in [
        ("whatsapp_send_location", with(place(), json!({ "latitude": 90.1 })), "/latitude"),
        ("whatsapp_send_location", with(place(), json!({ "longitude": -180.1 })), "/longitude"),
        ("whatsapp_send_location", json!({ "latitude": 1 }), "/longitude"),
        ("whatsapp_send_location", with(place(), json!({ "name": "" })), "/name"),
        ("whatsapp_send_location", with(place(), json!({ "name": "x".repeat(1_001) })), "/name"),
        ("whatsapp_send_location", with(place(), json!({ "to": "0650555123" })), "/to"),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1650555" })).clone(), ""),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1234567890123456" })), "/to"),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1 650 555" })), "/to"),
        ("whatsapp_send_contact", json!({ "contacts": [] }), "/contacts"),
        (
            "whatsapp_send_contact",
            json!({ "contacts": vec![json!({ "name": { "formatted_name": "A" } }); 258] }),
            "/contacts",
        ),
        ("whatsapp_send_contact", json!({ "contacts": [{ "name": {} }] }), "/contacts/0/name/formatted_name"),
        (
            "whatsapp_send_contact",
            json!({ "contacts": [{ "name": { "formatted_name": " " } }] }),
            "`contacts[0]`.name.formatted_name is blank",
        ),
        ("whatsapp_send_contact", card(json!({ "birthday": "23.01.1999" })), "/contacts/0/birthday"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1999-02-29" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1900-02-29" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1999-04-31" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "0000-01-01" })), "no day of any calendar"),
        (
            "whatsapp_send_contact",
            card(json!({ "phones": [{ "type": "WORK" }] })),
            "/contacts/0/phones/0/phone",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "phones": [{ "phone": "1", "wa_id": "+1" }] })),
            "/contacts/0/phones/0/wa_id",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "emails": [{ "email": "nobody" }] })),
            "/contacts/0/emails/0/email",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "urls": [{ "url": "javascript:alert(1)" }] })),
            "/contacts/0/urls/0/url",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "addresses": [{ "country_code": "USA" }] })),
            "/contacts/0/addresses/0/country_code",
        ),
        ("whatsapp_send_contact", card(json!({ "picture": "x" })), "/contacts/0/picture"),
    ] {
        if expected.is_empty() {
            // Seven digits are the fewest.
            assert!(!bench.call(name, arguments).await.is_error());
            continue;
        }
        let error = bench.error(name, arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
        assert!(error.message().contains(expected), "{arguments}: {error}");
    }
    assert_eq!(server.requests().len(), 1);
}
