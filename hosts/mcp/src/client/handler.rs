//! What a server says without being asked, and what it asks.

#![expect(deprecated, reason = "servers log and use models in the versions that have it")]

use super::asked;
use super::log;
use super::sampling;
use super::server::Server;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use std::sync::Arc;

/// This end of a connection.
#[derive(Debug, Clone)]
pub(super) struct Handler(pub(super) Arc<Server>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_elicitation().build();
        capabilities.sampling = self.0.options.sampling.as_ref().map(|_| SamplingCapability::default());
        let options = &self.0.options;
        let mut info = ClientConfig::new(capabilities, Implementation::new(&options.name, &options.version));
        // What begins with a greeting; later versions have none.
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(asking) = self.0.calls.asking() else {
            tracing::warn!(
                server = &*self.0.name,
                "it asks a question that is of no call, or of one of several callers"
            );
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        tokio::select! {
            answer = asked::elicit(&self.0.name, &asking, params) => answer.or_else(|error| {
                tracing::warn!(server = &*self.0.name, "its question could not be asked: {error}");
                Ok(ElicitResult::new(ElicitationAction::Decline))
            }),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let (Some(model), Some(asking)) = (&self.0.options.sampling, self.0.calls.asking()) else {
            return Err(ErrorData::invalid_request(
                "there is no call for which the model could be used",
                None,
            ));
        };
        tokio::select! {
            answer = sampling::answer(&self.0.name, model, &asking, params) => answer,
            () = context.ct.cancelled() => Err(ErrorData::invalid_request("it was cancelled", None)),
        }
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.calls.progress(params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.calls.log(log::message(&self.0.name, params));
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }
}
