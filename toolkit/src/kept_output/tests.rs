//! Checks that an output in a file is truncated like the same output in memory.

use super::*;
use crate::output_store::OutputStore;
use proptest::prelude::*;
use std::io::Write as _;
use tempfile::TempDir;
use toolkit_core::caller::Caller;

struct Host {
    _data: TempDir,
    store: OutputStore,
    caller: Caller,
}

impl Host {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let store = OutputStore::new(Some(data.path().to_owned()));
        Self { _data: data, store, caller: Caller::new() }
    }

    fn cutter(&self, limits: OutputLimits) -> Cutter<'_> {
        Cutter { limits, store: &self.store, session: "s", caller: &self.caller, hint: None }
    }

    fn output(&self, bytes: &[u8]) -> KeptOutput {
        let file = self.store.create(Some("s")).unwrap();
        let (path, limit) = (file.path().to_owned(), file.limit());
        let output = KeptOutput { file: Mutex::new(Some(file)), path, limit };
        output.appending().unwrap().write_all(bytes).unwrap();
        output
    }
}

fn count(bytes: &[u8]) -> OutputCount {
    OutputCount { bytes: bytes.len() as u64, ..OutputCount::default() }
}

proptest! {
    #[test]
    fn from_a_file_or_from_memory_it_is_the_same(
        bytes in prop::collection::vec(prop_oneof![Just(b'a'), Just(b'\n'), Just(0xC3), Just(0xA9), Just(0xFF)], 0..80),
        lines in 1_u64..6,
        most in 1_u64..40,
        keep in prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::Ends)],
        counted in any::<bool>(),
    ) {
        let host = Host::new();
        let limits = OutputLimits { max_lines: lines, max_bytes: most, keep };
        let newlines = memchr_iter(b'\n', &bytes).count() as u64;
        let file = host.output(&bytes);
        let plain = |text: &str| text.to_owned();
        let count = OutputCount { newlines: counted.then_some(newlines), ..count(&bytes) };
        let whole = file.show_by(host.cutter(limits), &count, &plain, 1 << 20).unwrap();
        if whole.cut.is_some() {
            let ends = file.show_by(host.cutter(limits), &count, &plain, 0).unwrap();
            prop_assert_eq!(ends, whole);
        } else {
            prop_assert_eq!(whole.text, String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn what_is_taken_out_can_make_it_fit() {
    let host = Host::new();
    let limits = OutputLimits { max_lines: 2, max_bytes: 10, keep: Keep::Ends };
    let file = host.output(b"xxxxxxxxxxxxxxx ok\n");
    let shown = file.show_by(
        host.cutter(limits),
        &count(b"xxxxxxxxxxxxxxx ok\n"),
        &|text| text.replace('x', ""),
        WHOLE,
    );
    assert_eq!(shown.unwrap(), ShownOutput { text: " ok\n".to_owned(), cut: None, differs: true });
}

#[test]
fn the_file_goes_unless_somebody_was_told_of_it() {
    let host = Host::new();
    let limits = OutputLimits { max_lines: 1, max_bytes: 3, keep: Keep::Ends };
    for (bytes, stays) in [(&b"ab"[..], false), (b"abcd", true)] {
        let file = host.output(bytes);
        let path = file.path().to_owned();
        let shown = file.show_by(host.cutter(limits), &count(bytes), &str::to_owned, WHOLE).unwrap();
        drop(file);
        assert_eq!((path.exists(), shown.cut.is_some()), (stays, stays));
    }
}

#[test]
fn what_did_not_get_into_the_file_is_told() {
    let host = Host::new();
    let limits = OutputLimits { max_lines: 9, max_bytes: 99, keep: Keep::Ends };
    let file = host.output(b"a\nb");
    let lost = OutputCount { error: Some("the disk is full".to_owned()), ..count(b"a\nb") };
    let shown = file.show_by(host.cutter(limits), &lost, &str::to_owned, WHOLE).unwrap();
    assert_eq!(shown.text, "a\nb\n[The output went on; the rest was not kept: the disk is full.]");
    let limits = OutputLimits { max_lines: 9, max_bytes: 2, keep: Keep::Ends };
    let shown = file.show_by(host.cutter(limits), &lost, &str::to_owned, WHOLE).unwrap();
    assert!(shown.text.contains("Only the first 3 bytes"), "{}", shown.text);
    assert!(shown.text.ends_with("the rest was not kept: the disk is full.]"), "{}", shown.text);
}
