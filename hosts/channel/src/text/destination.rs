//! Destinations of links.

use super::markup::Markup;

/// The most bytes of a destination in the markup. A longer one is shown in the text.
const MAX_DESTINATION: usize = 2048;

/// Schemes that a link may have, with the text that has to follow.
const SCHEMES: [(&str, &str); 4] = [("http", "://"), ("https", "://"), ("tg", "://"), ("mailto", ":")];

/// Returns true if the markup can link to the destination, and opening it runs nothing.
pub(super) fn is_linkable(destination: &str, markup: Markup) -> bool {
    if !markup.has_links() || destination.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let Some((scheme, _)) = destination.split_once(':') else { return false };
    let rest = &destination[scheme.len()..];
    let allowed = SCHEMES.iter().any(|(name, separator)| {
        scheme.eq_ignore_ascii_case(name) && rest.strip_prefix(separator).is_some_and(|rest| !rest.is_empty())
    });
    allowed && destination.len() <= MAX_DESTINATION && markup.escaped_len(destination) <= MAX_DESTINATION
}
