//! A plain search to hold ours against: BM25 over one bag of words, as it stands in textbooks.

use serde_json::Value;
use std::collections::HashMap;
use toolkit::Tool;

/// A usual value: how soon saying a word again adds nothing.
const K1: f64 = 1.2;
/// A usual value: how much the length of a text counts.
const B: f64 = 0.75;

/// Plain BM25 over the words of names, descriptions, groups and parameters, in lower case and split at what is no letter or digit.
#[derive(Debug)]
pub struct Bm25 {
    names: Vec<String>,
    lengths: Vec<f64>,
    mean: f64,
    /// For each word in which tools it stands how often.
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl Bm25 {
    /// Of these tools.
    #[expect(clippy::cast_precision_loss, reason = "there are some thousand tools")]
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let (mut names, mut lengths, mut postings) = (Vec::new(), Vec::new(), HashMap::new());
        for (number, tool) in tools.into_iter().enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let words = words(&text(tool));
            lengths.push(words.len() as f64);
            for word in words {
                *counts.entry(word).or_default() += 1.0;
            }
            for (word, count) in counts {
                postings.entry(word).or_insert_with(Vec::new).push((number, count));
            }
            names.push(tool.name().to_owned());
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { names, lengths, mean, postings }
    }

    /// The names of the tools that fit best.
    #[expect(clippy::cast_precision_loss, reason = "there are some thousand tools")]
    pub fn search(&self, query: &str, limit: usize) -> Vec<String> {
        let mut scores = vec![0.0; self.names.len()];
        for word in words(query) {
            let Some(postings) = self.postings.get(&word) else { continue };
            let (all, with) = (self.names.len() as f64, postings.len() as f64);
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for (number, count) in postings {
                let length = 1.0 - B + B * self.lengths[*number] / self.mean;
                scores[*number] += rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        let mut found: Vec<usize> = (0..scores.len()).filter(|number| scores[*number] > 0.0).collect();
        found.sort_by(|one, other| {
            scores[*other].total_cmp(&scores[*one]).then_with(|| self.names[*one].cmp(&self.names[*other]))
        });
        found.into_iter().take(limit).map(|number| self.names[number].clone()).collect()
    }
}

fn text(tool: &Tool) -> String {
    let mut parts = vec![tool.name(), tool.description()];
    parts.extend(tool.groups());
    let schema = tool.input_schema().ok();
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    for (name, parameter) in properties.into_iter().flatten() {
        parts.push(name);
        parts.extend(parameter.get("description").and_then(Value::as_str));
    }
    parts.join(" ")
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
