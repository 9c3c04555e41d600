//! Answers that are generated: one pattern, many times.

/// Returns answers of some thousand characters.
pub(super) fn families() -> Vec<String> {
    let line = "let value = compute(\"<input>\", &other) + 42; // a comment of some length\n";
    vec![
        "word ".repeat(1200),
        "x".repeat(9000),
        "👨‍👩‍👧‍👦".repeat(700),
        "🇩🇪".repeat(1500),
        "漢".repeat(5000),
        "这是一个句子。".repeat(700),
        format!("**{}**", "bold words ".repeat(500).trim_end()),
        format!("[{}](https://example.com/a?b=c&d=e)", "link words ".repeat(450).trim_end()),
        format!("`{}`", "inline code ".repeat(400).trim_end()),
        format!("```rust\n{}```\n", line.repeat(80)),
        format!("```\n{}\n```\n", "A".repeat(9000)),
        format!("> {}", "quoted words ".repeat(400)),
        format!("e{}", "\u{301}".repeat(5000)),
        format!("e{} f", "\u{200d}".repeat(300)),
        format!("a{}b", " ".repeat(9000)),
        format!("a{}b", "&nbsp;".repeat(5000)),
        format!("```\na{}b\n```", "\n".repeat(5000)),
        format!("```\n{}b\n```", " ".repeat(5000)),
        numbered(120, |n| format!("- item {n} with **bold** and `code`\n")),
        numbered(100, |n| format!("[link {n}](https://example.com/{n}/{}) ", "p&".repeat(90))),
        numbered(300, |n| format!("**b{n}** *i{n}* ")),
        numbered(60, |n| format!("Paragraph {n} has a sentence. And one more, which is longer!\n\n")),
        format!("| a | b |\n|---|---|\n{}", "| some cell | another & cell |\n".repeat(200)),
        "&<>\"".repeat(2000),
        "a ".repeat(30) + &"*".repeat(200) + " b",
    ]
}

/// Returns the texts of the numbers below a count, one after another.
fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().concat()
}
