//! The tokens of consoles: each page gets one of its own.

use std::io;
use std::time::Duration;

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;
use toolkit_web::ConsolePages;

use crate::store::{NewToken, TokenRecord};
use crate::{People, Role};

/// Time for which the token of a console counts.
const VALID: Duration = Duration::from_hours(12);
/// Consoles of a person that are open at once; the token of the oldest is revoked.
const MAX_CONSOLES: usize = 20;
/// How the names of the tokens of consoles begin.
const PREFIX: &str = "console-";

/// A token that a code stands for: of this person, with this role.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) person: String,
    pub(super) role: Role,
    pub(super) agent: String,
}

pub(super) fn no_random_numbers(error: &io::Error) -> Problem {
    tracing::error!(%error, "the system has no random numbers");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the gateway has no random numbers; its log says why")
}

/// Returns the pages of a gateway. Each page gets a token of its own, which the list of tokens shows and which can be revoked.
pub(super) fn pages(people: People) -> ConsolePages<Grant> {
    ConsolePages::of_gateway(move |grant| give(people.clone(), grant))
}

async fn give(people: People, grant: Grant) -> Result<String, Problem> {
    let Grant { person, role, agent } = grant;
    let mut earlier: Vec<TokenRecord> = people.store().tokens().await?;
    earlier.retain(|token| token.person == person && token.name.starts_with(PREFIX));
    earlier.sort_by_key(|token| token.created_at);
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| no_random_numbers(&io::Error::other(error.to_string())))?;
    let name = format!("{PREFIX}{}", data_encoding::HEXLOWER.encode(&bytes));
    let until = people.store().clock().now().after(VALID);
    let token = NewToken::new(name, person, agent).with_role(role).with_expiry(until);
    let (text, _) = people.add_token(token).await?;
    let surplus = (earlier.len() + 1).saturating_sub(MAX_CONSOLES);
    for token in earlier.into_iter().take(surplus) {
        people.revoke_token(&token.name).await?;
    }
    Ok(text)
}
