//! Characters that nobody sees.

/// Returns true if the character is white space or has no visible form of its own. Platforms refuse a message of such characters alone as
/// empty.
pub fn is_blank(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(
            character,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'
                | '\u{1160}'
                | '\u{17B4}'
                | '\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFFC}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Returns true if the text has no visible character.
pub(super) fn is_all_blank(text: &str) -> bool {
    text.chars().all(is_blank)
}

/// Returns true if the text is white space alone.
pub(super) fn is_space(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
