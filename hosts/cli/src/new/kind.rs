//! The kinds of crates, with their templates.

/// The kind of crate to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Plugin,
    Host,
}

impl What {
    /// Returns the path and the template of each file.
    pub(super) fn files(self) -> &'static [(&'static str, &'static str)] {
        const IGNORED: (&str, &str) = (".gitignore", include_str!("../../templates/gitignore.in"));
        // The licences that the manifest names.
        const APACHE: (&str, &str) = ("LICENSE-APACHE", include_str!("../../templates/LICENSE-APACHE.in"));
        const MIT: (&str, &str) = ("LICENSE-MIT", include_str!("../../templates/LICENSE-MIT.in"));
        match self {
            Self::Plugin => &[
                IGNORED,
                ("Cargo.toml", include_str!("../../templates/plugin/Cargo.toml.in")),
                APACHE,
                MIT,
                ("README.md", include_str!("../../templates/plugin/README.md.in")),
                ("src/lib.rs", include_str!("../../templates/plugin/lib.rs.in")),
            ],
            Self::Host => &[
                IGNORED,
                ("Cargo.toml", include_str!("../../templates/host/Cargo.toml.in")),
                APACHE,
                MIT,
                ("src/main.rs", include_str!("../../templates/host/main.rs.in")),
                ("tests/host.rs", include_str!("../../templates/host/host.rs.in")),
            ],
        }
    }
}
