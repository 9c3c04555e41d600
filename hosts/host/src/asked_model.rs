//! The default model, as the parts of a host ask it: each request goes through the meter.

use std::sync::Arc;
use toolkit::Caller;
use toolkit_models::{Account, Answer, Meter, Model, ModelError, Request, Scope};

/// The default model for one part of the host.
pub(crate) struct AskedModel {
    pub(crate) model: Arc<dyn Model>,
    meter: Meter,
    part: &'static str,
}

impl AskedModel {
    /// Returns a model whose requests count against the account of this part, among others.
    pub(crate) fn new(model: Arc<dyn Model>, meter: &Meter, part: &'static str) -> Self {
        Self { model, meter: meter.clone(), part }
    }

    /// Sends a request on behalf of a caller.
    pub(crate) async fn ask(&self, caller: Option<&Caller>, request: &Request) -> Result<Answer, ModelError> {
        let scope = caller.map_or_else(Scope::new, Scope::of).with(Account::part(self.part));
        self.meter.respond(&scope, &*self.model, request, None, &mut |_| {}).await
    }
}
