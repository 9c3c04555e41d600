//! The ID of a message that cannot be parsed.

use rmcp::model::RequestId;
use serde_json::Value;

/// Maximum length of an ID that is searched for, in bytes.
const MAX_ID_BYTES: usize = 1_024;
/// Maximum number of levels of JSON that are read.
pub(crate) const MAX_LEVELS: u32 = 127;
/// The longest top-level key that matters, in bytes.
const MAX_KEY_BYTES: usize = 8;

/// Finds the top-level keys of a JSON object without parsing it: piece by piece, without storing them, and even in text that is
/// not valid JSON.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Scan {
    depth: u32,
    deepest: u32,
    in_string: bool,
    is_escaped: bool,
    /// The last string at the top level, with its quotes.
    string: Vec<u8>,
    is_cut: bool,
    key: Key,
    value: Vec<u8>,
    id: Option<RequestId>,
    has_id: bool,
    pub(crate) has_method: bool,
    pub(crate) has_outcome: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Key {
    #[default]
    None,
    Id,
    Other,
}

impl Scan {
    /// Reads a whole text.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.read(bytes);
        scan
    }

    /// Returns true if it has more levels than are read.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.deepest > MAX_LEVELS
    }

    /// The value of `id`, once it was read.
    pub(crate) fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// Returns true if it is an answer that names no request, so far as it was read.
    pub(crate) fn is_anonymous_answer(&self) -> bool {
        self.has_outcome && !self.has_method && !self.has_id
    }

    /// Returns true if it names a request, or is none that could be an answer, so far as it was read.
    pub(crate) fn is_named(&self) -> bool {
        self.has_id || self.has_method
    }

    /// Reads on.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next(*byte);
        }
    }

    fn next(&mut self, byte: u8) {
        if self.in_string {
            self.in_text(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.string.clear();
                    self.is_cut = false;
                    self.string.push(byte);
                }
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ if self.depth != 1 => {}
            b',' => self.end_value(),
            b':' if self.key == Key::None => self.end_key(),
            b if !b.is_ascii_whitespace() && self.key == Key::Id && self.value.len() < MAX_ID_BYTES => {
                self.value.push(b);
            }
            _ => {}
        }
    }

    fn in_text(&mut self, byte: u8) {
        if self.depth == 1 {
            let most = if self.key == Key::Id { MAX_ID_BYTES } else { MAX_KEY_BYTES };
            if self.string.len() < most {
                self.string.push(byte);
            } else {
                self.is_cut = true;
            }
        }
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => {
                self.in_string = false;
                if self.depth == 1 && self.key == Key::Id && !self.is_cut {
                    self.value = std::mem::take(&mut self.string);
                }
            }
            _ => {}
        }
    }

    fn end_key(&mut self) {
        self.key = Key::Other;
        if self.is_cut {
            return;
        }
        match self.string.as_slice() {
            b"\"id\"" => {
                self.key = Key::Id;
                self.has_id = true;
            }
            b"\"method\"" => self.has_method = true,
            b"\"result\"" | b"\"error\"" => self.has_outcome = true,
            _ => {}
        }
    }

    fn end_value(&mut self) {
        if self.key == Key::Id && self.id.is_none() {
            self.id = serde_json::from_slice::<Value>(&self.value)
                .ok()
                .and_then(|id| serde_json::from_value(id).ok());
        }
        self.key = Key::None;
        self.string.clear();
        self.value.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scan(text: &[u8]) -> (Option<Value>, bool, bool) {
        let mut scan = Scan::default();
        // In the smallest pieces.
        for byte in text {
            scan.read(&[*byte]);
        }
        (scan.id().map(|id| json!(id)), scan.is_anonymous_answer(), scan.has_method)
    }

    #[test]
    fn the_id_is_found_in_what_cannot_be_read() {
        for (text, id, is_answer, has_method) in [
            (&br#"{"jsonrpc":"2.0","id":3,"result":{"#[..], json!(3), false, false),
            (br#"{"result":{"id":7,"a":"}\"{"} , "id" : "x\"y" }"#, json!("x\"y"), false, false),
            (b"{\"result\":{\"a\":\"\xff\xfe\"},\"id\":-4}", json!(-4), false, false),
            (br#"{"error":nonsense,"id":5,"#, json!(5), false, false),
            (br#"{"id":5,"method":"roots/list","params":{{}}}"#, json!(5), false, true),
            (br#"{"jsonrpc":"2.0","text":"\"id\":1,","i\u0064":2}"#, Value::Null, false, false),
            (br#"{"id":null,"result":{}}"#, Value::Null, false, false),
            (br#"{"result":[1}"#, Value::Null, true, false),
            (br#"{"id":{"id":1},"result":{}}"#, Value::Null, false, false),
            (br#"["id",1]"#, Value::Null, false, false),
            (b"print: \"id\": 3", Value::Null, false, false),
            (b"}}}]]{\"id\":3,\"result\":1", json!(3), false, false),
            (b"", Value::Null, false, false),
        ] {
            let expected = ((!id.is_null()).then_some(id), is_answer, has_method);
            assert_eq!(scan(text), expected, "{}", String::from_utf8_lossy(text));
        }
        let long = format!(r#"{{"id":"{}","result":{{}}}}"#, "x".repeat(5_000));
        assert_eq!(scan(long.as_bytes()), (None, false, false));
    }
}
