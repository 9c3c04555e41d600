//! The resource to request tokens for.

use reqwest::Url;

/// Returns the resource to request tokens for: the server's address without the parts that may be secret.
pub(super) fn resource(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.to_owned() };
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.set_fragment(None);
    parsed.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_asked_for_an_address_without_keys() {
        for (url, expected) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://me:secret@a.example/mcp?key=secret#secret", "https://a.example/mcp"),
        ] {
            assert_eq!(resource(url), expected);
        }
    }
}
