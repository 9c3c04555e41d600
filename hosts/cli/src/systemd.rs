//! Units of systemd for the user, so that a part of the command runs in the background.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;

/// A unit of the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit<'a> {
    /// The name, with its ending.
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The subcommand that it runs.
    pub(crate) subcommand: &'static str,
    /// Variables of its environment.
    pub(crate) environment: &'a [(&'static str, &'a Path)],
    /// Seconds that it has to stop.
    pub(crate) stop_within: u32,
}

impl Unit<'_> {
    /// Writes the unit.
    pub(crate) fn install(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let path = place(self.name)?;
        let program = env::current_exe()?;
        let text = self.text(&program).map_err(Stop::failed)?;
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&path, text)?;
        let name = self.name;
        console.note(&format!("wrote {}", path.display()));
        reload(console);
        console.note(&format!("`systemctl --user enable --now {name}` starts it, now and at each login"));
        console.note("`loginctl enable-linger` lets it run while you are not logged in");
        Ok(Exit::Success)
    }

    /// The text of the unit. Exit code 78, which only a person can mend, does not start it again.
    fn text(&self, program: &Path) -> Result<String, String> {
        let program = quoted(program)?;
        let mut environment = String::new();
        for (name, value) in self.environment {
            let value = quoted(value)?;
            environment.extend(["Environment=", name, "=", &value, "\n"]);
        }
        let Self { description, subcommand, stop_within, .. } = self;
        Ok(format!(
            "[Unit]\n\
             Description={description}\n\
             \n\
             [Service]\n\
             {environment}\
             ExecStart={program} {subcommand}\n\
             Restart=on-failure\n\
             RestartSec=2\n\
             RestartPreventExitStatus=78\n\
             TimeoutStopSec={stop_within}\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n"
        ))
    }
}

/// Removes a unit.
pub(crate) fn uninstall(name: &str, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let path = place(name)?;
    match fs::remove_file(&path) {
        Ok(()) => {
            console.note(&format!("removed {}", path.display()));
            console.note(&format!("`systemctl --user stop {name}` stops one that runs"));
            reload(console);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            console.note(&format!("there is no {}", path.display()));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Success)
}

fn place(name: &str) -> Result<PathBuf, Stop> {
    let missing = || Stop::failed("there is no home directory, so there is no place for a unit of this user");
    path(name, |name| env::var_os(name).map(PathBuf::from)).ok_or_else(missing)
}

/// The place of units of a user.
fn path(name: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let config = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config =
        config.or_else(|| Some(variable("HOME").filter(|path| path.is_absolute())?.join(".config")))?;
    Some(config.join("systemd/user").join(name))
}

/// Has systemd read its units anew, where there is one.
fn reload(console: &mut Console<'_>) {
    let reloaded = process::Command::new("systemctl").args(["--user", "daemon-reload"]).output();
    if !reloaded.is_ok_and(|output| output.status.success()) {
        console.note("systemd did not read its units anew; `systemctl --user daemon-reload` does that");
    }
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
        let unit = |program: &str| {
            let environment = [("DIRECTORY", Path::new("/da ta"))];
            let unit = Unit {
                name: "a.service",
                description: "A",
                subcommand: "gateway",
                environment: &environment,
                stop_within: 90,
            };
            unit.text(Path::new(program))
        };
        let text = unit("/opt/a b/100%/$x\"y").unwrap();
        assert!(text.contains("ExecStart=\"/opt/a b/100%%/$$x\\\"y\" gateway\n"), "{text}");
        assert!(text.contains("Environment=DIRECTORY=\"/da ta\"\nExecStart"), "{text}");
        assert!(text.contains("RestartPreventExitStatus=78\n"), "{text}");
        assert!(unit("/a\nExecStart=evil").is_err());
    }

    #[test]
    fn the_unit_is_one_of_the_user() {
        let of = |pairs: &[(&str, &str)]| {
            path("toolkit-gateway.service", |name| {
                Some(PathBuf::from(pairs.iter().find(|(key, _)| *key == name)?.1))
            })
        };
        let home = of(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(home, Path::new("/home/ada/.config/systemd/user/toolkit-gateway.service"));
        let config = of(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/conf")]).unwrap();
        assert_eq!(config, Path::new("/conf/systemd/user/toolkit-gateway.service"));
        assert_eq!(of(&[("HOME", "relative")]), None);
    }
}
