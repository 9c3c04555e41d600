//! `ps`: the letters of its BSD style have other meanings, and one shows the environment of processes, with its secrets.

use crate::class::Class;
use crate::verdict::Part;
use crate::words::Value;

/// Letters of the older manner that take no value.
const OLD: &str = "aAcCefghHjlLmnrsSTuvwxXZ";

pub(super) fn ps(values: &[Value], part: &mut Part) {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else {
        return part.has(Class::Unknown, "ps gets a word that is not known before it runs");
    };
    let mut at = 0;
    let (mut has_e, mut is_plain) = (false, true);
    while let Some(word) = words.get(at) {
        at += 1;
        let shows = if let Some(long) = word.strip_prefix("--") {
            at += usize::from(VALUED.contains(&long));
            !is_known(long)
        } else if let Some(letters) = word.strip_prefix('-') {
            let read = short(letters, words.get(at).copied());
            has_e |= read.has_e;
            is_plain &= read.is_plain;
            at += usize::from(read.takes_next);
            false
        } else {
            // A list of processes, or letters, some of which take the rest as a value.
            let end = word.find(['o', 'O', 'k', 'N', 'p', 'q', 't', 'U']);
            at += usize::from(end.is_some_and(|end| end + 1 == word.len()));
            word[..end.unwrap_or(word.len())].contains('e')
        };
        if shows {
            part.has(Class::Unknown, format!("ps {word} may show the environment of processes"));
        }
    }
    // Words that are invalid in the newer style are read in the older one.
    if has_e && !is_plain {
        part.has(
            Class::Unknown,
            "ps may take -e for its older option e, which shows the environment of processes",
        );
    }
    if words.iter().any(|word| word.split([',', '=', ':', ' ']).any(|name| matches!(name, "environ" | "env")))
    {
        part.has(Class::Unknown, "ps shows the environment of processes");
    }
}

/// Long options with a value that may be the next word.
const VALUED: &[&str] = &["sort", "pid", "ppid", "user", "format", "cols"];

fn is_known(long: &str) -> bool {
    const PLAIN: &[&str] =
        &["forest", "no-headers", "no-heading", "help", "version", "headers", "cumulative"];
    const ATTACHED: &[&str] =
        &["sort=", "pid=", "ppid=", "user=", "format=", "cols=", "rows=", "width=", "group=", "tty=", "sid="];
    PLAIN.contains(&long) || VALUED.contains(&long) || ATTACHED.iter().any(|known| long.starts_with(known))
}

#[derive(Debug)]
struct Short {
    has_e: bool,
    /// True if the letter means the same in both styles, or is an error in the older one, except for `e`.
    is_plain: bool,
    /// The next word is a value.
    takes_next: bool,
}

fn short(letters: &str, next: Option<&str>) -> Short {
    let mut read = Short { has_e: false, is_plain: true, takes_next: false };
    for (index, letter) in letters.char_indices() {
        let rest = &letters[index + letter.len_utf8()..];
        match letter {
            'e' => read.has_e = true,
            'A' | 'a' | 'F' | 'f' | 'H' | 'j' | 'L' | 'l' | 'c' | 'd' | 'N' | 'T' | 'w' | 'y' | 'Z' | 'M'
            | 'm' | 'P' => {}
            'o' | 'O' | 'p' | 'q' | 'C' | 'u' | 'U' | 'g' | 'G' | 's' | 't' | 'k' => {
                read.takes_next = rest.is_empty();
                let value = if rest.is_empty() { next.unwrap_or_default() } else { rest };
                let is_number =
                    || value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '));
                match letter {
                    'o' | 'O' => {}
                    'p' | 'q' => read.is_plain &= is_number(),
                    _ => {
                        // In the BSD style, the value consists of letters.
                        read.has_e |= value.contains('e') && value.chars().all(|c| OLD.contains(c));
                        read.has_e |= !read.takes_next && value.contains('e');
                        read.is_plain = false;
                    }
                }
                return read;
            }
            _ => read.is_plain = false,
        }
    }
    read
}
