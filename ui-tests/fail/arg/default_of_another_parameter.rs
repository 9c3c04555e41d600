// errors: 8
use toolkit::prelude::*;

struct Db {
    lines: u32,
}

/// Reads lines.
#[tool]
fn read1(start: u32, #[arg(default = start)] end: u32) -> String {
    format!("{start} {end}")
}

/// Reads lines.
#[tool]
fn read2(start: u32, #[arg(default = start + 10)] end: u32) -> String {
    format!("{start} {end}")
}

/// Reads lines.
#[tool]
fn read3(db: State<Db>, #[arg(default = db.lines)] end: u32) -> String {
    format!("{} {end}", db.lines)
}

/// Reads lines.
#[tool]
fn read4(path: String, #[arg(default = format!("{path}.txt"))] other: String) -> String {
    path + &other
}

/// Reads lines.
#[tool]
fn read5(#[arg(default = end.max(3))] end: u32) -> String {
    end.to_string()
}

/// Reads lines.
#[tool]
fn read6(start: u32, #[arg(example = start)] end: u32) -> String {
    format!("{start} {end}")
}

/// Reads lines.
#[tool]
fn read7(start: u32, #[arg(range(start..))] end: u32) -> String {
    format!("{start} {end}")
}

/// Reads lines.
#[tool]
fn read8(count: usize, #[arg(length(..=count))] lines: &[u32]) -> String {
    format!("{count} {lines:?}")
}

fn main() {}
