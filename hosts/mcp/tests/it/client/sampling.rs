//! Servers that want to use the model of this end.

use crate::client::{Host, shell};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolkit::Caller;
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit_mcp::{Sampling, SamplingAnswer};

/// A server whose tool says what the model answered.
const ASKING: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *server/discover*) say '"error":{"code":-32601,"message":"no such method"}' ;;
    *'"initialize"'*)
      has=no; case "$line" in *'"sampling"'*) has=yes ;; esac
      say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *tools/list*) say '"result":{"tools":[{"name":"think","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*)
      call=$id
      printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"what is it?"}}],"systemPrompt":"be brief","maxTokens":7}}' ;;
    *'"id":"q"'*)
      id=$call
      case "$line" in
        *forty-two*) text=forty-two ;; *'did not let'*) text=refused ;; *'out of order'*) text=broken ;; *) text=none ;;
      esac
      say '"result":{"content":[{"type":"text","text":"'"$text, told $has"'"}]}' ;;
  esac
done
"#;

/// A model that knows one answer.
#[derive(Debug, Default)]
struct Model {
    asked: Mutex<Vec<Value>>,
    /// The sessions for whose calls it was asked.
    sessions: Mutex<Vec<Option<String>>>,
    is_broken: bool,
}

impl Sampling for Model {
    fn create_message<'a>(&'a self, caller: &'a Caller, request: &'a Value) -> SamplingAnswer<'a> {
        self.sessions.lock().unwrap().push(caller.session_id.clone());
        self.asked.lock().unwrap().push(request.clone());
        Box::pin(async move {
            if self.is_broken {
                return Err("it is out of order".to_owned());
            }
            Ok(json!({
                "role": "assistant", "content": {"type": "text", "text": "forty-two"}, "model": "m", "stopReason": "endTurn"
            }))
        })
    }
}

async fn thought(model: Option<&Arc<Model>>, answers: Vec<Answer>) -> (String, Vec<String>) {
    thought_by(ASKING, model, answers).await
}

async fn thought_by(asking: &str, model: Option<&Arc<Model>>, answers: Vec<Answer>) -> (String, Vec<String>) {
    let approver = Arc::new(ScriptedApprover::new(answers));
    let host = Host::with(
        json!({"asking": shell(asking)}),
        |options| match model {
            Some(model) => options.sampling(Arc::clone(model) as Arc<dyn Sampling>),
            None => options,
        },
        |builder| builder.without_asking_first().approver(Arc::clone(&approver)),
    );
    let text = host.call("asking__think", json!({})).await.text();
    host.servers.stop().await;
    let asked = approver.asked().iter().map(|asked| format!("{asked:?}")).collect();
    (text, asked)
}

#[tokio::test]
async fn the_model_is_used_where_a_person_lets_it() {
    let model = Arc::new(Model::default());
    let (text, asked) = thought(Some(&model), vec![Answer::allow()]).await;
    assert_eq!(text, "forty-two, told yes");
    let [question] = &asked[..] else { panic!("{asked:?}") };
    for part in [
        "mcp_sampling",
        "let the MCP server `asking` use your model",
        "user: what is it?",
        "7 tokens",
        "be brief",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    let asked = std::mem::take(&mut *model.asked.lock().unwrap());
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["messages"][0]["content"]["text"], "what is it?");
    // Whose tool the server works for is known: its usage counts for them.
    assert_eq!(*model.sessions.lock().unwrap(), [Some("s".to_owned())]);
}

#[tokio::test]
async fn without_leave_it_is_not() {
    let model = Arc::new(Model::default());
    let (text, asked) = thought(Some(&model), vec![Answer::deny()]).await;
    assert_eq!((text.as_str(), asked.len()), ("refused, told yes", 1));
    assert!(model.asked.lock().unwrap().is_empty());
    // Where there is none, servers are told so, and one that asks all the same gets nothing.
    let (text, asked) = thought(None, vec![]).await;
    assert_eq!((text.as_str(), asked.len()), ("none, told no", 0));
}

#[tokio::test]
async fn what_a_person_would_not_be_shown_is_not_sent() {
    for hidden in [
        r#""tools":[{"name":"t","inputSchema":{"type":"object"}}],"messages":[{"role":"user","content":{"type":"text","text":"x"}}]"#,
        r#""messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"hidden"}]}]}]"#,
    ] {
        let shown = r#""messages":[{"role":"user","content":{"type":"text","text":"what is it?"}}]"#;
        let asking = ASKING.replace(shown, hidden);
        assert_ne!(asking, ASKING);
        let model = Arc::new(Model::default());
        let (text, asked) = thought_by(&asking, Some(&model), vec![Answer::allow()]).await;
        assert_eq!((text.as_str(), asked.len()), ("none, told yes", 0), "{hidden}");
        assert!(model.asked.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_failure_of_the_model_is_told() {
    let model = Arc::new(Model { is_broken: true, ..Model::default() });
    let (text, _) = thought(Some(&model), vec![Answer::allow()]).await;
    assert_eq!(text, "broken, told yes");
}
