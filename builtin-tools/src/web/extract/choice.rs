//! The choice between candidates for the main content.

use dom_query::Document;

/// A candidate, with the measures for the choice.
pub(super) struct Candidate {
    document: Document,
    characters: usize,
    /// Blocks of code, and tables.
    blocks: usize,
}

impl Candidate {
    pub(super) fn of(document: Document) -> Self {
        let characters = document.root().normalized_char_count();
        let blocks = document.select("pre, table").length();
        Self { document, characters, blocks }
    }
}

/// Returns the first article that has at least 7 tenths of the text of the trimmed page and all of its code and tables, else the trimmed page.
pub(super) fn choose(articles: impl Iterator<Item = Candidate>, trimmed: Candidate) -> Document {
    for article in articles {
        if article.characters * 10 >= trimmed.characters * 7 && article.blocks >= trimmed.blocks {
            return article.document;
        }
    }
    trimmed.document
}
