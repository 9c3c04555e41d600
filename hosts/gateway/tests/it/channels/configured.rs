//! People whom the configuration names, with their identities.

use serde_json::json;

use super::{Chat, try_start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_of_the_configuration_are_known_by_their_identities_as_long_as_it_names_them() {
    let people = "people={ owner: { identities: ['post:1'] }, ada: { role: 'approver', identities: ['post:7', 'letter:8'] } }";
    let mut chat = Chat::with(&[people]).await;
    chat.platform.say("7", "good morning");
    assert_eq!(chat.platform.next("direct/7").await, "heard: good morning");
    chat.platform.say("1", "and to you");
    assert_eq!(chat.platform.next("direct/1").await, "heard: and to you");
    let listed = chat.get("/v1/people").await;
    let ada = &listed["people"][0];
    assert_eq!((&ada["name"], &ada["role"]), (&json!("ada"), &json!("approver")), "{listed}");
    assert_eq!(ada["identities"].as_array().unwrap().len(), 2);

    // Somebody who was let in stays; what the configuration names no more does not.
    chat.let_in("9", json!({ "person": "ada" })).await;
    chat.settings = vec!["people={ ada: {} }".to_owned()];
    let chat = chat.restart().await;
    chat.platform.say("9", "still here");
    assert_eq!(chat.platform.next("direct/9").await, "heard: still here");
    chat.platform.say("7", "hello");
    assert!(chat.platform.next("direct/7").await.contains("this code"), "an unknown sender from now on");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_people_stop_the_start_and_are_named() {
    let chat = Chat::new().await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    let Chat { directory, model, platform, gateway, .. } = chat;
    gateway.stop(std::time::Duration::ZERO).await.unwrap();
    for (people, expected) in [
        ("people={ bob: { identities: ['post:7'] } }", "people.bob.identities: `post:7` is `ada` already"),
        ("people={ bob: { identities: ['7'] } }", "people.bob.identities: `7` is not `CHANNEL:SENDER`"),
        ("people={ owner: { role: 'user' } }", "people.owner.role: "),
        ("people={ 'b b': {} }", "the name of a person"),
    ] {
        let started = try_start(directory.path(), &model, &platform, &[people.to_owned()]).await;
        let error = started.expect_err(people).to_string();
        assert!(error.contains(expected), "{people}: {error}");
    }
    let gateway = super::start(directory.path(), &model, &platform, &[]).await;
    let store = gateway.state().store();
    assert!(store.person("bob".to_owned()).await.unwrap().is_none(), "nothing of it was used");
    gateway.stop(std::time::Duration::ZERO).await.unwrap();
}
