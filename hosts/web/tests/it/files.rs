//! Files of results, within the answer or later.

use super::Server;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{Tool, ToolOutput};

/// A tool whose result names the files that it is given.
fn names_files() -> Tool {
    let schema = json!({ "type": "object", "properties": { "paths": { "type": "array", "items": { "type": "string" } } } });
    let tool = Tool::builder("attach").description("Attaches files.").read_only().input_schema(schema);
    tool.build(|_, arguments| async move {
        let paths: Vec<PathBuf> = arguments.required("paths")?;
        Ok::<_, ToolError>(paths.into_iter().fold(ToolOutput::text("here"), ToolOutput::with_attachment))
    })
    .unwrap()
}

pub(crate) async fn server(workspace: &Path) -> Server {
    let toolkit = Toolkit::empty().tool(names_files()).default_workspace(workspace).build().unwrap();
    Server::start(toolkit).await
}

async fn files(server: &Server, path: &str, paths: &[&Path]) -> Vec<Value> {
    let result = server.post(path, &json!({ "paths": paths })).await.result();
    result["files"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_file_comes_within_the_answer_or_by_a_later_request() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plan.txt");
    std::fs::write(&file, "a plan").unwrap();
    let server = server(directory.path()).await;
    let inline = files(&server, "/v1/tools/attach/call", &[&file]).await;
    let data = "YSBwbGFu";
    assert_eq!(inline, [json!({ "name": "plan.txt", "mimeType": "text/plain", "bytes": 6, "data": data })]);
    let later = files(&server, "/v1/tools/attach/call?media=reference", &[&file]).await;
    let kept = server.get(later[0]["href"].as_str().unwrap()).await;
    assert_eq!(kept.text, "a plan");
    assert_eq!(kept.headers["content-disposition"], "attachment; filename*=UTF-8''plan.txt");
    assert_eq!(server.get("/v1/results/none/0").await.status, 404);
}

#[cfg(unix)]
#[tokio::test]
async fn links_pipes_directories_and_large_or_outer_files_are_entries_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::fs::write(place("own"), "own").unwrap();
    std::os::unix::fs::symlink(place("own"), place("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), place("out")).unwrap();
    std::fs::create_dir(place("directory")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, place("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    std::fs::File::create(place("large")).unwrap().set_len(9 << 20).unwrap();
    let server = server(directory.path()).await;
    for (path, part) in [
        (place("link"), "symlink"),
        (place("out"), "may not be read without approval"),
        (outside.path().join("secret"), "may not be read without approval"),
        (place("directory"), "not a file"),
        (place("pipe"), ""),
        (place("large"), "more than 8388608 bytes"),
        (place("missing"), ""),
    ] {
        let entry = files(&server, "/v1/tools/attach/call", &[&path]).await.remove(0);
        let error = entry["error"].as_str().unwrap_or_else(|| panic!("{path:?}: {entry}"));
        assert!(error.contains(part) && !error.is_empty(), "{path:?}: {error}");
        assert_eq!(entry.get("data"), None);
        assert!(!error.contains(&*directory.path().to_string_lossy()), "{error}");
    }
    // A relative path is not told as a whole one.
    let entry = files(&server, "/v1/tools/attach/call", &[Path::new("sub/missing.txt")]).await.remove(0);
    let error = entry["error"].as_str().unwrap();
    assert!(!error.contains('/') && !error.is_empty(), "{error}");
}

#[tokio::test]
async fn only_the_owner_is_told_paths_in_the_metadata_of_a_result() {
    let tool = Tool::builder("run").description("Runs.").read_only().build(|_, _| async {
        ToolOutput::text("ran").with_metadata("outputPath", "/data/output/1").with_metadata("status", "done")
    });
    let toolkit = Toolkit::empty().tool(tool.unwrap()).build().unwrap();
    for (is_owner, expected) in [
        (false, json!({ "status": "done" })),
        (true, json!({ "outputPath": "/data/output/1", "status": "done" })),
    ] {
        let server = Server::with(toolkit.clone(), |mut options| {
            options.is_owner = is_owner;
            options
        });
        assert_eq!(server.await.call("run", &json!({})).await.result()["metadata"], expected);
    }
}

#[tokio::test]
async fn data_that_slow_readers_do_not_read_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let place = |number: usize| directory.path().join(format!("{number}.bin"));
    for number in 0..2 {
        std::fs::write(place(number), vec![7; 8 << 20]).unwrap();
    }
    let server = server(directory.path()).await;
    // Answers of which nobody reads more than the head.
    let paths = json!({ "paths": [place(0), place(1)] });
    let mut unread = Vec::new();
    for _ in 0..3 {
        let request = super::json_body(server.request("POST", "/v1/tools/attach/call"), &paths);
        unread.push(server.open(request).await);
    }
    let refused = files(&server, "/v1/tools/attach/call", &[&place(0), &place(1)]).await;
    assert!(refused[0]["error"].as_str().unwrap().contains("on its way to slow readers"), "{}", refused[0]);
    drop(unread);
    loop {
        let mut entry = files(&server, "/v1/tools/attach/call", &[&place(0), &place(1)]).await.remove(0);
        if entry["data"].take().is_string() {
            break;
        }
    }
}
