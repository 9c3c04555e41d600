//! Mentions of the account in a text.

use super::update::Entity;

/// The account.
#[derive(Debug)]
pub(super) struct Me {
    /// Its id.
    pub(super) id: i64,
    /// Its user name, without `@`.
    pub(super) username: Option<String>,
}

/// Returns true if an entity of the text names the account: `@name`, `/command@name`, or a link to it.
pub(super) fn names(me: &Me, text: &str, entities: &[Entity]) -> bool {
    entities.iter().any(|entity| match entity.kind.as_str() {
        "text_mention" => entity.user.as_ref().is_some_and(|user| user.id == me.id),
        "mention" => {
            part(text, entity).and_then(|part| part.strip_prefix('@')).is_some_and(|name| is_name(me, name))
        }
        "bot_command" => part(text, entity)
            .and_then(|part| part.split_once('@'))
            .is_some_and(|(_, name)| is_name(me, name)),
        _ => false,
    })
}

fn is_name(me: &Me, name: &str) -> bool {
    me.username.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name))
}

/// Returns the part of the text that an entity covers; `None` if its offsets, in UTF-16 units, are not those of characters in the text.
fn part<'a>(text: &'a str, entity: &Entity) -> Option<&'a str> {
    let (start, length) = (usize::try_from(entity.offset).ok()?, usize::try_from(entity.length).ok()?);
    let end = start.checked_add(length)?;
    text.get(byte_of(text, start)?..byte_of(text, end)?)
}

/// Returns the byte at which the character at a UTF-16 unit begins.
fn byte_of(text: &str, unit: usize) -> Option<usize> {
    let mut passed = 0;
    for (byte, char) in text.char_indices() {
        if passed >= unit {
            return (passed == unit).then_some(byte);
        }
        passed += char.len_utf16();
    }
    (passed == unit).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::update::User;

    fn entity(kind: &str, offset: i64, length: i64) -> Entity {
        Entity { kind: kind.to_owned(), offset, length, user: None }
    }

    #[test]
    fn offsets_are_utf_16_units() {
        // An emoji of two units, and a letter of one unit and two bytes.
        let text = "😀ä@ada_bot!";
        for (offset, length, expected) in [
            (3, 8, Some("@ada_bot")),
            (0, 2, Some("😀")),
            (2, 1, Some("ä")),
            (0, 12, Some(text)),
            (12, 0, Some("")),
            (0, 1, None),
            (1, 1, None),
            (0, 13, None),
            (13, 1, None),
            (-1, 2, None),
            (3, -1, None),
            (i64::MAX, i64::MAX, None),
            (i64::MIN, i64::MAX, None),
        ] {
            assert_eq!(part(text, &entity("mention", offset, length)), expected, "{offset} {length}");
        }
    }

    #[test]
    fn entities_that_name_the_account() {
        let me = Me { id: 7, username: Some("Ada_Bot".to_owned()) };
        let of_user =
            |id| Entity { user: Some(User { id, ..User::default() }), ..entity("text_mention", 0, 3) };
        for (text, entity, expected) in [
            ("@ada_bot hi", entity("mention", 0, 8), true),
            ("@ADA_BOT hi", entity("mention", 0, 8), true),
            ("@ada_bots hi", entity("mention", 0, 9), false),
            ("@ada_bot hi", entity("mention", 0, 900), false),
            ("@ada_bot hi", entity("code", 0, 8), false),
            ("@ada_bot hi", entity("text_link", 0, 8), false),
            ("/new@ada_bot", entity("bot_command", 0, 12), true),
            ("/new@bob_bot", entity("bot_command", 0, 12), false),
            ("/new", entity("bot_command", 0, 4), false),
            ("Ada", of_user(7), true),
            ("Ada", of_user(8), false),
            ("Ada", entity("text_mention", 0, 3), false),
        ] {
            assert_eq!(names(&me, text, std::slice::from_ref(&entity)), expected, "{text} {entity:?}");
        }
        let nameless = Me { id: 7, username: None };
        assert!(!names(&nameless, "@ada_bot", &[entity("mention", 0, 8)]));
    }
}
