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
        let output = KeptOutput::create(&self.store, "s", None).unwrap();
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
        let path = file.path().unwrap().to_owned();
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
    let lost = OutputCount { lost: 1, error: Some("the disk is full".to_owned()), ..count(b"a\nb") };
    let shown = file.show_by(host.cutter(limits), &lost, &str::to_owned, WHOLE).unwrap();
    assert_eq!(shown.text, "a\nb\n[The output went on; the rest was not kept: the disk is full.]");
    let limits = OutputLimits { max_lines: 9, max_bytes: 2, keep: Keep::Ends };
    let shown = file.show_by(host.cutter(limits), &lost, &str::to_owned, WHOLE).unwrap();
    assert!(shown.text.contains("Only the first 3 bytes"), "{}", shown.text);
    let lost = "the rest was not kept: the disk is full; what came after them (1 bytes) is lost.]";
    assert!(shown.text.ends_with(lost), "{}", shown.text);
}

/// A store of which the data directory is a file, so that nothing can be created in it.
fn unusable() -> (TempDir, OutputStore) {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    std::fs::write(&file, "").unwrap();
    (data, OutputStore::new(Some(file)))
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_disk_a_short_output_is_whole() {
    let host = Host::new();
    let (_data, store) = unusable();
    let output = KeptOutput::create(&store, "s", in_memory()).unwrap();
    assert!(output.path().is_none() && output.no_file().is_some_and(|why| why.starts_with("cannot look at")));
    output.beginning().unwrap().write_all(b"one\ntwo\n").unwrap();
    let limits = OutputLimits { max_lines: 9, max_bytes: 99, keep: Keep::Ends };
    let broken = OutputCount { error: Some("the disk is full".to_owned()), ..count(b"one\ntwo\n") };
    let show = |limits| output.show_by(host.cutter(limits), &broken, &str::to_owned, WHOLE).unwrap();
    for is_closed in [false, true] {
        if is_closed {
            output.close().unwrap();
            assert!(output.beginning().is_none());
        }
        assert_eq!(show(limits).text, "one\ntwo\n");
        let cut = show(OutputLimits { max_lines: 1, ..limits });
        assert!(cut.cut.is_some() && cut.text.contains("cannot look at"), "{}", cut.text);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_incomplete_on_disk_is_read_from_memory() {
    let host = Host::new();
    let output = KeptOutput::create(&host.store, "s", in_memory()).unwrap();
    output.beginning().unwrap().write_all(b"one\ntwo\n").unwrap();
    output.appending().unwrap().write_all(b"one\nt").unwrap();
    let limits = OutputLimits { max_lines: 9, max_bytes: 99, keep: Keep::Ends };
    let broken = OutputCount { error: Some("the disk is full".to_owned()), ..count(b"one\ntwo\n") };
    for is_closed in [false, true] {
        if is_closed {
            output.close().unwrap();
        }
        let shown = output.show_by(host.cutter(limits), &broken, &str::to_owned, WHOLE).unwrap();
        assert_eq!(shown, ShownOutput { text: "one\ntwo\n".to_owned(), cut: None, differs: false });
        let cut = output
            .show_by(host.cutter(OutputLimits { max_lines: 1, ..limits }), &broken, &str::to_owned, WHOLE)
            .unwrap();
        assert!(cut.text.contains("first 5 bytes") && cut.text.contains("the disk is full"), "{}", cut.text);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_stays_open_for_an_output_on_disk() {
    let host = Host::new();
    let output = KeptOutput::create(&host.store, "s", in_memory()).unwrap();
    output.beginning().unwrap().write_all(b"one").unwrap();
    output.appending().unwrap().write_all(b"one two").unwrap();
    output.close().unwrap();
    assert!(matches!(*output.memory(), Beginning::None));
    let mut text = String::new();
    output.reader().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "one two");
}
