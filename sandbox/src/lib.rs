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
//! The spawner is the host's own program, executed once and recognised by [`init`]; supervisors are forks of it, so that the cost of a job
//! does not grow with the host. Each adopts the orphaned processes below it. After a job a supervisor waits up to a minute for the next job
//! of the same kind: one without a sandbox, and one whose namespaces exist already. The guarantees, and the tests for them:
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
//! The remaining risk: a malicious job *without* its own process ids (without a sandbox) can kill its supervisor and the spawner at the
//! same moment, or kill the host, as every process of the same user can. Then processes started by its first process may live on. A process
//! that hangs in the system outlives KILL as long as it hangs; [`Stopped::left`] lists it.
//!
//! Umask, niceness and limits are those that the host had when it started its first job. A host that does not call [`init`] has the weaker
//! [`Guarantee::ProcessGroup`]; then there are no terminals and no sandbox, and a required sandbox is an error.
//!
//! # What the sandbox holds
//!
//! Namespaces for users, mounts, process ids, messages and the network; read-only mounts; Landlock; no capabilities; filtered system calls.
//! [`probe`] tests the features of the system. Missing parts are listed in [`Containment::missing`], or are an error if the sandbox is
//! [required](Sandbox::required). Each line is tested from inside, as root and as an ordinary user, by `sandbox/main.rs`, which also
//! compares its lines with these:
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
//! A system call filter cannot see which socket a path leads to, so each `connect` of the job is made by a broker: the first process of the
//! sandbox. It copies the address, opens the file that the path leads to, and connects to that very file if a process of the same job has
//! bound it, so neither can be exchanged after the check. With network access, the kernel does not report which file a socket is bound to;
//! then only the sockets in the sandbox's own `/tmp`, `/var/tmp` and `/dev/shm` can be connected to. The peer of a local socket sees the
//! broker's process id, and the user's own ids. If a sandbox has no process ids of its own, or the program already runs in a sandbox with a
//! broker, the only local sockets are socket pairs.
//!
//! With the network off, a command has its own loopback, so that a test finds the server that it has started. Without its own mounts it has
//! no IP at all: only the port would distinguish its own servers from those of others.
//!
//! Not restricted: with network access, the services of this machine can be reached; a file within a writable path that has another name
//! outside (an existing hard link) is written under both; processor time is not limited, and memory and processes only by [`Limits`];
//! `/tmp`, `/var/tmp` and `/dev/shm` hold up to a quarter of the memory each, unless a directory is given. Files of other users cannot be
//! changed even by root, which has no capabilities in the sandbox.
//!
//! Files with certain names at any depth cannot be refused, so they are moved away when the job has ended: see [`Quarantine`].
//!
//! A missing protected path is kept from being created by an empty directory in its place that nobody can write to, which is removed with
//! the job: while the job runs, other programs cannot create it either. Directories between a writable path and a protected one are
//! separate mounts: moving a file across their border is a copy.
//!
//! # Commands that only read
//!
//! [`Sandbox::reading`] contains a command that is believed to only read, in case the belief is wrong. It uses Landlock and a filter for
//! system calls alone, so the command sees processes, mounts, network and owners as they are outside, and it works where user namespaces
//! are switched off, as in many containers. [`Strength::reading_guarantees`] lists what holds and by what; `reading.rs` tries it from
//! inside, as root and as an ordinary user.
//!
//! Hiding is by granting: each directory above a hidden path is granted entry by entry, so a file that another program makes in such a
//! directory while the command runs cannot be read by it. Not restricted: names and metadata of all files; a hidden file that has another
//! name outside the directories that are granted entry by entry.
//!
//! # Figures
//!
//! `cargo xtask bench exec` measures the cost of a start compared with the same shell started directly, of output compared with `| cat >
//! file`, and the memory of host and supervisor during gigabytes of output; figures are in `bench/RESULTS.md`, and the measured
//! alternatives in `bench/README.md`.

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("toolkit-sandbox supports Linux only");

mod account;
mod command;
mod containment;
mod error;
mod failure;
mod feature;
mod group;
mod guarantees;
mod host;
mod input;
mod inside;
mod job;
mod limits;
mod probe;
mod pump;
mod quarantine;
mod sandbox;
mod socket;
mod supervisor;
mod sys;
mod tree;
mod wire;

pub use account::{Drained, End, Exit, Guarantee, Process, Progress, Stopped};
pub use command::{Command, Output, Size, Stdin};
pub use containment::{Containment, Explained, Part};
pub use error::{Conflict, SpawnError};
pub use feature::Feature;
pub use guarantees::ReadingGuarantee;
pub use host::arenas::share_arenas;
pub use host::descriptors::raise_descriptor_limit;
pub use host::{init, supervise_with};
pub use input::Input;
pub use job::Job;
pub use limits::{Limit, Limits};
pub use probe::{Strength, probe};
pub use quarantine::{Quarantine, Quarantined, Repositories};
pub use sandbox::{Mode, Sandbox};
