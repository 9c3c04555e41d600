//! A directory that becomes a link and a directory again, while its files are used.

use crate::workspace_files::Places;
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{
    approval::{Answer, Question, ScriptedApprover},
    files::{Expected, OpenedPath, Workspace},
};

/// How often the directory is swapped for each operation, unless `TOOLKIT_SWAPS` says otherwise.
const SWAPS: u64 = 1_000;
/// How often each operation is tried at least.
const TRIES: u64 = 200;

const OPERATIONS: [&str; 8] = ["open", "try_open", "list", "write", "make", "make deep", "remove", "rename"];

/// Does one thing with `dir/…`, and says what it saw.
#[tool(permission = "edit", asks)]
async fn operate(ctx: &ToolContext, operation: &str) -> Result<String, ToolError> {
    let workspace = ctx.workspace();
    match operation {
        "open" => match workspace.open("dir/file").await? {
            OpenedPath::File(file) => Ok(std::io::read_to_string(file.into_file())?),
            _ => Ok("a directory".to_owned()),
        },
        "list" => match workspace.open("dir").await? {
            OpenedPath::Directory(directory) => names(&directory),
            _ => Ok("a file".to_owned()),
        },
        "try_open" => {
            let file = ctx.blocking(move |_| {
                workspace.try_open("dir/file").map_err(|refused| ToolError::failed(refused.to_string()))
            });
            Ok(std::io::read_to_string(file.await?.into_file())?)
        }
        "write" => write(ctx, &workspace, "dir/file").await,
        "make" => write(ctx, &workspace, "dir/made").await,
        "make deep" => write(ctx, &workspace, "dir/deep/er/made").await,
        "remove" => {
            write(ctx, &workspace, "dir/gone").await?;
            let target = workspace.target("dir/gone", |ask| ask).await?;
            ctx.blocking(move |_| target.remove(&Expected::Any).map(|()| "removed".to_owned())).await
        }
        _ => {
            write(ctx, &workspace, "dir/from").await?;
            let from = workspace.target("dir/from", |ask| ask).await?;
            let to = workspace.target("dir/to", |ask| ask).await?;
            ctx.blocking(move |_| {
                from.rename_to(&to, &Expected::Any)?;
                to.remove(&Expected::Any)?;
                Ok("renamed".to_owned())
            })
            .await
        }
    }
}

async fn write(ctx: &ToolContext, workspace: &Workspace, path: &str) -> Result<String, ToolError> {
    let target = workspace.target(path, |ask| ask).await?;
    ctx.blocking(move |_| target.write(b"inside", &Expected::Any).map(|_| "written".to_owned())).await
}

fn names(directory: &toolkit::files::OpenedDirectory) -> Result<String, ToolError> {
    let (entries, _) = directory.entries(100, || true)?;
    let names: Vec<String> = entries.iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect();
    Ok(names.join(" "))
}

/// Swaps `inside/dir` for a link to `outside/dir` until it did so often enough and is told to stop.
fn swap(inside: &Path, swaps: u64, swapped: &AtomicU64, is_over: &AtomicBool) {
    let (dir, away) = (inside.join("dir"), inside.join("away"));
    while !is_over.load(Ordering::Relaxed) || swapped.load(Ordering::Relaxed) < swaps {
        if fs::rename(&dir, &away).is_err() {
            continue;
        }
        while symlink("../outside/dir", &dir).is_err() {
            // An operation made the directory anew, which is its right.
            let _ = fs::remove_dir_all(&dir);
        }
        let count = swapped.fetch_add(1, Ordering::Relaxed);
        spin(count % 50 * 2);
        fs::remove_file(&dir).unwrap();
        while fs::rename(&away, &dir).is_err() {
            let _ = fs::remove_dir_all(&dir);
        }
        spin(count * 7 % 100 * 8);
    }
}

/// Passes so many microseconds, which no sleep does so exactly.
fn spin(micros: u64) {
    let until = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// All that happens to what is outside.
struct Watch(OwnedFd);

impl Watch {
    fn new(paths: &[&Path]) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        for path in paths {
            inotify::add_watch(&watch, *path, WatchFlags::ALL_EVENTS).unwrap();
        }
        Self(watch)
    }

    fn seen(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4_096];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => seen.push(format!("{:?} {:?}", event.events(), event.file_name())),
                Err(Errno::WOULDBLOCK) => return seen,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn what_happens_outside_is_seen() {
    let places = Places::new();
    places.write("outside/dir/file", "canary").link("../outside/dir", "inside/dir");
    let outside = places.base.join("outside/dir");
    let watch = Watch::new(&[&outside]);
    // To look where a link leads is nothing.
    fs::metadata(places.path("inside/dir/file")).unwrap();
    fs::canonicalize(places.path("inside/dir/file")).unwrap();
    assert_eq!(watch.seen(), <[String; 0]>::default());
    fs::read(places.path("inside/dir/file")).unwrap();
    assert!(!watch.seen().is_empty());
    fs::File::create(places.path("inside/dir/made")).unwrap();
    assert!(!watch.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_is_touched() {
    let swaps = std::env::var("TOOLKIT_SWAPS").ok().and_then(|text| text.parse().ok()).unwrap_or(SWAPS);
    for operation in OPERATIONS {
        let places = Places::new();
        places.write("inside/dir/file", "inside").write("outside/dir/file", "canary");
        places.write("outside/dir/gone", "canary").write("outside/dir/from", "canary");
        let (inside, outside) = (places.base.join("inside"), places.base.join("outside/dir"));
        let is_within = |ask: &toolkit::approval::PendingAsk| match ask.question() {
            Question::Approve(ask) => ask.kind == "edit" && !ask.title.contains("outside"),
            _ => false,
        };
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(operate))
            .approver(ScriptedApprover::new([]).with_rule(is_within, Answer::allow()))
            .loop_guard(toolkit::inspection::LoopGuard::off())
            .default_workspace(&inside)
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        // Paths are looked at before anything is watched, so that only the operations are seen.
        let watch = Watch::new(&[&outside, &outside.join("file"), &places.base.join("outside")]);
        let (swapped, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (inside, swapped, is_over) = (inside.clone(), Arc::clone(&swapped), Arc::clone(&is_over));
            move || swap(&inside, swaps, &swapped, &is_over)
        });
        let mut done = 0;
        let mut tried = 0;
        let mut told = std::collections::BTreeMap::new();
        while tried < TRIES || swapped.load(Ordering::Relaxed) < swaps {
            tried += 1;
            let arguments = serde_json::json!({ "operation": operation });
            let result = toolbox.call(ToolCall::new("1", "operate", arguments)).await;
            let text = result.text();
            assert!(!text.contains("canary"), "{operation}: {text}");
            done += u64::from(result.error().is_none());
            *told.entry(text).or_insert(0) += 1;
        }
        is_over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        assert_eq!(watch.seen(), <[String; 0]>::default(), "{operation}");
        assert_eq!(places.names("outside/dir"), ["file", "from", "gone"], "{operation}");
        for file in ["file", "from", "gone"] {
            assert_eq!(places.read(&format!("outside/dir/{file}")), "canary", "{operation}");
        }
        // Otherwise nothing was tried.
        assert!(done > 0, "{operation}: none of {tried} was done: {told:?}");
    }
}
