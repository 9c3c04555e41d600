//! `gateway install` and `uninstall`: a unit of systemd for the user.

use super::reach::data_dir;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::subcommand::Start;
use clap::{ArgMatches, Command};
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;

/// The name of the unit.
const UNIT: &str = "toolkit-gateway.service";

/// A parsed subcommand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UnitRequest {
    Install,
    Uninstall,
}

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("install")
            .about("Writes a unit of systemd for this user, so that the gateway runs in the background"),
        Command::new("uninstall").about("Removes that unit; the data directory stays"),
    ]
}

pub(super) fn request(name: &str, _matches: &mut ArgMatches) -> UnitRequest {
    if name == "uninstall" { UnitRequest::Uninstall } else { UnitRequest::Install }
}

pub(super) fn run(request: UnitRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let path = path(|name| env::var_os(name).map(PathBuf::from)).ok_or_else(|| {
        Stop::failed("there is no home directory, so there is no place for a unit of this user")
    })?;
    match request {
        UnitRequest::Install => {
            let program = env::current_exe()?;
            let text = unit(&program, data_dir(start)?).map_err(Stop::failed)?;
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            fs::write(&path, text)?;
            console.note(&format!("wrote {}", path.display()));
            reload(console);
            console.note(&format!("`systemctl --user enable --now {UNIT}` starts it, now and at each login"));
            console.note("`loginctl enable-linger` lets it run while you are not logged in");
        }
        UnitRequest::Uninstall => match fs::remove_file(&path) {
            Ok(()) => {
                console.note(&format!("removed {}", path.display()));
                console.note(&format!("`systemctl --user stop {UNIT}` stops one that runs"));
                reload(console);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                console.note(&format!("there is no {}", path.display()));
            }
            Err(error) => return Err(error.into()),
        },
    }
    Ok(Exit::Success)
}

/// The place of units of a user.
fn path(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let config = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config =
        config.or_else(|| Some(variable("HOME").filter(|path| path.is_absolute())?.join(".config")))?;
    Some(config.join("systemd/user").join(UNIT))
}

/// Has systemd read its units anew, where there is one.
fn reload(console: &mut Console<'_>) {
    let reloaded = process::Command::new("systemctl").args(["--user", "daemon-reload"]).output();
    if !reloaded.is_ok_and(|output| output.status.success()) {
        console.note("systemd did not read its units anew; `systemctl --user daemon-reload` does that");
    }
}

/// The text of the unit. A wrong configuration, exit code 78, does not start it again.
fn unit(program: &Path, data_dir: &Path) -> Result<String, String> {
    let (program, data_dir) = (quoted(program)?, quoted(data_dir)?);
    Ok(format!(
        "[Unit]\n\
         Description=The process in which agents of the toolkit live\n\
         \n\
         [Service]\n\
         Environment=TOOLKIT_DATA_DIR={data_dir}\n\
         ExecStart={program} gateway\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         RestartPreventExitStatus=78\n\
         TimeoutStopSec=90\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    ))
}

/// A path as one word of a unit.
fn quoted(path: &Path) -> Result<String, String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| {
        format!(
            "the path {} cannot be written into a unit: it has control characters, or is no UTF-8",
            path.display()
        )
    })?;
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_each_path_as_one_word_and_stays_stopped_after_a_wrong_configuration() {
        let text = unit(Path::new("/opt/a b/100%/$x\"y"), Path::new("/data")).unwrap();
        assert!(text.contains("ExecStart=\"/opt/a b/100%%/$$x\\\"y\" gateway\n"), "{text}");
        assert!(text.contains("RestartPreventExitStatus=78\n"), "{text}");
        assert!(unit(Path::new("/a\nExecStart=evil"), Path::new("/data")).is_err());
    }

    #[test]
    fn the_unit_is_one_of_the_user() {
        let of = |pairs: &[(&str, &str)]| {
            path(|name| Some(PathBuf::from(pairs.iter().find(|(key, _)| *key == name)?.1)))
        };
        let home = of(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(home, Path::new("/home/ada/.config/systemd/user/toolkit-gateway.service"));
        let config = of(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/conf")]).unwrap();
        assert_eq!(config, Path::new("/conf/systemd/user/toolkit-gateway.service"));
        assert_eq!(of(&[("HOME", "relative")]), None);
    }
}
