//! The packages of this project that a new crate depends on, and where cargo finds them.

use super::paths::{existing, shown, toml_string, utf8};
use std::path::{Path, PathBuf};

/// A package of this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Package {
    /// The name that the manifest of a new crate gives the dependency, and its code the library.
    dependency: &'static str,
    /// The name of the package.
    name: &'static str,
    /// The folder in the repository.
    folder: &'static str,
}

/// The runtime. The registry's `toolkit` belongs to another project, so the package has another name than the library.
pub(super) const RUNTIME: Package =
    Package { dependency: "toolkit", name: "agent-toolkit", folder: "toolkit" };

/// The command as a library.
pub(super) const COMMAND: Package =
    Package { dependency: "toolkit-cli", name: "toolkit-cli", folder: "hosts/cli" };

/// The checkout that this command was built from.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Source from which cargo takes the packages of this project. They are not in the registry, so a version alone does
/// not identify them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// A checkout, as an absolute path.
    Checkout(String),
    /// A git repository.
    Git {
        /// The URL.
        url: String,
        /// A commit, a tag or a branch; the default branch without it.
        rev: Option<String>,
    },
}

impl Origin {
    /// The checkout that this command was built from.
    ///
    /// # Errors
    ///
    /// Returns the checkout that this command was built from. The error says that it is gone, and what to pass instead.
    pub(super) fn of_this_command() -> Result<Self, String> {
        Self::checkout(Path::new(BUILT_FROM)).map_err(|_| {
            "the checkout of toolkit that this command was built from is gone, and the packages are not published; \
             name where they are: --path DIR for a checkout, or --git URL for a repository"
                .to_owned()
        })
    }

    /// A directory with a checkout.
    pub(super) fn checkout(directory: &Path) -> Result<Self, String> {
        let absolute = existing(directory)?;
        match Self::missing_package(&absolute) {
            None => Ok(Self::Checkout(utf8(&absolute)?)),
            Some(manifest) => Err(format!(
                "{} is not a checkout of toolkit: it has no `{}`",
                shown(directory),
                manifest.display()
            )),
        }
    }

    fn missing_package(checkout: &Path) -> Option<PathBuf> {
        [RUNTIME, COMMAND]
            .iter()
            .map(|package| Path::new(package.folder).join("Cargo.toml"))
            .find(|manifest| !checkout.join(manifest).is_file())
    }

    /// Returns a dependency as a line of a manifest.
    pub(super) fn dependency(&self, package: Package, more: &str) -> String {
        let mut keys = Vec::new();
        if package.name != package.dependency {
            keys.push(format!("package = {}", toml_string(package.name)));
        }
        match self {
            Self::Checkout(checkout) => {
                keys.push(format!("path = {}", toml_string(&format!("{checkout}/{}", package.folder))));
            }
            Self::Git { url, rev } => {
                keys.push(format!("git = {}", toml_string(url)));
                keys.extend(rev.as_ref().map(|rev| format!("rev = {}", toml_string(rev))));
            }
        }
        if !more.is_empty() {
            keys.push(more.to_owned());
        }
        format!("{} = {{ {} }}", package.dependency, keys.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Checks that every package has the name in its manifest: a scaffold with another name would fetch foreign code.
    #[test]
    fn packages_are_those_of_this_repository() {
        for Package { dependency, name, folder } in [RUNTIME, COMMAND] {
            let manifest = fs::read_to_string(Path::new(BUILT_FROM).join(folder).join("Cargo.toml"))
                .expect("the package is in this repository");
            assert!(manifest.starts_with(&format!("[package]\nname = \"{name}\"\n")), "{folder}: {manifest}");
            let renames =
                manifest.contains("[lib]\n") && manifest.contains(&format!("\nname = \"{dependency}\"\n"));
            assert_eq!(renames, name != dependency, "{folder}");
        }
    }

    #[test]
    fn dependencies_name_a_place_and_no_version() {
        let checkout = Origin::Checkout("/a \"b\"".to_owned());
        assert_eq!(
            checkout.dependency(RUNTIME, "features = [\"testing\"]"),
            r#"toolkit = { package = "agent-toolkit", path = "/a \"b\"/toolkit", features = ["testing"] }"#
        );
        let git = |rev: Option<&str>| Origin::Git {
            url: "https://git.example/toolkit".to_owned(),
            rev: rev.map(str::to_owned),
        };
        assert_eq!(
            git(None).dependency(COMMAND, ""),
            r#"toolkit-cli = { git = "https://git.example/toolkit" }"#
        );
        assert_eq!(
            git(Some("v0.1.0")).dependency(RUNTIME, ""),
            r#"toolkit = { package = "agent-toolkit", git = "https://git.example/toolkit", rev = "v0.1.0" }"#
        );
    }

    #[test]
    fn a_checkout_has_every_package() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let error = Origin::checkout(directory.path()).expect_err("it is empty");
        assert!(error.ends_with("is not a checkout of toolkit: it has no `toolkit/Cargo.toml`"), "{error}");
        assert!(matches!(Origin::of_this_command(), Ok(Origin::Checkout(_))));
    }
}
