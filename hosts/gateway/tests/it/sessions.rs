//! Sessions: listed, labelled, archived.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use toolkit_gateway::{SessionFilter, SessionKey, SessionKind};

use crate::common::{Place, START, key};

async fn listed(place: &Place, filter: SessionFilter) -> Vec<String> {
    place.store.sessions(filter).await.unwrap().into_iter().map(|session| session.key.to_string()).collect()
}

#[tokio::test]
async fn sessions_are_listed_by_what_they_are_and_who_began_them() {
    let place = Place::new().await;
    let main = SessionKey::main("main").unwrap();
    let (child, grandchild) = (SessionKey::sub("main", "1").unwrap(), SessionKey::sub("main", "2").unwrap());
    let other = SessionKey::main("other").unwrap();
    place.store.open_session(main.clone(), Some("owner".to_owned()), None).await.unwrap();
    place.store.open_session(child.clone(), Some("owner".to_owned()), Some(main.clone())).await.unwrap();
    place.store.open_session(grandchild.clone(), None, Some(child.clone())).await.unwrap();
    place.store.open_session(other.clone(), None, None).await.unwrap();
    place.clock.set(START.after(Duration::from_mins(10)));
    place.accept("1", "ada").await;

    let all = SessionFilter::default;
    assert_eq!(listed(&place, all()).await[0], key("ada").to_string(), "the last active one is first");
    assert_eq!(
        listed(&place, SessionFilter { agent: Some("other".to_owned()), ..all() }).await,
        [other.to_string()]
    );
    let subs = SessionFilter { kinds: vec![SessionKind::Sub, SessionKind::Cron], ..all() };
    assert_eq!(listed(&place, subs).await, [child.to_string(), grandchild.to_string()]);
    let tree = SessionFilter { tree_of: Some(child.clone()), ..all() };
    assert_eq!(listed(&place, tree).await, [child.to_string(), grandchild.to_string()]);
    let of_owner = SessionFilter { person: Some("owner".to_owned()), ..all() };
    assert_eq!(listed(&place, of_owner).await, [main.to_string(), child.to_string()]);
    let recent = SessionFilter { active_since: Some(START.after(Duration::from_secs(1))), ..all() };
    assert_eq!(listed(&place, recent).await, [key("ada").to_string()]);
    assert_eq!(listed(&place, SessionFilter { limit: Some(2), ..all() }).await.len(), 2);

    // A parent that is not there is refused, and one that exists keeps what it is.
    let unknown = SessionKey::sub("main", "none").unwrap();
    let error = place.store.open_session(key("new"), None, Some(unknown)).await.unwrap_err().to_string();
    assert!(error.contains("no session `agent:main:sub:none`"), "{error}");
    let same = place.store.open_session(child.clone(), Some("eve".to_owned()), Some(other)).await.unwrap();
    assert_eq!((same.person.as_deref(), same.parent), (Some("owner"), Some(main)));
}

#[tokio::test]
async fn a_label_names_one_session_of_an_agent() {
    let place = Place::new().await;
    for id in ["1", "2"] {
        place.accept(id, id).await;
    }
    let label = |text: &str| Some(text.to_owned());
    place.store.label(key("1"), label("report")).await.unwrap();
    let error = place.store.label(key("2"), label("report")).await.unwrap_err().to_string();
    assert!(error.contains("belongs to the session `agent:main:chat:one:direct:1`"), "{error}");
    let found =
        async || place.store.labelled(key("1"), "main".to_owned(), "report".to_owned()).await.unwrap();
    assert_eq!(found().await.unwrap().key, key("1"));
    // An archived one gives it free, and gets it back only if no other has it.
    place.store.archive(key("1"), true).await.unwrap();
    assert!(found().await.is_none());
    place.store.label(key("2"), label("report")).await.unwrap();
    place.accept("3", "1").await;
    assert_eq!(found().await.unwrap().key, key("2"));
    let back = place.store.session(key("1")).await.unwrap().unwrap();
    assert_eq!((back.archived_at, back.label), (None, None), "a message takes it back");
    place.store.label(key("2"), None).await.unwrap();
    assert!(found().await.is_none());
    assert!(place.store.label(key("none"), None).await.is_err());
}

#[tokio::test]
async fn an_archived_session_is_listed_on_request_alone() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    place.store.set_transcript(key("ada"), "t-1".to_owned()).await.unwrap();
    place.store.archive(key("ada"), true).await.unwrap();
    assert!(listed(&place, SessionFilter::default()).await.is_empty());
    let with = SessionFilter { with_archived: true, ..SessionFilter::default() };
    assert_eq!(listed(&place, with).await.len(), 1);
    place.store.archive(key("ada"), false).await.unwrap();
    let session = place.store.session(key("ada")).await.unwrap().unwrap();
    assert_eq!((session.archived_at, session.transcript.as_deref()), (None, Some("t-1")));
}
