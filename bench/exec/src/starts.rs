//! Commands that do nothing, from the call to its result, in a host of a given size.

use std::fs::File;
use std::hint::black_box;
use std::io::BufRead as _;
use std::path::Path;
use std::time::Instant;

use toolkit_sandbox::{Mode, Output, Sandbox};

use crate::house::{House, Tools, bare, words};
use crate::{Result, median, print};

const SH: &[&str] = &["/bin/sh", "-c", "true"];
/// As the tool calls it, where it is there.
const BASH: &[&str] = &["/bin/bash", "--noprofile", "--norc", "-c", "--", "true"];
const PAGE: usize = 4096;

struct Host {
    house: House,
    file: File,
    tools: Tools,
    /// The same, with a sandbox around each command.
    contained: Tools,
}

struct Contender {
    name: &'static str,
    run: fn(&Host) -> Result<f64>,
}

const CONTENDERS: &[Contender] = &[
    Contender { name: "sh by hand", run: |_| by_hand(SH) },
    Contender { name: "sh supervised", run: |host| host.job(None) },
    Contender {
        name: "sh in the sandbox",
        run: |host| host.job(Some(Sandbox::new(Mode::WorkspaceWrite, "/opt"))),
    },
    Contender { name: "bash by hand", run: |_| by_hand(BASH) },
    Contender { name: "exec", run: |host| host.exec(&host.tools) },
    Contender { name: "exec in the sandbox", run: |host| host.exec(&host.contained) },
];

/// Measures a round for each line of the input, which says how often each contender is run in it, by turns; after each round it
/// prints a line with a dot.
pub(crate) fn serve(megabytes: usize, directory: &Path) -> Result<()> {
    let mut ballast = vec![0_u8; megabytes << 20];
    ballast.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    let house = House::new()?;
    let host = Host {
        file: File::options().create(true).append(true).open(directory.join("output"))?,
        tools: house.tools(&directory.join("without"), "off")?,
        contained: house.tools(&directory.join("contained"), "required")?,
        house,
    };
    // The first starts the spawner and finds out what the system has.
    for contender in CONTENDERS {
        (contender.run)(&host)?;
    }
    let measurement = format!("starts at {megabytes} MB");
    for line in std::io::stdin().lock().lines() {
        let repetitions: usize = line?.parse()?;
        let mut times = vec![Vec::new(); CONTENDERS.len()];
        for repetition in 0..repetitions {
            for turn in 0..CONTENDERS.len() {
                let at = (repetition + turn) % CONTENDERS.len();
                times[at].push((CONTENDERS[at].run)(&host)?);
            }
        }
        for (contender, times) in CONTENDERS.iter().zip(&mut times) {
            print(&measurement, contender.name, &[median(times)]);
        }
        println!(".");
    }
    black_box(&ballast);
    Ok(())
}

fn by_hand(words: &[&str]) -> Result<f64> {
    let begun = Instant::now();
    let output = bare(words).output()?;
    let time = microseconds(begun);
    if output.status.success() { Ok(time) } else { Err(format!("{words:?}: {}", output.status).into()) }
}

fn microseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6
}

impl Host {
    fn job(&self, sandbox: Option<Sandbox>) -> Result<f64> {
        let mut command = words(SH).output(Output::File(self.file.try_clone()?));
        if let Some(sandbox) = sandbox {
            command = command.sandbox(sandbox);
        }
        let begun = Instant::now();
        let job = self.house.job(command)?;
        let time = microseconds(begun);
        self.house.gone(&job);
        Ok(time)
    }

    fn exec(&self, tools: &Tools) -> Result<f64> {
        let begun = Instant::now();
        self.house.exec(tools, "true")?;
        Ok(microseconds(begun))
    }
}
