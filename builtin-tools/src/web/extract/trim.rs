//! Removal of the elements around the content of a page.

use dom_query::{Document, NodeId, NodeRef};
use std::collections::HashSet;

/// Elements that are around the content, by their meaning.
const AROUND: &str = "nav, aside, footer, body > header, [role='navigation'], [role='banner'], [role='contentinfo'], \
                      [role='complementary'], [role='search'], [role='dialog'], [role='alertdialog'], [role='menu'], [role='menubar']";

/// Words in names (`class`, `id`) of such elements.
const WORDS: &[&str] = &[
    "ad",
    "ads",
    "adsbygoogle",
    "advert",
    "advertisement",
    "announcement",
    "banner",
    "breadcrumb",
    "breadcrumbs",
    "colophon",
    "consent",
    "copyright",
    "cookie",
    "cookies",
    "feedback",
    "gdpr",
    "masthead",
    "menu",
    "modal",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "outbrain",
    "pager",
    "pagination",
    "popular",
    "popup",
    "promo",
    "recommendations",
    "recommended",
    "related",
    "share",
    "sharing",
    "sidebar",
    "skip",
    "social",
    "sponsor",
    "sponsored",
    "subscribe",
    "taboola",
    "toolbar",
    "topbar",
    "trending",
    "footer",
    "toc",
];

/// Parts in which readers talk about the content.
const COMMENTS: &str =
    "#comments, #disqus_thread, .comments, .comment-list, .comments-area, section.comment-section";

/// Minimum number of bytes of a content beside which comments are left out. Bytes, because a character of Chinese says more than one of
/// English.
const MIN_CONTENT_BYTES: usize = 500;

/// Removes the elements around the content.
pub(super) fn trim(document: &Document) {
    document.select("head").remove();
    let all = characters(document);
    remove(document.select(AROUND).nodes().iter(), all);
    remove(document.select("body *").nodes().iter().filter(|node| is_named_so(node)), all);
    remove_comments(document);
    let left = characters(document);
    remove(document.select("ul, ol").nodes().iter().filter(|node| is_list_of_links(node)), left);
}

/// Removes comments of readers, unless they are most of the page.
fn remove_comments(document: &Document) {
    let comments = document.select(COMMENTS);
    let ids: HashSet<NodeId> = comments.nodes().iter().map(|node| node.id).collect();
    // Comments within comments count once.
    let outermost =
        comments.nodes().iter().filter(|node| !node.ancestors_it(None).any(|outer| ids.contains(&outer.id)));
    let of_readers: usize = outermost.map(bytes).sum();
    if bytes(&document.root()).saturating_sub(of_readers) >= MIN_CONTENT_BYTES {
        comments.remove();
    }
}

fn characters(document: &Document) -> usize {
    document.root().normalized_char_count()
}

/// The number of bytes of a text without white space.
fn bytes(node: &NodeRef<'_>) -> usize {
    node.text().split_whitespace().map(str::len).sum()
}

/// Removes elements, except those with a block of code, and one that contains most of the text: then its name is misleading.
fn remove<'n, 'd: 'n>(nodes: impl Iterator<Item = &'n NodeRef<'d>>, all: usize) {
    for node in nodes {
        let has_code = || node.descendants_it().any(|inner| inner.has_name("pre"));
        if node.parent().is_some() && node.normalized_char_count() * 2 <= all && !has_code() {
            node.remove_from_parent();
        }
    }
}

fn is_named_so(node: &NodeRef<'_>) -> bool {
    if node.has_name("main")
        || node.has_name("article")
        || node.has_name("pre")
        || node.has_name("code")
        || node.has_name("table")
    {
        return false;
    }
    // An element of a component is named by its tag: `amp-sidebar`.
    let tag = node.node_name().filter(|tag| tag.contains('-'));
    let names = [node.class(), node.id_attr(), tag];
    names.iter().flatten().any(|name| words(name).any(|word| WORDS.contains(&&*word)))
}

/// Returns the words of a name, in lower case: `site-nav`, `site_nav` and `siteNav` have two.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(name.len());
    let mut was_small = false;
    for char in name.chars() {
        if !char.is_ascii_alphanumeric() || was_small && char.is_ascii_uppercase() {
            spaced.push(' ');
        }
        if char.is_ascii_alphanumeric() {
            spaced.push(char.to_ascii_lowercase());
        }
        was_small = char.is_ascii_lowercase();
    }
    spaced.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// A list of short links, as menus are.
fn is_list_of_links(node: &NodeRef<'_>) -> bool {
    let links: Vec<_> = node.descendants_it().filter(|inner| inner.has_name("a")).collect();
    if links.len() < 4 {
        return false;
    }
    let (all, linked) =
        (node.normalized_char_count(), links.iter().map(NodeRef::normalized_char_count).sum::<usize>());
    linked * 10 >= all * 9 && all / links.len() < 25
}
