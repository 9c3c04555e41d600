//! The final answer: the model's own statement, and nothing else, is success.

use crate::common::{agent, assert_requests_whole, builder, call, finish, log, results, scripted};
use serde_json::json;
use toolkit_agent::{DelegationRequest, FinalAnswer, Observer, RunOptions, StopReason};
use toolkit_models::{Answer, Message, ModelError, ScriptedReply, StopReason as AnswerEnd, ToolChoice};

fn request() -> DelegationRequest {
    DelegationRequest::new("do it").with_context("all of it").with_expected_outcome("it is done")
}

#[tokio::test]
async fn the_final_answer_is_the_account() {
    let answer = call(
        "1",
        "finish",
        json!({"success": false, "summary": "It cannot be done.", "details": "There is no such file."}),
    );
    let model = scripted([Answer::calls([answer])]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert!(!result.success);
    assert_eq!(result.stop_reason, StopReason::Finished);
    assert_eq!(result.summary, "It cannot be done.");
    assert_eq!(result.details.as_deref(), Some("There is no such file."));
    assert_eq!((result.tool_call_count, result.errors.len()), (0, 0));
    let text = "do it\n\nContext:\nall of it\n\nExpected outcome:\nit is done";
    assert_eq!(model.requests()[0].messages, [Message::user(text)]);
}

#[tokio::test]
async fn a_text_is_no_final_answer() {
    let model = scripted(["It is done.", "Really.", "Yes."]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert!(!result.success);
    assert_eq!((result.stop_reason, &*result.summary), (StopReason::NoFinalAnswer, "Yes."));
    let requests = model.requests();
    let choices: Vec<&ToolChoice> = requests.iter().map(|request| &request.tool_choice).collect();
    assert_eq!(choices, [&ToolChoice::Auto, &ToolChoice::Auto, &ToolChoice::Named("finish".into())]);

    let model = scripted([ScriptedReply::from("It is done."), finish("done").into()]);
    assert!(agent(&log(), &model).run(request(), Observer::none()).await.success);
}

#[tokio::test]
async fn an_empty_answer_is_reminded_and_never_sent_back() {
    let model = scripted([
        Answer::text(""),
        Answer::new(toolkit_models::AssistantMessage::default()),
        finish("done"),
    ]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert!(result.success);
    assert_requests_whole(&model.requests()[2..]);
    assert!(model.requests()[2].messages.iter().all(|message| !matches!(message, Message::Assistant(_))));
}

#[tokio::test]
async fn a_final_answer_that_does_not_fit_is_an_error_of_its_call() {
    let model = scripted([Answer::calls([call("1", "finish", json!({"summary": "done"}))]), finish("done")]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert!(result.success);
    let results = results(&model.requests()[1].messages);
    assert!(results[0].2 && results[0].1.contains("success"), "{results:?}");
}

#[tokio::test]
async fn calls_beside_the_final_answer_run_and_only_one_answer_counts() {
    let log = log();
    let model = scripted([Answer::calls([
        call("1", "change", json!({"text": "a"})),
        call("2", "finish", json!({"success": true, "summary": "first"})),
        call("3", "finish", json!({"success": false, "summary": "second"})),
        call("4", "change", json!({"text": "b"})),
    ])]);
    let agent = builder(&log, &model).build();
    let mut session = agent.session(&request()).unwrap();
    let result = session.run(request(), toolkit_agent::RunOptions::new()).await;
    assert_eq!((result.success, &*result.summary), (true, "first"));
    assert_eq!(log.lines(), ["change a", "change b"]);
    crate::common::assert_messages_whole(&session.messages());
}

#[tokio::test]
async fn a_refusal_ends_the_run() {
    let model = scripted([Answer::text("I will not.").with_stop(AnswerEnd::Refusal)]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert_eq!((result.stop_reason, &*result.summary), (StopReason::Refused, "I will not."));
}

#[tokio::test]
async fn a_small_model_answers_in_json() {
    let model = scripted(["I think so.", "Well.", "{\"success\": true, \"summary\": \"done\"}"]);
    let agent = builder(&log(), &model).final_answer(FinalAnswer::Json).build();
    let result = agent.run(request(), Observer::none()).await;
    assert_eq!((result.success, &*result.summary), (true, "done"));
    let requests = model.requests();
    assert!(requests[0].response_schema.is_none());
    assert_eq!(requests[2].response_schema.as_ref().unwrap()["required"], json!(["success", "summary"]));
    let tools = requests[0].tools.as_ref().unwrap();
    assert!(tools.tool("finish").is_none());
}

#[tokio::test]
async fn a_failure_of_the_model_ends_the_run_with_its_message() {
    let error = ModelError::Unauthorized { model: "m".into(), message: "no key".into() };
    let model = scripted([error.clone()]);
    let result = agent(&log(), &model).run(request(), Observer::none()).await;
    assert_eq!((result.stop_reason, result.summary), (StopReason::ModelError, error.to_string()));
    assert_eq!(result.errors, [error.to_string()]);
}

#[tokio::test]
async fn an_answer_that_broke_off_is_asked_for_again_and_its_usage_is_unknown() {
    let broken = || ModelError::Stream {
        model: "m".into(),
        message: "reset".into(),
        partial: Box::new(toolkit_models::AssistantMessage::calls([call(
            "1",
            "change",
            json!({"text": "a"}),
        )])),
    };
    let log = log();
    let model = scripted([
        ScriptedReply::from(broken()),
        broken().into(),
        finish("done").with_usage(toolkit_models::Usage::new(10, 5)).into(),
    ]);
    let result = agent(&log, &model).run(request(), Observer::none()).await;
    assert!(result.success);
    assert_eq!(log.lines(), [""; 0], "nothing of an answer that broke off is run");
    assert_eq!((result.usage.requests, result.usage.unknown_requests), (3, 2));
    assert_eq!(result.usage.total_tokens(), 15);
    // An answer that broke off is not part of the conversation.
    assert_eq!(model.requests()[2].messages, model.requests()[0].messages);

    let model = scripted([broken(), broken(), broken()]);
    let result = agent(&crate::common::log(), &model).run(request(), Observer::none()).await;
    assert_eq!((result.stop_reason, result.usage.unknown_requests), (StopReason::ModelError, 3));
}

#[tokio::test]
async fn in_a_conversation_a_text_is_the_answer() {
    let log = log();
    let model = scripted([
        Answer::calls([call("1", "look", json!({"text": "a"}))]),
        Answer::text("It is an a."),
        Answer::text(" "),
        Answer::text("Yes."),
    ]);
    let agent = builder(&log, &model).final_answer(FinalAnswer::Text).build();
    let mut session = agent.session(&DelegationRequest::default()).unwrap();
    let result = session.run(DelegationRequest::new("Look"), RunOptions::new()).await;
    // It states no success: nobody asked for that.
    let found = (result.stop_reason, result.success, &*result.summary);
    assert_eq!(found, (StopReason::Answered, false, "It is an a."));
    // An empty answer is none.
    let result = session.run(DelegationRequest::new("Sure?"), RunOptions::new()).await;
    assert_eq!((result.stop_reason, &*result.summary), (StopReason::Answered, "Yes."));
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    let has_finish = requests[0].tools.as_ref().unwrap().tools().iter().any(|tool| tool.name == "finish");
    assert!(!has_finish && !requests[0].system.contains("finish"), "{}", requests[0].system);
}

#[tokio::test]
async fn attachments_go_along_with_the_task() {
    let model = scripted([finish("seen")]);
    let picture = toolkit::Content::Image {
        data: toolkit::output::Bytes(vec![1, 2, 3]),
        mime_type: "image/png".into(),
    };
    let request = DelegationRequest::new("What is it?").with_attachment(picture.clone());
    builder(&log(), &model).build().run(request, Observer::none()).await;
    let requests = model.requests();
    let toolkit_models::Message::User(message) = &requests[0].messages[0] else { panic!() };
    assert_eq!(message.content, [toolkit::Content::text("What is it?"), picture]);
}
