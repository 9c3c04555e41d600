// errors: 4
use toolkit::prelude::*;
use toolkit::descriptor::Preparation;
use toolkit::{Caller, ToolContext};

async fn swapped(_: &mut Preparation, _: &Caller) {}

async fn owned(_: Caller, _: Preparation) {}

async fn with_context(_: &ToolContext, _: &mut Preparation) {}

const NUMBER: u8 = 1;

/// Reads a file.
#[tool(prepare = swapped)]
fn read() {}

/// Lists files.
#[tool(prepare = owned)]
fn list() {}

/// Counts files.
#[tool(prepare = with_context)]
fn count() {}

/// Removes a file.
#[tool(prepare = NUMBER)]
fn remove() {}

fn main() {}
