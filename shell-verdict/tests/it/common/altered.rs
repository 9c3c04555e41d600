//! Commands that nobody thought of: others, altered at random.

/// Texts that are inserted into a command.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "|",
    "&",
    ";",
    "#",
    "!",
    "*",
    "?",
    "~",
    "=",
    "+",
    "-",
    "--",
    ",",
    ":",
    "/",
    "@",
    "%",
    "^",
    "0",
    "9",
    "x",
    " ",
    "\t",
    "\n",
    "\\\n",
    "\\'",
    "\\\"",
    "''",
    "\"\"",
    "$'\\x41'",
    "$'\\''",
    "$\"a\"",
    "${x}",
    "${x:-a}",
    "${x:-$(ls)}",
    "${#x}",
    "${x%%*}",
    "${x/a/b}",
    "${!x}",
    "${x[1]}",
    "${x@P}",
    "$x",
    "$1",
    "$@",
    "$?",
    "$$",
    "$(ls)",
    "$( (ls) )",
    "`ls`",
    "`\\`ls\\``",
    "$((1))",
    "$((x[1]))",
    "$[1]",
    "{a,b}",
    "{1..3}",
    "{a..c..2}",
    "{,}",
    "[!a-z]",
    "[[:alpha:]]",
    "**",
    "&&",
    "||",
    ";;",
    "|&",
    "2>&1",
    "2>/dev/null",
    ">f",
    ">>f",
    "&>f",
    "<f",
    "<<<x",
    "<(ls)",
    ">(cat)",
    "<<E\nx\nE\n",
    "( ",
    " )",
    "((",
    "))",
    " -n",
    " --",
    " -x",
    " -rf",
    " ../x",
    " ~/x",
    " /etc/passwd",
    " a=b",
    "a=b ",
    "sudo ",
    "env ",
    "! ",
    "time ",
    "xargs ",
    " | sh",
    " | cat",
    "; ls",
    " && rm x",
    "if ls; then ",
    "; fi",
    "for i in a b; do ",
    "; done",
    "case a in a) ",
    ";; esac",
];

/// Enough chance for this: `SplitMix64`.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(text: &str) -> Self {
        Self(hash(text))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end).unwrap()).unwrap()
    }
}

/// FNV-1a: the same everywhere and always.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(crate) fn altered(command: &str, chance: &mut Chance) -> String {
    let mut text: Vec<char> = command.chars().collect();
    for _ in 0..=chance.below(2) {
        let at = chance.below(text.len() + 1);
        match chance.below(8) {
            0 if at < text.len() => {
                text.remove(at);
            }
            1 if at + 1 < text.len() => text.swap(at, at + 1),
            2 => text.truncate(at.max(1)),
            // A word in quotes or brackets.
            3 => {
                let end = (at..text.len()).find(|&at| text[at].is_whitespace()).unwrap_or(text.len());
                let (open, close) = [
                    ("'", "'"),
                    ("\"", "\""),
                    ("$(", ")"),
                    ("$((", "))"),
                    ("{", ",x}"),
                    ("${x:-", "}"),
                    ("$'", "'"),
                    ("`", "`"),
                ][chance.below(8)];
                text.splice(end..end, close.chars());
                text.splice(at..at, open.chars());
            }
            _ => {
                text.splice(at..at, PIECES[chance.below(PIECES.len())].chars());
            }
        }
    }
    text.into_iter().collect()
}
