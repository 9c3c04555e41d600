//! A gigabyte of output into a file, beside `| cat > file`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use toolkit_sandbox::Output;

use crate::house::{House, Tools, bare, words};
use crate::{Result, print};

struct Kind {
    name: &'static str,
    /// Writes so many bytes.
    script: fn(bytes: u64) -> String,
}

const KINDS: &[Kind] = &[
    Kind { name: "zeros", script: |bytes| format!("head -c {bytes} /dev/zero") },
    Kind {
        name: "lines",
        script: |bytes| {
            format!("yes 'some line of output that a program prints while it works' | head -c {bytes}")
        },
    },
    Kind { name: "newlines", script: |bytes| format!("yes '' | head -c {bytes}") },
    Kind {
        name: "wide lines",
        script: |bytes| format!("yes \"$(head -c 100000 /dev/zero | tr '\\0' x)\" | head -c {bytes}"),
    },
];

struct Host {
    house: House,
    tools: Tools,
    directory: PathBuf,
    bytes: u64,
}

struct Contender {
    name: &'static str,
    run: fn(&Host, script: &str) -> Result<f64>,
}

const CONTENDERS: &[Contender] = &[
    Contender { name: "cat", run: Host::cat },
    Contender { name: "job", run: Host::job },
    Contender { name: "exec", run: Host::exec },
];

/// Prints seconds.
pub(crate) fn measure(rounds: usize, bytes: u64, directory: &Path) -> Result<()> {
    let house = House::new()?;
    let host = Host { tools: house.tools(directory, "off")?, house, directory: directory.to_owned(), bytes };
    for kind in KINDS {
        let script = (kind.script)(bytes);
        let mut times = vec![Vec::new(); CONTENDERS.len()];
        for round in 0..rounds {
            for turn in 0..CONTENDERS.len() {
                let at = (round + turn) % CONTENDERS.len();
                times[at].push((CONTENDERS[at].run)(&host, &script)?);
            }
        }
        for (contender, times) in CONTENDERS.iter().zip(&times) {
            print(&format!("output of {}", kind.name), contender.name, times);
        }
    }
    Ok(())
}

impl Host {
    fn cat(&self, script: &str) -> Result<f64> {
        let path = self.directory.join("by-cat");
        let script = format!("{{ {script}; }} | cat > '{}'", path.display());
        let begun = Instant::now();
        let status = bare(&["/bin/sh", "-c", &script]).status()?;
        let seconds = begun.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("`{script}`: {status}").into());
        }
        self.whole(&path)?;
        Ok(seconds)
    }

    fn job(&self, script: &str) -> Result<f64> {
        let path = self.directory.join("by-job");
        let file = File::options().create(true).append(true).open(&path)?;
        let command = words(&["/bin/sh", "-c", script]).output(Output::File(file));
        let begun = Instant::now();
        let job = self.house.job(command)?;
        let seconds = begun.elapsed().as_secs_f64();
        self.house.gone(&job);
        self.whole(&path)?;
        Ok(seconds)
    }

    fn exec(&self, script: &str) -> Result<f64> {
        let begun = Instant::now();
        self.house.exec(&self.tools, script)?;
        let seconds = begun.elapsed().as_secs_f64();
        let kept = self.tools.kept()?;
        let path = kept.iter().max_by_key(|path| path.metadata().map_or(0, |metadata| metadata.len()));
        self.whole(path.ok_or("the output was not kept")?)?;
        Ok(seconds)
    }

    /// Looks whether all of it came, and takes it away.
    fn whole(&self, path: &Path) -> Result<()> {
        let length = path.metadata()?.len();
        fs::remove_file(path)?;
        let expected = self.bytes;
        if length == expected {
            Ok(())
        } else {
            Err(format!("{} has {length} bytes instead of {expected}", path.display()).into())
        }
    }
}
