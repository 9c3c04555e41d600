#![allow(clippy::unwrap_used)]

use futures_util::FutureExt as _;

use super::*;
use crate::Moment;
use crate::store::{Clock, StoreOptions};

#[tokio::test]
async fn an_expired_role_ends_also_if_a_request_has_found_its_token_before() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Clock::standing(Moment(1_800_000_000_000));
    let options = StoreOptions::new().with_clock(clock.clone());
    let store = Store::open(directory.path(), options).await.unwrap();
    let people = People::open(store, "main").await.unwrap();
    let expiry = clock.now().after(Duration::from_mins(5));
    let short = NewToken::new("short", "ada", "main").with_role(Role::Approver).with_expiry(expiry);
    let short = people.add_token(short).await.unwrap().0;
    people.add_token(NewToken::new("long", "ada", "main").with_role(Role::User)).await.unwrap();
    let access = people.authenticate(&short).await.unwrap().unwrap();
    clock.set(expiry);
    assert!(people.authenticate(&short).await.unwrap().is_none());
    people.end_expired().await.unwrap();
    assert!(access.role_revocation.principal_revoked().now_or_never().is_some());
    assert!(access.revocation.principal_revoked().now_or_never().is_none());
}
