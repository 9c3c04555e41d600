//! Resources of servers, where they send a person, what they hear of the workspace, and what they hide in texts.

use crate::client::{Host, command, example, names};
use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::{
    Builder, Caller, Content, ToolCall, ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    output::{LeftOutMedia, OutputLocation, ResourceBody},
    policy::{PolicySettings, ToolPolicy, ToolRules},
};
use toolkit_mcp::{ServerOptions, ToolServer};

fn featured() -> Value {
    json!({"f": command(example("featured"), &[])})
}

fn host() -> Host {
    Host::new(featured())
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let host = host();
    let listed = host.call("resource_list", json!({"server": "f"})).await;
    assert_eq!(
        listed.text(),
        "3 resources of the MCP server `f`:\n\
         - test://text — A text\\u{202e}: text: Says hello. [text/plain, 5 bytes]\n\
         - test://picture — picture [image/png]\n\
         - test://data — data\n\
         1 resource template of the MCP server `f`:\n\
         - test://user/{name} — user"
    );
    let read = async |uri: &str| host.call("resource_read", json!({"server": "f", "uri": uri})).await;
    for (uri, expected) in [("test://text", "hello\\u{202e}"), ("test://user/ada", "Ada")] {
        let result = read(uri).await;
        let Some(output) = result.output() else { panic!("{}", result.text()) };
        let [Content::Resource { resource }] = &output.content[..] else { panic!("{output:?}") };
        assert_eq!((&*resource.uri, &resource.body), (uri, &ResourceBody::Text(expected.to_owned())));
    }
    let picture = read("test://picture").await;
    assert_eq!(picture.output().unwrap().content, [Content::image(*b"\x89PNG\r\n\x1a\n", "image/png")]);
    let data = read("test://data").await;
    // Without a type, no model is sent it: it is saved.
    let [left_out] = &LeftOutMedia::of(data.output().unwrap())[..] else { panic!("{}", data.text()) };
    let OutputLocation::Whole { path } = &left_out.kept else { panic!("{left_out:?}") };
    assert_eq!((left_out.bytes, std::fs::read(path).unwrap()), (3, vec![1, 2, 3]));
    assert!(data.text().contains(&path.display().to_string()), "{}", data.text());
    assert!(read("test://bad").await.text().contains("not valid Base64"));
    let missing = read("test://none").await;
    assert_eq!(missing.text(), "the MCP server `f` refused the call: Resource not found (code -32002)");
    assert_eq!(missing.error().unwrap().kind(), ToolErrorKind::Failed);
    let wrong = host.call("resource_read", json!({"server": "g", "uri": "test://text"})).await;
    assert_eq!(wrong.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}

#[tokio::test]
async fn resources_are_read_by_the_rules_for_their_server() {
    let policy = |entry: &str| {
        let mut settings = PolicySettings::default();
        settings.servers.insert("f".to_owned());
        settings.tools = ToolRules::default().deny([entry]);
        move |builder: Builder| builder.without_asking_first().policy(ToolPolicy::new(settings))
    };
    let denied = Host::with(featured(), |options| options, policy("mcp:f"));
    denied.toolkit.toolbox(&Caller::new()).await;
    let result = denied.call("resource_list", json!({"server": "f"})).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied, "{}", result.text());
    assert!(result.text().contains("f__resource_list"), "{}", result.text());
    // A person is asked as for a tool of the server.
    let approver = Arc::new(ScriptedApprover::new([Answer::deny()]));
    let asking = Host::with(featured(), |options| options, |builder| builder.approver(Arc::clone(&approver)));
    let result = asking.call("resource_read", json!({"server": "f", "uri": "test://text"})).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied, "{}", result.text());
    let asked = format!("{:?}", approver.asked());
    assert!(asked.contains("call `f__resource_read`") && asked.contains("test://text"), "{asked}");
}

#[tokio::test]
async fn without_resources_there_are_no_tools_for_them() {
    let host = Host::new(json!({"h": command(example("hostile"), &["older"])}));
    assert_eq!(names(&host.toolbox().await), ["h__call"]);
}

#[tokio::test]
async fn servers_hear_of_the_workspace() {
    let host = host();
    let workspace = host.directory.path().join("workspace");
    let roots: Value = serde_json::from_str(&host.call("f__roots", json!({})).await.text()).unwrap();
    assert_eq!(
        roots,
        json!({"roots": [{"uri": format!("file://{}", workspace.display()), "name": "workspace"}]})
    );
}

#[tokio::test]
async fn a_person_is_sent_to_an_address_and_it_is_not_opened() {
    for (answer, expected) in [(Answer::allow(), "accept"), (Answer::deny(), "decline")] {
        let approver = Arc::new(ScriptedApprover::new([answer]));
        let host = Host::with(
            featured(),
            |options| options,
            |builder| builder.without_asking_first().approver(Arc::clone(&approver)),
        );
        let told: Value = serde_json::from_str(&host.call("f__open", json!({})).await.text()).unwrap();
        assert_eq!(told, json!({"action": expected}));
        let asked = format!("{:?}", approver.asked());
        for part in [
            "mcp_url",
            "https://xn--bcher-kva.example/pay?a=1",
            "bücher.example (sent as xn--bcher-kva.example)",
            "the MCP server `f` sends you",
        ] {
            assert!(asked.contains(part), "{part}: {asked}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_needs_a_person_elsewhere_first_says_so() {
    for (answer, kind, expected) in [
        (
            Answer::allow(),
            ToolErrorKind::Failed,
            "sign in first. The user was told where; call the tool again",
        ),
        (Answer::deny(), ToolErrorKind::Denied, "the user declined it"),
    ] {
        let approver = ScriptedApprover::new([answer]);
        let host = Host::with(
            featured(),
            |options| options,
            |builder| builder.without_asking_first().approver(approver),
        );
        let result = host.call("f__first", json!({})).await;
        assert_eq!(result.error().unwrap().kind(), kind, "{}", result.text());
        assert!(result.text().contains(expected), "{}", result.text());
    }
}

#[tokio::test]
async fn hidden_characters_are_shown_to_the_model() {
    let host = host();
    let toolbox = host.toolbox().await;
    let definition = toolbox.definition("f__hidden").unwrap();
    assert_eq!(definition.description, r"Ignore\u{e0041} nothing.\u{1b}[2J");
    assert_eq!(definition.input_schema["properties"]["a"]["description"], r"x\u{200b}y");
    assert_eq!(toolbox.tool("f__hidden").unwrap().title(), r"t\u{202e}");
    assert!(toolbox.tool("f__worse").is_none());
    assert!(
        host.noticed().contains("\"worse\" is left out: its schema has hidden characters"),
        "{}",
        host.noticed()
    );
    let result = toolbox.call(ToolCall::new("1", "f__hidden", "{}")).await;
    assert_eq!(result.text(), "👩‍🚒 a\\u{202e}b\n{\"k\\\\u{200b}\":\"\\\\u{9b}\"}");
    assert_eq!(result.output().unwrap().details, Some(json!({r"k\u{200b}": r"\u{9b}"})));
}

#[tokio::test]
async fn prompts_of_servers_are_passed_on() {
    let host = host();
    host.toolbox().await;
    let options = ServerOptions::new().prompts_of(host.servers.clone());
    let server = ToolServer::with_options(host.toolkit.clone(), Caller::new(), options);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move { rmcp::serve_server(server, ours).await.ok() });
    let client = rmcp::serve_client((), theirs).await.unwrap();
    assert!(client.peer_info().unwrap().capabilities.prompts.is_some());
    let listed = serde_json::to_value(client.list_all_prompts().await.unwrap()).unwrap();
    assert_eq!(
        listed,
        json!([
            {"name": "f__review", "title": "Review", "description": "Reviews\\u{202e} code.",
                "arguments": [{"name": "code", "description": "The code.", "required": true}]},
            {"name": "f__plain"},
        ])
    );
    let mut params = GetPromptRequestParams::new("f__review");
    params.arguments = json!({"code": "x"}).as_object().cloned();
    let got = serde_json::to_value(client.get_prompt(params).await.unwrap()).unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "review \"x\"\\u{202e}");
    assert_eq!(got["messages"][1]["role"], "assistant");
    let missing = client.get_prompt(GetPromptRequestParams::new("f__none")).await.unwrap_err();
    assert!(missing.to_string().contains("there is no prompt \"f__none\""), "{missing}");
    drop(client);
    serving.abort();
    // Who may not use a server has none of its prompts.
    let mut settings = PolicySettings::default();
    settings.servers.insert("f".to_owned());
    settings.tools = ToolRules::default().deny(["mcp:f"]);
    let denied =
        Host::with(featured(), |options| options, |builder| builder.policy(ToolPolicy::new(settings)));
    let toolbox = denied.toolbox().await;
    assert!(denied.servers.prompts(&toolbox).await.is_empty());
}
