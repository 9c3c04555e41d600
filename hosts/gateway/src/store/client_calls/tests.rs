use super::*;
use crate::StoreOptions;
use crate::store::inbox::MessageState;

fn call(session: &SessionKey) -> NewClientCall {
    NewClientCall {
        origin: "transcript/answer/1".to_owned(),
        client: "digest".to_owned(),
        client_name: "tab".to_owned(),
        person: "owner".to_owned(),
        session: session.clone(),
        tool: "page_later".to_owned(),
        reply_to: None,
        within: Duration::from_mins(1),
        job: None,
    }
}

/// A store with a call that waits, its session and its id.
async fn waiting(directory: &tempfile::TempDir) -> (Store, SessionKey, String) {
    let store = Store::open(directory.path(), StoreOptions::new()).await.expect("a store");
    let session = SessionKey::main("main").expect("a key");
    store.open_session(session.clone(), None, None).await.expect("a session");
    let (id, is_known) = store.begin_client_call(call(&session)).await.expect("begun");
    assert!(!is_known);
    (store, session, id)
}

fn answered() -> CallEnd {
    CallEnd::Answered("grown".to_owned())
}

#[tokio::test]
async fn a_call_that_was_abandoned_has_no_result_whatever_comes_first() {
    for is_result_first in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let (store, session, id) = waiting(&directory).await;
        let end = async || store.end_client_call(id.clone(), None, answered()).await.expect("ended");
        let message = if is_result_first { end().await } else { None };
        store.abandon_client_call(id.clone()).await.expect("abandoned");
        if !is_result_first {
            assert_eq!(end().await, None, "its result is refused");
        }
        assert!(store.queued(session).await.expect("read").is_empty(), "{is_result_first}");
        assert!(store.client_calls(None).await.expect("read").is_empty());
        assert_eq!(store.client_call_of("transcript/answer/1").await.expect("read"), None);
        if let Some((_, message)) = message {
            let message = store.message(message).await.expect("read").expect("there");
            assert_eq!(message.state, MessageState::Cancelled);
        }
    }
}

#[tokio::test]
async fn a_call_with_a_result_is_not_forgotten() {
    let directory = tempfile::tempdir().expect("a directory");
    let (store, session, id) = waiting(&directory).await;
    store.end_client_call(id.clone(), None, answered()).await.expect("ended").expect("a result");
    assert!(!store.forget_client_call(id).await.expect("read"), "its caller is told that it is pending");
    assert_eq!(store.queued(session).await.expect("read").len(), 1);
}
