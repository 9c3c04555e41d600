//! What keeps a command within its sandbox: set up between the fork and the program, in this order.
//!
//! 1. New namespaces ([`identity`]: the user keeps its number in them).
//! 2. Mounts ([`mounts`]): all is read-only, but for what is writable; hidden things are covered.
//! 3. Where process ids are the sandbox's own, a first process ([`init`]) that stays.
//! 4. No new privileges, Landlock ([`landlock`]), no capabilities ([`capabilities`]), filtered system calls ([`seccomp`]).

mod capabilities;
pub(crate) mod identity;
pub(crate) mod init;
mod landlock;
pub(crate) mod mounts;
mod placeholder;
pub(crate) mod seccomp;

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::probe::Feature;
use crate::supervisor::child::{Failure, Step};
use crate::wire::Run;
use crate::{Containment, Mode, Part, Sandbox};
use placeholder::Placeholder;

/// Directories that are a sandbox's own where its `/tmp` is private.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// What below `/run` belongs to the system rather than to a daemon.
const RUN_KEPT: [&str; 3] = ["/run/current-system", "/run/opengl-driver", "/etc/resolv.conf"];

/// What is to be done to contain one command, worked out before the fork. Paths are without symbolic links.
pub(crate) struct Plan {
    namespaces: i32,
    mode: Mode,
    network: bool,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    visible: Vec<PathBuf>,
    /// Covered by something empty.
    private: Vec<PathBuf>,
    tmp: Option<PathBuf>,
    /// Version of the interface, 0 without.
    landlock: u32,
    seccomp: bool,
    directory: PathBuf,
    placeholders: Vec<Placeholder>,
}

fn contradiction(why: impl Into<String>) -> Failure {
    Failure::said(Step::Contradiction, why)
}

fn resolved(path: &Path) -> Result<PathBuf, Errno> {
    std::fs::canonicalize(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Those of the paths that exist, without symbolic links, each once, and the others.
fn existing(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_absolute() {
            return Err(contradiction(format!("`{}` is not an absolute path", path.display())));
        }
        match resolved(path) {
            Ok(path) => found.push(path),
            Err(Errno::NOENT | Errno::NOTDIR) => missing.push(path.clone()),
            Err(error) => {
                let error = std::io::Error::from(error);
                return Err(contradiction(format!("`{}` cannot be looked at: {error}", path.display())));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok((found, missing))
}

impl Plan {
    /// Works out what is done, and what will hold. Nothing is done where the system offers nothing.
    pub(crate) fn make(sandbox: &Sandbox, run: &Run) -> Result<(Option<Self>, Containment), Failure> {
        let offered = |feature: Feature| run.offered & feature.bit() != 0;
        let why = |feature: Feature| run.missing.get(feature as usize).cloned().unwrap_or_default();
        let landlock = u32::try_from(run.offered >> 32).unwrap_or(0);
        let mounts = offered(Feature::UserNamespace) && offered(Feature::Mounts);
        let mut containment = Containment { mode: Some(sandbox.mode), ..Containment::default() };

        let workspace = existing(std::slice::from_ref(&sandbox.workspace))?;
        let ([workspace], []) = (&workspace.0[..], &workspace.1[..]) else {
            return Err(contradiction(format!(
                "the workspace `{}` does not exist",
                sandbox.workspace.display()
            )));
        };
        let (mut writable, missing) = existing(&sandbox.writable)?;
        match sandbox.mode {
            Mode::ReadOnly => writable.clear(),
            Mode::WorkspaceWrite => {
                containment.notes.extend(missing.iter().map(|path| {
                    format!("`{}` does not exist, so nothing can be written there", path.display())
                }));
                writable.push(workspace.clone());
                writable.sort();
                writable.dedup();
            }
            Mode::Full => writable = vec![PathBuf::from("/")],
        }
        if sandbox.mode != Mode::Full && writable.iter().any(|path| path == Path::new("/")) {
            return Err(contradiction(
                "the root directory cannot be one of the writable paths; use the mode `full` for that",
            ));
        }
        let (hidden, _) = existing(&sandbox.hidden)?;
        let (mut visible, _) = existing(&sandbox.visible)?;
        for (what, paths) in
            [("workspace", std::slice::from_ref(workspace)), ("writable", &writable), ("visible", &visible)]
        {
            for path in paths {
                if let Some(hidden) = hidden.iter().find(|hidden| path.starts_with(hidden)) {
                    return Err(contradiction(format!(
                        "the {what} path `{}` lies in `{}`, which is hidden; hide what is in that directory one by one",
                        path.display(),
                        hidden.display()
                    )));
                }
            }
        }
        let directory = resolved(&run.directory)
            .map_err(|error| Failure::new(Step::Directory, error).at(&run.directory))?;
        visible.extend([workspace.clone(), directory.clone()]);
        if Path::new(&run.program).is_absolute() {
            visible.extend(resolved(Path::new(&run.program)));
        }
        visible.extend(RUN_KEPT.iter().filter_map(|path| resolved(Path::new(path)).ok()));

        let (mut private, mut tmp) = (Vec::new(), None);
        if sandbox.private_tmp {
            private.extend(
                PRIVATE.iter().filter_map(|path| resolved(Path::new(path)).ok()).filter(|path| path.is_dir()),
            );
            private.sort();
            private.dedup();
            if let Some(path) = &sandbox.tmp {
                tmp = Some(resolved(path).map_err(|_| {
                    contradiction(format!("`{}`, which is to be its /tmp, does not exist", path.display()))
                })?);
            }
        }

        // What holds, and what does not.
        let seccomp = offered(Feature::Seccomp);
        let mut state = |part: Part, wanted: bool, held: bool, missing: &dyn Fn() -> String| {
            if wanted && held {
                containment.held.push(part);
            } else if wanted {
                containment.missing.push((part, missing()));
            }
        };
        let no_mounts = || {
            [Feature::UserNamespace, Feature::Mounts]
                .map(why)
                .into_iter()
                .find(|why| !why.is_empty())
                .unwrap_or_default()
        };
        let no_files = || format!("{}; and Landlock: {}", no_mounts(), why(Feature::Landlock));
        state(Part::Files, sandbox.mode != Mode::Full, mounts || landlock >= 3, &no_files);
        state(Part::Protected, !sandbox.protected.is_empty() && !writable.is_empty(), mounts, &no_mounts);
        state(Part::Hidden, !sandbox.hidden.is_empty(), mounts, &no_mounts);
        state(Part::PrivateTmp, sandbox.private_tmp, mounts, &no_mounts);
        let own_network = mounts && offered(Feature::Network);
        state(Part::Network, !sandbox.network, own_network || seccomp, &|| {
            format!("{}; and seccomp: {}", why(Feature::Network), why(Feature::Seccomp))
        });
        let own_processes = mounts && offered(Feature::ProcessIds);
        state(Part::Processes, true, own_processes, &|| match why(Feature::ProcessIds) {
            why if why.is_empty() => no_mounts(),
            why => why,
        });
        state(Part::SystemCalls, true, seccomp, &|| why(Feature::Seccomp));

        // Paths that are protected: what is not there is kept from being made.
        let mut protected = Vec::new();
        let mut placeholders = Vec::new();
        if mounts && !writable.is_empty() {
            let within = |path: &Path| writable.iter().any(|writable| path.starts_with(writable));
            for path in &sandbox.protected {
                if !path.is_absolute() {
                    return Err(contradiction(format!("`{}` is not an absolute path", path.display())));
                }
                let link = path.parent().and_then(|parent| resolved(parent).ok()).zip(path.file_name());
                if let Some((parent, name)) = link
                    && within(&parent)
                    && parent.join(name).is_symlink()
                {
                    let why = format!(
                        "`{}` is a symbolic link, which can be replaced; protect what it points to",
                        path.display()
                    );
                    containment.held.retain(|&held| held != Part::Protected);
                    containment.missing.push((Part::Protected, why));
                }
                if containment.missing.is_empty() || !sandbox.required {
                    match Placeholder::for_missing(path, &within) {
                        Ok(None) => {}
                        Ok(Some(placeholder)) => {
                            protected.push(placeholder.path().to_owned());
                            placeholders.push(placeholder);
                            continue;
                        }
                        Err(error) => return Err(Failure::new(Step::Mounts, error).at(path)),
                    }
                }
                protected.extend(resolved(path));
            }
            protected.sort();
            protected.dedup();
        }
        if sandbox.required
            && let Some((part, why)) = containment.missing.first()
        {
            let failure = Failure::said(Step::Required, format!("{part}:{why}"));
            placeholders.iter().for_each(Placeholder::remove);
            return Err(failure);
        }
        if sandbox.mode != Mode::Full {
            containment.writable.clone_from(&writable);
        }

        let mut namespaces = 0;
        if mounts {
            namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
            let each = [
                (own_processes, libc::CLONE_NEWPID),
                (own_network && !sandbox.network, libc::CLONE_NEWNET),
                (offered(Feature::Ipc), libc::CLONE_NEWIPC),
            ];
            namespaces |= each.into_iter().filter(|(wanted, _)| *wanted).fold(0, |all, (_, flag)| all | flag);
        }
        let plan = Self {
            namespaces,
            mode: sandbox.mode,
            network: sandbox.network,
            writable,
            protected,
            hidden,
            visible,
            private,
            tmp,
            landlock,
            seccomp,
            directory,
            placeholders,
        };
        Ok((Some(plan), containment))
    }

    /// The namespaces that the process is to be made in (`CLONE_NEW…`).
    pub(crate) fn namespaces(&self) -> i32 {
        self.namespaces
    }

    /// Whether the first process stays as the init of a namespace of process ids.
    pub(crate) fn has_init(&self) -> bool {
        self.namespaces & libc::CLONE_NEWPID != 0
    }

    /// The directory that the command starts in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The last steps, in the process that becomes the command.
    pub(crate) fn restrict(&self) -> Result<(), Failure> {
        rustix::thread::set_no_new_privs(true).map_err(|error| Failure::new(Step::Capabilities, error))?;
        if self.landlock > 0 {
            landlock::restrict(self)?;
        }
        capabilities::drop_all()?;
        if self.seccomp {
            seccomp::restrict(self.network)?;
        }
        Ok(())
    }

    /// Takes away what was made for the time of the job.
    pub(crate) fn tidy(&self) {
        self.placeholders.iter().for_each(Placeholder::remove);
    }
}
