//! The guard of a lock of the standard library that is held over an `.await`.

use super::{is_body, is_ident, is_punct};
use proc_macro2::{Delimiter, Span, TokenTree};

/// Returns the place of the lock and the name of its type, for `let name = lock.lock().unwrap();` at a place, if an `.await` comes after it in
/// its block.
pub(super) fn held(tokens: &[TokenTree], place: usize) -> Option<(Span, &'static str)> {
    let end = (place..tokens.len()).find(|place| is_punct(tokens, *place, ';'))?;
    let name_at = if is_ident(tokens, place + 1, "mut") { place + 2 } else { place + 1 };
    let TokenTree::Ident(name) = tokens.get(name_at)? else { return None };
    let name = name.to_string();
    let start = end.checked_sub(6).filter(|start| *start > name_at)?;
    let is_unwrapped = is_ident(tokens, start + 4, "unwrap") || is_ident(tokens, start + 4, "expect");
    let is_taken = is_punct(tokens, start, '.')
        && is_call(tokens, start + 2)
        && is_punct(tokens, start + 3, '.')
        && is_unwrapped
        && is_call(tokens, start + 5);
    let lock = ["lock", "read", "write"].into_iter().find(|method| is_ident(tokens, start + 1, method))?;
    let ty = if lock == "lock" { "Mutex" } else { "RwLock" };
    (is_taken && is_awaited(&tokens[end..], &name)).then(|| (tokens[start + 1].span(), ty))
}

fn is_call(tokens: &[TokenTree], place: usize) -> bool {
    matches!(tokens.get(place), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

/// Returns true if an `.await` comes before a `drop` or a move of the name.
fn is_awaited(tokens: &[TokenTree], name: &str) -> bool {
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if ident == "await" && is_punct(tokens, place.wrapping_sub(1), '.') => {
                return true;
            }
            TokenTree::Group(group) => {
                let within: Vec<TokenTree> = group.stream().into_iter().collect();
                if matches!(&within[..], [TokenTree::Ident(only)] if only == name) {
                    return false;
                }
                if !is_body(tokens, place) && is_awaited(&within, name) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
