//! Links and pictures with their whole addresses.

use dom_query::Document;
use toolkit_http::Url;

/// Maximum length of an image or link address: longer ones are data.
const MAX_LINK_BYTES: usize = 2_000;

/// Makes all addresses absolute. Links that lead to no page (`javascript:`, `data:`, a fragment) lose their address.
pub(super) fn make_absolute(document: &Document, url: &str) {
    let Ok(page) = Url::parse(url) else { return };
    let base = document.base_uri().and_then(|base| page.join(&base).ok()).unwrap_or_else(|| page.clone());
    for (selector, attribute) in [("a[href]", "href"), ("img[src]", "src"), ("area[href]", "href")] {
        for node in document.select(selector).nodes() {
            let Some(value) = node.attr(attribute) else { continue };
            let is_local = value.trim_start().starts_with('#');
            let whole = base.join(&value).ok().filter(|whole| {
                matches!(whole.scheme(), "http" | "https" | "mailto" | "tel" | "ftp")
                    && whole.as_str().len() <= MAX_LINK_BYTES
            });
            match whole {
                Some(whole) if !is_local => node.set_attr(attribute, whole.as_str()),
                _ if attribute == "src" => node.remove_from_parent(),
                // The text of the link stays.
                _ => node.rename("span"),
            }
        }
    }
    // Pictures that are loaded later have their address elsewhere.
    for node in document.select("img:not([src])").nodes() {
        let later = ["data-src", "data-original", "data-lazy-src"].iter().find_map(|name| node.attr(name));
        match later
            .and_then(|later| base.join(&later).ok())
            .filter(|whole| whole.as_str().len() <= MAX_LINK_BYTES)
        {
            Some(whole) => node.set_attr("src", whole.as_str()),
            None => node.remove_from_parent(),
        }
    }
}
