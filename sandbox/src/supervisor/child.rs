//! The way from a fork of the supervisor to the command.

use std::ffi::{CString, OsStr};
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Signal, ioctl_tiocsctty, set_parent_process_death_signal, setsid};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::failure::{Failure, Step};
use crate::inside::{Plan, most};
use crate::wire::{Reader, Run};
use crate::{socket, sys};

/// Messages of forked processes to the supervisor, over a packet socket: the first byte of each.
pub(crate) mod report {
    /// The command's process, about to execute the program. The sender's credentials come with the message, as the supervisor sees
    /// them.
    pub(crate) const HERE: u8 = b'h';
    /// Sends the master of the command's terminal; the message has the end of the name of its other side.
    pub(crate) const TERMINAL: u8 = b't';
    /// The command ended: status, then user time, system time and peak memory.
    pub(crate) const EXIT: u8 = b'e';
    /// From the supervisor: the user mapping of the process is written, and it may proceed. With the message come the descriptors of
    /// the command's streams, in the order of their numbers, then the further descriptors of the command, and last a file that describes
    /// the command.
    pub(crate) const GO: u8 = b'g';
}

/// All that the way needs, made before the fork.
pub(crate) struct Child {
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) run: Run,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
    /// Further descriptors of the command, with the numbers from 3 on.
    pub(crate) given: Vec<OwnedFd>,
    /// Pipe on which a failure is reported; closed without data if there was none.
    pub(crate) errors: OwnedFd,
    pub(crate) report: OwnedFd,
    pub(crate) plan: Option<Plan>,
    /// The socket on which the sandbox's broker receives the descriptor through which it answers.
    pub(crate) broker: Option<OwnedFd>,
}

impl Child {
    /// Creates the child for a command, with its streams.
    pub(crate) fn new(
        run: Run,
        plan: Option<Plan>,
        [stdin, stdout, stderr]: [Option<OwnedFd>; 3],
        given: Vec<OwnedFd>,
        mut errors: OwnedFd,
        report: OwnedFd,
    ) -> Result<Self, Failure> {
        if !given.is_empty() {
            // It is used until the program is executed: what is given must not take its number.
            errors = rustix::io::fcntl_dupfd_cloexec(&errors, sys::ABOVE_GIVEN)
                .map_err(|error| Failure::new(Step::Prepare, error))?;
        }
        Ok(Self {
            programs: candidates(&run),
            arguments: strings(&run.arguments)?,
            environment: strings(&run.environment)?,
            run,
            stdin,
            stdout,
            stderr,
            given,
            errors,
            report,
            plan,
            broker: None,
        })
    }

    /// Executes the command, or reports the failure and exits.
    pub(crate) fn run(&self) -> ! {
        let Err(failure) = self.become_command();
        let _ = rustix::io::write(&self.errors, &failure.write());
        sys::leave(127)
    }

    fn become_command(&self) -> Result<std::convert::Infallible, Failure> {
        let prepare = |error| Failure::new(Step::Prepare, error);
        // In its supervisor's session it would not get its own terminal, and signals to groups would reach other processes.
        setsid().map_err(prepare)?;
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(prepare)?;
        sys::reset_signals();
        let terminal = self.terminal()?;
        let null =
            rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC, 0.into())
                .map_err(prepare)?;
        let or = |own: &Option<OwnedFd>| {
            rustix::io::dup(terminal.as_ref().or(own.as_ref()).unwrap_or(&null).as_fd()).map_err(prepare)
        };
        let (stdin, stdout, stderr) = (or(&self.stdin)?, or(&self.stdout)?, or(&self.stderr)?);
        rustix::stdio::dup2_stdin(&stdin).map_err(prepare)?;
        rustix::stdio::dup2_stdout(&stdout).map_err(prepare)?;
        rustix::stdio::dup2_stderr(&stderr).map_err(prepare)?;
        sys::close_on_execute().map_err(|error| Failure::io(Step::Prepare, &error))?;
        let directory = self.plan.as_ref().map_or(self.run.directory.as_path(), Plan::directory);
        rustix::process::chdir(directory)
            .map_err(|error| Failure::new(Step::Directory, error).at(directory))?;
        let _ = socket::send(&self.report, &[report::HERE], &[], true);
        if let Some(plan) = &self.plan
            && let Some(listener) = plan.restrict(self.broker.is_some())?
            && let Some(broker) = &self.broker
        {
            socket::send(broker, &[0], &[listener.as_fd()], true)
                .map_err(|error| Failure::new(Step::Seccomp, error))?;
        }
        sys::give(&self.given).map_err(|error| Failure::io(Step::Prepare, &error))?;
        if let Some(bytes) = self.run.limits.file_size {
            most::limit_file_size(bytes);
        }
        Err(self.execute())
    }

    /// Opens the terminal, if it gets one, and makes it the controlling terminal.
    fn terminal(&self) -> Result<Option<OwnedFd>, Failure> {
        let Some((rows, columns)) = self.run.terminal else { return Ok(None) };
        let failed = |error| Failure::new(Step::Terminal, error);
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).map_err(failed)?;
        unlockpt(&master).map_err(failed)?;
        let slave = ioctl_tiocgptpeer(&master, flags).map_err(failed)?;
        let name = rustix::pty::ptsname(&master, Vec::new()).map_err(failed)?;
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).map_err(failed)?;
        if let Ok(mut modes) = tcgetattr(&slave) {
            modes.input_modes |= InputModes::IUTF8;
            let _ = tcsetattr(&slave, OptionalActions::Now, &modes);
        }
        ioctl_tiocsctty(&slave).map_err(failed)?;
        let name = name.as_bytes().strip_prefix(b"/dev").unwrap_or(name.as_bytes());
        let message = [&[report::TERMINAL], name].concat();
        socket::send(&self.report, &message, &[master.as_fd()], true).map_err(failed)?;
        Ok(Some(slave))
    }

    fn execute(&self) -> Failure {
        let mut denied = None;
        for program in &self.programs {
            let error = sys::execute(program, &self.arguments, &self.environment);
            match Errno::from_io_error(&error) {
                Some(Errno::NOENT | Errno::NOTDIR) => {}
                Some(Errno::TOOBIG) => return Failure::io(Step::TooLong, &error),
                Some(Errno::ACCESS | Errno::NAMETOOLONG | Errno::LOOP) => denied = Some(error),
                _ => return Failure::io(Step::Execute, &error),
            }
        }
        denied.map_or_else(
            || Failure::new(Step::NotFound, Errno::NOENT),
            |error| Failure::io(Step::Execute, &error),
        )
    }
}

fn strings(texts: &[std::ffi::OsString]) -> Result<Vec<CString>, Failure> {
    texts
        .iter()
        .map(|text| CString::new(text.as_bytes()).map_err(|_| Failure::new(Step::Prepare, Errno::INVAL)))
        .collect()
}

/// Parses the order to a process in its own namespaces: see [`report::GO`].
pub(crate) fn ordered(
    received: socket::Received,
    given: u8,
    errors: OwnedFd,
    report: OwnedFd,
) -> Option<Child> {
    let mut descriptors = received.descriptors;
    let mut order = Vec::new();
    std::fs::File::from(descriptors.pop()?).read_to_end(&mut order).ok()?;
    // A message begins with its length and its kind.
    let mut reader = Reader::new(order.get(5..)?);
    let run = Run::read(&mut Reader::new(reader.bytes()?.get(5..)?))?;
    let plan = Plan::read(&mut reader)?;
    let mut streams = descriptors.into_iter();
    let standard = [4, 2, 1].map(|bit| if given & bit == 0 { None } else { streams.next() });
    Child::new(run, Some(plan), standard, streams.collect(), errors, report).ok()
}

/// The value of `PATH` in an environment.
pub(crate) fn path(environment: &[std::ffi::OsString]) -> Option<&OsStr> {
    environment.iter().find_map(|variable| variable.as_bytes().strip_prefix(b"PATH=")).map(OsStr::from_bytes)
}

/// Returns the paths at which a program may be: the path itself if it contains a slash, or else one in each directory of `PATH`.
/// Relative directories are left out, since they would depend on the working directory.
pub(crate) fn candidates(run: &Run) -> Vec<CString> {
    let whole = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
    if run.program.as_bytes().contains(&b'/') || run.program.is_empty() {
        return whole(Path::new(&run.program)).into_iter().collect();
    }
    let path = path(&run.environment).unwrap_or_default();
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .filter_map(|directory| whole(&directory.join(&run.program)))
        .collect()
}
