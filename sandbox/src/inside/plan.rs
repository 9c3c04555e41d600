//! Computes the steps that contain a command, and which parts of the sandbox will be in effect.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Plan;
use super::placeholder::Placeholder;
use super::reading::ReadingPlan;
use crate::failure::{Failure, Step};
use crate::feature::Feature;
use crate::sandbox::Reading;
use crate::wire::{self, Reader, Run, Writer};
use crate::{Conflict, Containment, Mode, Part, Sandbox};

/// Directories that are a sandbox's own where its `/tmp` is private.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Paths below `/run` that belong to the system rather than to a daemon.
const RUN_KEPT: [&str; 3] = ["/run/current-system", "/run/opengl-driver", "/etc/resolv.conf"];

fn contradiction(conflict: Conflict, why: impl AsRef<str>) -> Failure {
    Failure::said(Step::Contradiction, format!("{}{}", conflict.sign(), why.as_ref()))
}

fn resolved(path: &Path) -> Result<PathBuf, Errno> {
    std::fs::canonicalize(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Returns the paths that exist, without symbolic links and duplicates, and the paths that do not exist.
fn existing(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_absolute() {
            return Err(contradiction(
                Conflict::NotAbsolute,
                format!("`{}` is not an absolute path", path.display()),
            ));
        }
        match resolved(path) {
            Ok(path) => found.push(path),
            Err(Errno::NOENT | Errno::NOTDIR) => missing.push(path.clone()),
            Err(error) => {
                let error = std::io::Error::from(error);
                return Err(contradiction(
                    Conflict::Unreadable,
                    format!("the metadata of `{}` cannot be read: {error}", path.display()),
                ));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok((found, missing))
}

/// Returns the paths that this user can reach, without symbolic links and duplicates. What the user cannot reach, a command of the user
/// cannot reach either.
fn reachable(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if let Some(path) = paths.iter().find(|path| !path.is_absolute()) {
        let why = format!("`{}` is not an absolute path", path.display());
        return Err(contradiction(Conflict::NotAbsolute, why));
    }
    let mut found: Vec<_> = paths.iter().filter_map(|path| resolved(path).ok()).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// The features that were found on this system.
struct Offered<'a>(&'a Run);

impl Offered<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.0.offered & feature.bit() != 0
    }

    fn landlock(&self) -> u32 {
        u32::try_from(self.0.offered >> 32).unwrap_or(0)
    }

    fn mounts(&self) -> bool {
        self.has(Feature::UserNamespace) && self.has(Feature::Mounts)
    }

    /// Returns the reason for which the first missing feature of these is missing.
    fn why(&self, features: &[Feature]) -> String {
        let why = |feature: &Feature| self.0.missing.get(*feature as usize).filter(|why| !why.is_empty());
        features.iter().find_map(why).cloned().unwrap_or_default()
    }
}

const MOUNTS: [Feature; 2] = [Feature::UserNamespace, Feature::Mounts];

impl Plan {
    /// Returns an error if the paths of a sandbox contradict each other.
    pub(crate) fn check(sandbox: &Sandbox, run: &Run) -> Result<(), Failure> {
        paths(sandbox, run, &mut Containment::default()).map(|_| ())
    }

    /// Computes the plan, and the containment that it results in.
    pub(crate) fn make(sandbox: &Sandbox, run: &Run) -> Result<(Self, Containment), Failure> {
        let offered = Offered(run);
        if let Some(reading) = &sandbox.reading {
            return Self::reading(sandbox, reading, run);
        }
        let mut containment = Containment { mode: Some(sandbox.mode), ..Containment::default() };
        let mut plan = paths(sandbox, run, &mut containment)?;
        parts(sandbox, &plan, &offered, &mut containment);
        if offered.mounts() && !plan.writable.is_empty() {
            plan.protect(sandbox, &mut containment)?;
        }
        if sandbox.required
            && let Some((part, why)) = containment.missing.first()
        {
            return Err(Failure::said(Step::Required, format!("{part}:{why}")));
        }
        if sandbox.mode != Mode::Full {
            containment.writable.clone_from(&plan.writable);
        }
        containment.tmp = sandbox.tmp_for(offered.mounts());
        plan.landlock = offered.landlock();
        plan.seccomp = offered.has(Feature::Seccomp);
        plan.namespaces = namespaces(run);
        containment.loopback = plan.has_loopback();
        Ok((plan, containment))
    }

    /// Computes the plan of a command that only reads.
    fn reading(sandbox: &Sandbox, reading: &Reading, run: &Run) -> Result<(Self, Containment), Failure> {
        let offered = Offered(run);
        let mut containment = Containment { mode: Some(sandbox.mode), ..Containment::default() };
        for (parts, feature) in [
            (&[Part::Files, Part::Hidden][..], Feature::Landlock),
            (&[Part::Network, Part::Sockets, Part::SystemCalls], Feature::Seccomp),
        ] {
            if !offered.has(feature) {
                let (part, why) = (parts[0], offered.why(&[feature]));
                return Err(Failure::said(Step::Required, format!("{part}:{why}")));
            }
            containment.held.extend(parts);
        }
        let tmp = match &sandbox.tmp {
            Some(path) => {
                let missing = format!("`{}`, which is to be its TMPDIR, does not exist", path.display());
                Some(resolved(path).map_err(|_| contradiction(Conflict::NoTmp, missing))?)
            }
            None => None,
        };
        containment.tmp.clone_from(&tmp);
        let directory = resolved(&run.directory)
            .map_err(|error| Failure::new(Step::Directory, error).at(&run.directory))?;
        let mut executable = reachable(&reading.executable)?;
        if Path::new(&run.program).is_absolute() {
            executable.extend(resolved(Path::new(&run.program)));
        }
        let reading = ReadingPlan {
            readable: reachable(&reading.readable)?,
            executable,
            hidden: reachable(&sandbox.hidden)?,
            tmp,
            network_tables: reading.network_tables,
        };
        let plan = Self {
            namespaces: 0,
            mode: sandbox.mode,
            network: false,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            visible: Vec::new(),
            private: Vec::new(),
            tmp: None,
            landlock: offered.landlock(),
            seccomp: true,
            directory,
            placeholders: Vec::new(),
            reading: Some(reading),
        };
        Ok((plan, containment))
    }

    /// Writes the plan for the contained process, which was created before the plan. Files that the supervisor removes are left out.
    pub(crate) fn write(&self, writer: Writer) -> Writer {
        let path = |writer: Writer, path: &PathBuf| writer.path(path);
        wire::mode(writer.signed(self.namespaces), self.mode)
            .flag(self.network)
            .list(&self.writable, path)
            .list(&self.protected, path)
            .list(&self.hidden, path)
            .list(&self.visible, path)
            .list(&self.private, path)
            .list(self.tmp.as_slice(), path)
            .number(u64::from(self.landlock))
            .flag(self.seccomp)
            .path(&self.directory)
    }

    /// Reads the output of [`write`](Self::write).
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            namespaces: reader.signed()?,
            mode: wire::read_mode(reader)?,
            network: reader.flag()?,
            writable: reader.list(Reader::path)?,
            protected: reader.list(Reader::path)?,
            hidden: reader.list(Reader::path)?,
            visible: reader.list(Reader::path)?,
            private: reader.list(Reader::path)?,
            tmp: reader.list(Reader::path)?.pop(),
            landlock: reader.small()?,
            seccomp: reader.flag()?,
            directory: reader.path()?,
            placeholders: Vec::new(),
            // A command that only reads is started without namespaces, and so without this message.
            reading: None,
        })
    }

    /// Adds the protected paths to the plan; a path that does not exist is kept from being created.
    fn protect(&mut self, sandbox: &Sandbox, containment: &mut Containment) -> Result<(), Failure> {
        let writable = self.writable.clone();
        let within = |path: &Path| writable.iter().any(|writable| path.starts_with(writable));
        for path in &sandbox.protected {
            if !path.is_absolute() {
                return Err(contradiction(
                    Conflict::NotAbsolute,
                    format!("`{}` is not an absolute path", path.display()),
                ));
            }
            let link = path.parent().and_then(|parent| resolved(parent).ok()).zip(path.file_name());
            if let Some((parent, name)) = link
                && within(&parent)
                && parent.join(name).is_symlink()
            {
                let why = format!(
                    "`{}` is a symbolic link, which can be replaced; protect its target, or put the target in its place",
                    path.display()
                );
                containment.held.retain(|&held| held != Part::Protected);
                containment.missing.push((Part::Protected, why));
            }
            if sandbox.required && !containment.missing.is_empty() {
                return Ok(());
            }
            let placeholder = Placeholder::for_missing(path, &within)
                .map_err(|error| Failure::new(Step::Mounts, error).at(path))?;
            match placeholder {
                Some(placeholder) => {
                    self.protected.push(placeholder.path().to_owned());
                    self.placeholders.push(placeholder);
                }
                None => self.protected.extend(resolved(path)),
            }
        }
        self.protected.sort();
        self.protected.dedup();
        Ok(())
    }
}

/// Returns the namespaces of a command (`CLONE_NEW…`): those of its sandbox that are available.
pub(crate) fn namespaces(run: &Run) -> i32 {
    let offered = Offered(run);
    let Some(sandbox) = run.sandbox.as_ref().filter(|sandbox| offered.mounts() && sandbox.reading.is_none())
    else {
        return 0;
    };
    let each = [
        (offered.has(Feature::ProcessIds), libc::CLONE_NEWPID),
        (offered.has(Feature::Network) && !sandbox.network, libc::CLONE_NEWNET),
        (offered.has(Feature::Ipc), libc::CLONE_NEWIPC),
    ];
    let wanted = each.into_iter().filter(|(wanted, _)| *wanted);
    wanted.fold(libc::CLONE_NEWUSER | libc::CLONE_NEWNS, |all, (_, flag)| all | flag)
}

/// Returns a plan with the resolved paths only; the remaining steps are not computed yet.
fn paths(sandbox: &Sandbox, run: &Run, containment: &mut Containment) -> Result<Plan, Failure> {
    let (workspace, _) = existing(std::slice::from_ref(&sandbox.workspace))?;
    if workspace.is_empty() {
        return Err(contradiction(
            Conflict::NoWorkspace,
            format!("the workspace `{}` does not exist", sandbox.workspace.display()),
        ));
    }
    let (mut writable, missing) = existing(&sandbox.writable)?;
    match sandbox.mode {
        Mode::ReadOnly => writable.clear(),
        Mode::WorkspaceWrite => {
            containment.notes.extend(
                missing.iter().map(|path| {
                    format!("`{}` does not exist, so nothing can be written there", path.display())
                }),
            );
            leads_out(sandbox, &workspace, &mut writable, containment);
            writable.extend_from_slice(&workspace);
            writable.sort();
            writable.dedup();
        }
        Mode::Full => writable = vec![PathBuf::from("/")],
    }
    if sandbox.mode != Mode::Full && writable.iter().any(|path| path == Path::new("/")) {
        return Err(contradiction(
            Conflict::RootWritable,
            "the root directory cannot be one of the writable paths; use the mode `full` for that",
        ));
    }
    let (hidden, _) = existing(&sandbox.hidden)?;
    let (mut visible, _) = existing(&sandbox.visible)?;
    for (what, paths) in [("workspace", &workspace), ("writable", &writable), ("visible", &visible)] {
        let lies =
            |path: &PathBuf| Some((path.clone(), hidden.iter().find(|hidden| path.starts_with(hidden))?));
        if let Some((path, hidden)) = paths.iter().find_map(lies) {
            return Err(contradiction(
                Conflict::InHidden,
                format!(
                    "the {what} path `{}` lies in `{}`, which is hidden; hide the entries of that directory one by one",
                    path.display(),
                    hidden.display()
                ),
            ));
        }
    }
    let directory =
        resolved(&run.directory).map_err(|error| Failure::new(Step::Directory, error).at(&run.directory))?;
    visible.extend(workspace);
    visible.push(directory.clone());
    if Path::new(&run.program).is_absolute() {
        visible.extend(resolved(Path::new(&run.program)));
    }
    visible.extend(RUN_KEPT.iter().filter_map(|path| resolved(Path::new(path)).ok()));
    let (mut private, mut tmp) = (Vec::new(), None);
    if sandbox.private_tmp {
        let there = PRIVATE.iter().filter_map(|path| resolved(Path::new(path)).ok());
        private.extend(there.filter(|path| path.is_dir()));
        private.sort();
        private.dedup();
        if let Some(path) = &sandbox.tmp {
            let missing = || format!("`{}`, which is to be its /tmp, does not exist", path.display());
            tmp = Some(resolved(path).map_err(|_| contradiction(Conflict::NoTmp, missing()))?);
        }
    }
    Ok(Plan {
        namespaces: 0,
        mode: sandbox.mode,
        network: sandbox.network,
        writable,
        protected: Vec::new(),
        hidden,
        visible,
        private,
        tmp,
        landlock: 0,
        seccomp: false,
        directory,
        placeholders: Vec::new(),
        reading: None,
    })
}

/// Leaves out paths within a writable directory that lead out of it: an earlier command may have created a symlink there to escape
/// from the sandbox the next time.
fn leads_out(
    sandbox: &Sandbox,
    workspace: &[PathBuf],
    writable: &mut Vec<PathBuf>,
    containment: &mut Containment,
) {
    let roots: Vec<_> = sandbox
        .writable
        .iter()
        .chain([&sandbox.workspace])
        .chain(workspace)
        .filter_map(|root| Some((root, resolved(root).ok()?)))
        .collect();
    let mut left_out = Vec::new();
    for path in &sandbox.writable {
        let Ok(target) = resolved(path) else { continue };
        let out = roots
            .iter()
            .any(|(root, real)| path != *root && path.starts_with(root) && !target.starts_with(real));
        if out {
            left_out.push(target);
            containment.notes.push(format!(
                "`{}` leads out of the writable directory that it lies in, so nothing can be written there",
                path.display()
            ));
        }
    }
    // Unless the configuration names it separately.
    let named = |target: &PathBuf| sandbox.writable.contains(target);
    writable.retain(|path| named(path) || !left_out.contains(path));
}

/// Records the parts that are in effect, and the reasons for which others are not.
fn parts(sandbox: &Sandbox, plan: &Plan, offered: &Offered<'_>, containment: &mut Containment) {
    let mounts = offered.mounts();
    let seccomp = offered.has(Feature::Seccomp);
    let no_mounts = || offered.why(&MOUNTS);
    let both = |first: String, second: Feature| format!("{first}; and {}", offered.why(&[second]));
    let no_files = || both(no_mounts(), Feature::Landlock);
    let no_network =
        || both(offered.why(&[Feature::UserNamespace, Feature::Mounts, Feature::Network]), Feature::Seccomp);
    let no_processes = || offered.why(&[Feature::UserNamespace, Feature::Mounts, Feature::ProcessIds]);
    let no_seccomp = || offered.why(&[Feature::Seccomp]);
    let protects = !sandbox.protected.is_empty() && !plan.writable.is_empty();
    // Landlock refuses to cut a file short only since its third version.
    let files = mounts || offered.landlock() >= 3;
    let network = mounts && offered.has(Feature::Network) || seccomp;
    let processes = mounts && offered.has(Feature::ProcessIds);
    let each: [(Part, bool, bool, &dyn Fn() -> String); 8] = [
        (Part::Files, sandbox.mode != Mode::Full, files, &no_files),
        (Part::Protected, protects, mounts, &no_mounts),
        (Part::Hidden, !sandbox.hidden.is_empty(), mounts, &no_mounts),
        (Part::PrivateTmp, sandbox.private_tmp, mounts, &no_mounts),
        (Part::Network, !sandbox.network, network, &no_network),
        (Part::Sockets, true, seccomp, &no_seccomp),
        (Part::Processes, true, processes, &no_processes),
        (Part::SystemCalls, true, seccomp, &no_seccomp),
    ];
    for (part, wanted, held, why) in each {
        match (wanted, held) {
            (true, true) => containment.held.push(part),
            (true, false) => containment.missing.push((part, why())),
            (false, _) => {}
        }
    }
}
