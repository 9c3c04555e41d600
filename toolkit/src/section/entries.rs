//! Sections that are a map of entries, such as servers.

use toolkit_core::arg::ToolArg;
use toolkit_core::schema::SchemaFn;

/// A map of entries, each of which is one thing, such as a server: see [`ConfigSection::entries`](crate::config::ConfigSection::entries).
#[derive(Debug, Clone, Copy, Default)]
pub struct ConfigEntries {
    pub(crate) also_under: Option<&'static str>,
    pub(crate) are_servers: bool,
    pub(crate) variants: &'static [ConfigVariant],
}

/// A form that an entry can have, for the errors of an entry that has none: the form that was most probably meant shows what is wrong.
#[derive(Debug, Clone, Copy)]
pub struct ConfigVariant {
    pub(crate) noun: &'static str,
    pub(crate) key: &'static str,
    pub(crate) keys: &'static [&'static str],
    pub(crate) schema: SchemaFn,
}

impl ConfigEntries {
    /// Creates a map of entries of one form.
    pub const fn new() -> Self {
        Self { also_under: None, are_servers: false, variants: &[] }
    }

    /// Accepts entries in an object under a further key, too: with `servers` in the section `mcp`, `mcp.servers.docs` is `mcp.docs`.
    #[must_use]
    pub const fn also_under(mut self, key: &'static str) -> Self {
        self.also_under = Some(key);
        self
    }

    /// States that the entries are servers of the Model Context Protocol: rules may name each of them, and its tools, before it has been
    /// connected.
    #[must_use]
    pub const fn servers(mut self) -> Self {
        self.are_servers = true;
        self
    }

    /// Sets the forms that an entry can have.
    #[must_use]
    pub const fn variants(mut self, variants: &'static [ConfigVariant]) -> Self {
        self.variants = variants;
        self
    }
}

impl ConfigVariant {
    /// Creates a form: a noun for it, as in `a command`, the key that it must have, and the keys that no other form has.
    pub const fn new<T: ToolArg>(
        noun: &'static str,
        key: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self { noun, key, keys, schema: T::schema }
    }
}
