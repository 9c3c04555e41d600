//! Mouse and keyboard.

use super::cdp::CdpError;
use super::element::Place;
use super::page::Page;
use serde_json::{Value, json};
use std::time::Duration;

/// Steps of a movement while a button is held.
const STEPS: u32 = 5;
/// How long a page may take to begin a drag of its own.
const DRAGGING: Duration = Duration::from_millis(300);

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Button {
    Left,
    Middle,
    Right,
}

impl Button {
    fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Middle => "middle",
            Self::Right => "right",
        }
    }

    fn bit(self) -> u32 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

async fn mouse(page: &Page, kind: &str, x: f64, y: f64, more: Value) -> Result<(), CdpError> {
    let mut params = json!({ "type": kind, "x": x, "y": y });
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
    }
    page.call("Input.dispatchMouseEvent", params).await.map(drop)
}

/// Counts an event as delivered if its page was closed meanwhile: by the event itself, as a rule. The report names the closed tab.
///
/// Chromium does not answer events of a page that is gone.
fn unless_closed(outcome: Result<(), CdpError>) -> Result<(), CdpError> {
    match outcome {
        Err(CdpError::Detached) => Ok(()),
        other => other,
    }
}

pub(super) async fn hover(page: &Page, at: &Place) -> Result<(), CdpError> {
    mouse(page, "mouseMoved", at.x, at.y, json!({})).await
}

pub(super) async fn click(page: &Page, at: &Place, button: Button, count: u32) -> Result<(), CdpError> {
    hover(page, at).await?;
    unless_closed(click_there(page, at, button, count).await)
}

async fn click_there(page: &Page, at: &Place, button: Button, count: u32) -> Result<(), CdpError> {
    for number in 1..=count {
        let pressed = json!({ "button": button.name(), "buttons": button.bit(), "clickCount": number });
        mouse(page, "mousePressed", at.x, at.y, pressed).await?;
        let released = json!({ "button": button.name(), "buttons": 0, "clickCount": number });
        mouse(page, "mouseReleased", at.x, at.y, released).await?;
    }
    Ok(())
}

/// Turns the wheel.
pub(super) async fn wheel(page: &Page, at: &Place, across: f64, down: f64) -> Result<(), CdpError> {
    mouse(page, "mouseWheel", at.x, at.y, json!({ "deltaX": across, "deltaY": down })).await
}

/// Drags from one place to another: as a drag of the page (HTML drag and drop), where the page begins one; else by the mouse alone.
pub(super) async fn drag(page: &Page, from: &Place, to: &Place) -> Result<(), CdpError> {
    page.shared.lock().drag = None;
    page.call("Input.setInterceptDrags", json!({ "enabled": true })).await?;
    let dragged = drag_intercepted(page, from, to).await;
    let ended = page.call("Input.setInterceptDrags", json!({ "enabled": false })).await;
    unless_closed(dragged.and(ended.map(drop)))
}

async fn drag_intercepted(page: &Page, from: &Place, to: &Place) -> Result<(), CdpError> {
    hover(page, from).await?;
    let held = json!({ "button": "left", "buttons": 1, "clickCount": 1 });
    mouse(page, "mousePressed", from.x, from.y, held.clone()).await?;
    // A drag begins with a small movement.
    mouse(page, "mouseMoved", from.x + 5.0, from.y + 5.0, held.clone()).await?;
    mouse(page, "mouseMoved", from.x + 10.0, from.y + 10.0, held.clone()).await?;
    let data = page.shared.until(DRAGGING, |state| state.drag.take()).await;
    if let Some(data) = data {
        for kind in ["dragEnter", "dragOver", "drop"] {
            let params = json!({ "type": kind, "x": to.x, "y": to.y, "data": data });
            page.call("Input.dispatchDragEvent", params).await?;
        }
    } else {
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            let (x, y) = (from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part);
            mouse(page, "mouseMoved", x, y, held.clone()).await?;
        }
    }
    let released = json!({ "button": "left", "buttons": 0, "clickCount": 1 });
    mouse(page, "mouseReleased", to.x, to.y, released).await
}

/// Inserts text at the cursor, in place of what is selected.
pub(super) async fn insert(page: &Page, text: &str) -> Result<(), CdpError> {
    if text.is_empty() {
        return press(
            page,
            &Chord { key: Key { name: "Delete", code: "Delete", number: 46, text: None }, modifiers: 0 },
        )
        .await;
    }
    page.check()?;
    unless_closed(page.call("Input.insertText", json!({ "text": text })).await.map(drop))
}

/// A key as the protocol names it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key<N = &'static str> {
    name: N,
    code: N,
    number: u32,
    text: Option<N>,
}

/// A key with modifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chord<N = &'static str> {
    key: Key<N>,
    modifiers: u32,
}

const ALT: u32 = 1;
const CONTROL: u32 = 2;
const META: u32 = 4;
const SHIFT: u32 = 8;

/// Keys by their names: name, code, number, text.
const KEYS: [(&str, &str, u32, Option<&str>); 18] = [
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Insert", "Insert", 45, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("Control", "ControlLeft", 17, None),
    ("Shift", "ShiftLeft", 16, None),
    ("Alt", "AltLeft", 18, None),
    ("Meta", "MetaLeft", 91, None),
];

/// Other names of keys.
const ALIASES: [(&str, &str); 10] = [
    ("return", "Enter"),
    ("esc", "Escape"),
    ("del", "Delete"),
    ("left", "ArrowLeft"),
    ("up", "ArrowUp"),
    ("right", "ArrowRight"),
    ("down", "ArrowDown"),
    ("pgup", "PageUp"),
    ("pgdn", "PageDown"),
    ("ctrl", "Control"),
];

/// Reads a key with modifiers, as `Control+A` or `Enter`. An error says what is wrong.
pub(super) fn chord(text: &str) -> Result<Chord<String>, String> {
    let text = text.trim();
    // A plus may be the key itself.
    let (modifiers, name) = match text.strip_suffix('+') {
        Some("") => ("", "+"),
        Some(rest) => (rest.trim_end_matches('+'), "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    let mut bits = 0;
    for modifier in modifiers.split('+').map(str::trim).filter(|modifier| !modifier.is_empty()) {
        bits |= match modifier.to_ascii_lowercase().as_str() {
            "control" | "ctrl" | "controlormeta" => CONTROL,
            "alt" | "option" => ALT,
            "shift" => SHIFT,
            "meta" | "cmd" | "command" | "super" => META,
            _ => return Err(format!("`{modifier}` is not a modifier; use Control, Alt, Shift or Meta")),
        };
    }
    let key = key(name.trim(), bits).ok_or_else(|| {
        format!("`{name}` is not a key; use one character, or a name such as Enter, Tab, Escape, Backspace, ArrowDown, PageDown, Home, F5")
    })?;
    Ok(Chord { key, modifiers: bits })
}

fn key(name: &str, modifiers: u32) -> Option<Key<String>> {
    let mut chars = name.chars();
    if let (Some(char), None) = (chars.next(), chars.next()) {
        return Some(character(char, modifiers));
    }
    for (word, char) in [("space", ' '), ("plus", '+'), ("minus", '-')] {
        if name.eq_ignore_ascii_case(word) {
            return Some(character(char, modifiers));
        }
    }
    let name =
        ALIASES.iter().find(|(alias, _)| name.eq_ignore_ascii_case(alias)).map_or(name, |(_, name)| *name);
    if let Some((name, code, number, text)) = KEYS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known))
    {
        return Some(Key {
            name: (*name).to_owned(),
            code: (*code).to_owned(),
            number: *number,
            text: text.map(ToOwned::to_owned),
        });
    }
    let number =
        name.strip_prefix(['F', 'f'])?.parse::<u32>().ok().filter(|number| (1..=12).contains(number))?;
    Some(Key { name: format!("F{number}"), code: format!("F{number}"), number: 111 + number, text: None })
}

fn character(char: char, modifiers: u32) -> Key<String> {
    let (is_shifted, is_command) = (modifiers & SHIFT != 0, modifiers & (CONTROL | ALT | META) != 0);
    // `Control+A` means the key, not the letter in upper case.
    let char = match (is_shifted, is_command) {
        (true, _) => char.to_ascii_uppercase(),
        (false, true) => char.to_ascii_lowercase(),
        (false, false) => char,
    };
    let upper = char.to_ascii_uppercase();
    let (code, number) = match upper {
        'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
        '0'..='9' => (format!("Digit{upper}"), u32::from(upper)),
        ' ' => ("Space".to_owned(), 32),
        _ => (String::new(), 0),
    };
    // With Control or Alt it is a command, not text.
    let text = (!is_command).then(|| char.to_string());
    Key { name: char.to_string(), code, number, text }
}

/// Presses and releases a key.
pub(super) async fn press<N: AsRef<str>>(page: &Page, chord: &Chord<N>) -> Result<(), CdpError> {
    let Chord { key, modifiers } = chord;
    let mut params = json!({
        "type": if key.text.is_some() { "keyDown" } else { "rawKeyDown" },
        "key": key.name.as_ref(),
        "code": key.code.as_ref(),
        "windowsVirtualKeyCode": key.number,
        "modifiers": modifiers,
    });
    if let Some(text) = &key.text {
        params["text"] = text.as_ref().into();
        params["unmodifiedText"] = text.as_ref().into();
    }
    if let Some(command) = command(key.name.as_ref(), *modifiers) {
        params["commands"] = json!([command]);
    }
    page.check()?;
    unless_closed(key_down_and_up(page, params).await)
}

async fn key_down_and_up(page: &Page, mut params: Value) -> Result<(), CdpError> {
    page.call("Input.dispatchKeyEvent", params.clone()).await?;
    params["type"] = "keyUp".into();
    for key in ["text", "unmodifiedText", "commands"] {
        if let Value::Object(params) = &mut params {
            params.remove(key);
        }
    }
    page.call("Input.dispatchKeyEvent", params).await.map(drop)
}

/// The editing command of a shortcut: without a window system nothing else carries it out.
fn command(key: &str, modifiers: u32) -> Option<&'static str> {
    if modifiers & !SHIFT != CONTROL {
        return None;
    }
    match (key.to_ascii_lowercase().as_str(), modifiers & SHIFT != 0) {
        ("a", false) => Some("selectAll"),
        ("c", false) => Some("copy"),
        ("v", _) => Some("paste"),
        ("x", false) => Some("cut"),
        ("z", false) => Some("undo"),
        ("y", false) | ("z", true) => Some("redo"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_the_ways_models_write_them() {
        for (text, name, code, number, typed, modifiers) in [
            ("Enter", "Enter", "Enter", 13, Some("\r"), 0),
            ("return", "Enter", "Enter", 13, Some("\r"), 0),
            ("esc", "Escape", "Escape", 27, None, 0),
            ("a", "a", "KeyA", 65, Some("a"), 0),
            ("A", "A", "KeyA", 65, Some("A"), 0),
            ("Shift+a", "A", "KeyA", 65, Some("A"), SHIFT),
            ("Control+A", "a", "KeyA", 65, None, CONTROL),
            ("ctrl + shift + Tab", "Tab", "Tab", 9, None, CONTROL | SHIFT),
            ("Space", " ", "Space", 32, Some(" "), 0),
            ("7", "7", "Digit7", 55, Some("7"), 0),
            ("+", "+", "", 0, Some("+"), 0),
            ("Control++", "+", "", 0, None, CONTROL),
            ("Control+Plus", "+", "", 0, None, CONTROL),
            ("ä", "ä", "", 0, Some("ä"), 0),
            ("F12", "F12", "F12", 123, None, 0),
            ("cmd+ArrowDown", "ArrowDown", "ArrowDown", 40, None, META),
        ] {
            let chord = chord(text).unwrap();
            let key = &chord.key;
            assert_eq!(
                (&*key.name, &*key.code, key.number, key.text.as_deref(), chord.modifiers),
                (name, code, number, typed, modifiers),
                "{text}"
            );
        }
        for (text, expected) in
            [("Hyper+A", "not a modifier"), ("Entr", "not a key"), ("F13", "not a key"), ("", "not a key")]
        {
            let error = chord(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn shortcuts_edit() {
        assert_eq!(command("A", CONTROL), Some("selectAll"));
        assert_eq!(command("z", CONTROL | SHIFT), Some("redo"));
        assert_eq!(command("a", CONTROL | ALT), None);
        assert_eq!(command("a", 0), None);
    }
}
