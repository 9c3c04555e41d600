//! A model with others that are used where it fails.

use crate::model::{Model, ModelEvent, Price, Responding};
use crate::request::Request;
use std::sync::Arc;
use toolkit::dialects::Dialect;

/// A model with others that are used, one after the other, where it fails before an answer has begun.
pub struct Fallback {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl Fallback {
    /// Returns a model that is the first one, unless that fails.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        Self { first, others: others.into_iter().collect() }
    }
}

impl Model for Fallback {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn dialect(&self) -> Dialect {
        self.first.dialect()
    }

    /// Returns the smallest context window that is known: each of the models may get the conversation.
    fn context_tokens(&self) -> Option<u64> {
        let all = std::iter::once(&self.first).chain(&self.others);
        all.filter_map(|model| model.context_tokens()).min()
    }

    /// Returns the smallest limit that is known: each of the models may get the request.
    fn max_tokens(&self) -> Option<u32> {
        let all = std::iter::once(&self.first).chain(&self.others);
        all.filter_map(|model| model.max_tokens()).min()
    }

    /// Returns the longest answer: each of the models may get the request.
    fn most_answer_tokens(&self, request: &Request) -> u64 {
        self.others
            .iter()
            .map(|model| model.most_answer_tokens(request))
            .fold(self.first.most_answer_tokens(request), u64::max)
    }

    /// Returns true if each of the models limits its answer: each may get the request.
    fn limits_answer(&self, request: &Request) -> bool {
        std::iter::once(&self.first).chain(&self.others).all(|model| model.limits_answer(request))
    }

    /// Returns the highest price of each kind: each of the models may get the request.
    fn price(&self) -> Option<Price> {
        let all = std::iter::once(&self.first).chain(&self.others);
        all.filter_map(|model| model.price()).reduce(Price::or_higher)
    }

    fn price_of(&self, model: &str) -> Option<Price> {
        let mut all = std::iter::once(&self.first).chain(&self.others);
        let answered = all.find(|other| other.name() == model);
        answered.map_or_else(|| self.first.price(), |answered| answered.price_of(model))
    }

    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(async move {
            let mut model = &self.first;
            let mut others = self.others.iter();
            loop {
                let mut has_begun = false;
                let mut watched = |event: ModelEvent| {
                    has_begun |= matches!(
                        event,
                        ModelEvent::Started
                            | ModelEvent::Text(_)
                            | ModelEvent::Reasoning(_)
                            | ModelEvent::ToolCall(_)
                    );
                    events(event);
                };
                let error = match model.respond(request, &mut watched).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                };
                let next = if has_begun || !error.is_of_this_model() { None } else { others.next() };
                let Some(next) = next else { return Err(error) };
                let (from, to) = (model.name().to_owned(), next.name().to_owned());
                events(ModelEvent::Fallback { from, to, reason: error.to_string() });
                model = next;
            }
        })
    }
}

impl std::fmt::Debug for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.others.iter().map(|model| model.name()).collect();
        f.debug_struct("Fallback").field("first", &self.first.name()).field("others", &names).finish()
    }
}
