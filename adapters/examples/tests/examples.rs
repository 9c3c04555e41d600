//! The examples do what they say, against a model that says what is written down here.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use scripted_model::{API_KEY, ScriptedModel, Turn};
use serde_json::{Value, json};
use tokio::process::Command;

const RIG: &str = env!("CARGO_BIN_EXE_rig-agent");
const CHAT: &str = env!("CARGO_BIN_EXE_genai-chat");
const STREAM: &str = env!("CARGO_BIN_EXE_genai-stream");

/// Runs an example to its end, and gives back what it printed.
async fn run(example: &str, model: &ScriptedModel) -> String {
    let mut command = Command::new(example);
    command.args(["scripted", "How far is it to Graz in miles?"]).kill_on_drop(true);
    command.env("OPENAI_BASE_URL", model.base_url()).env("OPENAI_API_KEY", API_KEY);
    let output = command.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {errors} {:#?}", model.requests());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn each_example_gets_its_tools_called() {
    for example in [RIG, CHAT, STREAM] {
        let turns = [
            Turn::Calls(vec![
                ("call_a", "distance", r#"{"city": "Graz"}"#),
                ("call_b", "distance", r#"{"city": "Rome"}"#),
                ("call_c", "miles", r#"{"kilometres": -1, "feet": 3}"#),
                ("call_d", "book", r#"{"city": "Graz"}"#),
            ]),
            Turn::Calls(vec![("call_e", "distanse", "{}")]),
            Turn::Calls(vec![("call_f", "miles", r#"{"kilometres": 200}"#)]),
            Turn::Says("It is 124.3 miles to Graz."),
        ];
        let model = ScriptedModel::start(turns).await.unwrap();
        let answer = run(example, &model).await;
        assert_eq!(answer, "It is 124.3 miles to Graz.\n", "{example}");
        model.assert_done();
        for request in model.requests() {
            let tools = request["tools"].as_array().unwrap();
            let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
            assert_eq!(names, ["book", "distance", "miles"]);
            let parameters = &tools[2]["function"]["parameters"];
            assert_eq!(parameters["properties"]["kilometres"]["minimum"], json!(0), "{parameters}");
            assert_eq!(parameters["required"], json!(["kilometres"]));
            assert_eq!(parameters["additionalProperties"], false);
            assert_eq!(request["stream"] == true, example == STREAM);
        }
        let results = model.results();
        for ((id, content), (expected_id, expected)) in results.iter().zip([
            ("call_a", "200"),
            ("call_b", "there is no road to Rome; try Graz or Linz"),
            ("call_c", "(2 problems)"),
            ("call_d", "not allowed"),
            ("call_e", "did you mean `distance`?"),
            ("call_f", "124.3"),
        ]) {
            let content = content.as_str().unwrap();
            assert!(id == expected_id && content.contains(expected), "{example}: {id}: {content}");
        }
        assert_eq!(results.len(), 6, "{example}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_explained() {
    // Of a whole answer, genai itself refuses them.
    for example in [RIG, STREAM] {
        let turns = [Turn::Calls(vec![("call_a", "distance", r#"{"city": "Gr"#)]), Turn::Says("Sorry.")];
        let model = ScriptedModel::start(turns).await.unwrap();
        assert_eq!(run(example, &model).await, "Sorry.\n", "{example}");
        model.assert_done();
        let told = model.results()[0].1.as_str().unwrap().to_owned();
        assert!(told.contains("JSON"), "{example}: {told}");
    }
}

#[tokio::test]
async fn a_model_that_never_is_done_ends() {
    for example in [RIG, CHAT, STREAM] {
        let turns = vec![Turn::Calls(vec![("call_a", "distance", r#"{"city": "Graz"}"#)]); 11];
        let model = ScriptedModel::start(turns).await.unwrap();
        let mut command = Command::new(example);
        command.args(["scripted", "Go on."]).kill_on_drop(true);
        command.env("OPENAI_BASE_URL", model.base_url()).env("OPENAI_API_KEY", API_KEY);
        assert!(!command.output().await.unwrap().status.success(), "{example}");
        assert_eq!(model.requests().len(), 10, "{example}");
    }
}
