//! Properties that hold for any input, for the property tests and for the fuzzer.

use super::apply_patch::{Action, apply, parse};
use super::edit::{Problem, Replacement, plan};
use super::fold::{self, Looseness};
use super::read::{MAX_BYTES, MAX_LINE_CHARACTERS, read_page};
use super::returns::Returns;
use super::splice::splice;
use super::text::{self, Form, Kind};

/// Checks an input of a file, an old text and a new one, with bytes of zero between them.
///
/// # Panics
///
/// If a property does not hold.
pub fn edit(input: &[u8]) {
    let mut parts = input.splitn(3, |&byte| byte == 0);
    let (Some(file), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) else { return };
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else { return };
    check_edit(file, old, new, false);
    check_edit(file, old, new, true);
}

/// Checks an input of a file and a patch, with a byte of zero between them.
///
/// # Panics
///
/// If a property does not hold.
pub fn patch(input: &[u8]) {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (Some(file), Some(patch)) = (parts.next(), parts.next()) else { return };
    if let Ok(patch) = std::str::from_utf8(patch) {
        check_patch(file, patch);
    }
}

/// Checks an input that consists of a byte for the read size, a byte for the number of lines, and a file.
///
/// # Panics
///
/// If a property does not hold.
pub fn read(input: &[u8]) {
    let [buffer, limit, file @ ..] = input else { return };
    check_read(file, usize::from(*buffer) + 1, u64::from(*limit) + 1);
}

/// Checks the output of `read` for a whole file, page by page, by the offsets that it states.
///
/// # Panics
///
/// If a property does not hold.
pub fn check_read(file: &[u8], buffer: usize, limit: u64) {
    // Whatever kind is detected, the file is read in some encoding.
    let form = match text::kind(&file[..file.len().min(text::SAMPLE_BYTES)], file.len() <= text::SAMPLE_BYTES)
    {
        Kind::Text(form) => form,
        Kind::Damaged | Kind::Binary => Form { has_mark: file.starts_with(b"\xEF\xBB\xBF"), ..Form::PLAIN },
    };
    let plain = &file[form.mark().len()..];
    let whole = form.encoding.decode_without_bom_handling(plain).0;
    let mut lines: Vec<&str> = whole.split('\n').collect();
    let is_open = lines.last().is_some_and(|last| !last.is_empty());
    if !is_open {
        lines.pop();
    }
    let count = lines.len();
    let mut from = 1;
    loop {
        let page = read_page(file, form, buffer, from, limit);
        assert!(page.count <= limit && page.text.len() <= MAX_BYTES + 4 * MAX_LINE_CHARACTERS + 100);
        for (shown, number) in page.text.split_terminator('\n').zip(from..) {
            let at = usize::try_from(number - 1).expect("a line of the file");
            let line = lines[at];
            let is_last = at + 1 == count && is_open;
            let line = if is_last { line } else { line.strip_suffix('\r').unwrap_or(line) };
            let text = shown.strip_prefix(&format!("{number:>6}→")).expect("the number of the line");
            // An invalid line is decoded separately, and cut by its bytes.
            if line.contains('\u{FFFD}') {
                continue;
            }
            let length = line.chars().count();
            if length <= MAX_LINE_CHARACTERS {
                assert_eq!(text, line, "line {number} is another one");
            } else {
                let start: String = line.chars().take(MAX_LINE_CHARACTERS).collect();
                let note = format!("… [{} more characters in this line]", length - MAX_LINE_CHARACTERS);
                assert_eq!(text, start + &note, "line {number} is cut in another way");
            }
        }
        from += page.count;
        match page.total {
            Some(total) => {
                assert_eq!((total, from - 1), (count as u64, count as u64), "lines are missing");
                break;
            }
            None => assert!(page.count > 0, "it would never end"),
        }
    }
}

/// Returns a text without the line ending at its end.
fn without_ending(text: &str) -> Option<&str> {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r']))
}

/// Checks the effect of `edit` on a file.
///
/// # Panics
///
/// If a property does not hold.
pub fn check_edit(file: &[u8], old: &str, new: &str, all: bool) {
    let plan = match plan(file, &[Replacement { old, new, all }]) {
        Ok(plan) => plan,
        Err(error) => {
            let is_there = !old.is_empty() && memchr::memmem::find(file, old.as_bytes()).is_some();
            let is_half = old.starts_with('\n') && !old.contains('\r');
            let is_absent = matches!(error.problem, Problem::Miss(super::edit::Miss::Absent));
            assert!(!(is_absent && is_there && !is_half), "a text that is there was not found");
            return;
        }
    };
    let part = &plan.parts[0];
    assert!(all || part.count == 1, "several places were changed");
    assert!(
        all || plan
            .splices
            .iter()
            .all(|splice| { part.first.start <= splice.range.start && splice.range.end <= part.first.end })
    );
    let mut at = 0;
    for splice in &plan.splices {
        assert!(
            at <= splice.range.start && splice.range.start <= splice.range.end,
            "splices are out of order"
        );
        at = splice.range.end;
    }
    // The text at the first match is the requested one.
    let there = &file[part.first.clone()];
    let with_line_feeds =
        |text: &[u8]| Returns::of(text).map_or_else(|| text.to_vec(), |returns| returns.with_line_feeds);
    let seen = |text: &[u8], looseness| match looseness {
        // For a part of a line, the folded form of its beginning and end is unknown.
        Looseness::Trailing | Looseness::Unicode => {
            fold::fold(&fold::fold(&with_line_feeds(text), looseness), Looseness::Indentation)
        }
        looseness => fold::fold(&with_line_feeds(text), looseness),
    };
    // A last line may lack the requested ending.
    let is_open = old.ends_with('\n') && !matches!(there.last(), Some(b'\n' | b'\r'));
    assert!(
        !is_open || file[part.first.end..].trim_ascii().is_empty(),
        "a line ending was overlooked within the file"
    );
    let mut asked = seen(old.as_bytes(), part.looseness);
    asked.truncate(asked.len() - usize::from(is_open));
    assert_eq!(seen(there, part.looseness), asked, "another text was changed");
    let most = 2 * old.len() + 128 * old.split_inclusive('\n').count();
    assert!(there.len() <= most, "more was changed than was asked for");
    let after = splice(file, &plan.splices);
    if part.looseness > Looseness::Endings {
        // The inserted text is the new text, apart from what the comparison ignored.
        let end = part.first.end + after.len() - file.len();
        let (came, wanted) = (&after[part.first.start..end], without_ending(new).filter(|_| is_open));
        let came = seen(came, Looseness::Indentation);
        let wanted = seen(wanted.unwrap_or(new).as_bytes(), Looseness::Indentation);
        assert_eq!(came, wanted, "another text came");
    }
    let (start, end) =
        (plan.splices[0].range.start, file.len() - plan.splices[plan.splices.len() - 1].range.end);
    assert!(after.starts_with(&file[..start]) && after.ends_with(&file[file.len() - end..]));
    if let Ok(text) = std::str::from_utf8(file) {
        assert!(std::str::from_utf8(&after).is_ok(), "{text:?} is not text any more");
    }
}

/// Checks the effect of a patch on a file.
///
/// # Panics
///
/// If a property does not hold.
pub fn check_patch(file: &[u8], patch: &str) {
    let Ok(parsed) = parse(patch) else { return };
    let count = patch.split('\n').count();
    for change in &parsed.changes {
        assert!(change.line >= 1 && change.line <= count && !change.path.is_empty());
        let (Action::Delete(hunks) | Action::Update { hunks, .. }) = &change.action else { continue };
        let Ok(patched) = apply(file, hunks) else { continue };
        let mut at = 0;
        for splice in &patched.splices {
            assert!(
                at <= splice.range.start && splice.range.start <= splice.range.end,
                "splices are out of order"
            );
            at = splice.range.end;
            // Whole lines go and come, but for the end of the file.
            let is_start = splice.range.start == 0
                || matches!(file[splice.range.start - 1], b'\n' | b'\r')
                || splice.range.start == file.len()
                || splice.range.start == fold::mark(file);
            assert!(is_start, "a part of a line was changed");
            let is_end = splice.text.last().is_none_or(|last| matches!(last, b'\n' | b'\r'));
            assert!(splice.range.end == file.len() || is_end);
        }
        let after = splice(file, &patched.splices);
        if std::str::from_utf8(file).is_ok() {
            assert!(std::str::from_utf8(&after).is_ok(), "what was text is none any more");
        }
    }
}

#[cfg(test)]
mod tests {
    /// Each file of seeds in `folder`.
    fn replay(folder: &str, check: fn(&[u8])) {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(folder);
        let mut count = 0;
        for seed in std::fs::read_dir(folder).unwrap() {
            check(&std::fs::read(seed.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 10, "{count} seeds");
    }

    #[test]
    fn the_seeds_of_edit() {
        replay("edit", super::edit);
    }

    #[test]
    fn the_seeds_of_patch() {
        replay("patch", super::patch);
    }

    #[test]
    fn the_seeds_of_read() {
        replay("read", super::read);
    }
}
