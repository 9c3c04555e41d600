//! The memory that JSON takes once it is read.

use serde_json::Value;

/// Levels of JSON that are read: deeper text is refused.
const MAX_LEVELS: u32 = 127;
/// Memory of an element of a list or an object: lists grow by doubling, and a reader has a copy.
const ELEMENT: u64 = 4 * size_of::<Value>() as u64;
/// Memory of an object beside its first elements, with that of the copy.
const OBJECT: u64 = 2 * 512;

/// Returns the number of bytes that a JSON text may take once it is read as a [`Value`]: that of its texts, twice, and of its elements, up to the level
/// from which on it is not read. Looks at each byte once, and allocates nothing.
pub fn of_json(text: &[u8]) -> u64 {
    let (mut elements, mut objects, mut depth) = (0, 0, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' => elements += 1,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_LEVELS {
                    break;
                }
                if byte == b'[' { elements += 1 } else { objects += 1 }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    2 * text.len() as u64 + elements * ELEMENT + objects * (ELEMENT + OBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_json_is_that_of_its_texts_and_elements() {
        let text = |inner: &str| format!(r#"{{"params":{{"a":{inner}}}}}"#);
        let text_alone = text(&format!("\"{}\"", r#"[,{\\\""#.repeat(1 << 20)));
        let least = 2 * text_alone.len() as u64;
        assert!((least..least + 8 * (ELEMENT + OBJECT)).contains(&of_json(text_alone.as_bytes())));
        // At least as much as a list of numbers takes that has grown to its last doubling, and its copy.
        let count = (1 << 20) + 1;
        let numbers = text(&format!("[{}0]", "0,".repeat(count - 1)));
        let doubled = (count.next_power_of_two() * size_of::<Value>()) as u64;
        assert!(of_json(numbers.as_bytes()) >= doubled + (count * size_of::<Value>()) as u64);
        let objects = text(&format!("[{}{{}}]", r#"{"":0},"#.repeat(100_000)));
        assert!(of_json(objects.as_bytes()) >= 100_000 * (ELEMENT + OBJECT));
        let deep = text(&"[".repeat(1 << 20));
        assert!(of_json(deep.as_bytes()) < 3 << 20, "it is refused before it takes more");
    }
}
