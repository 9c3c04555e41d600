use super::page::MAX_BYTES;
use super::*;
use encoding_rs::{SHIFT_JIS, UTF_16BE, UTF_16LE};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolkit::testing::TestToolbox;
use toolkit::{
    approval::{Answer, PendingAsk, Question, ScriptedApprover},
    output::IntoToolOutput as _,
};

struct Fixture {
    workspace: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { workspace: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.workspace.path().join(name), content).unwrap();
        self
    }

    async fn read(&self, path: &str, offset: u64, limit: Option<u64>) -> Result<ToolOutput, ToolError> {
        let ctx = ToolContext::detached(Caller::new().with_workspace(self.workspace.path()));
        read(&ctx, Path::new(path), offset, limit).await?.into_tool_output()
    }

    async fn text(&self, path: &str, offset: u64, limit: Option<u64>) -> String {
        match self.read(path, offset, limit).await {
            Ok(output) => output.to_text(),
            Err(error) => format!("error: {error}"),
        }
    }
}

#[tokio::test]
async fn a_letter_of_another_encoding_is_no_signature() {
    let fixture = Fixture::new();
    for (begin, shown) in [(&b"0\x825 mm"[..], "0‚5 mm"), (b"d\x86\x20sk", "d† sk"), (b"\xE9t\xE9", "été")]
    {
        fixture.file("f", [begin, b" caf\xE9 au lait\n"].concat());
        let text = fixture.text("f", 1, None).await;
        let expected = format!("     1→{shown} café au lait\n(the file is in the encoding windows-1252)");
        assert_eq!(text, expected);
    }
}

/// Texts in other encodings, or with a byte that is damaged, begin as formats of programs do.
#[tokio::test]
async fn what_begins_like_a_format_is_text_all_the_same() {
    let fixture = Fixture::new();
    for (name, begin) in [
        ("shell", "#!/bin/sh\n"),
        ("xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n"),
        ("page", "<!DOCTYPE html>\n"),
        ("print", "%!PS-Adobe\n"),
        ("rich", "{\\rtf1\n"),
        ("car", "BMW\n"),
        ("letters", "MZ\n"),
        ("song", "ID3\n"),
        ("sound", "fLaC\n"),
        ("film", "GIF89a\n"),
        ("wave", "RIFF1234WEBP\n"),
    ] {
        for (rest, expected, note) in [
            (&b"caf\xE9 au lait\n"[..], "café au lait", "the file is in the encoding windows-1252"),
            (
                b"gr\xC3\xB6\xC3\x9Fe \xFF und mehr gr\xC3\xB6\xC3\x9Fe\n",
                "größe \u{fffd} und mehr größe",
                "1 line is not valid UTF-8; invalid bytes are shown as \u{fffd}",
            ),
        ] {
            fixture.file(name, [begin.as_bytes(), rest].concat());
            let shown = format!("     1→{begin}     2→{expected}\n({note})");
            assert_eq!(fixture.text(name, 1, None).await, shown, "{name}");
        }
    }
}

#[tokio::test]
async fn texts() {
    let fixture = Fixture::new();
    fixture
        .file("three", "one\r\ntwo\nthree")
        .file("empty", "")
        .file("mark", b"\xEF\xBB\xBFone\n")
        .file("binary", b"a\0b")
        .file("latin", b"caf\xE9 au lait\n")
        .file("japanese", SHIFT_JIS.encode("日本語のテキストファイル。\nこれは二行目です。\n").0)
        .file("little", Form { encoding: UTF_16LE, has_mark: true }.encode("größe 🦀\r\nb\n").unwrap())
        .file("big", Form { encoding: UTF_16BE, has_mark: true }.encode("a\nb").unwrap())
        .file("damaged", b"gr\xC3\xB6\xC3\x9Fe und \xFF mehr\n")
        .file("page.pdf", b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n")
        .file("fake.png", "GIF89a is what this text begins with\n")
        .file("one", "1");
    for (path, offset, limit, expected) in [
        ("three", 1, None, "     1→one\n     2→two\n     3→three\n"),
        (
            "three",
            1,
            Some(2),
            "     1→one\n     2→two\n(lines 1 to 2; there are more: continue with offset 3)",
        ),
        ("three", 3, Some(5), "     3→three\n(lines 3 to 3 of 3: the end of the file)"),
        ("three", 1, Some(3), "     1→one\n     2→two\n     3→three\n"),
        ("three", 4, None, "error: line 4 is past the end of three, which has 3 lines"),
        ("three", 99, None, "error: line 99 is past the end of three, which has 3 lines"),
        ("three", 0, Some(0), "     1→one\n(lines 1 to 1; there are more: continue with offset 2)"),
        (
            "three",
            u64::MAX,
            None,
            "error: line 18446744073709551615 is past the end of three, which has 3 lines",
        ),
        ("empty", 1, None, "(the file is empty)"),
        ("mark", 1, None, "     1→one\n"),
        (
            "binary",
            1,
            None,
            "error: binary is a binary file (of no known kind, 3 bytes), and this tool reads text and pictures \
             (PNG, JPEG, GIF, WebP)",
        ),
        (
            "page.pdf",
            1,
            None,
            "error: page.pdf is a binary file (application/pdf, 15 bytes), and this tool reads text and pictures \
             (PNG, JPEG, GIF, WebP)",
        ),
        ("fake.png", 1, None, "     1→GIF89a is what this text begins with\n"),
        ("latin", 1, None, "     1→café au lait\n(the file is in the encoding windows-1252)"),
        (
            "japanese",
            2,
            Some(1),
            "     2→これは二行目です。\n(lines 2 to 2 of 2: the end of the file)\n(the file is in the encoding Shift_JIS)",
        ),
        ("little", 1, None, "     1→größe 🦀\n     2→b\n(the file is in the encoding UTF-16LE)"),
        (
            "big",
            2,
            None,
            "     2→b\n(lines 2 to 2 of 2: the end of the file)\n(the file is in the encoding UTF-16BE)",
        ),
        (
            "damaged",
            1,
            None,
            "     1→größe und \u{FFFD} mehr\n(1 line is not valid UTF-8; invalid bytes are shown as \u{FFFD})",
        ),
        ("one", 2, None, "error: line 2 is past the end of one, which has 1 line"),
        ("absent", 1, None, "error: absent does not exist"),
        (
            "@three",
            3,
            None,
            "(there is no `@three`; this is `three`)\n     3→three\n(lines 3 to 3 of 3: the end of the file)",
        ),
        ("thre", 1, None, "error: thre does not exist; there is `three`"),
    ] {
        assert_eq!(fixture.text(path, offset, limit).await, expected, "{path} {offset} {limit:?}");
    }
}

#[tokio::test]
async fn following_the_offset_gives_every_line_once() {
    let fixture = Fixture::new();
    let lines: Vec<String> =
        (0..5_000).map(|number| format!("line {number} {}", "x".repeat(number % 97))).collect();
    fixture.file("long", lines.join("\n"));
    let mut seen = Vec::new();
    let mut offset = 1;
    loop {
        let output = fixture.read("long", offset, None).await.unwrap();
        let text = output.to_text();
        assert!(text.len() <= MAX_BYTES + 200, "{}", text.len());
        seen.extend(text.lines().filter_map(|line| line.split_once('→')).map(|(_, line)| line.to_owned()));
        match output.details.unwrap()["nextOffset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn a_long_line_is_cut_and_says_so() {
    let fixture = Fixture::new();
    fixture.file("long", format!("{}\nnext\n", "ä".repeat(100_000)));
    let text = fixture.text("long", 1, None).await;
    let expected =
        format!("     1→{}… [98000 more characters in this line]\n     2→next\n", "ä".repeat(2_000));
    assert_eq!(text, expected);
}

#[tokio::test]
async fn outside_the_workspace_is_denied_whether_or_not_it_exists() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("/etc/passwd", fixture.workspace.path().join("link")).unwrap();
    for path in ["/etc/passwd", "/etc/no-such-file", "../../../etc/passwd", "link"] {
        let error = fixture.read(path, 1, None).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied, "{path}: {error}");
    }
}

#[tokio::test]
async fn a_pipe_is_refused_without_waiting() {
    let fixture = Fixture::new();
    let pipe = fixture.workspace.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(
        fixture.text("pipe", 1, None).await,
        "error: pipe is not a regular file but a pipe, a socket or a device"
    );
}

#[tokio::test]
async fn secrets_and_what_is_outside_are_asked_for() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), "far away").unwrap();
    let there = outside.path().canonicalize().unwrap();
    let there = there.to_str().unwrap();
    let answers = [Answer::allow(), Answer::allow(), Answer::allow(), Answer::deny()];
    let toolbox = TestToolbox::new(toolkit::tool_ref!(read))
        .file(".env", "KEY=1")
        .file("a", "text")
        .approve(ScriptedApprover::new(answers));
    for (path, kind, expected) in [
        ("a", None, "     1→text\n"),
        (".env", Some("sensitive"), "     1→KEY=1\n"),
        (there, Some("external_directory"), "     1→far away\n"),
        ("/no/such/file", Some("external_directory"), "/no/such/file does not exist"),
        (".env", Some("sensitive"), "not allowed: read .env, which may hold secrets of an environment"),
    ] {
        let call = toolbox.call(json!({ "file_path": path })).await;
        assert!(call.text().contains(expected), "{path}: {}", call.text());
        let kinds: Vec<&str> = call.asks.iter().map(kind_of).collect();
        assert_eq!(kinds, Vec::from_iter(kind), "{path}");
    }
}

fn kind_of(asked: &PendingAsk) -> &str {
    match asked.question() {
        Question::Approve(ask) => &ask.kind,
        _ => "no permission",
    }
}

#[tokio::test]
async fn metadata_tells_the_form_of_the_file() {
    let fixture = Fixture::new();
    fixture
        .file("plain", "a\nb\n")
        .file("windows", "\u{feff}a\r\nb\r\n")
        .file("mixed", "a\r\nb\n")
        .file("little", Form { encoding: UTF_16LE, has_mark: true }.encode("a\r\n").unwrap());
    for (path, encoding, mark, endings) in [
        ("plain", "UTF-8", false, "LF"),
        ("windows", "UTF-8", true, "CRLF"),
        ("mixed", "UTF-8", false, "mixed"),
        ("little", "UTF-16LE", true, "CRLF"),
    ] {
        let output = fixture.read(path, 1, None).await.unwrap();
        let metadata = &output.metadata;
        assert_eq!(metadata["encoding"], encoding, "{path}");
        assert_eq!(metadata["byteOrderMark"], mark, "{path}");
        assert_eq!(metadata["lineEndings"], endings, "{path}");
        assert_eq!(output.title.as_deref(), Some(path));
    }
}

#[tokio::test]
async fn directories_are_listed_by_page() {
    let fixture = Fixture::new();
    fixture.file("b", "").file("a\nc", "").file(".hidden", "");
    std::fs::create_dir(fixture.workspace.path().join("B")).unwrap();
    std::os::unix::fs::symlink("/etc", fixture.workspace.path().join("link")).unwrap();
    std::fs::create_dir(fixture.workspace.path().join("B/empty")).unwrap();
    for (path, offset, limit, expected) in [
        (".", 1, None, ".hidden\nB/\na\\u{a}c\nb\nlink\n"),
        (".", 1, Some(2), ".hidden\nB/\n(entries 1 to 2 of 5: continue with offset 3)"),
        (".", 3, Some(2), "a\\u{a}c\nb\n(entries 3 to 4 of 5: continue with offset 5)"),
        (".", 5, None, "link\n(entries 5 to 5 of 5: the end of the directory)"),
        (".", 6, None, "error: entry 6 is past the end of ., which has 5 entries"),
        ("B/empty", 1, None, "(the directory is empty)"),
        ("B/empty/..", 1, None, "empty/\n"),
    ] {
        assert_eq!(fixture.text(path, offset, limit).await, expected, "{path} {offset} {limit:?}");
    }
}

/// Returns an encoded image of the given size.
fn picture(width: u32, height: u32, format: image::ImageFormat) -> Vec<u8> {
    let pixels = image::RgbImage::from_fn(width, height, |x, y| {
        // Noise, which does not compress.
        let seed =
            x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)).wrapping_mul(2_246_822_519);
        let [red, green, blue, _] = seed.to_le_bytes();
        image::Rgb([red, green, blue])
    });
    let mut data = std::io::Cursor::new(Vec::new());
    image::DynamicImage::from(pixels).write_to(&mut data, format).unwrap();
    data.into_inner()
}

#[tokio::test]
async fn pictures_are_told_by_content_and_made_small_enough() {
    use image::ImageFormat::{Gif, Jpeg, Png, WebP};
    let fixture = Fixture::new();
    for (name, width, height, format, text, is_same) in [
        ("small.txt", 20, 10, Png, "small.txt: a PNG picture of 20 × 10 pixels", true),
        ("a.jpg", 20, 10, Jpeg, "a.jpg: a JPEG picture of 20 × 10 pixels", true),
        ("a.gif", 20, 10, Gif, "a.gif: a GIF picture of 20 × 10 pixels", true),
        ("a.webp", 20, 10, WebP, "a.webp: a WebP picture of 20 × 10 pixels", true),
        (
            "wide.png",
            2_500,
            100,
            Png,
            "wide.png: a PNG picture of 2500 × 100 pixels, shown at 2000 × 80",
            false,
        ),
        (
            "heavy.png",
            1_300,
            1_300,
            Png,
            "heavy.png: a PNG picture of 1300 × 1300 pixels, compressed more strongly to be shown",
            false,
        ),
    ] {
        let data = picture(width, height, format);
        fixture.file(name, &data);
        let output = fixture.read(name, 1, None).await.unwrap();
        assert_eq!(output.content[0].as_text(), Some(text));
        let details = output.details.as_ref().unwrap();
        assert_eq!(
            (&details["path"], &details["width"], &details["height"]),
            (&json!(name), &json!(width), &json!(height))
        );
        let shown = output.content[1].as_bytes().unwrap();
        assert!(shown.len() <= picture::MAX_BYTES, "{name}");
        assert_eq!(*shown == data, is_same, "{name}");
        let shown = image::load_from_memory(shown).unwrap();
        assert!(shown.width().max(shown.height()) <= picture::MAX_SIDE, "{name}");
    }
}

#[tokio::test]
async fn a_large_picture_is_turned_as_it_says() {
    let fixture = Fixture::new();
    // Black at the left, white at the right, and to be turned by a quarter to the right.
    let pixels = image::GrayImage::from_fn(2_400, 600, |x, _| image::Luma([if x < 1_200 { 0 } else { 255 }]));
    let mut data = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new(&mut data);
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    image::ImageEncoder::set_exif_metadata(&mut encoder, exif).unwrap();
    encoder.encode_image(&pixels).unwrap();
    fixture.file("turned.jpg", &data);
    let output = fixture.read("turned.jpg", 1, None).await.unwrap();
    let text = "turned.jpg: a JPEG picture of 600 × 2400 pixels, shown at 500 × 2000";
    assert_eq!(output.content[0].as_text(), Some(text));
    let shown = image::load_from_memory(output.content[1].as_bytes().unwrap()).unwrap().to_luma8();
    assert_eq!(shown.dimensions(), (500, 2_000));
    assert!(shown.get_pixel(250, 100).0[0] < 20 && shown.get_pixel(250, 1_900).0[0] > 235);
}

#[test]
fn a_picture_that_nobody_waits_for_is_not_worked_on() {
    let fixture = Fixture::new();
    fixture.file("a.png", picture(2_100, 10, image::ImageFormat::Png));
    let path = fixture.workspace.path().join("a.png");
    // Cancellation is checked while it waits for its turn, when it is decoded, and before it is scaled down.
    for looks in 0..2 {
        let left = std::cell::Cell::new(looks);
        let check = || match left.replace(left.get() - 1) {
            0 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        };
        let file = std::fs::File::open(&path).unwrap();
        let error = picture::read("a.png", file, image::ImageFormat::Png, &check).unwrap_err();
        assert!(error.to_string().starts_with("cannot read a.png"), "{looks}: {error}");
    }
}

#[tokio::test]
async fn the_encoding_is_told_by_all_of_the_file() {
    let fixture = Fixture::new();
    let plain = "a line of plain text\n".repeat(20_000);
    let mut latin = plain.clone().into_bytes();
    latin.extend(b"caf\xE9 au lait\n");
    let mut damaged = "größe\n".to_owned().into_bytes();
    damaged.splice(0..0, plain.bytes());
    damaged.extend(b"gr\xC3\xB6\xC3\x9Fe und \xFF mehr\n");
    fixture.file("latin", latin).file("damaged", damaged);
    for (path, offset, expected) in [
        (
            "latin",
            20_001,
            " 20001→café au lait\n(lines 20001 to 20001 of 20001: the end of the file)\n(the file is in the encoding \
             windows-1252)",
        ),
        (
            "damaged",
            20_002,
            " 20002→größe und \u{FFFD} mehr\n(lines 20002 to 20002 of 20002: the end of the file)\n(1 line is not \
             valid UTF-8; invalid bytes are shown as \u{FFFD})",
        ),
    ] {
        assert_eq!(fixture.text(path, offset, None).await, expected);
    }
}

#[tokio::test]
async fn what_a_file_holds_is_told_by_its_first_64_kib() {
    let fixture = Fixture::new();
    let plain = "x\n".repeat(32 * 1024);
    fixture.file("within", format!("{}\0\n", &plain[1..])).file("behind", format!("{plain}\0\n"));
    for (path, expected) in [
        (
            "within",
            "error: within is a binary file (of no known kind, 65537 bytes), and this tool reads text and pictures (PNG, JPEG, \
             GIF, WebP)",
        ),
        ("behind", "     1→x\n(lines 1 to 1; there are more: continue with offset 2)"),
    ] {
        assert_eq!(fixture.text(path, 1, Some(1)).await, expected);
    }
}

#[tokio::test]
async fn a_line_that_is_cut_is_told() {
    let fixture = Fixture::new();
    fixture.file("long", format!("{}\n", "x".repeat(2_500)));
    let output = fixture.read("long", 1, None).await.unwrap();
    assert_eq!(output.metadata["truncated"], true);
    let details: Value = output.details.unwrap();
    assert_eq!((&details["truncated"], &details["nextOffset"]), (&Value::Bool(true), &Value::Null));
}

#[tokio::test]
async fn a_bomb_is_refused_without_much_memory() {
    let fixture = Fixture::new();
    // A header that promises 60,000 by 60,000 pixels.
    let mut bomb = picture(8, 8, image::ImageFormat::Png);
    bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
    bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
    let mut large = picture(8, 8, image::ImageFormat::Gif);
    large[6..10].copy_from_slice(&[0xFF; 4]);
    fixture
        .file("bomb.png", &bomb)
        .file("bomb.gif", &large)
        .file("cut.png", &picture(50, 50, image::ImageFormat::Png)[..200]);
    for path in ["bomb.png", "bomb.gif", "cut.png"] {
        let text = fixture.text(path, 1, None).await;
        assert!(text.starts_with(&format!("error: {path} looks like a ")), "{text}");
    }
}

#[tokio::test]
async fn a_file_that_changes_meanwhile_is_no_panic() {
    let fixture = Fixture::new();
    let path = fixture.workspace.path().join("f");
    std::fs::write(&path, "line\n".repeat(100_000)).unwrap();
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let changer = std::thread::spawn({
        let (is_over, path) = (std::sync::Arc::clone(&is_over), path.clone());
        move || {
            let mut round = 0_usize;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                round += 1;
                match round % 3 {
                    0 => drop(std::fs::remove_file(&path)),
                    1 => drop(std::fs::write(&path, "line\n".repeat(round % 100_000))),
                    _ => drop(
                        std::fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(7)),
                    ),
                }
            }
        }
    });
    for offset in 0..300 {
        let text = fixture.text("f", offset * 300, Some(50)).await;
        let is_known = [
            "error: line ",
            "error: f is a binary file",
            "error: f does not exist",
            "(the file is empty)",
            "  ",
        ];
        assert!(is_known.iter().any(|begin| text.starts_with(begin)) || text.contains('→'), "{text}");
    }
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    changer.join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn reading_on_by_the_stated_offset_gives_every_line_once(
        lines in proptest::collection::vec("[a-zäß🦀 ]{0,120}", 0..300),
        ending in proptest::sample::select(vec!["\n", "\r\n"]),
        has_last_ending: bool,
        limit in proptest::option::of(1_u64..50),
        encoding in proptest::sample::select(vec![encoding_rs::UTF_8, UTF_16LE, UTF_16BE]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let fixture = Fixture::new();
        let mut text = lines.join(ending);
        if has_last_ending && !lines.is_empty() {
            text.push_str(ending);
        }
        fixture.file("f", Form { encoding, has_mark: true }.encode(&text).unwrap());
        // An empty last line without an ending does not count.
        let expected: Vec<&str> = text.lines().collect();
        let mut seen = Vec::new();
        let mut offset = Some(1);
        while let Some(from) = offset {
            let output = runtime.block_on(fixture.read("f", from, limit)).unwrap();
            for line in output.to_text().split('\n') {
                if let Some((number, line)) = line.split_once('→') {
                    prop_assert_eq!(number.trim().parse::<usize>().unwrap(), seen.len() + 1);
                    seen.push(line.to_owned());
                }
            }
            let details: Value = output.details.unwrap();
            offset = details["nextOffset"].as_u64();
        }
        prop_assert_eq!(seen, expected);
    }
}
