//! Tests of a stream while it is written: its clones, its end, its file.

use super::*;
use crate::cut::Cut;
use crate::cutter::Cutter;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::task::Wake;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::task::{spawn_blocking, yield_now};
use toolkit_core::caller::Caller;
use toolkit_core::output::ToolOutput;
use toolkit_core::truncate::Keep;

const LIMITS: OutputLimits = OutputLimits { max_lines: 2, max_bytes: 10, keep: Keep::Head };

fn sink(data: &Path, buffer_bytes: usize) -> OutputSink {
    OutputSink::with_buffer(
        &LIMITS,
        OutputStore::new(Some(data.to_owned())),
        Some("s".to_owned()),
        buffer_bytes,
    )
}

async fn cut(sink: &OutputSink, returned: &str) -> (String, Option<Cut>) {
    let cutter = Cutter {
        limits: LIMITS,
        store: &sink.shared.store,
        session: "s",
        caller: &Caller::new().with_session("s"),
        hint: None,
    };
    cutter.streamed(sink, returned.to_owned()).await
}

fn files(data: &TempDir) -> Vec<PathBuf> {
    let session = fs::read_dir(data.path().join("tool-output/s")).into_iter().flatten();
    session.map(|entry| entry.unwrap().path()).collect()
}

/// Blocks the only thread for blocking work until it is released.
fn hold() -> impl FnOnce() {
    let (release, held) = mpsc::channel::<()>();
    drop(spawn_blocking(move || held.recv()));
    move || release.send(()).unwrap()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap().block_on(future)
}

#[test]
fn nothing_is_on_disk_within_the_limits() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let mut sink = sink(data.path(), 4);
        sink.write_all(b"0123456789").await.unwrap();
        sink.flush().await.unwrap();
        assert!(!data.path().join("tool-output").exists());
        assert_eq!(cut(&sink, "").await, ("0123456789".to_owned(), None));
        assert!(!data.path().join("tool-output").exists());
    });
}

#[test]
fn what_goes_beyond_is_on_disk_before_the_end() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let mut sink = sink(data.path(), 4);
        sink.write_all(b"0123456789x").await.unwrap();
        spawn_blocking(|| {}).await.unwrap();
        assert_eq!(fs::read(&files(&data)[0]).unwrap(), b"0123456789");
        sink.write_all(b"yz").await.unwrap();
        let (text, _) = cut(&sink, "").await;
        assert!(text.starts_with("0123456789\n[Output cut. It has 1 line, 13 bytes."), "{text}");
        assert_eq!(fs::read(&files(&data)[0]).unwrap(), b"0123456789xyz");
    });
}

#[test]
fn returned_text_follows_what_was_streamed() {
    for (streamed, returned, whole) in [
        ("", "", ""),
        ("", "b", "b"),
        ("a", "", "a"),
        ("a", "b", "a\nb"),
        ("a\n", "b", "a\nb"),
        ("0123456789abcdef", "b", "0123456789abcdef\nb"),
        ("0123456789abcdef\n", "b", "0123456789abcdef\nb"),
        ("0123456789abcde\n", "b", "0123456789abcde\nb"),
    ] {
        let data = tempfile::tempdir().unwrap();
        run(async {
            let mut sink = sink(data.path(), 4);
            sink.write_all(streamed.as_bytes()).await.unwrap();
            let (text, cut) = cut(&sink, returned).await;
            match cut {
                None => assert_eq!(text, whole),
                Some(_) => assert_eq!(fs::read_to_string(&files(&data)[0]).unwrap(), whole),
            }
        });
    }
}

#[test]
fn a_streamed_output_keeps_what_is_no_text() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let store = OutputStore::new(Some(data.path().to_owned()));
        let caller = Caller::new();
        let cutter = Cutter { limits: LIMITS, store: &store, session: "s", caller: &caller, hint: None };
        let image = toolkit_core::content::Content::image(*b"1", "image/png");
        let output = ToolOutput::default().with_content(image.clone()).with_content("c\n").with_title("t");

        let mut sink = OutputSink::new(&LIMITS, store.clone(), None);
        sink.write_all(b"a\nb\n").await.unwrap();
        let answer = cutter.streamed_output(&sink, output.clone()).await;
        assert!(
            answer.content[0].as_text().unwrap().starts_with("a\nb\n[Output cut. It has 3 lines, 6 bytes.")
        );
        assert_eq!(
            (answer.content.len(), &answer.content[1], answer.title),
            (2, &image, Some("t".to_owned()))
        );
        assert_eq!(answer.metadata["truncated"], true);

        let empty = OutputSink::new(&LIMITS, store.clone(), None);
        let answer = cutter.streamed_output(&empty, ToolOutput::default().with_content(image.clone())).await;
        assert_eq!(answer.content, [image]);
    });
}

#[test]
fn clones_write_to_one_output() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let sink = sink(data.path(), 4);
        let writers: Vec<_> = (0..20)
            .map(|writer| {
                let mut sink = sink.clone();
                tokio::spawn(async move {
                    for _ in 0..50 {
                        assert_eq!(sink.write(&[b'a' + writer]).await.unwrap(), 1);
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let (_, cut) = cut(&sink, "").await;
        assert_eq!(cut.unwrap().total_bytes, 1_000);
        let mut file = fs::read(&files(&data)[0]).unwrap();
        file.sort_unstable();
        assert_eq!(file, (0..20).flat_map(|writer| [b'a' + writer; 50]).collect::<Vec<u8>>());
    });
}

struct Flag(std::sync::atomic::AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn everyone_who_waits_is_woken() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let release = hold();
        let mut sink = sink(data.path(), 10);
        sink.write_all(&[b'x'; 20]).await.unwrap();
        let flags: Vec<Arc<Flag>> = (0..3).map(|_| Arc::new(Flag(false.into()))).collect();
        for flag in flags.iter().chain(&flags) {
            let waker = Arc::clone(flag).into();
            let write = Pin::new(&mut sink).poll_write(&mut Context::from_waker(&waker), b"x");
            assert!(write.is_pending());
        }
        assert_eq!(sink.shared.lock().waiting.len(), 3);
        release();
        spawn_blocking(|| {}).await.unwrap();
        assert!(flags.iter().all(|flag| flag.0.load(std::sync::atomic::Ordering::Relaxed)));
    });
}

#[test]
fn writing_after_the_end_is_refused() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        let mut left_over = sink(data.path(), 10);
        left_over.write_all(b"a").await.unwrap();
        assert_eq!(cut(&left_over, "").await.0, "a");
        assert_eq!(left_over.write(b"b").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(left_over.write(b"").await.unwrap(), 0);

        // A write that was waiting fails too.
        let release = hold();
        let sink = sink(data.path(), 10);
        let mut writer = sink.clone();
        let waiting = tokio::spawn(async move { writer.write_all(&[b'x'; 30]).await });
        yield_now().await;
        let end = tokio::spawn(async move { cut(&sink, "").await });
        yield_now().await;
        release();
        assert_eq!(waiting.await.unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(end.await.unwrap().1.unwrap().total_bytes, 20);
        assert_eq!(fs::read(&files(&data)[0]).unwrap(), [b'x'; 20]);
    });
}

#[test]
fn a_dropped_stream_leaves_no_file() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        // Between two writes.
        let mut idle = sink(data.path(), 10);
        idle.write_all(&[b'x'; 11]).await.unwrap();
        spawn_blocking(|| {}).await.unwrap();
        assert_eq!(files(&data).len(), 1);
        drop(idle);
        assert!(files(&data).is_empty());

        // During a write.
        let release = hold();
        let mut busy = sink(data.path(), 10);
        busy.write_all(&[b'x'; 11]).await.unwrap();
        drop(busy);
        release();
        spawn_blocking(|| {}).await.unwrap();
        assert!(data.path().join("tool-output").exists());
        assert!(files(&data).is_empty());

        // While a task that outlives the call holds a clone.
        for is_busy in [false, true] {
            let release = hold();
            let mut held = sink(data.path(), 10);
            held.write_all(&[b'x'; 11]).await.unwrap();
            if is_busy {
                held.abandon();
            }
            release();
            spawn_blocking(|| {}).await.unwrap();
            assert_eq!(files(&data).len(), usize::from(!is_busy));
            held.abandon();
            assert!(files(&data).is_empty());
            assert_eq!(held.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        }

        // While its end is awaited.
        let release = hold();
        let mut ending = sink(data.path(), 10);
        ending.write_all(&[b'x'; 15]).await.unwrap();
        let mut end = ending.end(String::new());
        let mut task = Context::from_waker(Waker::noop());
        assert!(end.as_mut().poll(&mut task).is_pending());
        drop((end, ending));
        release();
        spawn_blocking(|| {}).await.unwrap();
        assert!(files(&data).is_empty());
    });
}

#[test]
fn a_write_that_the_runtime_drops_is_told() {
    let data = tempfile::tempdir().unwrap();
    let mut sink = sink(data.path(), 10);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let handle = runtime.handle().clone();
    runtime.shutdown_background();
    let _within = handle.enter();
    let mut task = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        assert!(Pin::new(&mut sink).poll_write(&mut task, &[b'x'; 10]).is_ready());
    }
    let Poll::Ready(Streamed::Spilled { kept, .. }) = sink.end(String::new()).as_mut().poll(&mut task) else {
        panic!("nothing to wait for");
    };
    assert_eq!(kept, shutting_down());
    assert!(files(&data).is_empty());
}

#[test]
fn no_runtime_is_needed() {
    let data = tempfile::tempdir().unwrap();
    let mut sink = sink(data.path(), 4);
    let mut task = Context::from_waker(Waker::noop());
    for _ in 0..10 {
        assert!(Pin::new(&mut sink).poll_write(&mut task, b"0123").is_ready());
    }
    assert!(matches!(
        sink.end(String::new()).as_mut().poll(&mut task),
        Poll::Ready(Streamed::Spilled { .. })
    ));
}

#[test]
fn memory_is_bounded() {
    let data = tempfile::tempdir().unwrap();
    run(async {
        for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
            let limits = OutputLimits { max_lines: u64::MAX, max_bytes: 1_000, keep };
            let store = OutputStore::new(Some(data.path().to_owned()));
            let mut sink = OutputSink::with_buffer(&limits, store, None, 4_096);
            let piece = [b'x'; 3_000];
            for _ in 0..300 {
                sink.write_all(&piece).await.unwrap();
                let state = sink.shared.lock();
                let held = state.buffer.capacity() + state.spare.capacity() + state.seen.capacity();
                assert!(held <= 2 * 2 * 4_096 + 2 * 1_000, "{held}");
            }
        }
    });
}

#[test]
fn without_a_place_the_answer_is_there() {
    run(async {
        let mut sink = OutputSink::with_buffer(&LIMITS, OutputStore::new(None), None, 4);
        sink.write_all(&[b'x'; 100]).await.unwrap();
        let (text, _) = cut(&sink, "").await;
        assert_eq!(
            text,
            "xxxxxxxxxx\n[Output cut. It has 1 line, 100 bytes. Shown: line 1 (bytes 1 to 10). Missing: line 1 (bytes \
             11 to 100). The rest was not kept: there is no data directory.]"
        );
    });
}

/// Runs a test of this binary in a process with a limit on file sizes, which simulates a full disk.
#[cfg(unix)]
fn on_a_full_disk(test: &str, data: &Path) -> Vec<String> {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact --nocapture \"$1\""])
        .arg(env::current_exe().unwrap())
        .arg(test)
        .env("FULL_DISK_DATA", data)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed.lines().filter_map(|line| line.strip_prefix("told: ")).map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told() {
    if let Some(data) = env::var_os("FULL_DISK_DATA") {
        return write_to_a_full_disk(&PathBuf::from(data));
    }
    let data = tempfile::tempdir().unwrap();
    let told = on_a_full_disk("sink::tests::a_full_disk_is_told", data.path());
    assert_eq!(told.len(), 2);
    for (told, file) in told.iter().zip({
        let mut files = files(&data);
        files.sort();
        files
    }) {
        let bytes = fs::metadata(&file).unwrap().len();
        assert!(bytes > 0);
        let expected = format!(
            "Only the first {bytes} bytes are in {0}; the rest was not kept: cannot write {0}: File too large",
            file.display()
        );
        assert!(told.contains(&expected), "{told}\n{expected}");
    }
}

/// Runs in a process whose files cannot grow beyond a block.
#[cfg(unix)]
fn write_to_a_full_disk(data: &Path) {
    run(async {
        let mut sink = sink(data, 100);
        sink.write_all(&[b'x'; 10_000]).await.unwrap();
        let (streamed, _) = cut(&sink, "").await;
        println!("\ntold: {}", streamed.lines().last().unwrap());

        let (store, caller) = (OutputStore::new(Some(data.to_owned())), Caller::new().with_session("s"));
        let cutter = Cutter { limits: LIMITS, store: &store, session: "s", caller: &caller, hint: None };
        let (returned, _) = cutter.text("x".repeat(10_000)).await;
        println!("\ntold: {}", returned.lines().last().unwrap());
    });
}
