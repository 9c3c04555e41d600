//! Refuses parts that a platform cannot take, before anything is sent.

use crate::abilities::{Capabilities, Limits};
use crate::error::SendError;
use crate::outgoing::Action;
use crate::text::Unit;

/// Refuses an action that needs an ability which is missing, or that is beyond a limit.
pub(crate) fn check(
    can: &Capabilities,
    limits: &Limits,
    unit: Unit,
    action: &Action,
) -> Result<(), SendError> {
    let able = |can: bool, action: &str| {
        if can { Ok(()) } else { Err(SendError::refused(format!("the platform cannot {action}"))) }
    };
    let within = |subject: &str, length: usize, max: usize| {
        if length <= max {
            return Ok(());
        }
        Err(SendError::refused(format!("{subject} is too long: {length}, where {max} is the limit")))
    };
    let text = |plain: &str| within("the text", unit.count(plain), limits.text);
    match action {
        Action::Text { plain, buttons, .. } => {
            able(can.buttons || buttons.is_empty(), "show buttons")?;
            text(plain)?;
            let mut buttons = buttons.iter().flatten();
            buttons
                .try_for_each(|button| within("the data of a button", button.data.len(), limits.button_data))
        }
        Action::Media(media) => {
            able(can.media, "send files")?;
            within("the caption", unit.count(&media.caption), limits.caption)?;
            let max = usize::try_from(limits.media_out).unwrap_or(usize::MAX);
            within("the file", media.bytes.len(), max)
        }
        Action::Edit { plain, .. } => able(can.edit, "edit messages").and_then(|()| text(plain)),
        Action::Delete { .. } => able(can.delete, "delete messages"),
        Action::React { .. } => able(can.react, "react to messages"),
        Action::Poll { options, .. } => {
            able(can.poll, "send polls")?;
            within("the list of options", options.len(), limits.poll_options)
        }
        // Only its platform knows what it needs.
        Action::Platform { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::MediaKind;
    use crate::outgoing::{Button, OutgoingMedia};

    fn limits() -> Limits {
        let mut limits = Limits::new(4, 2);
        (limits.poll_options, limits.button_data, limits.media_out) = (2, 3, 5);
        limits
    }

    fn text(plain: &str, data: &[&str]) -> Action {
        let button = |data: &&str| Button { text: "a button".to_owned(), data: (*data).to_owned() };
        let buttons = data.iter().map(|data| vec![button(data)]).collect();
        Action::Text { plain: plain.to_owned(), markup: Some("<i>long</i>".to_owned()), buttons }
    }

    fn media(length: usize, caption: &str) -> Action {
        Action::Media(OutgoingMedia {
            kind: MediaKind::Document,
            name: "a".to_owned(),
            media_type: "a/b".to_owned(),
            bytes: vec![0; length].into(),
            caption: caption.to_owned(),
            caption_markup: None,
        })
    }

    fn edit(plain: &str) -> Action {
        Action::Edit { message_id: "1".to_owned(), plain: plain.to_owned(), markup: None }
    }

    fn poll(options: usize) -> Action {
        Action::Poll {
            question: "Which?".to_owned(),
            options: vec!["a".to_owned(); options],
            multiple: false,
        }
    }

    fn others() -> [Action; 2] {
        let message_id = || "1".to_owned();
        let react = Action::React { message_id: message_id(), emoji: "👍".to_owned() };
        [Action::Delete { message_id: message_id() }, react]
    }

    #[test]
    fn an_action_beyond_a_limit_is_refused() {
        let mut can = Capabilities::default();
        (can.edit, can.delete, can.react, can.poll, can.buttons, can.media) =
            (true, true, true, true, true, true);
        let checked = |action: &Action| check(&can, &limits(), Unit::Utf16, action);
        let within = [text("😀ab", &["abc"]), media(5, "😀"), edit("abcd"), poll(2)];
        for action in within.iter().chain(&others()) {
            assert_eq!(checked(action), Ok(()), "{action:?}");
        }
        for (action, expected) in [
            (text("😀😀a", &[]), "the text is too long: 5, where 4 is the limit"),
            (text("a", &["abc", "éé"]), "the data of a button is too long: 4, where 3 is the limit"),
            (media(5, "😀a"), "the caption is too long: 3, where 2 is the limit"),
            (media(6, ""), "the file is too long: 6, where 5 is the limit"),
            (edit("abcde"), "the text is too long"),
            (poll(3), "the list of options is too long: 3, where 2 is the limit"),
        ] {
            let refused = checked(&action).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("refused: {expected}")), "{action:?}: {refused}");
        }
    }

    #[test]
    fn an_action_without_its_ability_is_refused() {
        let checked = |action: &Action| check(&Capabilities::default(), &limits(), Unit::Chars, action);
        assert_eq!(checked(&text("text", &[])), Ok(()));
        for action in [text("a", &["a"]), media(1, ""), edit("a"), poll(1)].iter().chain(&others()) {
            let refused = checked(action).unwrap_err().to_string();
            assert!(refused.starts_with("refused: the platform cannot "), "{action:?}: {refused}");
        }
    }
}
