//! Fields: typing, keys, lists.

use super::{Call, Done};
use crate::browser::arguments::invalid;
use crate::browser::element::{Needs, find, ready};
use crate::browser::input;
use crate::browser::page::millis;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::text::escape_line;

pub(super) async fn type_text(call: &Call<'_>) -> Result<Done, ToolError> {
    let (page, locator) = (&call.page, call.args.needed_locator()?);
    let text = call.args.needed(call.args.text.as_deref(), "text")?;
    let (element, _) = ready(page, &locator, Needs::FIELD, &call.deadline).await?;
    let on = element.on();
    let answer = page.run(&on, "edit", &[text.into(), call.args.append.into()], Duration::ZERO).await?;
    if let Some(error) = answer["error"].as_str() {
        return Err(ToolError::failed(format!(
            "nothing was typed into {}: {}",
            locator.shown(),
            escape_line(error)
        )));
    }
    if answer["done"] != true && !(text.is_empty() && call.args.append) {
        input::insert(page, text).await?;
    }
    // A page may shorten or format what is typed.
    let now = page.run(&on, "value", &[], Duration::ZERO).await.unwrap_or_default();
    if call.args.submit {
        let enter = input::chord("Enter").map_err(invalid)?;
        input::press(page, &enter).await?;
    }
    let mut done = Done::acted(format!("Typed into {}.", locator.shown()));
    let is_other = |now: &str| if call.args.append { !now.ends_with(text) } else { now != text };
    if let Some(now) = now.as_str().filter(|now| is_other(now)) {
        let now: String = now.chars().take(500).collect();
        done.page = Some(format!("The field now has: {}", escape_line(&now)));
    }
    Ok(done)
}

pub(super) async fn press(call: &Call<'_>) -> Result<Done, ToolError> {
    let text = call.args.needed(call.args.key.as_deref(), "key")?;
    let chord = input::chord(text).map_err(|error| invalid(format!("`key`: {error}")))?;
    if let Some(locator) = call.args.locator()? {
        let (element, _) = ready(&call.page, &locator, Needs::ENABLED, &call.deadline).await?;
        let has_focus = call.page.run(&element.on(), "focus", &[], Duration::ZERO).await?;
        if has_focus != true {
            return Err(ToolError::failed(format!(
                "{} takes no keys: it cannot have the focus; press the key without naming an element, or name a field",
                locator.shown()
            )));
        }
    }
    input::press(&call.page, &chord).await?;
    Ok(Done::acted(format!("Pressed {}.", escape_line(text))))
}

pub(super) async fn select(call: &Call<'_>) -> Result<Done, ToolError> {
    let (page, locator) = (&call.page, call.args.needed_locator()?);
    let values = call.args.needed(call.args.values.as_deref(), "values")?;
    ready(page, &locator, Needs::LIST, &call.deadline).await?;
    let element = find(page, &locator, &call.deadline).await?;
    let left = call.deadline.left();
    let answer = page.run(&element.on(), "select", &[json!(values), millis(left)], left).await?;
    let failed =
        |why: &str| Err(ToolError::failed(format!("nothing was selected in {}: {why}", locator.shown())));
    if let Some(error) = answer["error"].as_str() {
        return failed(&escape_line(error));
    }
    let list = |value: &Value| {
        let words = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let words: Vec<String> =
            words.iter().map(|word| escape_line(word.as_str().unwrap_or_default()).into_owned()).collect();
        words.join(", ")
    };
    if answer["missing"].is_array() {
        return failed(&format!(
            "there is no option {}; the options are: {}",
            list(&answer["missing"]),
            list(&answer["options"])
        ));
    }
    Ok(Done {
        page: Some(format!("Selected: {}", list(&answer["chosen"]))),
        ..Done::acted(format!("Selected in {}.", locator.shown()))
    })
}
