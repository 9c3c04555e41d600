//! The structured details of each builtin tool: their exact JSON, and the schema that the tool states for them.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::commands::house::House;
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use toolkit::Toolbox;
use toolkit::prelude::*;
use toolkit_loopback::{Answer, Loopback, Request};

/// A picture of one pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNwaDjwHwAFBAKAPJ4DgAAAAABJRU5ErkJggg==";

/// Members whose values differ from run to run.
const VOLATILE: [&str; 7] =
    ["modified", "pid", "directory", "outputPath", "baseDirectory", "terminated", "killed"];

fn answer(request: &Request) -> Answer {
    match &*request.path {
        "/page" => Answer::bytes(200, "<title>Tides</title><p>The moon.</p>")
            .with_header("content-type", "text/html"),
        "/picture" => Answer::bytes(200, BASE64.decode(PNG.as_bytes()).unwrap())
            .with_header("content-type", "image/png"),
        "/v1/audio/transcriptions" => Answer::json(200, &json!({ "text": "Hello." })),
        "/v1/audio/speech" => {
            let wav = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x02\0\0\0\x04\0\0\0\x02\0\x10\0data\x04\0\0\0abcd";
            Answer::bytes(200, wav.as_slice()).with_header("content-type", "audio/wav")
        }
        "/v1/images/generations" => Answer::json(200, &json!({ "data": [{ "b64_json": PNG }] })),
        "/v1/chat/completions" => {
            Answer::json(200, &json!({ "choices": [{ "message": { "content": "A dot." } }] }))
        }
        _ => Answer::json(
            200,
            &json!({ "web": { "results": [{ "title": "A", "url": "https://example.com/a", "description": "b" }] } }),
        ),
    }
}

/// Replaces values that differ from run to run.
fn without_volatile(value: &mut Value, server: &str) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if VOLATILE.contains(&&**name) {
                    *member = Value::from("…");
                }
                without_volatile(member, server);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_volatile(item, server)),
        Value::String(text) => *text = text.replace(server, "URL"),
        _ => {}
    }
}

/// Calls a tool, and checks that its details are exactly `expected` and fit the stated schema. Returns the difference.
async fn check(
    toolbox: &Toolbox,
    server: &str,
    name: &str,
    arguments: Value,
    expected: &str,
) -> Option<String> {
    let result = toolbox.call(ToolCall::new("1", name, arguments)).await;
    assert!(!result.is_error(), "{name}: {}", result.text());
    let Some(mut details) = result.details() else {
        assert_eq!(expected, "", "{name} has no details");
        return None;
    };
    let tool = toolbox.tool(name).unwrap();
    let schema = tool.output_schema().unwrap_or_else(|| panic!("{name} states no output schema"));
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&details).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?} in {details}");
    without_volatile(&mut details, server);
    let found = details.to_string();
    (found != expected).then(|| format!("{name}\n  is        {found}\n  should be {expected}"))
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "each is a call of a tool")]
async fn details_are_as_stated() {
    let server = Loopback::start(answer).await;
    let url = server.url();
    let web = json!({
        "network": { "allowedRanges": ["127.0.0.0/8"] },
        "search": { "provider": "brave", "baseUrl": url, "apiKey": "key" },
    });
    let providers = json!([{ "name": "studio", "baseUrl": format!("{url}/v1"), "model": "one" }]);
    let tools = json!({
        "web": web,
        "image": { "providers": providers, "vision": providers },
        "tts": { "providers": providers },
        "transcribe": { "providers": providers },
    });
    let house = House::new(json!({ "tools": tools })).await;
    let put = |path: &str, content: &[u8]| {
        let path = house.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    put("dot.png", &BASE64.decode(PNG.as_bytes()).unwrap());
    put("bin", b"one\0");
    put("many.txt", b"hit\nnear\nhit\n");
    put("sub/gone.txt", b"x\n");
    put("../user/skills/deploy/SKILL.md", b"---\nname: deploy\ndescription: How to deploy\n---\nDo it.\n");
    put("../user/skills/deploy/run.sh", b"");
    let caller = Caller::new().with_session("s").with_workspace(house.path("."));
    let toolbox = &house.toolkit.toolbox(&caller).await;
    let patch = "*** Begin Patch\n*** Add File: p\n+x\n*** Delete File: sub/gone.txt\n*** Update File: new.txt\n\
                 *** Move to: moved.txt\n@@\n-b\n+c\n*** End Patch";
    let started = toolbox
        .call(ToolCall::new("1", "exec", json!({ "command": "sleep 60", "run_in_background": true })))
        .await;
    assert!(!started.is_error(), "{}", started.text());
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (name, arguments, expected) in [
        (
            "read",
            json!({ "file_path": "a.txt" }),
            r#"{"filePath":"a.txt","firstLine":1,"lineCount":2,"totalLines":2,"cutLines":0,"invalidUtf8Lines":0,"encoding":"UTF-8","byteOrderMark":false,"lineEndings":"LF","truncated":false,"nextOffset":null}"#,
        ),
        (
            "read",
            json!({ "file_path": "a.txt", "limit": 1 }),
            r#"{"filePath":"a.txt","firstLine":1,"lineCount":1,"totalLines":null,"cutLines":0,"invalidUtf8Lines":0,"encoding":"UTF-8","byteOrderMark":false,"lineEndings":"LF","truncated":true,"nextOffset":2}"#,
        ),
        // A file has to be read before it is deleted.
        (
            "read",
            json!({ "file_path": "sub/gone.txt" }),
            r#"{"filePath":"sub/gone.txt","firstLine":1,"lineCount":1,"totalLines":1,"cutLines":0,"invalidUtf8Lines":0,"encoding":"UTF-8","byteOrderMark":false,"lineEndings":"LF","truncated":false,"nextOffset":null}"#,
        ),
        (
            "read",
            json!({ "file_path": "dot.png" }),
            r#"{"path":"dot.png","filePath":"dot.png","width":1,"height":1,"shownWidth":1,"shownHeight":1,"mimeType":"image/png","bytes":70}"#,
        ),
        (
            "read",
            json!({ "file_path": "sub" }),
            r#"{"filePath":"sub","firstEntry":1,"entryCount":1,"totalEntries":1,"truncated":false,"nextOffset":null}"#,
        ),
        (
            "glob",
            json!({ "pattern": "a.*" }),
            r#"{"pattern":"a.*","searchPath":".","files":[{"path":"a.txt","modified":"…"}],"count":1,"truncated":false,"nextOffset":null,"leftOut":0,"unreadable":0}"#,
        ),
        (
            "glob",
            json!({ "pattern": "*", "path": "sub", "limit": 1 }),
            r#"{"pattern":"*","searchPath":"sub","files":[{"path":"sub/gone.txt","modified":"…"}],"count":1,"truncated":false,"nextOffset":null,"leftOut":0,"unreadable":0}"#,
        ),
        (
            "grep",
            json!({ "pattern": "hit", "path": "many.txt", "limit": 1, "after": 1 }),
            r#"{"pattern":"hit","searchPath":"many.txt","results":[{"path":"many.txt","lines":[{"number":1,"isMatch":true,"text":"hit"},{"number":2,"isMatch":false,"text":"near"}]}],"count":1,"truncated":true,"nextOffset":1,"filesSearched":1,"leftOut":0,"unreadable":0,"tooLarge":0}"#,
        ),
        (
            "grep",
            json!({ "pattern": "one", "path": "bin" }),
            r#"{"pattern":"one","searchPath":"bin","results":[{"path":"bin","binary":true}],"count":1,"truncated":false,"nextOffset":null,"filesSearched":1,"leftOut":0,"unreadable":0,"tooLarge":0}"#,
        ),
        (
            "grep",
            json!({ "pattern": "one", "path": "a.txt", "output_mode": "count" }),
            r#"{"pattern":"one","searchPath":"a.txt","results":[{"path":"a.txt","count":1}],"count":1,"truncated":false,"nextOffset":null,"filesSearched":1,"leftOut":0,"unreadable":0,"tooLarge":0}"#,
        ),
        (
            "grep",
            json!({ "pattern": "one", "path": "a.txt", "output_mode": "files" }),
            r#"{"pattern":"one","searchPath":"a.txt","results":[{"path":"a.txt"}],"count":1,"truncated":false,"nextOffset":null,"filesSearched":1,"leftOut":0,"unreadable":0,"tooLarge":0}"#,
        ),
        (
            "write",
            json!({ "file_path": "new.txt", "content": "a\n" }),
            r#"{"filePath":"new.txt","created":true,"bytes":2,"lines":1,"encoding":"UTF-8","byteOrderMark":false,"lineEndings":"LF","additions":1,"deletions":0,"diff":"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+a\n","diffTruncated":false}"#,
        ),
        (
            "edit",
            json!({ "file_path": "new.txt", "old_string": "a", "new_string": "b" }),
            r#"{"filePath":"new.txt","created":false,"additions":1,"deletions":1,"replacements":[{"count":1,"line":1,"overlooked":"nothing"}],"diff":"--- a/new.txt\n+++ b/new.txt\n@@ -1 +1 @@\n-a\n+b\n","diffTruncated":false}"#,
        ),
        (
            "edit",
            json!({ "file_path": "made.txt", "old_string": "", "new_string": "m\n" }),
            r#"{"filePath":"made.txt","created":true,"additions":1,"deletions":0,"diff":"--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+m\n","diffTruncated":false}"#,
        ),
        (
            "apply_patch",
            json!({ "input": patch }),
            r#"{"files":[{"status":"A","filePath":"p","additions":1,"deletions":0,"diff":"--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n","diffTruncated":false},{"status":"D","filePath":"sub/gone.txt","additions":0,"deletions":1,"diff":"--- a/sub/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n","diffTruncated":false},{"status":"R","filePath":"moved.txt","from":"new.txt","additions":1,"deletions":1,"diff":"--- a/moved.txt\n+++ b/moved.txt\n@@ -1 +1 @@\n-b\n+c\n","diffTruncated":false}],"additions":2,"deletions":2}"#,
        ),
        (
            "skill",
            json!({ "skill": "deploy" }),
            r#"{"name":"deploy","description":"How to deploy","owner":"the user","baseDirectory":"…","files":["run.sh"]}"#,
        ),
        (
            "process",
            json!({ "action": "list" }),
            r#"{"tasks":[{"taskId":"job_1","command":"sleep 60","directory":"…","pid":"…","running":true,"alive":true,"exitCode":null,"bytes":0,"outputPath":"…"}]}"#,
        ),
        ("process", json!({ "action": "output", "task_id": "job_1" }), ""),
        (
            "process",
            json!({ "action": "stop", "task_id": "job_1" }),
            r#"{"terminated":"…","killed":"…","left":0}"#,
        ),
        // The outcome of a command is in the metadata, and its output in the text.
        ("exec", json!({ "command": "echo one" }), ""),
        (
            "web_fetch",
            json!({ "url": format!("{url}/page") }),
            r#"{"url":"URL/page","title":"Tides","mediaType":"text/html","totalChars":9,"offset":0,"nextOffset":null}"#,
        ),
        (
            "web_fetch",
            json!({ "url": format!("{url}/picture") }),
            r#"{"url":"URL/picture","mediaType":"image/png","bytes":70}"#,
        ),
        (
            "canvas",
            json!({ "width": 2, "height": 1, "commands": [{ "type": "circle", "x": 1, "y": 1, "radius": 1 }] }),
            r#"{"width":2,"height":1,"bytes":72}"#,
        ),
        (
            "tts",
            json!({ "text": "Hello.", "save_as": "said.wav" }),
            r#"{"path":"said.wav","format":"wav","mimeType":"audio/wav","durationSeconds":1.0,"bytes":48,"pieces":1,"provider":"studio"}"#,
        ),
        ("transcribe", json!({ "audio": "said.wav" }), r#"{"text":"Hello.","provider":"studio","bytes":48}"#),
        (
            "image",
            json!({ "prompt": "A dot" }),
            r#"{"images":[{"path":"images/a-dot.png","width":1,"height":1,"bytes":73}],"provider":"studio"}"#,
        ),
        (
            "image",
            json!({ "action": "describe", "image": "dot.png" }),
            r#"{"image":"dot.png","width":1,"height":1,"provider":"studio"}"#,
        ),
        (
            "web_search",
            json!({ "query": "a" }),
            r#"{"results":[{"title":"A","url":"https://example.com/a","description":"b","age":null}]}"#,
        ),
    ] {
        wrong.extend(check(toolbox, url, name, arguments, expected).await);
        seen.insert(name.to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A tool that is new needs a call here. The details of `browser` are checked where there is a browser.
    let names = toolbox.tools().map(|tool| tool.name().to_owned());
    let all: BTreeSet<String> = names.filter(|name| name != "browser").collect();
    assert_eq!(seen, all);
}

/// Clients of MCP show a model the structured content in place of the text, so only tools whose details say all that the text says
/// have a schema in their definition.
#[test]
fn models_are_shown_no_details_that_say_less_than_the_text() {
    let toolkit = Toolkit::builder().build().unwrap();
    let stated = |name: &str| toolkit.tool(name).unwrap().definition().unwrap().output_schema.is_some();
    for (name, expected) in [
        ("glob", true),
        ("grep", true),
        ("web_search", true),
        ("read", false),
        ("web_fetch", false),
        ("exec", false),
        ("process", false),
        ("skill", false),
        ("write", false),
        ("edit", false),
        ("apply_patch", false),
        ("canvas", false),
        ("image", false),
        ("tts", false),
        ("transcribe", false),
    ] {
        assert_eq!(stated(name), expected, "{name}");
    }
}
