//! HTML to a tree of bounded size.

use dom_query::Document;
use html5ever::tendril::TendrilSink as _;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 400_000;
/// The bytes that are parsed before the nodes are counted again. A short tag can make a node for each formatting element that is open
/// (`<b a=1><b a=2>…<p>`), so a page of some kilobytes could otherwise fill the memory.
const PIECE_BYTES: usize = 64;
/// The deepest nesting: for each tag the parser looks through the elements that are open, so a deep page takes its length squared.
const MAX_OPEN: usize = 600;
/// Number of pieces between checks of the nesting.
const PIECES: usize = 32;

/// Parses a page. Returns false beside it if it has too many nodes or is nested too deep: then it ends where that was found.
pub(super) fn parse(html: &str) -> (Document, bool) {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Document::default(), options);
    let mut rest = html;
    for number in 0_usize.. {
        if rest.is_empty() {
            break;
        }
        let document = &parser.tokenizer.sink.sink;
        if document.tree.len() > MAX_NODES || number % PIECES == 0 && depth_of_last(document) > MAX_OPEN {
            return (parser.finish(), false);
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        parser.process(piece.into());
        rest = after;
    }
    (parser.finish(), true)
}

/// Returns the depth of the last node, which is at most that of the open elements.
fn depth_of_last(document: &Document) -> usize {
    std::iter::successors(Some(document.root()), dom_query::NodeRef::last_child).take(MAX_OPEN + 2).count()
}
