//! The name under which the expanding crate knows `toolkit`: `Cargo.toml` may rename the dependency.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const PACKAGE: &str = "agent-toolkit";

/// The last answer, with the directory of its crate: one server of an editor expands the macros of many crates.
static LAST: Mutex<Option<(PathBuf, Option<String>)>> = Mutex::new(None);

/// Returns the path of the `toolkit` crate, for an attribute without the key `crate`.
pub(crate) fn toolkit() -> TokenStream {
    match renamed() {
        Some(name) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        None => quote!(::toolkit),
    }
}

fn renamed() -> Option<String> {
    let directory = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let mut last = LAST.lock().ok()?;
    if let Some((_, name)) = last.as_ref().filter(|(of, _)| *of == directory) {
        return name.clone();
    }
    let name = fs::read_to_string(directory.join("Cargo.toml"))
        .ok()
        .and_then(|manifest| other_name(&manifest, || workspace(&directory)));
    *last = Some((directory, name.clone()));
    name
}

/// Returns the manifest of the workspace that a directory is in.
fn workspace(directory: &Path) -> Option<String> {
    let manifests =
        directory.ancestors().filter_map(|above| fs::read_to_string(above.join("Cargo.toml")).ok());
    manifests
        .into_iter()
        .find(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
}

/// Returns the only name of the dependency, if it has been given another one. The name is a valid identifier.
fn other_name(manifest: &str, workspace: impl FnOnce() -> Option<String>) -> Option<String> {
    let dependencies = dependencies(manifest, "");
    let mut names: Vec<String> = Vec::new();
    let mut inherited = Vec::new();
    for Dependency { name, package, from_workspace } in dependencies {
        match package {
            _ if name == PACKAGE => return None,
            // Without `package`, this is another crate of this name.
            None if name == "toolkit" && !from_workspace => {}
            _ if name == "toolkit" => return None,
            Some(package) if package == PACKAGE => names.push(name),
            None if from_workspace => inherited.push(name),
            _ => {}
        }
    }
    if names.is_empty() && !inherited.is_empty() {
        let shared = dependencies_of_workspace(&workspace()?);
        names.extend(inherited.into_iter().filter(|name| shared.contains(name)));
    }
    names.dedup();
    let [name] = names.as_slice() else { return None };
    let name = name.replace('-', "_");
    syn::parse_str::<Ident>(&name).is_ok().then_some(name)
}

/// Returns the names that a workspace gives to the dependency.
fn dependencies_of_workspace(manifest: &str) -> Vec<String> {
    let dependencies = dependencies(manifest, "workspace.").into_iter();
    dependencies.filter(|one| one.package.as_deref() == Some(PACKAGE)).map(|one| one.name).collect()
}

#[derive(Debug, Default, PartialEq)]
struct Dependency {
    name: String,
    package: Option<String>,
    from_workspace: bool,
}

/// Reads the dependencies of a manifest, whose syntax cargo has checked already.
fn dependencies(manifest: &str, prefix: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or_default().replace(['"', ' '], "");
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        let (key, value) = (key.trim().replace('"', ""), value.trim());
        let Some((name, key)) = place(&section, prefix, &key) else { continue };
        let place = found.iter().position(|one| one.name == name).unwrap_or_else(|| {
            found.push(Dependency { name: name.to_owned(), ..Dependency::default() });
            found.len() - 1
        });
        let dependency = &mut found[place];
        match key {
            Some("package") => dependency.package = text(value),
            Some("workspace") => dependency.from_workspace = value.starts_with("true"),
            Some(_) => {}
            None => {
                let table = value.replace(' ', "");
                dependency.from_workspace |= table.contains("workspace=true");
                let package = table.split_once("package=").and_then(|(_, rest)| text(rest));
                dependency.package = package.or(dependency.package.take());
            }
        }
    }
    found
}

/// Returns the name of a dependency, and the key within its table, for a line in a section.
fn place<'a>(section: &'a str, prefix: &str, key: &'a str) -> Option<(&'a str, Option<&'a str>)> {
    let is_list = |section: &str| {
        ["dependencies", "dev-dependencies", "build-dependencies"].iter().any(|list| {
            section.strip_prefix(prefix) == Some(*list)
                || prefix.is_empty()
                    && section.starts_with("target.")
                    && section.ends_with(&format!(".{list}"))
        })
    };
    if is_list(section) {
        return Some(match key.split_once('.') {
            Some((name, key)) => (name, Some(key)),
            None => (key, None),
        });
    }
    let (list, name) = section.rsplit_once('.')?;
    is_list(list).then_some((name, Some(key)))
}

/// Returns the content of the string at the beginning.
fn text(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    value[1..].split_once(quote).map(|(text, _)| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_manifest() {
        for (manifest, name) in [
            ("[dependencies]\ntk = { package = \"agent-toolkit\", path = \"..\" }", Some("tk")),
            ("[dependencies]\n\"my-tk\" = {package='agent-toolkit'}", Some("my_tk")),
            ("[dependencies.tk]\npath = \"..\"\npackage = \"agent-toolkit\"", Some("tk")),
            ("[target.'cfg(unix)'.dev-dependencies]\ntk.package = \"agent-toolkit\"", Some("tk")),
            ("[dependencies]\ntk = { workspace = true }\nserde = { workspace = true }", Some("tk")),
            ("[dependencies]\ntk.workspace = true", Some("tk")),
            ("[dependencies]\ntoolkit = { package = \"agent-toolkit\" }", None),
            ("[dependencies]\nagent-toolkit = \"1\"", None),
            ("[dependencies]\ntoolkit.workspace = true\ntk = { package = \"agent-toolkit\" }", None),
            ("[dependencies]\ntoolkit = \"0.1\"\ntk = { package = \"agent-toolkit\" }", Some("tk")),
            (
                "[dependencies]\na = { package = \"agent-toolkit\" }\nb = { package = \"agent-toolkit\" }",
                None,
            ),
            ("[dependencies]\nserde = { workspace = true }", None),
            ("[package]\ntk = { package = \"agent-toolkit\" }\n# tk = { package = \"agent-toolkit\" }", None),
        ] {
            let workspace = || {
                let tk = "[workspace]\n[workspace.dependencies]\nserde = \"1\"\ntk = { package = \"agent-toolkit\" }";
                Some(tk.to_owned())
            };
            assert_eq!(other_name(manifest, workspace).as_deref(), name, "{manifest}");
        }
    }
}
