//! Reduces English words to stems: the algorithm of M. F. Porter, "An algorithm for suffix stripping" (1980), with its
//! rules named by the numbers of its steps.

/// Returns the stem of a word in lower case. A word with characters other than a to z is unchanged, except that a final
/// `s` is removed.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 3 {
        return word.to_owned();
    }
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        let is_plural =
            word.is_ascii() && word.ends_with('s') && word.as_bytes()[word.len() - 2].is_ascii_lowercase();
        return word[..word.len() - usize::from(is_plural)].to_owned();
    }
    let mut stem = Stem(word.as_bytes().to_vec());
    stem.plural();
    stem.past();
    stem.last_y();
    stem.suffix(DOUBLE, 0);
    stem.suffix(SINGLE, 0);
    stem.ending();
    stem.last_e();
    String::from_utf8(stem.0).unwrap_or_else(|_| word.to_owned())
}

/// Step 2. The first matching rule applies.
const DOUBLE: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3.
const SINGLE: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4, except for "ion".
const ENDINGS: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
];

struct Stem(Vec<u8>);

impl Stem {
    fn is_consonant(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.is_consonant(at - 1),
            _ => true,
        }
    }

    /// Returns the number of times that a consonant follows a vowel before `end`.
    fn measure(&self, end: usize) -> usize {
        (1..end).filter(|at| self.is_consonant(*at) && !self.is_consonant(at - 1)).count()
    }

    fn has_vowel(&self, end: usize) -> bool {
        (0..end).any(|at| !self.is_consonant(at))
    }

    /// Returns true if the text before `end` ends with consonant, vowel, consonant, and the last one is not w, x or y.
    fn ends_short(&self, end: usize) -> bool {
        end >= 3
            && self.is_consonant(end - 1)
            && !self.is_consonant(end - 2)
            && self.is_consonant(end - 3)
            && !matches!(self.0[end - 1], b'w' | b'x' | b'y')
    }

    fn ends_double(&self) -> bool {
        let length = self.0.len();
        length >= 2 && self.0[length - 1] == self.0[length - 2] && self.is_consonant(length - 1)
    }

    /// Returns the start of a suffix, if the word has it and has text before it.
    fn before(&self, suffix: &str) -> Option<usize> {
        self.0.ends_with(suffix.as_bytes()).then(|| self.0.len() - suffix.len()).filter(|end| *end > 0)
    }

    fn cut(&mut self, end: usize, new: &str) {
        self.0.truncate(end);
        self.0.extend(new.bytes());
    }

    /// Step 1a.
    fn plural(&mut self) {
        for (suffix, new) in [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")] {
            if let Some(end) = self.before(suffix) {
                return self.cut(end, new);
            }
        }
    }

    /// Step 1b.
    fn past(&mut self) {
        if let Some(end) = self.before("eed") {
            if self.measure(end) > 0 {
                self.cut(end, "ee");
            }
            return;
        }
        let Some(end) =
            ["ed", "ing"].iter().find_map(|suffix| self.before(suffix)).filter(|end| self.has_vowel(*end))
        else {
            return;
        };
        self.0.truncate(end);
        if ["at", "bl", "iz"].iter().any(|ending| self.0.ends_with(ending.as_bytes())) {
            self.0.push(b'e');
        } else if self.ends_double() && !matches!(self.0.last(), Some(b'l' | b's' | b'z')) {
            self.0.pop();
        } else if self.measure(self.0.len()) == 1 && self.ends_short(self.0.len()) {
            self.0.push(b'e');
        }
    }

    /// Step 1c.
    fn last_y(&mut self) {
        if let Some(end) = self.before("y").filter(|end| self.has_vowel(*end)) {
            self.cut(end, "i");
        }
    }

    /// Steps 2 and 3.
    fn suffix(&mut self, rules: &[(&str, &str)], least: usize) {
        let found = rules.iter().find_map(|(suffix, new)| Some((self.before(suffix)?, *new)));
        if let Some((end, new)) = found.filter(|(end, _)| self.measure(*end) > least) {
            self.cut(end, new);
        }
    }

    /// Step 4.
    fn ending(&mut self) {
        if let Some(end) = self.before("ion").filter(|end| matches!(self.0[end - 1], b's' | b't')) {
            if self.measure(end) > 1 {
                self.cut(end, "");
            }
            return;
        }
        let found = ENDINGS.iter().find_map(|suffix| self.before(suffix));
        if let Some(end) = found.filter(|end| self.measure(*end) > 1) {
            self.cut(end, "");
        }
    }

    /// Step 5.
    fn last_e(&mut self) {
        if let Some(end) = self.before("e") {
            let measure = self.measure(end);
            if measure > 1 || measure == 1 && !self.ends_short(end) {
                self.cut(end, "");
            }
        }
        if self.0.ends_with(b"ll") && self.measure(self.0.len()) > 1 {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_stems() {
        // From the paper, step by step, then word forms of typical queries.
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("ties", "ti"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("tanned", "tan"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("fizzed", "fizz"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("digitizer", "digit"),
            ("vietnamization", "vietnam"),
            ("operator", "oper"),
            ("feudalism", "feudal"),
            ("hopefulness", "hope"),
            ("formality", "formal"),
            ("sensibility", "sensibl"),
            ("triplicate", "triplic"),
            ("formative", "form"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("allowance", "allow"),
            ("inference", "infer"),
            ("airliner", "airlin"),
            ("adjustable", "adjust"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controll", "control"),
            ("roll", "roll"),
            ("ion", "ion"),
            ("s", "s"),
            ("as", "as"),
            ("s3", "s3"),
            ("urls2", "urls2"),
            ("2fas", "2fa"),
            ("straße", "straße"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
        for forms in [
            &["create", "creates", "created", "creating"][..],
            &["schedule", "scheduled", "scheduling", "schedules"],
            &["delete", "deleting", "deletion", "deleted"],
            &["repository", "repositories"],
            &["configure", "configuration", "configured"],
            &["archive", "archived", "archiving"],
            &["branch", "branches"],
            &["translate", "translation", "translating"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
    }
}
