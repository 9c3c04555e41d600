//! Texts in `$'…'`.

use super::Unclear;

/// Reads up to the closing quote. Returns the text, if it is known, and the number of bytes read, including the quote.
pub(super) fn ansi_c(text: &str) -> Result<(Option<String>, usize), Unclear> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_known = true;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '\'' => return Ok((String::from_utf8(bytes).ok().filter(|_| is_known), at + 1)),
            '\\' => match escape(&mut rest) {
                Some(escaped) => bytes.extend_from_slice(&escaped),
                None => is_known = false,
            },
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err("a single quote is not closed")
}

type Rest<'t> = std::iter::Peekable<std::str::CharIndices<'t>>;

/// Reads the characters after a backslash. `None` if shells differ, or the text ends early.
fn escape(rest: &mut Rest<'_>) -> Option<Vec<u8>> {
    let (_, c) = rest.next()?;
    let byte = match c {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '?' => u8::try_from(c).ok()?,
        'x' => u8::try_from(number(rest, 16, 2)?).ok()?,
        'u' | 'U' => {
            let c = char::from_u32(number(rest, 16, if c == 'u' { 4 } else { 8 })?)?;
            // How the locale writes others is not known.
            return c.is_ascii().then(|| vec![c as u8]).filter(|bytes| bytes != &[0]);
        }
        '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                let Some(digit) = rest.peek().and_then(|(_, c)| c.to_digit(8)) else { break };
                rest.next();
                value = value * 8 + digit;
            }
            u8::try_from(value & 0xFF).ok()?
        }
        _ => return None,
    };
    (byte != 0).then(|| vec![byte])
}

fn number(rest: &mut Rest<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
        rest.next();
        value = Some(value.unwrap_or(0_u32) * radix + digit);
    }
    value
}
