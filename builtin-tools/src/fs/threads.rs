//! Number of threads that walk and search.

use std::thread;
use toolkit::ToolError;
use toolkit::memory::{self, ReservedMemory};

/// Maximum number of threads.
const MAX: usize = 8;

/// Threads for one call, and the memory that they may take.
#[derive(Debug)]
pub(super) struct Threads {
    pub(super) number: usize,
    _memory: ReservedMemory,
}

impl Threads {
    /// Returns as many threads as the machine runs at once, fewer where the memory is limited; `each` is the number of bytes that one of
    /// them may take.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for one.
    pub(super) fn reserve(each: u64) -> Result<Self, ToolError> {
        let mut number = most();
        loop {
            match memory::reserve(number as u64 * each) {
                Ok(memory) => return Ok(Self { number, _memory: memory }),
                Err(_) if number > 1 => number /= 2,
                Err(error) => return Err(error.of("this search")),
            }
        }
    }
}

/// Returns the number of threads: the machine's parallelism, within limits.
fn most() -> usize {
    #[cfg(test)]
    if let forced @ 1.. = tests::FORCED.load(std::sync::atomic::Ordering::SeqCst) {
        return forced;
    }
    thread::available_parallelism().map_or(1, usize::from).min(MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use toolkit::testing::TestToolbox;

    /// The answer is the same for any number, so this may affect the whole process.
    pub(super) static FORCED: AtomicUsize = AtomicUsize::new(0);
    static ONE_AFTER_THE_OTHER: Mutex<()> = Mutex::new(());

    /// Sets the number of threads until it is dropped; other tests that set it wait.
    pub(in crate::fs) struct Forced(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

    impl Forced {
        pub(in crate::fs) fn new(threads: usize) -> Self {
            let alone = ONE_AFTER_THE_OTHER.lock().unwrap_or_else(PoisonError::into_inner);
            FORCED.store(threads, Ordering::SeqCst);
            Self(alone)
        }
    }

    impl Drop for Forced {
        fn drop(&mut self) {
            FORCED.store(0, Ordering::SeqCst);
        }
    }

    /// Many directories with files of which some match, often more than are shown.
    fn toolbox(tool: toolkit::Tool) -> TestToolbox {
        let mut toolbox = TestToolbox::new(tool).file(".git/HEAD", "").file(".gitignore", "*.log\n");
        for number in 0..300 {
            let text = format!("first {number}\nneedle {}\nneedle again\nlast\n", number % 7);
            let name =
                format!("d{}/e{}/{number}.{}", number % 11, number % 5, ["rs", "txt", "log"][number % 3]);
            toolbox = toolbox.file(&name, if number % 4 == 0 { "nothing".to_owned() } else { text });
        }
        let long = "x".repeat(3 << 20) + "needle" + &"y".repeat(1 << 20) + "\nneedle\n";
        toolbox.file("d5/long.txt", long).file("d6/binary", b"needle\0")
    }

    /// Returns the answer for the model and for interfaces.
    async fn answer(toolbox: &TestToolbox, arguments: &Value) -> String {
        let call = toolbox.call(arguments.clone()).await;
        format!("{:?}", call.expect_ok())
    }

    #[tokio::test]
    async fn the_answer_is_the_same_however_many_there_are() {
        let grep = toolbox(toolkit::tool_ref!(crate::fs::grep));
        let glob = toolbox(toolkit::tool_ref!(crate::fs::glob));
        let cases = [
            (&grep, json!({ "pattern": "needle" })),
            (&grep, json!({ "pattern": "needle [1-3]", "limit": 1000 })),
            (&grep, json!({ "pattern": "needle", "offset": 150, "limit": 20, "context": 1 })),
            (&grep, json!({ "pattern": "needle", "output_mode": "files", "limit": 30 })),
            (&grep, json!({ "pattern": "needle", "output_mode": "count" })),
            (&grep, json!({ "pattern": "needle \\d\\nneedle", "multiline": true, "limit": 7 })),
            (&grep, json!({ "pattern": "nowhere" })),
            (&glob, json!({ "pattern": "*" })),
            (&glob, json!({ "pattern": "*.rs", "limit": 17 })),
            (&glob, json!({ "pattern": "**/e3/*" })),
        ];
        for (toolbox, arguments) in &cases {
            let forced = Forced::new(1);
            let one = answer(toolbox, arguments).await;
            for threads in [2, 8, 2, 8] {
                FORCED.store(threads, Ordering::SeqCst);
                assert_eq!(answer(toolbox, arguments).await, one, "{arguments} with {threads}");
            }
            drop(forced);
        }
    }
}
