//! The most memory that is resident in the host and in the supervisor of a job while output comes.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use toolkit_sandbox::Output;

use crate::house::{House, words};
use crate::{Result, print};

/// How often the supervisor is looked at.
const PAUSE: Duration = Duration::from_millis(10);

/// The process name of a supervisor.
const SUPERVISOR: &str = "toolkit-job";

/// Prints KiB: of the host before, of it and of the supervisor at most. What is written by a `job` goes to `/dev/null`, that of the
/// `tool` into its file.
pub(crate) fn measure(what: &str, bytes: u64, directory: &Path) -> Result<()> {
    let house = House::new()?;
    let tools = house.tools(directory, "off")?;
    // With what the first call needs once.
    house.exec(&tools, "true")?;
    let before = peak("self").ok_or("no peak of memory in /proc/self/status")?;
    let watch = Watch::start();
    // It goes on for a moment, so that its supervisor is looked at after all has come.
    let script = format!("yes | head -c {bytes}; sleep 0.1");
    match what {
        "job" => {
            let file = File::options().append(true).open("/dev/null")?;
            let job = house.job(words(&["/bin/sh", "-c", &script]).output(Output::File(file)))?;
            let came = job.progress().written;
            if came != bytes {
                return Err(format!("{came} bytes came instead of {bytes}").into());
            }
        }
        "tool" => {
            house.exec(&tools, &script)?;
            let mut came = 0;
            for path in tools.kept()? {
                came += path.metadata()?.len();
                fs::remove_file(path)?;
            }
            if came < bytes {
                return Err(format!("{came} bytes were kept instead of {bytes}").into());
            }
        }
        other => return Err(format!("`{other}` is neither `job` nor `tool`").into()),
    }
    let supervisor = watch.end();
    if supervisor == 0.0 {
        return Err("no supervisor was seen".into());
    }
    let host = peak("self").ok_or("no peak of memory in /proc/self/status")?;
    let measurement = format!("memory, {what}, {bytes}");
    for (contender, figure) in [("host before", before), ("host", host), ("supervisor", supervisor)] {
        print(&measurement, contender, &[figure]);
    }
    Ok(())
}

/// The most that was resident so far, in KiB.
fn peak(pid: &str) -> Option<f64> {
    field(pid, "VmHWM:")?.trim_end_matches(" kB").parse().ok()
}

fn field(pid: &str, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
}

/// Looks at the supervisors of this process until it is told to stop.
struct Watch {
    over: Arc<AtomicBool>,
    most: Arc<AtomicU64>,
    thread: thread::JoinHandle<()>,
}

impl Watch {
    fn start() -> Self {
        let (over, most) = <(Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let (stop, found) = (Arc::clone(&over), Arc::clone(&most));
        let thread = thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for pid in supervisors() {
                    if let Some(peak) = peak(&pid) {
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "kibibytes"
                        )]
                        found.fetch_max(peak as u64, Ordering::Relaxed);
                    }
                }
                thread::sleep(PAUSE);
            }
        });
        Self { over, most, thread }
    }

    fn end(self) -> f64 {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        #[expect(clippy::cast_precision_loss, reason = "kibibytes")]
        let most = self.most.load(Ordering::Relaxed) as f64;
        most
    }
}

/// Those whose parent's parent is this process.
fn supervisors() -> Vec<String> {
    let own = std::process::id().to_string();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|pid| {
        let is_named =
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == SUPERVISOR);
        is_named && field(pid, "PPid:").and_then(|spawner| field(&spawner, "PPid:")).as_ref() == Some(&own)
    })
    .collect()
}
