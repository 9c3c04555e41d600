//! Archives and compressed files: commands that list or show their content.

use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;
use std::fs::File;
use std::io::Read as _;

/// Judges a command that only lists or shows. Returns true if it is one; others are judged as unknown programs.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    let Some(files) = (match base {
        "tar" | "bsdtar" => tar(&words),
        "unzip" => unzip(&words, b"lZpctvzq12sSmhMC", false),
        "zipinfo" => unzip(&words, b"12hlmstvzZMTCq", true),
        "ar" => ar(&words),
        _ => stream(base, &words),
    }) else {
        return false;
    };
    if matches!(base, "tar" | "bsdtar") {
        part.starts
            .extend(["gzip", "bzip2", "xz", "lzma", "lzip", "lzop", "zstd", "compress"].map(str::to_owned));
    }
    if base == "zcat" || base == "gunzip" {
        part.starts.push("gzip".to_owned());
    }
    part.class = part.class.max(Class::ReadOnly);
    for file in files {
        if file == "-" {
            continue;
        }
        if base == "ar" && is_thin(judge, file) {
            part.has(Class::Unknown, "the archive names files elsewhere, which are read");
        }
        judge.path(&Value::Text(file.to_owned()), Access::Read, part);
        // If the file does not exist, these are tried.
        for ending in [
            ".gz", ".z", "-gz", "-z", "_z", ".Z", ".tgz", ".taz", ".xz", ".lzma", ".bz2", ".zst", ".zip",
            ".ZIP",
        ] {
            let other = format!("{file}{ending}");
            if judge.absolute(&other).is_some_and(|path| path.symlink_metadata().is_ok()) {
                judge.path(&Value::Text(other), Access::Read, part);
            }
        }
    }
    true
}

/// The archive of a `tar` that lists.
fn tar<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    let (mut lists, mut files) = (false, Vec::new());
    let mut rest = words.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        if let Some(long) = word.strip_prefix("--") {
            match long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))) {
                ("list", None) => lists = true,
                (
                    "verbose" | "gzip" | "bzip2" | "xz" | "zstd" | "auto-compress" | "numeric-owner"
                    | "full-time" | "wildcards" | "force-local" | "utc",
                    None,
                )
                | ("exclude" | "strip-components", Some(_)) => {}
                ("file", Some(file)) => files.push(file),
                ("file", None) => files.push(rest.next()?.1),
                _ => return None,
            }
            continue;
        }
        // The old way has the letters of the first word without a dash.
        let letters = match word.strip_prefix('-') {
            Some(letters) => letters,
            None if at == 0 => word,
            // A member.
            None => continue,
        };
        for (index, letter) in letters.char_indices() {
            match letter {
                't' => lists = true,
                'v' | 'z' | 'j' | 'J' | 'a' => {}
                'f' if index + 1 == letters.len() || at == 0 && !word.starts_with('-') => {
                    files.push(rest.next()?.1);
                }
                'f' => {
                    files.push(&letters[index + 1..]);
                    break;
                }
                _ => return None,
            }
        }
    }
    // One with a colon is on another machine.
    (lists && !files.is_empty() && files.iter().all(|file| !file.contains(':'))).then_some(files)
}

/// The archive of one that only lists or shows with some of these letters; whether it does so without any.
fn unzip<'w>(words: &[&'w str], known: &[u8], mut shows: bool) -> Option<Vec<&'w str>> {
    let mut operands = Vec::new();
    for word in words {
        match word.strip_prefix('-') {
            Some(letters) if operands.is_empty() => {
                shows |= letters.contains(['l', 'Z', 'p', 'c', 't', 'v', 'z']);
                if !letters.bytes().all(|byte| known.contains(&byte)) {
                    return None;
                }
            }
            _ => operands.push(*word),
        }
    }
    // It takes the name of an archive for a pattern.
    let is_plain = operands.first().is_some_and(|name| !name.contains(['*', '?', '[']));
    (shows && is_plain).then(|| operands[..1].to_vec())
}

fn ar<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    let letters = words.first()?.trim_start_matches('-');
    let reads = letters.starts_with('t') && letters.bytes().all(|byte| b"tvO".contains(&byte));
    let file = *words.get(1)?;
    // Options may be at any position.
    (reads && words[1..].iter().all(|word| !word.starts_with(['-', '@']))).then(|| vec![file])
}

/// Returns true if a file is a thin archive, which only names its members, wherever they are: reading it reads the
/// members.
pub(crate) fn is_thin(judge: &Judge<'_>, file: &str) -> bool {
    let Some(path) = judge.absolute(file) else { return false };
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut begin = [0; 7];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *b"!<thin>"
}

/// Returns the operands of commands that write their content to standard output, given such an option.
fn stream<'w>(base: &str, words: &[&'w str]) -> Option<Vec<&'w str>> {
    let mut letters = String::new();
    let mut operands = Vec::new();
    for word in words {
        match *word {
            "--stdout" | "--to-stdout" => letters.push('c'),
            "--list" => letters.push('l'),
            "--test" => letters.push('t'),
            "--decompress" | "--uncompress" => letters.push('d'),
            "--keep" | "--force" => letters.push('k'),
            "--quiet" | "--verbose" | "--name" | "--no-name" => {}
            // No other long option is of these letters alone.
            word if word.starts_with('-') => {
                if !word[1..].bytes().all(|byte| b"cdlktqvfnN0123456789".contains(&byte)) {
                    return None;
                }
                letters.push_str(&word[1..]);
            }
            word => operands.push(word),
        }
    }
    let to_output = base == "zcat" || letters.contains('c');
    // Of the options that select the function, the last counts.
    let only_looks = letters.contains(['l', 't']) && !letters.contains(['d', 'k', 'f']);
    // Without a file it reads its input, and writes its output.
    (to_output || only_looks || operands.is_empty()).then_some(operands)
}
