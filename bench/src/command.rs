//! Running a command, and what it cost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;

/// Seconds that a command and every process it waited for took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Processor time in user mode, over all cores.
    pub(crate) user: f64,
    /// Processor time in the kernel, over all cores.
    pub(crate) system: f64,
    /// Time on the wall.
    pub(crate) wall: f64,
}

/// A command that ended well.
pub(crate) struct Finished {
    pub(crate) cost: Cost,
    /// Standard output, whole.
    pub(crate) stdout: String,
    /// Standard error, whole.
    pub(crate) stderr: String,
}

/// Runs cargo in `folder`, free of what an outer cargo or the user's environment would change about the build.
///
/// # Errors
///
/// When cargo can't be started or fails; the message holds what it wrote to standard error.
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) -> Result<Finished> {
    // `times` of the shell gives the processor time of its children without an unsafe call to `wait4`.
    const TIMED: &str = r#""$@"; status=$?; times; exit $status"#;
    let mut command = Command::new("sh");
    command.args(["-c", TIMED, "sh", "cargo"]).args(arguments).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_outer_build =
            ["CARGO_BUILD_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PROFILE_", "CARGO_TARGET_"];
        if of_outer_build.iter().any(|prefix| name.starts_with(prefix))
            || ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC_WRAPPER", "MAKEFLAGS"].contains(&&*name)
        {
            command.env_remove(&*name);
        }
    }
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never");

    let started = Instant::now();
    let mut finished = run(&mut command)?;
    let wall = started.elapsed().as_secs_f64();

    // The shell's own time is on the last line but one, its children's on the last.
    let output = finished.stdout.trim_end().to_owned();
    let (before, children) = output.rsplit_once('\n').ok_or("the shell printed no times")?;
    let (user, system) = children.split_once(' ').ok_or("the shell printed no times of its children")?;
    finished.cost = Cost { user: seconds(user)?, system: seconds(system)?, wall };
    finished.stdout = before.rsplit_once('\n').map_or(String::new(), |(stdout, _)| stdout.to_owned());
    Ok(finished)
}

/// Runs a command to its end and collects what it wrote; its cost is not measured.
pub(crate) fn run(command: &mut Command) -> Result<Finished> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let stdout = String::from_utf8(output.stdout)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("{command:?} failed ({}):\n{stderr}", output.status).into());
    }
    Ok(Finished { cost: Cost::default(), stdout, stderr })
}

/// Reads the shell's `1m2.34s`.
fn seconds(text: &str) -> Result<f64> {
    let (minutes, seconds) = text
        .strip_suffix('s')
        .and_then(|text| text.split_once('m'))
        .ok_or_else(|| format!("not a time of the shell: `{text}`"))?;
    Ok(minutes.parse::<f64>()? * 60.0 + seconds.parse::<f64>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_times_of_a_shell() {
        assert!((seconds("0m0.25s").unwrap() - 0.25).abs() < 1e-9);
        assert!((seconds("2m3.500000s").unwrap() - 123.5).abs() < 1e-9);
        assert!(seconds("12.5").is_err());
    }
}
