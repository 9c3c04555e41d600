// errors: 5
use toolkit::prelude::*;
#[tool(description = format!("Reads {}.", 1))]
fn read1(value: u32) {
    let _ = value;
}

#[tool(description = String::from("Reads."))]
fn read2(value: u32) {
    let _ = value;
}

#[tool(description = "Reads.".to_string())]
fn read3(value: u32) {
    let _ = value;
}

#[tool(description = &format!("Reads."))]
fn read4(value: u32) {
    let _ = value;
}

#[tool(description = "a".to_owned() + "b")]
fn read5(value: u32) {
    let _ = value;
}

fn main() {}
