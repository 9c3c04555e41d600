//! The encoding of a page, and its text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Number of bytes in which a page can declare its encoding, by the HTML standard.
const PRESCAN_BYTES: usize = 1024;

/// Decodes a body: by its byte order mark, the header, the page's own declaration, or else by detection.
pub(super) fn decoded(body: &[u8], header: Option<&str>, is_html: bool) -> String {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding.decode(body).0.into_owned();
    }
    let label = header.and_then(|label| Encoding::for_label(label.as_bytes()));
    let own = || if is_html { prescanned(&body[..body.len().min(PRESCAN_BYTES)]) } else { None };
    // Servers declare UTF-8 for everything; if the body is not UTF-8, its encoding is guessed.
    let said = label.or_else(own).filter(|encoding| *encoding != UTF_8 || std::str::from_utf8(body).is_ok());
    let encoding = said.unwrap_or_else(|| guessed(body));
    encoding.decode_without_bom_handling(body).0.into_owned()
}

fn guessed(body: &[u8]) -> &'static Encoding {
    // ISO-2022-JP is ASCII with escapes, and so valid UTF-8.
    if std::str::from_utf8(body).is_ok() && !body.contains(&0x1b) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Returns the encoding named by `<meta charset>`, `<meta http-equiv="content-type">` or an XML declaration.
fn prescanned(head: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut rest = &*text;
    while let Some(place) = rest.find("charset") {
        let before = &rest[..place];
        let after = rest[place + "charset".len()..].trim_start();
        // Within a tag `meta`, and not in a comment.
        let is_meta = before.rfind('<').is_some_and(|tag| before[tag..].starts_with("<meta"));
        if let Some(value) = after.strip_prefix('=').filter(|_| is_meta) {
            return fixed(label(value));
        }
        rest = &rest[place + "charset".len()..];
    }
    let declaration = text.strip_prefix("<?xml").and_then(|rest| rest.split("?>").next())?;
    let (_, value) = declaration.split_once("encoding")?;
    fixed(label(value.trim_start().strip_prefix('=')?))
}

fn label(value: &str) -> &str {
    let value = value.trim_start();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
        _ => value
            .split(|char: char| char.is_whitespace() || matches!(char, ';' | '"' | '\'' | '>' | '/'))
            .next()
            .unwrap_or_default(),
    }
}

/// A page that declares UTF-16 in ASCII is not UTF-16.
fn fixed(label: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label.trim().as_bytes())?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{
        BIG5, EUC_JP, EUC_KR, GBK, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    };

    #[test]
    fn encodings_that_are_said() {
        let russian = "Привет, мир";
        let bytes = WINDOWS_1251.encode(russian).0;
        assert_eq!(decoded(&bytes, Some("windows-1251"), false), russian);
        assert_eq!(decoded(&bytes, Some("CP1251"), false), russian);
        for head in [
            "<meta charset=windows-1251>",
            "<META CHARSET = \"Windows-1251\" />",
            "<!-- charset=utf-8 --><meta charset='windows-1251'>",
            "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">",
            "<?xml version=\"1.0\" encoding=\"windows-1251\"?>",
        ] {
            let page = [head.as_bytes(), &bytes].concat();
            assert!(decoded(&page, None, true).ends_with(russian), "{head}");
        }
        let page = [b"<meta charset=utf-16>".as_slice(), "Grüße".as_bytes()].concat();
        assert!(decoded(&page, None, true).ends_with("Grüße"));
    }

    #[test]
    fn marks_go_first() {
        let utf_16: Vec<u8> = "\u{feff}Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&utf_16, Some("iso-8859-1"), true), "Grüße");
        assert_eq!(decoded("\u{feff}Grüße".as_bytes(), Some("iso-8859-1"), true), "Grüße");
    }

    #[test]
    fn encodings_that_are_guessed() {
        for (encoding, text) in [
            (
                WINDOWS_1251,
                "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний.",
            ),
            (
                KOI8_R,
                "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний.",
            ),
            (
                SHIFT_JIS,
                "これは日本語の文章です。文字の符号化方式を正しく判定できるかどうかを確かめるために、長めの文を書いています。",
            ),
            (
                EUC_JP,
                "これは日本語の文章です。文字の符号化方式を正しく判定できるかどうかを確かめるために、長めの文を書いています。",
            ),
            (EUC_KR, "다람쥐 헌 쳇바퀴에 타고파. 한국어로 된 문장입니다."),
            (GBK, "我能吞下玻璃而不伤身体。这是一个用中文写的句子。"),
            (BIG5, "我能吞下玻璃而不傷身體。這是一個用中文寫的句子。"),
            (
                WINDOWS_1250,
                "Příliš žluťoučký kůň úpěl ďábelské ódy. Nechť již hříšné saxofony ďáblů rozezvučí síň.",
            ),
            (UTF_8, "Grüße – 日本語 – Привет"),
        ] {
            assert_eq!(decoded(&encoding.encode(text).0, None, true), text, "{}", encoding.name());
            // A wrong declaration of a server.
            assert_eq!(decoded(&encoding.encode(text).0, Some("utf-8"), true), text, "{}", encoding.name());
        }
    }

    #[test]
    fn escapes_are_an_encoding() {
        let text = "日本語の文章です。";
        assert_eq!(decoded(&ISO_2022_JP.encode(text).0, None, true), text);
    }

    #[test]
    fn any_bytes_are_a_text() {
        for bytes in [
            &b""[..],
            b"\xff",
            b"\xfe\xff",
            b"<meta charset",
            b"<meta charset=",
            b"<meta charset=\"",
            b"<?xml encoding",
        ] {
            let _ = decoded(bytes, Some("nonsense"), true);
            let _ = decoded(bytes, None, true);
        }
    }
}
