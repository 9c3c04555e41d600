//! A model that answers as it did in a transcript.

use super::parse::Damage;
use super::{Record, TranscriptError, Transcripts};
use std::collections::VecDeque;
use toolkit_models::{Answer, Scripted};

/// The answers of a transcript, for tests that replay a run without a model.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    answers: VecDeque<Answer>,
}

impl Transcripts {
    /// Returns the answers of a transcript in their order. Blocks.
    ///
    /// # Errors
    ///
    /// There is no such transcript, it is damaged, or earlier segments of it were removed.
    pub fn replay(&self, id: &str) -> Result<Replay, TranscriptError> {
        let loaded = self.load_history(id, Damage::Refuse)?;
        if let Some(missing) = loaded.missing.first() {
            return Err(TranscriptError::missing(id, missing));
        }
        let answers = loaded.records.into_iter().filter_map(|record| match record {
            Record::Answer { answer, .. } => Some(*answer),
            _ => None,
        });
        Ok(Replay { answers: answers.collect() })
    }
}

impl Replay {
    /// Returns the answers.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter()
    }

    /// Returns a model that gives these answers, one for each request.
    pub fn model(self) -> Scripted {
        Scripted::new(self.answers)
    }
}
