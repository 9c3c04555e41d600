// errors: 25
use toolkit::prelude::*;
/// Reads a file.
#[tool(desc = "Reads.")]
fn read1(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(input_schema = "x")]
fn read2(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(annotations(read_only_hint = true))]
fn read3(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(requires_approval)]
fn read4(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(auto_approve)]
fn read5(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(dangerous)]
fn read6(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(tags = ["a"])]
fn read7(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(rename = "x")]
fn read8(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(label = "X")]
fn read9(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(version = "1.0")]
fn read10(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(returns = "A text.")]
fn read11(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(async)]
fn read12(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(timeout_ms = 500)]
fn read13(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(max_concurrency = 3)]
fn read14(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(max_tokens = 500)]
fn read15(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(retries = 3)]
fn read16(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(cache)]
fn read17(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(strict = true)]
fn read18(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(disabled)]
fn read19(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(state = Db)]
fn read20(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(error = MyError)]
fn read21(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(on_error = f)]
fn read22(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(meta(a = 1))]
fn read23(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(examples("a"))]
fn read24(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(return_description = "A text that is long.")]
fn read25(value: u32) {
    let _ = value;
}

fn main() {}
