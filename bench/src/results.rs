//! `RESULTS.md`: one section a benchmark, each replaced whole by the benchmark that wrote it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::Result;

const HEAD: &str = "# Results\n\nWritten by `cargo xtask bench`; how to read it is in `README.md`.\n";

/// Replaces the section `name` of the file at `path`, or appends it; the other sections stay as they are.
pub(crate) fn replace_section(path: &Path, name: &str, section: &str) -> Result<()> {
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => HEAD.to_owned(),
        Err(error) => return Err(error.into()),
    };
    fs::write(path, with_section(&before, name, section)?)?;
    Ok(())
}

fn with_section(text: &str, name: &str, section: &str) -> Result<String> {
    let begin = format!("<!-- {name}:begin -->");
    let end = format!("<!-- {name}:end -->");
    let section = format!("{begin}\n{}\n{end}", section.trim());
    let Some(start) = text.find(&begin) else {
        return Ok(format!("{}\n\n{section}\n", text.trim_end()));
    };
    let length = text[start..].find(&end).ok_or_else(|| format!("`{begin}` has no `{end}`"))?;
    Ok(format!("{}{section}{}", &text[..start], &text[start + length + end.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let first = with_section("# Results\n", "compile", "one\n").unwrap();
        let both = with_section(&first, "dispatch", "two").unwrap();
        let again = with_section(&both, "compile", "three").unwrap();
        assert_eq!(again, both.replace("one", "three"));
        assert!(again.contains("<!-- dispatch:begin -->\ntwo\n<!-- dispatch:end -->"));
    }

    #[test]
    fn a_section_without_an_end_is_an_error() {
        assert!(with_section("<!-- compile:begin -->\n", "compile", "").is_err());
    }
}
