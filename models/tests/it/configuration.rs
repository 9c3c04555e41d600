//! The section `models`, and the models of agents.

use crate::clients::ask;
use crate::servers::{Reply, Said, Server};
use serde_json::json;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_models::{Message, ModelError, Models, Price, Request, Usage};

fn load(document: serde_json::Value) -> Configuration {
    Configuration::load(LoadOptions::new().program(document).environment([("KEY", "kept-elsewhere")]))
        .unwrap()
}

fn error(document: serde_json::Value, name: Option<&str>) -> String {
    let models = Models::new(&load(document));
    models.and_then(|models| models.get(name)).map(|model| model.name().to_owned()).unwrap_err().to_string()
}

#[tokio::test]
async fn an_address_alone_is_a_model() {
    let body = crate::clients::Wire::Chat.stream(&Said::text("Hi"));
    let server = Server::start(move |request| match request.path.as_str() {
        "/v1/models" => {
            Reply::json(200, &json!({"object": "list", "data": [{"id": "qwen3-4b"}, {"id": "other"}]}))
        }
        _ => Reply::stream(&body),
    })
    .await;
    let models =
        Models::new(&load(json!({"models": {"local": {"baseUrl": format!("{}/v1/", server.url())}}})))
            .unwrap();
    assert_eq!((models.names(), models.default_name()), (vec!["local"], Some("local")));
    let model = models.get(None).unwrap();
    for _ in 0..2 {
        let answer = ask(&*model, &Request::new([Message::user("Hi")])).await.0.unwrap();
        assert_eq!(answer.message.to_text(), "Hi");
    }
    let requests = server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]);
    assert_eq!(requests[1].body["model"], "qwen3-4b");
    assert_eq!(requests[1].method, "POST");
    assert!(requests.iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn a_server_without_a_list_of_models_asks_for_the_name() {
    for (status, body) in [(404, json!({})), (200, json!({"data": []})), (200, json!("x"))] {
        let server = Server::start(move |_| Reply::json(status, &body)).await;
        let models = Models::new(&load(json!({"models": {"local": {"baseUrl": server.url()}}}))).unwrap();
        let error =
            ask(&*models.get(None).unwrap(), &Request::new([Message::user("Hi")])).await.0.unwrap_err();
        assert!(
            matches!(&error, ModelError::Configuration { message } if message.contains("set `models.local.model`")),
            "{error}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn without_a_model_the_error_says_what_to_set() {
    let none = error(json!({}), None);
    for words in [
        "no model is configured",
        "models: { local: { baseUrl: \"http://127.0.0.1:8080/v1\" } }",
        "ANTHROPIC_API_KEY",
        "11434",
    ] {
        assert!(none.contains(words), "{none}");
    }
    let two = json!({"models": {"a": {"baseUrl": "http://x"}, "b": {"baseUrl": "http://y"}}});
    let chosen = error(two.clone(), None);
    assert!(chosen.contains("`a`, `b`") && chosen.contains("set `models.default`"), "{chosen}");
    for (document, name, expected) in [
        (two.clone(), Some("other"), "use one of `a`, `b`"),
        (json!({"models": {"local": {"baseUrl": "http://x"}}}), Some("locl"), "did you mean `local`?"),
        (
            json!({"models": {"default": "x", "a": {"baseUrl": "http://x"}}}),
            None,
            "`models.default` cannot be used",
        ),
        (
            json!({"models": {"a": {"baseUrl": "http://x", "fallback": ["z"]}}}),
            None,
            "`models.a.fallback` cannot be used",
        ),
        (
            json!({"agents": {"main": {"model": "z"}}, "models": {"a": {"baseUrl": "http://x"}}}),
            None,
            "`agents.main.model` cannot be used",
        ),
        (json!({"models": {"a": {}}}), None, "set `models.a.baseUrl` for a local server"),
        (json!({"models": {"a": {"provider": "anthropic"}}}), None, "set `models.a.model`"),
        (
            json!({"models": {"a": {"provider": "anthropic", "model": "m"}}}),
            None,
            "\"${env:ANTHROPIC_API_KEY}\"",
        ),
        (json!({"models": {"a": {"provider": "openai", "model": "m"}}}), None, "\"${env:OPENAI_API_KEY}\""),
        (
            json!({"models": {"a": {"provider": "gemini", "baseUrl": "http://x"}}}),
            None,
            "set `models.a.model`",
        ),
        (json!({"models": {"a": {"baseUrl": "http://u:p@x"}}}), None, "holds a password"),
        (
            json!({"models": {"a": {"baseUrl": "http://x", "apiKey": "two words"}}}),
            None,
            "`apiKey` is not a valid key",
        ),
        (
            json!({"models": {"a": {"baseUrl": "http://x", "apiKey": "${env:NO}"}}}),
            None,
            "the variable `NO` of the environment is not set",
        ),
    ] {
        let error = error(document.clone(), name);
        assert!(error.contains(expected), "{document}: {error}");
        assert!(!error.contains("two words"), "{error}");
    }
}

#[test]
fn a_model_without_its_key_leaves_others_usable() {
    let configuration = load(json!({
        "models": {
            "default": "good",
            "good": {"baseUrl": "http://127.0.0.1:1", "apiKey": "${env:KEY}", "contextTokens": 4096, "fallback": ["bad"],
                "price": {"input": 3, "output": 15, "cached": 0.3}},
            "bad": {"provider": "anthropic", "model": "m", "apiKey": "${env:NO}"},
        },
        "agents": {"main": {"model": "bad"}, "other": {"name": "Other"}},
    }));
    let models = Models::new(&configuration).unwrap();
    assert_eq!(models.names(), ["bad", "good"]);
    let good = models.get(None).unwrap();
    assert_eq!((good.name(), good.context_tokens()), ("good", Some(4096)));
    assert!(models.get(Some("bad")).is_err() && models.for_agent("main").is_err());
    assert_eq!(models.for_agent("other").unwrap().name(), "good");
    let price = good.price().unwrap();
    let cost = price.cost(&Usage::new(1_000_000, 100_000).with_cached_tokens(500_000));
    assert!((cost - (1.5 + 0.15 + 1.5)).abs() < 1e-9, "{cost}");
    assert!((Price::new(1.0, 2.0).cost(&Usage::new(0, 500_000)) - 1.0).abs() < 1e-9);
    assert!(!format!("{configuration:?} {models:?}").contains("kept-elsewhere"));
}

#[test]
fn a_key_that_means_nothing_is_an_error_with_its_place() {
    for (models, expected) in [
        (json!({"a": {"baseURL": "http://x"}}), "baseURL"),
        (json!({"a": {"provider": "acme"}}), "provider"),
        (json!({"a": {"baseUrl": "ftp://x"}}), "baseUrl"),
        (json!({"a": {"contextTokens": 0}}), "contextTokens"),
        (json!({"a": {"price": {"input": -1, "output": 1}}}), "price"),
        (json!({"a": "http://x"}), "models.a"),
        (json!({"default": 3}), "models.default"),
    ] {
        let error = Configuration::load(LoadOptions::new().program(json!({ "models": models })))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
