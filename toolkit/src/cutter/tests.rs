//! Every byte is either shown, or can be read in the way that the hint describes.

mod tiny_limits;

use super::*;
use crate::cut::LeftOutMedia;
use crate::cut::{Part, Position};
use crate::output_store::OutputStore;
use crate::sink::OutputSink;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use toolkit_core::content::{Content, Resource};
use toolkit_core::output::ToolOutput;
use toolkit_core::truncate::{Keep, Truncate};

struct Host {
    data: TempDir,
    store: OutputStore,
    caller: Caller,
}

impl Host {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let store = OutputStore::new(Some(data.path().to_owned()));
        Self { data, store, caller: Caller::new().with_session("s") }
    }

    fn cutter(&self, limits: OutputLimits) -> Cutter<'_> {
        Cutter { limits, store: &self.store, session: "s", caller: &self.caller, hint: None }
    }

    fn text(&self, limits: OutputLimits, text: &str) -> (String, Option<Cut>) {
        run(self.cutter(limits).text(text.to_owned()))
    }

    fn files(&self) -> usize {
        let sessions = fs::read_dir(self.data.path().join("tool-output")).into_iter().flatten();
        sessions.map(|session| fs::read_dir(session.unwrap().path()).unwrap().count()).sum()
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap().block_on(future)
}

fn limits(max_lines: u64, max_bytes: u64, keep: Keep) -> OutputLimits {
    OutputLimits { max_lines, max_bytes, keep }
}

/// Returns the hint without the path, which differs each time.
fn told(text: &str, cut: &Cut) -> String {
    match &cut.kept {
        OutputLocation::Whole { path } | OutputLocation::Partly { path, .. } => {
            text.replace(&path.display().to_string(), "FILE")
        }
        OutputLocation::Not { .. } => text.to_owned(),
    }
}

#[test]
fn what_a_model_gets() {
    let host = Host::new();
    for (text, lines, bytes, keep, expected) in [
        (
            "a\nb\nc\n",
            2,
            99,
            Keep::Head,
            "a\nb\n[Output cut. It has 3 lines, 6 bytes. Shown: lines 1 to 2. Missing: line 3. The whole output is \
             in FILE; read it on from line 3.]",
        ),
        (
            "a\nb\nc",
            2,
            99,
            Keep::Tail,
            "b\nc\n[Output cut. It has 3 lines, 5 bytes. Shown: lines 2 to 3. Missing: line 1. The whole output is \
             in FILE; read it on from line 1.]",
        ),
        (
            "a\nb\nc\nd\n",
            3,
            99,
            Keep::Ends,
            "a\nb\n[… 1 line, 2 bytes left out …]\nd\n[Output cut. It has 4 lines, 8 bytes. Shown: lines 1 to 2 and \
             line 4. Missing: line 3. The whole output is in FILE; read it on from line 3.]",
        ),
        (
            "a\nb\nc\nd\n",
            1,
            99,
            Keep::Ends,
            "a\n[Output cut. It has 4 lines, 8 bytes. Shown: line 1. Missing: lines 2 to 4. The whole output is in \
             FILE; read it on from line 2.]",
        ),
        // Whole lines, if the next line could be shown whole by reading on.
        (
            "aaaa\nbbbb\n",
            9,
            9,
            Keep::Head,
            "aaaa\n[Output cut. It has 2 lines, 10 bytes. Shown: line 1. Missing: line 2. The whole output is in \
             FILE; read it on from line 2.]",
        ),
        (
            "aaaa\nbbbb\n",
            9,
            9,
            Keep::Tail,
            "bbbb\n[Output cut. It has 2 lines, 10 bytes. Shown: line 2. Missing: line 1. The whole output is in \
             FILE; read it on from line 1.]",
        ),
        // A line longer than the limit.
        (
            "a\nbbbbbbbbbb\nc\n",
            9,
            5,
            Keep::Head,
            "a\nbbb\n[Output cut. It has 3 lines, 15 bytes. Shown: lines 1 to 2 (bytes 1 to 5). Missing: lines 2 to 3 \
             (bytes 6 to 15). The whole output is in FILE; read it on from line 2, after byte 3 of that line (byte 5 \
             of the file).]",
        ),
        (
            "a\nbbbbbbbbbb\nc",
            9,
            5,
            Keep::Tail,
            "bbb\nc\n[Output cut. It has 3 lines, 14 bytes. Shown: lines 2 to 3 (bytes 10 to 14). Missing: lines 1 to \
             2 (bytes 1 to 9). The whole output is in FILE; read it on from line 1.]",
        ),
        (
            "éééé",
            9,
            5,
            Keep::Ends,
            "é\n[… 1 line, 4 bytes left out …]\né\n[Output cut. It has 1 line, 8 bytes. Shown: line 1 (bytes 1 to 2) \
             and line 1 (bytes 7 to 8). Missing: line 1 (bytes 3 to 6). The whole output is in FILE; read it on from \
             line 1, after byte 2 of that line (byte 2 of the file).]",
        ),
        (
            "é",
            9,
            1,
            Keep::Head,
            "[Output cut. It has 1 line, 2 bytes. Shown: nothing, since not even its first character is within the limits. \
             Missing: line 1. The whole output is in FILE; read it on from line 1.]",
        ),
        (
            "a\r\nb\rc\r\n",
            1,
            99,
            Keep::Head,
            "a\r\n[Output cut. It has 2 lines, 8 bytes. Shown: line 1. Missing: line 2. The whole output is in FILE; \
             read it on from line 2.]",
        ),
    ] {
        let (shown, cut) = host.text(limits(lines, bytes, keep), text);
        let cut = cut.unwrap_or_else(|| panic!("{text:?} was not cut"));
        assert_eq!(told(&shown, &cut), expected, "{text:?}");
    }
}

#[test]
fn what_fits_stays() {
    let host = Host::new();
    for (texts, lines, bytes) in [
        (&[""][..], 0, 0),
        (&["abc"], 1, 3),
        (&["abc\n"], 1, 4),
        (&["a\nb"], 2, 3),
        (&["a\n", "b"], 3, 4),
        (&["a", "b"], 2, 3),
        (&["a", ""], 1, 2),
        (&["", ""], 1, 1),
        (&["é\r\n\r\n"], 2, 6),
    ] {
        let output = texts.iter().fold(ToolOutput::default(), |output, text| output.with_content(*text));
        let whole = output.to_text();
        for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
            assert!(fits(&output, &limits(lines, bytes, keep)), "{texts:?}");
            assert_eq!(run(host.cutter(limits(lines, bytes, keep)).output(output.clone())), output);
            assert_eq!(host.text(limits(lines, bytes, keep), &whole), (whole.clone(), None));
            for (less_lines, less_bytes) in [(1, 0), (0, 1)] {
                let (Some(lines), Some(bytes)) =
                    (u64::checked_sub(lines, less_lines), u64::checked_sub(bytes, less_bytes))
                else {
                    continue;
                };
                assert!(!fits(&output, &limits(lines, bytes, keep)), "{texts:?} {lines} {bytes}");
                assert!(
                    host.text(limits(lines, bytes, keep), &whole).1.is_some(),
                    "{texts:?} {lines} {bytes}"
                );
            }
        }
    }
    assert!(fits(&ToolOutput::default(), &limits(0, 0, Keep::Head)));
}

#[test]
fn text_blocks_share_a_budget_and_the_rest_stays() {
    let host = Host::new();
    let output = ToolOutput::default()
        .with_content(Content::image(*b"1", "image/png"))
        .with_content("a\nb")
        .with_content(Content::image(*b"2", "image/png"))
        .with_content("c\n")
        .with_details(serde_json::json!({"all": "a\nb\nc"}))
        .with_title("t")
        .with_metadata("k", 1);
    let cut = run(host.cutter(limits(2, 99, Keep::Head)).output(output.clone()));
    assert_eq!(cut.content.len(), 3);
    assert_eq!((&cut.content[0], &cut.content[2]), (&output.content[0], &output.content[2]));
    assert!(cut.content[1].as_text().unwrap().starts_with("a\nb\n[Output cut. It has 3 lines, 6 bytes."));
    assert_eq!((&cut.details, &cut.title), (&output.details, &output.title));
    assert_eq!((&cut.metadata["k"], &cut.metadata["truncated"]), (&Value::from(1), &Value::Bool(true)));
    let told: Cut = serde_json::from_value(cut.metadata["truncation"].clone()).unwrap();
    assert_eq!(fs::read_to_string(path(&told)).unwrap(), output.to_text());
    assert_eq!(cut.metadata["truncation"]["keep"], "head");
    assert_eq!(cut.metadata["truncation"]["kept"]["state"], "whole");
    // An output that declares to be truncated is not truncated again.
    assert_eq!(run(host.cutter(limits(1, 1, Keep::Head)).output(cut.clone())), cut);
}

#[test]
fn links_and_text_documents_share_the_budget_of_text() {
    let host = Host::new();
    let long = "x".repeat(50);
    let link = |uri: &str, name: &str, description: Option<&str>| Content::ResourceLink {
        uri: uri.to_owned(),
        name: name.to_owned(),
        description: description.map(str::to_owned),
        mime_type: None,
    };
    for block in [
        link(&long, "n", None),
        link("u:", &long, None),
        link("u:", "n", Some(&long)),
        Content::Resource { resource: Resource::text("u:", long.as_str()) },
        Content::Resource { resource: Resource::text(long.as_str(), "t") },
    ] {
        let output = ToolOutput::text("first").with_content(block.clone());
        assert_eq!(run(host.cutter(limits(9, 99, Keep::Head)).output(output.clone())), output);
        let cut = run(host.cutter(limits(9, 40, Keep::Head)).output(output));
        let [Content::Text { text }] = cut.content.as_slice() else { panic!("{:?}", cut.content) };
        assert!(text.starts_with("first\n") && text.contains("[Output cut."), "{text}");
        let told: Cut = serde_json::from_value(cut.metadata["truncation"].clone()).unwrap();
        let whole = format!("first\n{}", block.to_model_text().unwrap());
        assert_eq!(fs::read_to_string(path(&told)).unwrap(), whole);
    }
}

#[test]
fn pictures_and_data_beyond_the_limits_are_saved_and_named() {
    let host = Host::new();
    let picture = |bytes: usize| Content::image(vec![7; bytes], "image/png");
    let file = |bytes: usize| Content::Resource { resource: Resource::blob("u:", vec![8; bytes]) };
    let mega = 1 << 20;
    let small = |count: usize| (0..count).map(|_| picture(3)).collect::<Vec<_>>();
    for (content, left_out, unsaved) in [
        (small(media::MAX_PARTS), 0, 0),
        (small(media::MAX_PARTS + 2), 2, 0),
        (small(media::MAX_PARTS + media::MAX_SAVED + 3), media::MAX_SAVED, 3),
        (vec![picture(media::MAX_PICTURE_BYTES)], 0, 0),
        (vec![picture(media::MAX_PICTURE_BYTES + 1)], 1, 0),
        (vec![file(5 * mega), file(3 * mega), file(0), file(1)], 1, 0),
        (vec![file(5 * mega), file(3 * mega + 1), file(1)], 1, 0),
    ] {
        let count = content.len();
        let mut output = ToolOutput::text("text");
        output.content.extend(content);
        let cut = run(host.cutter(limits(9, 99, Keep::Head)).output(output.clone()));
        if left_out == 0 {
            assert_eq!(cut, output);
            continue;
        }
        let listed = LeftOutMedia::of(&cut);
        assert_eq!(listed.len(), left_out);
        let shown = cut.content.iter().filter(|block| block.as_bytes().is_some()).count();
        assert_eq!(shown, count - left_out - unsaved);
        let note = cut.content.last().unwrap().as_text().unwrap();
        for media in listed {
            let OutputLocation::Whole { path } = media.kept else { panic!("{media:?}") };
            assert_eq!(fs::metadata(&path).unwrap().len(), media.bytes);
            assert!(note.contains(&*path.to_string_lossy()), "{note}");
        }
        assert_eq!(
            note.contains(&format!("{unsaved} more, {} bytes together, were not saved", 3 * unsaved)),
            unsaved > 0
        );
        assert!(cut.metadata.get("truncated").is_none(), "the text is whole");
    }
}

#[test]
fn limits_of_a_tool() {
    let toolkit = limits(10, 20, Keep::Tail);
    assert_eq!(OutputLimits::default(), limits(2_000, 51_200, Keep::Head));
    assert_eq!(toolkit.of(None), Some(toolkit));
    assert_eq!(toolkit.of(Some(Truncate::Off)), None);
    let own = |max_lines, max_bytes| Some(Truncate::Limits { max_lines, max_bytes, keep: Keep::Head });
    assert_eq!(toolkit.of(own(Some(1), None)), Some(limits(1, 20, Keep::Head)));
    assert_eq!(toolkit.of(own(None, Some(2))), Some(limits(10, 2, Keep::Head)));
}

#[test]
fn a_host_can_word_the_hint() {
    let host = Host::new();
    let hint: CutHint = Arc::new(|cut, caller| {
        format!("{} for {}", cut.missing.first_line(), caller.session_id.as_deref().unwrap())
    });
    let cutter = Cutter { hint: Some(&hint), ..host.cutter(limits(1, 9, Keep::Head)) };
    assert_eq!(run(cutter.text("a\nb\n".to_owned())).0, "a\n2 for s");
}

#[test]
fn without_a_place_the_answer_says_so() {
    let caller = Caller::new();
    let store = OutputStore::new(None);
    let cutter =
        Cutter { limits: limits(1, 9, Keep::Head), store: &store, session: "s", caller: &caller, hint: None };
    assert_eq!(
        run(cutter.text("a\nb\n".to_owned())).0,
        "a\n[Output cut. It has 2 lines, 4 bytes. Shown: line 1. Missing: line 2. The rest was not kept: there is no \
         data directory.]"
    );
}

#[test]
fn no_runtime_is_needed() {
    let host = Host::new();
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let mut cutting = host.cutter(limits(1, 9, Keep::Head)).text("a\nb\n".to_owned());
    assert!(cutting.as_mut().poll(&mut task).is_ready());
    assert_eq!(host.files(), 1);
}

#[test]
fn a_dropped_cut_leaves_no_file() {
    let host = Host::new();
    run(async {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let gate = tokio::task::spawn_blocking(move || held.recv());
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        let mut cutting = host.cutter(limits(1, 9, Keep::Head)).text("a\nb\n".to_owned());
        assert!(cutting.as_mut().poll(&mut task).is_pending());
        drop(cutting);
        release.send(()).unwrap();
        gate.await.unwrap().unwrap();
        // The only blocking thread works in sequence: after this, the write has finished.
        tokio::task::spawn_blocking(|| {}).await.unwrap();
    });
    assert!(host.data.path().join("tool-output").exists());
    assert_eq!(host.files(), 0);
}

fn path(cut: &Cut) -> &Path {
    match &cut.kept {
        OutputLocation::Whole { path } => path,
        other => panic!("{other:?}"),
    }
}

/// Returns the offset of a line in a file, found as a reader would find it.
fn line_start(file: &[u8], line: u64) -> usize {
    file.split_inclusive(|byte| *byte == b'\n')
        .take(usize::try_from(line - 1).unwrap())
        .map(<[u8]>::len)
        .sum()
}

fn line_count(bytes: &[u8]) -> u64 {
    bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
}

/// Checks the record of the truncation against the source, and the text against the record.
fn check(source: &[u8], limits: OutputLimits, text: &str, cut: Option<&Cut>) {
    let lossy = String::from_utf8_lossy(source);
    let fits = line_count(source) <= limits.max_lines && lossy.len() as u64 <= limits.max_bytes;
    let Some(cut) = cut else {
        assert!(fits);
        assert_eq!(text, lossy);
        return;
    };
    assert!(!fits);
    assert_eq!((cut.total_lines, cut.total_bytes), (line_count(source), source.len() as u64));

    // Positions by line and by byte are equivalent.
    let file = fs::read(path(cut)).unwrap();
    assert_eq!(file, source);
    for position in cut.shown.iter().chain([&cut.missing]).flat_map(|part| [part.from, part.to]) {
        let by_line = line_start(&file, position.line) as u64 + position.byte_in_line;
        assert_eq!(by_line, position.offset);
    }

    // Shown and read on, by line and by byte: every byte occurs once, in order.
    let bytes = |part: &Part| {
        let from = line_start(&file, part.from.line) + usize::try_from(part.from.byte_in_line).unwrap();
        let to = line_start(&file, part.to.line) + usize::try_from(part.to.byte_in_line).unwrap();
        file[from..to].to_vec()
    };
    let mut parts: Vec<&Part> = cut.shown.iter().chain([&cut.missing]).collect();
    parts.sort_by_key(|part| part.from.offset);
    assert_eq!(parts.iter().flat_map(|part| bytes(part)).collect::<Vec<u8>>(), source);
    assert!(cut.missing.bytes() > 0);

    // The text is within the limits, and no character is split.
    let shown: Vec<String> =
        cut.shown.iter().map(|part| String::from_utf8_lossy(&bytes(part)).into_owned()).collect();
    assert!(shown.iter().map(|text| line_count(text.as_bytes())).sum::<u64>() <= limits.max_lines);
    assert!(shown.iter().map(String::len).sum::<usize>() as u64 <= limits.max_bytes);
    if std::str::from_utf8(source).is_ok() {
        assert!(cut.shown.iter().all(|part| std::str::from_utf8(&bytes(part)).is_ok()));
    }
    let replaced = |text: &str| text.matches(char::REPLACEMENT_CHARACTER).count();
    let missing = String::from_utf8_lossy(&bytes(&cut.missing)).into_owned();
    assert!(shown.iter().map(|text| replaced(text)).sum::<usize>() + replaced(&missing) >= replaced(&lossy));

    // A part ends within a line only if the line is longer than its budget.
    let (first, last) = limits.budgets();
    for (position, budget) in [(cut.missing.from, first), (cut.missing.to, last)] {
        let is_within = position.byte_in_line > 0 && position.offset < cut.total_bytes;
        let line = &file[line_start(&file, position.line)..line_start(&file, position.line + 1)];
        if is_within && std::str::from_utf8(source).is_ok() {
            assert!(line.len() as u64 > budget.bytes);
        }
    }
    // The parts use the whole budget: one more character or line would exceed it.
    if std::str::from_utf8(source).is_ok() && first.lines > 0 {
        let used = &source[..usize::try_from(cut.missing.from.offset).unwrap()];
        let rest = std::str::from_utf8(&source[used.len()..]).unwrap();
        let line = rest.split_inclusive('\n').next().unwrap().len();
        let next = if line as u64 > first.bytes { rest.chars().next().unwrap().len_utf8() } else { line };
        let is_full = line_count(used) == first.lines && used.ends_with(b"\n");
        assert!(is_full || (used.len() + next) as u64 > first.bytes);
    }
    if std::str::from_utf8(source).is_ok() && last.lines > 0 {
        let start = usize::try_from(cut.missing.to.offset).unwrap();
        let used = &source[start..];
        let rest = std::str::from_utf8(&source[..start]).unwrap();
        let is_within = cut.missing.to.byte_in_line > 0 && !used.is_empty();
        let line_start = rest.strip_suffix('\n').unwrap_or(rest).rfind('\n').map_or(0, |at| at + 1);
        let whole_line = if is_within { usize::MAX } else { start - line_start };
        let next =
            if whole_line as u64 > last.bytes { rest.chars().last().unwrap().len_utf8() } else { whole_line };
        assert!((line_count(used) == last.lines && !is_within) || (used.len() + next) as u64 > last.bytes);
    }

    // The text consists of these parts and the hint.
    let hint = cut.to_string();
    let mut rest = text;
    for part in &shown {
        let at = rest.find(part.as_str()).expect("each part is in the text, in order");
        rest = &rest[at + part.len()..];
    }
    assert!(rest.ends_with(&hint));
    assert!(hint.contains(&format!("read it on from line {}", cut.missing.from.line)));
    if cut.missing.from.byte_in_line > 0 {
        assert!(hint.contains(&format!("(byte {} of the file)", cut.missing.from.offset)));
    }
}

fn keep() -> impl Strategy<Value = Keep> {
    prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::Ends)]
}

/// Generates every kind of line ending and character, in short and long lines.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\0"), 3 => Just("a"), 2 => Just("é"),
        2 => Just("€"), 2 => Just("😀"), 1 => Just("e\u{301}"), 1 => Just("\u{FEFF}"), 1 => Just("\u{2028}"),
        1 => Just("a line of some length, with words in it"),
    ];
    (text, prop_oneof![4 => Just(1), 1 => 2..40_usize])
        .prop_map(|(text, times)| text.repeat(times).into_bytes())
}

fn valid() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..30).prop_map(|pieces| pieces.concat())
}

/// Generates bytes that include invalid UTF-8: single bytes, cut characters, surrogates, overlong
/// forms.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let invalid = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..5),
        Just(b"\x80".repeat(5)),
        Just(b"\xE2\x82".to_vec()),
        Just(b"\xF0\x9F\x98".to_vec()),
        Just(b"\xED\xA0\x80".to_vec()),
        Just(b"\xC0\xAF".to_vec()),
    ];
    prop::collection::vec(prop_oneof![3 => piece(), 2 => invalid], 0..30).prop_map(|pieces| pieces.concat())
}

fn any_limits() -> impl Strategy<Value = OutputLimits> {
    let lines = prop_oneof![2 => 0..4_u64, 3 => 0..40_u64, 1 => Just(2_000)];
    let bytes = prop_oneof![2 => 0..8_u64, 3 => 0..200_u64, 1 => Just(51_200)];
    (lines, bytes, keep()).prop_map(|(max_lines, max_bytes, keep)| OutputLimits {
        max_lines,
        max_bytes,
        keep,
    })
}

/// Writes in pieces of the given lengths, repeatedly.
async fn stream(
    host: &Host,
    limits: OutputLimits,
    buffer: usize,
    source: &[u8],
    lengths: &[usize],
) -> (String, Option<Cut>) {
    let mut sink = OutputSink::with_buffer(&limits, host.store.clone(), Some("s".to_owned()), buffer);
    let mut rest = source;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*length).min(rest.len()));
        sink.write_all(piece).await.unwrap();
        rest = behind;
    }
    host.cutter(limits).streamed(&sink, String::new()).await
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn returned_text_is_read_on_in_full(source in valid(), limits in any_limits()) {
        let host = Host::new();
        let text = String::from_utf8(source.clone()).unwrap();
        let (text, cut) = host.text(limits, &text);
        check(&source, limits, &text, cut.as_ref());
        prop_assert_eq!(host.files(), usize::from(cut.is_some()));
    }

    #[test]
    fn streamed_bytes_are_read_on_in_full(
        source in prop_oneof![valid(), any_bytes()],
        limits in any_limits(),
        buffer in 1..300_usize,
        lengths in prop::collection::vec(1..50_usize, 1..5),
    ) {
        let host = Host::new();
        let (text, cut) = run(stream(&host, limits, buffer, &source, &lengths));
        check(&source, limits, &text, cut.as_ref());
        prop_assert_eq!(host.files(), usize::from(cut.is_some()));
        if let Ok(valid) = String::from_utf8(source) {
            let (returned, same) = host.text(limits, &valid);
            prop_assert_eq!(same.is_some(), cut.is_some());
            if let (Some(same), Some(cut)) = (same, cut) {
                prop_assert_eq!(told(&returned, &same), told(&text, &cut));
            }
        }
    }

    #[test]
    fn blocks_and_their_limits(
        blocks in prop::collection::vec(valid(), 0..4),
        limits in any_limits(),
    ) {
        let host = Host::new();
        let blocks = blocks.into_iter().map(|block| Content::text(String::from_utf8(block).unwrap()));
        let output = blocks.fold(ToolOutput::default(), ToolOutput::with_content);
        let whole = output.to_text();
        let (text, cut) = host.text(limits, &whole);
        prop_assert_eq!(fits(&output, &limits), cut.is_none());
        let answer = run(host.cutter(limits).output(output));
        match cut {
            None => prop_assert_eq!(answer.to_text(), whole),
            Some(cut) => {
                let again: Cut = serde_json::from_value(answer.metadata["truncation"].clone()).unwrap();
                prop_assert_eq!(told(&answer.to_text(), &again), told(&text, &cut));
            }
        }
    }
}
