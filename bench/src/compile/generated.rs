//! A generated crate on disk, and what is done with it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use super::contender::Contender;
use crate::Result;
use crate::command::{self, Cost, Finished};

pub(super) struct Generated {
    /// Of the package. Not the contender's bare name: that of a crate it depends on would confuse its macros.
    name: String,
    folder: PathBuf,
}

#[derive(Clone, Copy)]
pub(super) enum Mode {
    Check,
    Debug,
    Release,
}

impl Generated {
    /// Writes the crate to `bench/target/<purpose>/<name>` and fetches what it depends on, by the versions in
    /// `bench/locks/<name>.lock`. Where that file is missing or no longer fits, cargo completes it.
    pub(super) fn write(
        bench: &Path,
        purpose: &str,
        contender: &dyn Contender,
        source: &str,
    ) -> Result<Self> {
        let name = format!("{}-tools", contender.name());
        let folder = bench.join("target").join(purpose).join(contender.name());
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), manifest(&name, contender.dependencies()))?;

        let lock = folder.join("Cargo.lock");
        let kept = bench.join("locks").join(format!("{}.lock", contender.name()));
        if kept.exists() {
            fs::copy(&kept, &lock)?;
        } else {
            remove(fs::remove_file(&lock))?;
        }
        let generated = Self { name, folder };
        generated.write_source(source)?;
        command::cargo(&generated.folder, &["fetch", "--quiet"])?;
        fs::create_dir_all(bench.join("locks"))?;
        fs::copy(&lock, &kept)?;
        Ok(generated)
    }

    /// Replaces `src/main.rs`.
    pub(super) fn write_source(&self, source: &str) -> Result<()> {
        Ok(fs::write(self.folder.join("src/main.rs"), source)?)
    }

    /// Builds whatever is out of date.
    pub(super) fn cargo(&self, mode: Mode) -> Result<Finished> {
        let arguments = match mode {
            Mode::Check => ["check"].as_slice(),
            Mode::Debug => &["build"],
            Mode::Release => &["build", "--release"],
        };
        command::cargo(
            &self.folder,
            &[arguments, &["--locked", "--offline", "--target-dir", "target"]].concat(),
        )
    }

    /// Builds the crate with this source, its dependencies being there.
    ///
    /// # Errors
    ///
    /// When something else was built with it: the cost would be of both.
    pub(super) fn cargo_crate_alone(&self, source: &str, mode: Mode) -> Result<Cost> {
        self.write_source(source)?;
        File::options().append(true).open(self.folder.join("src/main.rs"))?.set_modified(SystemTime::now())?;
        let finished = self.cargo(mode)?;
        let built: Vec<_> = finished
            .stderr
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with("Compiling ") || line.starts_with("Checking "))
            .collect();
        match built[..] {
            [_] => Ok(finished.cost),
            _ => Err(format!("{} should have been built alone, but cargo built {built:?}", self.name).into()),
        }
    }

    /// Removes everything built.
    pub(super) fn clean(&self) -> Result<()> {
        remove(fs::remove_dir_all(self.folder.join("target")))
    }

    /// Runs the binary.
    ///
    /// # Errors
    ///
    /// When it prints anything but `expected`: then it doesn't do the work that is compared.
    pub(super) fn must_print(&self, mode: Mode, expected: &str) -> Result<()> {
        let printed = command::run(&mut Command::new(self.binary(mode)))?.stdout;
        if printed == expected {
            Ok(())
        } else {
            Err(format!("{} should print {expected:?}, but printed {printed:?}", self.name).into())
        }
    }

    /// Bytes of the release binary as cargo left it.
    pub(super) fn binary_size(&self) -> Result<u64> {
        Ok(fs::metadata(self.binary(Mode::Release))?.len())
    }

    /// Bytes of the release binary without symbols.
    pub(super) fn stripped_size(&self) -> Result<u64> {
        let stripped = self.folder.join("target/stripped");
        command::run(Command::new("strip").arg("-o").arg(&stripped).arg(self.binary(Mode::Release)))?;
        Ok(fs::metadata(stripped)?.len())
    }

    /// How many crates it depends on, build dependencies and procedural macros among them.
    pub(super) fn crates(&self) -> Result<usize> {
        let tree = self.tree(&["-e", "normal,build"])?;
        Ok(tree.into_iter().collect::<BTreeSet<_>>().len())
    }

    /// Name and version of each crate that its `Cargo.toml` names.
    pub(super) fn direct_dependencies(&self) -> Result<Vec<String>> {
        self.tree(&["-e", "normal", "--depth", "1"])
    }

    /// `name version` of every line of `cargo tree`, itself left out.
    fn tree(&self, arguments: &[&str]) -> Result<Vec<String>> {
        let always = ["tree", "--locked", "--offline", "--prefix", "none"];
        let tree = command::cargo(&self.folder, &[&always, arguments].concat())?.stdout;
        let mut crates = Vec::new();
        for line in tree.lines().skip(1) {
            let mut words = line.split(' ');
            let (Some(name), Some(version)) = (words.next(), words.next()) else {
                return Err(format!("not a line of `cargo tree`: `{line}`").into());
            };
            crates.push(format!("{name} {}", version.trim_start_matches('v')));
        }
        Ok(crates)
    }

    fn binary(&self, mode: Mode) -> PathBuf {
        let profile = match mode {
            Mode::Release => "release",
            Mode::Check | Mode::Debug => "debug",
        };
        self.folder.join("target").join(profile).join(&self.name)
    }
}

/// The manifest sets no profile: tools are measured as cargo builds them by default.
fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "[workspace]\n\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n{dependencies}"
    )
}

/// Ignores a removal of something that does not exist.
fn remove(outcome: std::io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
