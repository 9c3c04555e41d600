//! Functions under names that a host may expect of a configuration: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use crate::config::{Configuration, LoadOptions};

#[diagnostic::on_unimplemented(
    message = "a configuration is loaded by `load`",
    label = "write `Configuration::load(LoadOptions::new().file(\"toolkit.json5\"))?` for one file, or `Configuration::load(LoadOptions::of_process(\".\"))?` for those of the user and the workspace",
    note = "of values in the program: `LoadOptions::new().program(json!({{ .. }}))`, or `.set(\"key=value\")`"
)]
pub trait IsLoaded<'a> {}

#[doc(hidden)]
impl<'a> Configuration
where
    Self: IsLoaded<'a>,
{
    pub fn from_file() {}
    pub fn from_path() {}
    pub fn from_str() {}
    pub fn from_json() {}
    pub fn from_value() {}
    pub fn from_env() {}
    pub fn from_toml() {}
    pub fn from_reader() {}
    pub fn open() {}
    pub fn read() {}
    pub fn parse() {}
    pub fn load_file() {}
    pub fn load_from() {}
    pub fn load_from_file() {}
    pub fn builder() {}
    pub fn discover() {}
    pub fn try_load() {}
}

#[diagnostic::on_unimplemented(
    message = "options of loading name the files and values that a configuration is made of",
    label = "write `.file(\"toolkit.json5\")` for one file, or `.set(\"key=value\")` for one value",
    note = "the files of the user and of a workspace: `LoadOptions::of_process(directory)`; values in the program: `.program(json!({{ .. }}))`"
)]
pub trait AddsValues<'a> {}

#[doc(hidden)]
impl<'a> LoadOptions
where
    Self: AddsValues<'a>,
{
    pub fn path(&self) {}
    pub fn config_file(&self) {}
    pub fn config_path(&self) {}
    pub fn with_file(&self) {}
    pub fn with_path(&self) {}
    pub fn add_file(&self) {}
    pub fn add_source(&self) {}
    pub fn value(&self) {}
    pub fn with_value(&self) {}
    pub fn override_with(&self) {}
    pub fn from_file(&self) {}
    pub fn json(&self) {}
    pub fn with_defaults(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "these are options of loading, no configuration yet",
    label = "write `Configuration::load(options)?`"
)]
pub trait IsOptions<'a> {}

#[doc(hidden)]
impl<'a> LoadOptions
where
    Self: IsOptions<'a>,
{
    pub fn load(&self) {}
    pub fn build(&self) {}
    pub fn read(&self) {}
    pub fn parse(&self) {}
    pub fn finish(&self) {}
    pub fn get(&self) {}
    pub fn section(&self) {}
}
