//! Runs commands under a supervisor that owns their whole process tree, inside an operating system sandbox. Linux.
//!
//! ```no_run
//! use std::time::Duration;
//! use toolkit_sandbox::{Command, Mode, Output, Sandbox};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! toolkit_sandbox::init(); // the first line of `main`
//! let output = std::fs::File::options().create(true).append(true).open("/tmp/output")?;
//! let job = Command::new("bash")
//!     .args(["-c", "make -j8"])
//!     .env("PATH", "/usr/bin:/bin")
//!     .current_dir("/home/me/project")
//!     .output(Output::File(output))
//!     .sandbox(Sandbox::new(Mode::WorkspaceWrite, "/home/me/project").with_protected("/home/me/project/.git"))
//!     .spawn()
//!     .await?;
//! let exit = job.exited().await; // of `bash` itself, whatever it has left
//! let drained = job.drained(Duration::from_millis(200)).await; // closed, or who holds it
//! println!("{exit:?} {drained:?} {:?}", job.processes().await);
//! job.stop(Duration::from_secs(2)).await; // TERM, then KILL, until nothing is left
//! # Ok(()) }
//! ```
//!
//! # Who owns a job's processes
//!
//! ```text
//! host ── spawner ── supervisor ── command ── …       one supervisor a job
//!             └───── supervisor ── init ── command    where the sandbox has process ids of its own
//! ```
//!
//! The spawner is the host's own program, executed once and told apart by [`init`]; supervisors are forks of it, so that what a job
//! costs does not grow with the host. Each adopts what loses its parent below it. After a job a supervisor waits for the next that is
//! like it, for a minute: one without a sandbox, and one whose namespaces are made already. What holds, and where it is tested:
//!
//! | what happens | what comes of it | test |
//! |---|---|---|
//! | the command ends, children hold its output | [`Job::exited`] at once, [`Job::drained`] says who | `hang.rs` |
//! | the host is killed, anyhow | all is killed within a second, the output is whole to the last write | `death.rs` |
//! | the job kills or stops its supervisor | the spawner kills it and what is left; the end is [`End::Lost`] | `death.rs` |
//! | the job stops its supervisor and the spawner | the next that the host asks of the job wakes them after five seconds | `death.rs` |
//! | the spawner is killed | supervisors kill their jobs; the next job starts another spawner | `death.rs` |
//! | what waits for a job is killed, or its spawner | the job is started without it; nothing of it is left | `ready.rs` |
//! | a process forks twice, starts a session, is deaf to TERM, is stopped | it is listed and ended all the same | `hang.rs` |
//! | the job goes beyond one of its [`Limits`] | it is ended; [`Progress::exceeded`] says which | `limits.rs` |
//! | the job leaves behind what its [`Quarantine`] names, also when the host is killed | it is moved away; [`Job::quarantined`] says where to | `quarantine.rs` |
//! | the disk is full, or an output of more than 32 MiB would leave less than 512 MiB of it | the job runs on; [`Progress`] says how much is in the file | `death.rs` |
//! | [`Job`] is dropped | all is killed, after the command's [grace](Command::grace) | `death.rs` |
//!
//! What remains: a job *without* process ids of its own (without a sandbox) that means harm can kill its supervisor and the
//! spawner within the same moment, or kill the host, as every process of the same user can. Then what its first process has started
//! may live on. A process that hangs in the system outlives KILL as long as it hangs; [`Stopped::left`] names it.
//!
//! Umask, niceness and limits are those that the host had when it started its first job. A host that does not call [`init`] has the
//! weaker [`Guarantee::ProcessGroup`]; then there are no terminals and no sandbox, and one that is required refuses.
//!
//! # What the sandbox holds
//!
//! Namespaces for users, mounts, process ids, messages and the network; read-only mounts; Landlock; no capabilities; filtered system
//! calls. [`probe`] tries what the system has. What is missing is told by [`Containment::missing`], or refused where the sandbox is
//! [required](Sandbox::required). Each line is tried from inside, as root and as a plain user, by `sandbox/main.rs`, which also compares its lines with these:
//!
//! | tried from inside | held by | without mounts of its own |
//! |---|---|---|
//! | writing, renaming, removing, linking outside the writable paths | mounts, Landlock | Landlock (from version 3) |
//! | changing modes and times there | mounts | **not held** |
//! | the same through symbolic links, `/proc/self/root`, `/proc/1/root`, hard links | mounts, Landlock | Landlock |
//! | mounting, remounting, unmounting, new namespaces, entering others | capabilities, system calls | system calls |
//! | changing, replacing, renaming protected paths, or directories above them | mounts | **not held** |
//! | making protected paths that are missing | a placeholder, mounts | **not held** |
//! | reading hidden paths | mounts | **not held** |
//! | TCP, UDP, IPv6 to this machine or elsewhere, other sockets and protocols, with the network off | network namespace, system calls | system calls |
//! | the loopback of another job, with the network off | network namespace | system calls |
//! | abstract sockets of others | network namespace, Landlock | Landlock (from version 6) |
//! | connecting to sockets of others in the file system, wherever they are, at whatever time they were made | a broker, system calls | system calls |
//! | local datagram sockets, which send without connecting | system calls | the same |
//! | signalling, tracing other processes, reading their memory | process ids, system calls | system calls; Landlock (from version 6) for signals |
//! | seeing other processes, what is open in the first of its own | process ids | **not held** |
//! | living on after the job: double fork, session | process ids, the supervisor | the supervisor |
//! | block devices, new device nodes, `/sys`, `/proc/sys`, `/proc/sysrq-trigger` | mounts, capabilities | Landlock for writing |
//! | setuid programs, other users and groups, capabilities of root | no new privileges, capabilities | the same |
//! | leaving files behind that change who runs them (set-user-id, set-group-id) | system calls | the same |
//! | typing into the terminal (`TIOCSTI`) | system calls | the same |
//! | programs of 32 bits, which are killed | system calls | the same |
//! | `io_uring`, `clone3`, `bpf`, keyrings, file handles, second system call numbers | system calls | the same |
//!
//! A filter for system calls does not see which socket a path leads to, so each `connect` of the job is made by a broker: the first process
//! of the sandbox. It copies the address, opens the file that the path leads to, and connects to that very file if a process of the same
//! job has bound it, so neither can be exchanged after the check. With the network let in, the kernel does not tell which file a socket is
//! bound to; then the sockets in the sandbox's own `/tmp`, `/var/tmp` and `/dev/shm` can be connected to, and no others. The peer of a
//! local socket sees the broker's process id, and the user's own ids. Where a sandbox has no process ids of its own, or the program runs in
//! a sandbox with a broker already, there are no local sockets but pairs.
//!
//! With the network off, a command has a loopback of its own, so that a test finds the server that it has started. Without mounts of its
//! own it has no IP at all: nothing but the port would tell its own servers from those of others.
//!
//! What it does not hold: with the network let in, the services of this machine can be reached; a file within a writable path that has another name outside
//! (a hard link made before) is written under both; processor time is not bounded, and memory and processes only by [`Limits`]; `/tmp`, `/var/tmp` and `/dev/shm` hold a quarter of the
//! memory each, where they are not given. Files of other users can't be changed even by root, which has no capabilities within.
//!
//! What can't be refused, files of certain names at whatever depth, is moved away when the job has ended: see [`Quarantine`].
//!
//! A missing protected path is kept from being made by an empty directory in its place that nobody can write to, which goes with the
//! job: while it runs, others can't make it either. Directories between a writable path and a protected one are mounts of their own:
//! renaming a file across their border is copying.
//!
//! # Figures
//!
//! `cargo xtask bench exec` measures what a start costs beside the same shell started by hand, output beside `| cat > file`, and the
//! memory of host and supervisor while gigabytes come; figures are in `bench/RESULTS.md`, and what was tried in `bench/README.md`.

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("toolkit-sandbox owns processes by means of Linux; there is nothing for other systems yet");

mod account;
mod command;
mod containment;
mod error;
mod group;
mod host;
mod input;
mod inside;
mod job;
mod limits;
mod probe;
mod quarantine;
mod sandbox;
mod socket;
mod supervisor;
mod sys;
mod wire;

pub use account::{Drained, End, Exit, Guarantee, Process, Progress, Stopped};
pub use command::{Command, Output, Size, Stdin};
pub use containment::{Containment, Explained, Part};
pub use error::{Conflict, SpawnError};
pub use host::{init, supervise_with};
pub use input::Input;
pub use job::Job;
pub use limits::{Limit, Limits};
pub use probe::{Feature, Strength, probe};
pub use quarantine::{Quarantine, Quarantined, Repositories};
pub use sandbox::{Mode, Sandbox};
