//! The choice between candidates for the main content.

use dom_query::Document;

/// A candidate, with the measures for the choice.
pub(super) struct Candidate {
    document: Document,
    characters: usize,
    code_blocks: usize,
    tables: usize,
}

impl Candidate {
    pub(super) fn of(document: Document) -> Self {
        let characters = document.root().normalized_char_count();
        let (code_blocks, tables) = (document.select("pre").length(), document.select("table").length());
        Self { document, characters, code_blocks, tables }
    }
}

/// Returns the first article that has at least 85 percent of the text of the trimmed page and all of its code and tables, else the trimmed page.
/// An article with less may lack a post of a thread or a section of a text.
pub(super) fn choose(articles: impl Iterator<Item = Candidate>, trimmed: Candidate) -> Document {
    for article in articles {
        let has_blocks = article.code_blocks >= trimmed.code_blocks && article.tables >= trimmed.tables;
        if article.characters * 100 >= trimmed.characters * 85 && has_blocks {
            return article.document;
        }
    }
    trimmed.document
}
