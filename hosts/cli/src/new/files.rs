//! The files of a new crate.

use super::kind::What;
use super::name::tool_prefix;
use super::packages::{COMMAND, Origin, RUNTIME};
use super::paths::{existing, shown, toml_string, utf8};
use super::workspace::Place;
use crate::exit::Stop;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Maximum number of bytes of a manifest that is read.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// A crate to be written.
pub(super) struct Crate<'a> {
    pub(super) what: What,
    pub(super) name: &'a str,
    /// Source from which cargo takes the packages of this project.
    pub(super) origin: Origin,
    /// The plugin that a host links.
    pub(super) plugin: Option<Plugin>,
    /// Location of the crate relative to existing workspaces.
    pub(super) place: Place,
}

impl Crate<'_> {
    /// Writes the files, and returns their names.
    pub(super) fn write(&self, directory: &Path) -> Result<Vec<&'static str>, Stop> {
        let cannot = |what: &str, path: &Path, error: &io::Error| {
            Stop::failed(format!("cannot {what} {}: {error}", shown(path)))
        };
        match fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => {
                let shown = shown(directory);
                return Err(Stop::failed(format!(
                    "{shown} exists and is not empty; choose another name, or move it away. Nothing was written"
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("use", directory, &error)),
        }
        let mut written = Vec::new();
        for (file, template) in self.what.files() {
            let path = directory.join(file);
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(|error| cannot("make", parent, &error))?;
            let create = || -> io::Result<()> {
                let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
                file.write_all(self.filled(template).as_bytes())
            };
            create().map_err(|error| cannot("write", &path, &error))?;
            written.push(*file);
        }
        Ok(written)
    }

    fn filled(&self, template: &str) -> String {
        let tool = tool_prefix(self.name);
        let mut plugin = String::new();
        let mut link = String::new();
        if let Some(Plugin { name, directory }) = &self.plugin {
            let _ = writeln!(plugin, "{name} = {{ path = {} }}", toml_string(directory));
            let _ = writeln!(link, "\ntoolkit::link!({});", tool_prefix(name));
        }
        let origin = &self.origin;
        let builtin = r#"default-features = false, features = ["fs", "runtime"]"#;
        let values = [
            ("name", self.name),
            ("crate", &tool),
            ("tool", &tool),
            ("rust_version", env!("CARGO_PKG_RUST_VERSION")),
            ("toolkit_definitions", &origin.dependency(RUNTIME, "default-features = false")),
            ("toolkit_testing", &origin.dependency(RUNTIME, r#"features = ["testing"]"#)),
            ("toolkit_cli", &origin.dependency(COMMAND, builtin)),
            ("toolkit", &origin.dependency(RUNTIME, "")),
            ("plugin", &plugin),
            ("link", &link),
            ("workspace", self.place.table()),
        ];
        fill(template, &values)
    }
}

/// Fills the placeholders of a template. Values are not expanded themselves: a path may look like a placeholder.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let place = after.split_once("}}");
        let value = place.and_then(|(name, _)| values.iter().find(|(known, _)| *known == name));
        match (place, value) {
            (Some((_, behind)), Some((_, value))) => {
                filled.push_str(value);
                rest = behind;
            }
            _ => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled + rest
}

/// An existing plugin crate.
pub(super) struct Plugin {
    name: String,
    directory: String,
}

impl Plugin {
    /// Checks that a host of this name can link the plugin; the error says why not.
    pub(super) fn check(&self, host: &str) -> Result<(), String> {
        let Self { name, .. } = self;
        let plain = tool_prefix(name);
        if plain == tool_prefix(host) {
            return Err(format!(
                "the plugin `{name}` and a host that links it cannot have the same name; choose another name for the host"
            ));
        }
        if matches!(plain.as_str(), "toolkit" | "agent_toolkit" | "toolkit_cli") {
            return Err(format!(
                "`{name}` is not a plugin: every host has it; name the directory of a plugin"
            ));
        }
        Ok(())
    }
}

/// Returns the plugin whose manifest is in a directory.
pub(super) fn plugin_at(directory: &Path) -> Result<Plugin, String> {
    let directory = existing(directory)?;
    let manifest = directory.join("Cargo.toml");
    let shown = shown(&manifest);
    let mut text = String::new();
    File::open(&manifest)
        .and_then(|file| file.take(LONGEST_MANIFEST).read_to_string(&mut text))
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    let name = package_name(&text).ok_or_else(|| format!("{shown} names no package"))?;
    Ok(Plugin { name: name.to_owned(), directory: utf8(&directory)? })
}

/// The name in the table `[package]` of a manifest.
fn package_name(manifest: &str) -> Option<&str> {
    let lines = manifest.lines().map(str::trim);
    let package = lines.skip_while(|line| *line != "[package]").skip(1);
    let mut package = package.take_while(|line| !line.starts_with('['));
    let value = package.find_map(|line| line.strip_prefix("name")?.trim_start().strip_prefix('='))?;
    let (name, _) = value.trim_start().strip_prefix('"')?.split_once('"')?;
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    (!name.is_empty() && name.chars().all(is_of_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_manifests() {
        for (manifest, expected) in [
            ("[package]\nname = \"a-b\"\n", Some("a-b")),
            ("[workspace]\nname = \"x\"\n[package]\nversion = \"1\"\nname=\"y\" # why\n", Some("y")),
            ("[package]\nversion = \"1\"\n[lib]\nname = \"z\"\n", None),
            ("[package]\nname = \"a\\nb\"\n", None),
            ("[package]\nname = \"\"\n", None),
            ("[package]\nname.workspace = true\n", None),
            ("", None),
        ] {
            assert_eq!(package_name(manifest), expected, "{manifest:?}");
        }
    }

    #[test]
    fn places_in_templates() {
        let values = [("a", "{{b}}"), ("b", "x")];
        for (template, expected) in [
            ("{{a}}-{{b}}.", "{{b}}-x."),
            ("{{c}} {{ a }} {{a", "{{c}} {{ a }} {{a"),
            ("{{{a}} {{{{b}}}}", "{{{a}} {{x}}"),
            ("", ""),
        ] {
            assert_eq!(fill(template, &values), expected, "{template:?}");
        }
    }

    #[test]
    fn licences_are_those_of_this_project() {
        let own = |file: &str| {
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file))
                .expect("it is there")
        };
        let what = [What::Plugin, What::Host];
        for (file, text) in
            what.iter().flat_map(|what| what.files()).filter(|(file, _)| file.starts_with("LICENSE"))
        {
            let text = fill(text, &[("name", "toolkit")])
                .replace("The authors of toolkit", "The toolkit contributors");
            assert_eq!(text, own(file), "{file}");
        }
    }
}
