//! Items that are still being typed. rustc reads an item before the macro gets it, and reports what is missing; the
//! macro must not report it again.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Returns true if rustc has reported already that this is not an item.
pub(crate) fn is_rejected(item: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    is_statement(&tokens) || parameters(&tokens).is_some_and(lacks_colon) || lacks_type(&tokens)
}

/// Returns true for `let`, which cannot have an attribute macro.
fn is_statement(tokens: &[TokenTree]) -> bool {
    matches!(tokens.first(), Some(TokenTree::Ident(first)) if first == "let")
}

/// The parameters of a function.
fn parameters(tokens: &[TokenTree]) -> Option<TokenStream> {
    let function =
        tokens.iter().position(|token| matches!(token, TokenTree::Ident(ident) if ident == "fn"))?;
    tokens[function..].iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
        _ => None,
    })
}

/// A parameter without `: Type`.
fn lacks_colon(parameters: TokenStream) -> bool {
    let (mut depth, mut previous) = (0_usize, ' ');
    // State of the present parameter: whether it has tokens at all, and whether it is complete.
    let (mut is_there, mut is_whole) = (false, false);
    for token in parameters {
        let mut punct = ' ';
        match &token {
            TokenTree::Punct(found) => {
                punct = found.as_char();
                match punct {
                    ',' if depth == 0 => {
                        if is_there && !is_whole {
                            return true;
                        }
                        (is_there, is_whole) = (false, false);
                        continue;
                    }
                    ':' | '.' => is_whole = true,
                    '<' => depth += 1,
                    '>' if previous != '-' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            TokenTree::Ident(ident) if ident == "self" => is_whole = true,
            _ => {}
        }
        is_there |= punct != '#' && !(previous == '#' && matches!(token, TokenTree::Group(_)));
        previous = punct;
    }
    is_there && !is_whole
}

/// A field or a parameter with nothing after its colon, a function with nothing after its arrow.
fn lacks_type(tokens: &[TokenTree]) -> bool {
    let is_end = |token: Option<&TokenTree>| match token {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ',',
        Some(_) => false,
    };
    tokens.iter().enumerate().any(|(place, token)| match token {
        TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Alone => {
            is_end(tokens.get(place + 1))
        }
        TokenTree::Punct(punct) if punct.as_char() == '>' && place > 0 => {
            let is_arrow = matches!(&tokens[place - 1], TokenTree::Punct(dash) if dash.as_char() == '-');
            is_arrow && matches!(tokens.get(place + 1), Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace)
        }
        // A slice of nothing, in the place of a type.
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::Bracket
                && group.stream().is_empty()
                && place > 0
                && matches!(&tokens[place - 1], TokenTree::Punct(punct) if "&:<>,".contains(punct.as_char())) =>
        {
            true
        }
        TokenTree::Group(group) => lacks_type(&group.stream().into_iter().collect::<Vec<_>>()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustc_rejects() {
        for (item, rejected) in [
            ("fn read(path) {}", true),
            ("fn read(a: u8, path) {}", true),
            ("fn read(a: Map<u8, u8>, #[arg] path) {}", true),
            ("fn read(path:) {}", true),
            ("fn read(path: &[]) {}", true),
            ("fn read() -> Vec<[]> {}", true),
            ("fn read(#[default([])] a: [u8; 3]) {}", false),
            ("fn read() -> {}", true),
            ("let read = || 5;", true),
            ("struct A { path: , }", true),
            ("struct A { path: }", true),
            ("fn read() {}", false),
            ("fn read(&self, a: Map<u8, u8>, b: fn(u8) -> u8, ...) {}", false),
            ("struct A { path: ::std::path::PathBuf }", false),
        ] {
            assert_eq!(is_rejected(item.parse().unwrap()), rejected, "{item}");
        }
    }
}
