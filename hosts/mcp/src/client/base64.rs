//! Base64 as servers write it.

use data_encoding::{BASE64, Encoding, Specification};
use std::sync::LazyLock;

/// Without padding, and without a check of the bits after the last byte.
static TOLERANT: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    specification.check_trailing_bits = false;
    specification.ignore.push_str(" \t\r\n");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.encoding().ok()
});

/// Decodes Base64, also without padding, with line breaks, in the alphabet for URLs, and as a `data:` URL. Returns `None` for other
/// text.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = BASE64.decode(text.as_bytes()) {
        return Some(bytes);
    }
    let mut text = text.trim();
    if text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        let (head, data) = text.split_once(',')?;
        // Without it the data is text.
        if !head.to_ascii_lowercase().ends_with(";base64") {
            return None;
        }
        text = data;
    }
    let text = text.trim_end_matches(|char: char| char == '=' || char.is_ascii_whitespace());
    TOLERANT.as_ref()?.decode(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_servers_write_it() {
        let bytes = [0xfb, 0xff, 0xfe, 1];
        for text in [
            "+//+AQ==",
            "+//+AQ",
            "+//+AQ=",
            "-__-AQ==",
            "-__-AQ",
            "+//+\r\nAQ==\n",
            " +//+\nAQ ",
            "data:image/png;base64,+//+AQ==",
            "DATA:;BASE64,-__-AQ",
            // Bits after the last byte.
            "+//+AR==",
        ] {
            assert_eq!(decode(text).as_deref(), Some(&bytes[..]), "{text:?}");
        }
        assert_eq!(decode(""), Some(Vec::new()));
        for text in ["%", "§", "A", "AQI=AQI", "data:text/plain,AQI=", "data:AQI=", "A.QI"] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
