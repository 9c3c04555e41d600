//! People and their tokens, as the store and the file of the owner's token have them.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use toolkit_gateway::{
    Acceptance, Access, Counts, EventFilter, MessageState, NewMessage, NewToken, OWNER, People, PeopleError,
    Resumption, Role, RunState, SessionFilter, SessionKey, SessionStatus, SteerOutcome,
};

use crate::common::{Place, START, key};

/// The name and the role of the one who has a token.
async fn who(people: &People, token: &str) -> String {
    let access = people.authenticate(token).await.unwrap();
    access
        .map_or("nobody".to_owned(), |access| format!("{} {:?}", access.person.name(), access.person.role()))
}

async fn open(place: &Place) -> (People, String) {
    let people = People::open(place.store.clone(), "main").await.unwrap();
    let token = std::fs::read_to_string(people.owner_token_file()).unwrap();
    (people, token.trim().to_owned())
}

#[tokio::test]
async fn the_owners_token_is_made_once_and_again_if_its_file_was_deleted() {
    let place = Place::new().await;
    let (people, first) = open(&place).await;
    let file = people.owner_token_file();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(who(&people, &first).await, "owner Owner");
    assert_eq!(who(&people, &first.to_uppercase()).await, "nobody");

    let place = place.reopen().await;
    let (people, same) = open(&place).await;
    assert_eq!((same == first, who(&people, &first).await), (true, "owner Owner".to_owned()));

    std::fs::remove_file(&file).unwrap();
    let place = place.reopen().await;
    let (people, second) = open(&place).await;
    assert_ne!(second, first);
    assert_eq!(
        (who(&people, &first).await, who(&people, &second).await),
        ("nobody".to_owned(), "owner Owner".to_owned())
    );
    let database = std::fs::read(place.store.file()).unwrap();
    let stored = |text: &str| database.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(!stored(&first) && !stored(&second), "the store has digests alone");
}

#[tokio::test]
async fn a_file_with_another_token_is_told() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    let ada = people.add_token(NewToken::new("phone", "ada", "main")).await.unwrap().0;
    let file = people.owner_token_file();
    // The token of another person is no owner's token either.
    for text in ["", "something else", &ada] {
        std::fs::write(&file, text).unwrap();
        let error = People::open(place.store.clone(), "main").await.unwrap_err();
        assert!(matches!(error, PeopleError::Replaced { .. }), "{error}");
        assert!(error.to_string().contains("gateway.token does not hold the token"), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let error = People::open(place.store.clone(), "main").await.unwrap_err();
    assert!(matches!(error, PeopleError::TokenFile { action: "read", .. }), "{error}");
}

#[tokio::test]
async fn a_file_that_others_could_read_is_closed_to_them() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    let file = people.owner_token_file();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    open(&place).await;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_token_counts_until_it_expires_or_is_revoked_or_its_person_is_blocked() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    let soon = START.after(Duration::from_mins(5));
    let (phone, record) =
        people.add_token(NewToken::new("phone", "ada", "main").with_role(Role::Approver)).await.unwrap();
    assert_eq!((record.person.as_str(), record.role), ("ada", Role::Approver));
    let limited = NewToken::new("limited", "ada", "other").with_role(Role::User).with_expiry(soon);
    let limited = people.add_token(limited).await.unwrap().0;
    assert_eq!(who(&people, &phone).await, "ada Approver");
    assert_eq!(who(&people, &limited).await, "ada User");
    assert_eq!(place.store.person("ada".to_owned()).await.unwrap().unwrap().agent, "main");

    // All that was begun with a token ends with it.
    let (with_phone, with_limited) = (
        people.authenticate(&phone).await.unwrap().unwrap(),
        people.authenticate(&limited).await.unwrap().unwrap(),
    );
    place.clock.set(soon);
    assert_eq!(who(&people, &limited).await, "nobody");
    with_limited.revocation.token_revoked().await;
    assert!(people.still_counts(&with_phone).await.unwrap());

    assert!(people.block("ada").await.unwrap());
    with_phone.revocation.token_revoked().await;
    with_phone.revocation.principal_revoked().await;
    assert_eq!(who(&people, &phone).await, "nobody");
    assert!(!people.still_counts(&with_phone).await.unwrap());
    assert!(!people.block("ada").await.unwrap(), "already");
    let refused = people.add_token(NewToken::new("new", "ada", "main")).await.unwrap_err().to_string();
    assert!(refused.contains("`ada` is blocked"), "{refused}");
    assert!(people.unblock("ada").await.unwrap());
    assert_eq!(who(&people, &phone).await, "ada Approver");

    let again = people.authenticate(&phone).await.unwrap().unwrap();
    assert!(people.revoke_token("phone").await.unwrap());
    again.revocation.token_revoked().await;
    assert_eq!(who(&people, &phone).await, "nobody");
    assert!(!people.revoke_token("phone").await.unwrap());
    assert!(matches!(people.revoke_token(OWNER).await, Err(PeopleError::OwnerToken)));

    // An expired one is removed later.
    let names = async || place.store.tokens().await.unwrap().into_iter().map(|token| token.name);
    assert_eq!(names().await.collect::<Vec<_>>(), ["limited", OWNER]);
    place.clock.set(soon.after(Duration::from_hours(31 * 24)));
    place.store.clean_up().await.unwrap();
    assert_eq!(names().await.collect::<Vec<_>>(), [OWNER]);
    assert!(place.store.last_clean_up().unwrap().removed > 0);
}

#[tokio::test]
async fn a_token_that_would_give_more_or_has_no_name_is_refused() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    people.add_token(NewToken::new("phone", "ada", "main")).await.unwrap();
    let new = |name: &str, person: &str| NewToken::new(name, person, "main");
    for (token, reason) in [
        (new("phone", "ada"), "there is a token `phone`"),
        (new("", "ada"), "1 to 64 letters"),
        (new("a/b", "ada"), "1 to 64 letters"),
        (new("x", "grüße"), "1 to 64 letters"),
        (new("x", &"x".repeat(65)), "1 to 64 letters"),
        (new("x", "ada").with_role(Role::Approver), "`ada` is user"),
        (new("x", "bob").with_role(Role::Owner), "`owner` is the owner"),
        (new("x", "bob").with_expiry(START), "expired already"),
    ] {
        let error = people.add_token(token).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(place.store.person("bob".to_owned()).await.unwrap().is_none());
    let error = people.block(OWNER).await.unwrap_err().to_string();
    assert!(error.contains("cannot be blocked"), "{error}");
    assert!(people.block("nobody").await.is_err());
}

#[tokio::test]
async fn a_person_sees_their_sessions_and_those_below() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    let token = people.add_token(NewToken::new("phone", "ada", "main")).await.unwrap().0;
    let ada = people.authenticate(&token).await.unwrap().unwrap().person;
    let own = SessionKey::person("main", "ada").unwrap();
    let (below, further) = (SessionKey::sub("main", "1").unwrap(), SessionKey::sub("main", "2").unwrap());
    let store = &place.store;
    store.open_session(own.clone(), Some("ada".to_owned()), None).await.unwrap();
    store.open_session(below.clone(), None, Some(own.clone())).await.unwrap();
    store.open_session(further.clone(), Some("bob".to_owned()), Some(below.clone())).await.unwrap();
    place.accept("1", "bob").await;
    for (session, sees) in [(&own, true), (&below, true), (&further, true), (&key("bob"), false)] {
        assert_eq!(ada.may_see(store, session).await.unwrap(), sees, "{session}");
    }
    let seen = SessionFilter { seen_by: ada.seen_by(), ..SessionFilter::default() };
    let listed = store.sessions(seen.clone()).await.unwrap();
    assert_eq!(listed.iter().map(|session| &session.key).collect::<Vec<_>>(), [&own, &below, &further]);
    let waiting = SessionFilter { status: Some(SessionStatus::Waiting), ..SessionFilter::default() };
    assert_eq!(store.sessions(waiting.clone()).await.unwrap()[0].key, key("bob"));
    assert!(store.sessions(SessionFilter { seen_by: ada.seen_by(), ..waiting }).await.unwrap().is_empty());

    let filter = EventFilter { person: ada.seen_by(), ..EventFilter::default() };
    let events = store.events(0, filter, 100).await.unwrap();
    let of =
        |session: &SessionKey| events.iter().filter(|event| event.session.as_ref() == Some(session)).count();
    assert_eq!([of(&own), of(&below), of(&further), of(&key("bob"))], [1, 1, 1, 0]);
    assert!(
        events.iter().all(|event| event.session.is_some() || event.data["person"] == "ada"),
        "{events:?}"
    );

    let counts = Counts { sessions: 3, ..Counts::default() };
    assert_eq!(store.counts(ada.seen_by()).await.unwrap(), counts);
    assert_eq!(store.counts(None).await.unwrap(), Counts { sessions: 4, queued: 1, ..counts });
}

#[tokio::test]
async fn a_role_ends_with_its_last_token_though_a_lesser_one_stays() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    let token = async |name: &str, role: Role| {
        let text = people.add_token(NewToken::new(name, "ada", "main").with_role(role)).await.unwrap().0;
        people.authenticate(&text).await.unwrap().unwrap()
    };
    let [one, two] = [token("one", Role::Approver).await, token("two", Role::Approver).await];
    let lesser = token("lesser", Role::User).await;
    let has_ended = |access: &Access| access.role_revocation.principal_revoked().now_or_never().is_some();
    assert!(one.role_revocation.is_of_same_token(&one.revocation));

    assert!(people.revoke_token("one").await.unwrap());
    assert!(!has_ended(&one) && !has_ended(&two), "another token has the role");
    assert!(people.revoke_token("two").await.unwrap());
    assert!(has_ended(&one) && has_ended(&two));
    assert!(!has_ended(&lesser), "the lesser role stays");
    assert!(lesser.revocation.principal_revoked().now_or_never().is_none(), "and so does the person");

    let again = token("again", Role::Approver).await;
    assert!(!has_ended(&again), "the role begins anew");
    assert!(people.block("ada").await.unwrap());
    assert!(has_ended(&again) && has_ended(&lesser));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_revocation_ends_all_that_was_begun_meanwhile() {
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    for round in 0..20 {
        let name = format!("phone-{round}");
        let token = people.add_token(NewToken::new(&name, "ada", "main")).await.unwrap().0;
        let users = (0..4).map(|_| {
            let (people, token) = (people.clone(), token.clone());
            tokio::spawn(async move {
                let mut begun = Vec::new();
                while let Some(access) = people.authenticate(&token).await.unwrap() {
                    begun.push(access);
                }
                begun
            })
        });
        let users: Vec<_> = users.collect();
        // Some rounds revoke before the first use is over.
        if round % 2 == 0 {
            people.authenticate(&token).await.unwrap().unwrap();
        }
        people.revoke_token(&name).await.unwrap();
        for user in users {
            for access in user.await.unwrap() {
                let revoked = access.revocation.token_revoked();
                assert!(revoked.now_or_never().is_some(), "round {round}");
            }
        }
    }
}

#[tokio::test]
async fn nothing_runs_for_a_blocked_person() {
    use MessageState::{Cancelled, Claimed, Consumed, Queued};
    let place = Place::new().await;
    let (people, _) = open(&place).await;
    people.add_token(NewToken::new("phone", "ada", "main")).await.unwrap();
    let store = &place.store;
    let own = SessionKey::person("main", "ada").unwrap();
    let below = SessionKey::sub("main", "1").unwrap();
    store.open_session(own.clone(), Some("ada".to_owned()), None).await.unwrap();
    store.open_session(below.clone(), None, Some(own.clone())).await.unwrap();
    let send = async |id: &str, session: &SessionKey| {
        let message = NewMessage::new("test", id, session.clone(), json!({ "text": id })).with_sender("ada");
        match store.accept(message).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    };
    let state = async |id| store.message(id).await.unwrap().unwrap().state;
    let first = send("first", &own).await;
    let run = place.claim().await.run;
    let steering = send("steering", &own).await;
    assert_eq!(store.steer(&run, steering).await.unwrap(), SteerOutcome::Steered);
    let (waiting, waiting_below) = (send("waiting", &own).await, send("below", &below).await);
    let of_bob = place.accept("of bob", "bob").await;

    people.block("ada").await.unwrap();
    let states =
        [state(first).await, state(steering).await, state(waiting).await, state(waiting_below).await];
    assert_eq!(states, [Claimed, Claimed, Cancelled, Cancelled]);
    // Others go on, and what comes meanwhile waits.
    let later = send("later", &below).await;
    assert_eq!(place.claim().await.message.id, of_bob);
    assert_eq!(store.claim(10).await.unwrap(), None);
    // The run ends by itself, or after a restart.
    assert_eq!(store.resume(&run, 2).await.unwrap(), Resumption::Ended);
    assert_eq!(store.run(&run).await.unwrap().unwrap().state, RunState::Cancelled);
    assert_eq!(
        [state(first).await, state(steering).await, state(later).await],
        [Consumed, Cancelled, Queued]
    );
    assert_eq!(store.claim(10).await.unwrap(), None);

    people.unblock("ada").await.unwrap();
    assert_eq!(place.claim().await.message.id, later);
}
