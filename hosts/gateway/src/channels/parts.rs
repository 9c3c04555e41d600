//! Divides what leaves into parts that fit the limits of its channel.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolkit_channel::Account;
use toolkit_channel::text::{self, Style};

use crate::store::{Parts, Target};

/// The keys of a body that each part of it has.
const OF_EACH: [&str; 2] = ["silent", "outcome"];

/// The division of the texts for these accounts. Those of other channels are one part.
pub(crate) fn parts_of(accounts: &[Account]) -> Parts {
    let styles: HashMap<(String, String), (Style, Style)> = accounts
        .iter()
        .map(|Account { channel, id, account }| {
            let limits = account.limits();
            let style = account.style();
            let with_max = |max| Style { max, ..style };
            ((channel.clone(), id.clone()), (with_max(limits.text), with_max(limits.caption)))
        })
        .collect();
    Parts::by(move |target: &Target, body| {
        match styles.get(&(target.channel.clone(), target.account.clone())) {
            Some((of_text, of_caption)) => divided(body, *of_text, *of_caption),
            None => vec![body],
        }
    })
}

/// Divides a body with a `text` in Markdown. A reply is the first part, buttons are below the last one.
fn divided(mut body: Value, of_text: Style, of_caption: Style) -> Vec<Value> {
    let Some(markdown) = body.get("text").and_then(Value::as_str).map(str::to_owned) else {
        return vec![body];
    };
    let Some(fields) = body.as_object_mut() else { return vec![body] };
    fields.remove("text");
    let is_edit = fields.get("action").is_some_and(|action| action == "edit");
    let has_file = fields.contains_key("file");
    let mut parts = Vec::new();
    if has_file {
        // A caption that is too long follows as texts.
        let captions = text::split(&markdown, &of_caption);
        match captions.as_slice() {
            [caption] => {
                put(fields, caption);
                return vec![body];
            }
            _ => {
                let followed = Value::Object(fields.clone());
                parts.push(followed);
                fields.retain(|name, _| OF_EACH.contains(&&**name));
            }
        }
    }
    let texts = text::split(&markdown, &of_text);
    let last = texts.len().saturating_sub(1);
    for (place, part) in texts.iter().enumerate() {
        let mut of_part = fields.clone();
        if place > 0 {
            of_part.remove("replyTo");
            if is_edit {
                // The rest, for which the edited message has no room, follows it.
                of_part.remove("action");
                of_part.remove("messageId");
            }
        }
        if place < last {
            of_part.remove("buttons");
        }
        put(&mut of_part, part);
        parts.push(Value::Object(of_part));
    }
    parts
}

fn put(fields: &mut serde_json::Map<String, Value>, part: &text::Part) {
    fields.insert("plain".to_owned(), json!(part.plain));
    if let Some(markup) = &part.markup {
        fields.insert("markup".to_owned(), json!(markup));
    }
}
