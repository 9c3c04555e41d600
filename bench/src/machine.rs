//! The machine and the tools that a result was measured with.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::command::run;

/// Two lines of text: date and compiler, processor and memory. Linux only: it reads `/proc`.
pub(crate) fn describe() -> Result<String> {
    let processors = fs::read_to_string("/proc/cpuinfo")?;
    let model = field(&processors, "model name").unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism()?;
    let memory = fs::read_to_string("/proc/meminfo")?;
    let kibibytes: u64 = field(&memory, "MemTotal")
        .and_then(|total| total.strip_suffix(" kB"))
        .ok_or("no MemTotal in /proc/meminfo")?
        .parse()?;
    let gibibytes = (kibibytes + (1 << 19)) >> 20;
    let rustc = run(Command::new("rustc").arg("--version"))?.stdout;
    let cargo = run(Command::new("cargo").arg("--version"))?.stdout;
    let date = run(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?.stdout;
    Ok(format!(
        "{}; {}, {}.  \n{model}, {cores} cores, {gibibytes} GiB of memory.\n",
        date.trim(),
        rustc.trim(),
        cargo.trim()
    ))
}

/// The first `name : value` of a file under `/proc`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    })
}
