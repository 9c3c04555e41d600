//! The guard of a lock of the standard library that is held over an `.await`.

use super::{is_body, is_ident, is_punct};
use proc_macro2::{Delimiter, Span, TokenTree};

/// The methods of a `Result` that give its value, or make another error of its error.
const OF_ERRORS: [&str; 5] = ["unwrap", "expect", "unwrap_or_else", "map_err", "or_else"];
/// Those that leave no `Result`.
const UNWRAPPING: [&str; 3] = ["unwrap", "expect", "unwrap_or_else"];

/// Returns the place of the lock and the name of its type, for `let name = lock.lock().unwrap();` at a place, if an `.await` comes after it in
/// its block.
pub(super) fn held(tokens: &[TokenTree], place: usize) -> Option<(Span, &'static str)> {
    let end = (place..tokens.len()).find(|place| is_punct(tokens, *place, ';'))?;
    let name_at = if is_ident(tokens, place + 1, "mut") { place + 2 } else { place + 1 };
    let TokenTree::Ident(name) = tokens.get(name_at)? else { return None };
    let name = name.to_string();
    let (taken_at, is_unwrapped) = before_errors(tokens, end).filter(|(taken, _)| *taken > name_at)?;
    let lock = ["lock", "read", "write"].into_iter().find(|method| is_ident(tokens, taken_at, method))?;
    // A file is read so, too.
    if lock != "lock" && !is_unwrapped {
        return None;
    }
    // A copy of the value: its guard ends with the statement.
    let is_copy = |place: usize| is_punct(tokens, place, '=') && is_punct(tokens, place + 1, '*');
    if (name_at..taken_at).any(is_copy) {
        return None;
    }
    let ty = if lock == "lock" { "Mutex" } else { "RwLock" };
    is_awaited(&tokens[end..], &name).then(|| (tokens[taken_at].span(), ty))
}

/// Returns the place of the method before those that take the guard out of its `Result`: `.unwrap()`, `.map_err(..)?` and the like, of which there
/// is one at least, as the lock of tokio has none; and true if there is one that unwraps it, whatever its error is.
fn before_errors(tokens: &[TokenTree], end: usize) -> Option<(usize, bool)> {
    let mut rest = end;
    let (mut has_error, mut is_unwrapped) = (false, false);
    loop {
        if is_punct(tokens, rest.checked_sub(1)?, '?') {
            rest -= 1;
            continue;
        }
        let method = rest.checked_sub(2)?;
        if !is_call(tokens, method + 1) || !is_punct(tokens, method.checked_sub(1)?, '.') {
            return None;
        }
        if !OF_ERRORS.iter().any(|name| is_ident(tokens, method, name)) {
            let takes_nothing =
                matches!(tokens.get(method + 1), Some(TokenTree::Group(group)) if group.stream().is_empty());
            return (has_error && takes_nothing).then_some((method, is_unwrapped));
        }
        has_error = true;
        is_unwrapped |= UNWRAPPING.iter().any(|name| is_ident(tokens, method, name));
        rest = method - 1;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_held(body: &str) -> bool {
        let tokens: Vec<TokenTree> = body.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
        held(&tokens, 0).is_some()
    }

    #[test]
    fn a_guard_is_told_from_a_copy_and_from_what_a_file_holds() {
        for body in [
            "let guard = state.lock().unwrap(); send().await;",
            "let mut guard = state.lock().map_err(told)?; send().await;",
            "let guard = state.read().expect(\"no panic\"); send().await;",
        ] {
            assert!(is_held(body), "{body}");
        }
        for body in [
            "let copy = *state.lock().unwrap(); send().await;",
            "let text = file.read()?; send().await;",
            "let text = file.read().map_err(told)?; send().await;",
            "let guard = state.lock().unwrap(); drop(guard); send().await;",
            "let guard = state.lock().await; send().await;",
        ] {
            assert!(!is_held(body), "{body}");
        }
    }
}
