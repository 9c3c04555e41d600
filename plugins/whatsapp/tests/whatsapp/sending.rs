//! Requests, and their results.

use super::bench::{Bench, cloud_api, contact, place};
use serde_json::{Value, json};
use toolkit_loopback::Loopback;

#[tokio::test]
async fn messages_are_sent_as_they_are_documented() {
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    let whole = json!({ "contacts": [{
        "name": { "formatted_name": "Dr. Barbara J. Johnson", "first_name": "Barbara", "last_name": "Johnson", "middle_name": "J.", "prefix": "Dr.", "suffix": "Esq." },
        "phones": [{ "phone": "+16505559999", "type": "WORK", "wa_id": "16505559999" }, { "phone": "555" }],
        "emails": [{ "email": "barbara@example.com", "type": "WORK" }],
        "org": { "company": "Lucky Shrub", "department": "Legal", "title": "Lead Counsel" },
        "addresses": [{ "street": "1 Lucky Shrub Way", "city": "Menlo Park", "state": "CA", "zip": "94025", "country": "United States", "country_code": "US", "type": "WORK" }],
        "urls": [{ "url": "https://www.luckyshrub.com", "type": "WORK" }],
        "birthday": "2000-02-29",
    }], "reply_to": "wamid.X" });
    let many = json!({ "contacts": vec![json!({ "name": { "formatted_name": "A" } }); 257] });
    for (name, arguments, expected) in [
        (
            "whatsapp_send_location",
            place(),
            json!({
                "to": "+16505551234", "type": "location",
                "location": { "latitude": "37.44216251868683", "longitude": "-122.16153582049394", "name": "Philz Coffee" },
            }),
        ),
        (
            "whatsapp_send_location",
            json!({ "latitude": -90, "longitude": 180, "to": "4915112345678", "reply_to": "wamid.Y" }),
            json!({
                "to": "+4915112345678", "context": { "message_id": "wamid.Y" }, "location": { "latitude": "-90", "longitude": "180" },
            }),
        ),
        (
            "whatsapp_send_location",
            json!({ "latitude": 1e-7, "longitude": 0, "address": "Nowhere" }),
            json!({
                "location": { "latitude": "0.0000001", "longitude": "0", "address": "Nowhere" },
            }),
        ),
        (
            "whatsapp_send_contact",
            whole.clone(),
            json!({
                "type": "contacts", "contacts": whole["contacts"], "context": { "message_id": "wamid.X" },
            }),
        ),
        (
            "whatsapp_send_contact",
            contact(json!({})),
            json!({
                "contacts": [{ "name": { "formatted_name": "Barbara J. Johnson", "first_name": "Barbara J. Johnson" } }],
            }),
        ),
        ("whatsapp_send_contact", many, json!({ "to": "+16505551234" })),
    ] {
        let result = bench.call(name, arguments.clone()).await;
        assert!(!result.is_error(), "{arguments}: {}", result.text());
        let sent: Value = serde_json::from_str(&result.text()).unwrap();
        assert!(sent["message_id"].as_str().unwrap().starts_with("wamid."), "{sent}");
        let body = server.requests().last().unwrap().json();
        assert_eq!(sent["wa_id"], body["to"].as_str().unwrap().trim_start_matches('+'));
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&body[key], value, "{key} of {body}");
        }
    }
}
