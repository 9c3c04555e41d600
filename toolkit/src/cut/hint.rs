//! The hint to a model about a truncated output.

use super::{Cut, OutputLocation, Part};
use std::fmt;

/// Writes the total size, the shown and the missing part, and how to read on.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total_lines, total_bytes, shown, missing, .. } = self;
        let (lines, bytes) = (Count(*total_lines, "line"), Count(*total_bytes, "byte"));
        write!(f, "[Output cut. It has {lines}, {bytes}. Shown: ")?;
        match shown.as_slice() {
            [] => f.write_str("nothing, since not even its first character is within the limits")?,
            [first, rest @ ..] => {
                write!(f, "{}", Lines(first, self))?;
                for part in rest {
                    write!(f, " and {}", Lines(part, self))?;
                }
            }
        }
        write!(f, ". Missing: {}. ", Lines(missing, self))?;
        let from = missing.from;
        match &self.kept {
            OutputLocation::Whole { path } => {
                write!(f, "The whole output is in {}; read it on from line {}", path.display(), from.line)?;
                if from.byte_in_line > 0 {
                    write!(
                        f,
                        ", after byte {} of that line (byte {} of the file)",
                        from.byte_in_line, from.offset
                    )?;
                }
                f.write_str(".]")
            }
            OutputLocation::Partly { path, bytes, error } => {
                let bytes = Count(*bytes, "byte");
                write!(
                    f,
                    "Only the first {bytes} are in {}; the rest was not kept: {error}.]",
                    path.display()
                )
            }
            OutputLocation::Not { error } => write!(f, "The rest was not kept: {error}.]"),
        }
    }
}

/// Returns the text that replaces the middle.
pub(crate) fn left_out(missing: &Part) -> String {
    format!("[… {}, {} left out …]", Count(missing.lines(), "line"), Count(missing.bytes(), "byte"))
}

struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// The lines of a part, with its bytes if it begins or ends within a line.
struct Lines<'a>(&'a Part, &'a Cut);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(part, cut) = self;
        match (part.first_line(), part.last_line()) {
            (first, last) if first == last => write!(f, "line {first}")?,
            (first, last) => write!(f, "lines {first} to {last}")?,
        }
        let ends_within = part.to.byte_in_line > 0 && part.to.offset < cut.total_bytes;
        if part.from.byte_in_line > 0 || ends_within {
            write!(f, " (bytes {} to {})", part.from.offset + 1, part.to.offset)?;
        }
        Ok(())
    }
}
