//! Handler of a server's notifications and requests.

#![expect(deprecated, reason = "servers log and use models in the versions that have it")]

use super::asked;
use super::log;
use super::sampling;
use super::server::Server;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, FormElicitationCapability,
    Implementation, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion, Root, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use std::path::Path;
use std::sync::Arc;
use url::Url;

/// The directory that is worked on, as servers hear of it: the workspace. None for a server that hears of no directory.
pub(super) fn roots(workspace: Option<&Path>) -> ListRootsResult {
    let Some(workspace) = workspace else { return ListRootsResult::new(Vec::new()) };
    let workspace = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
    let name = workspace.file_name().map(|name| name.to_string_lossy().into_owned());
    let root = Url::from_directory_path(&workspace).ok().map(|url| {
        // Without the slash at the end, as other clients write it.
        let url = url.as_str();
        let root = Root::new(url.strip_suffix('/').filter(|url| *url != "file://").unwrap_or(url));
        name.into_iter().fold(root, Root::with_name)
    });
    ListRootsResult::new(root.into_iter().collect())
}

/// The handler of a connection's messages.
#[derive(Debug, Clone)]
pub(super) struct Handler(pub(super) Arc<Server>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = self.0.may_ask.then(|| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default())
        });
        let mut capabilities = match self.0.workspace {
            Some(_) => ClientCapabilities::builder().enable_roots().build(),
            None => ClientCapabilities::default(),
        };
        capabilities.elicitation = elicitation;
        capabilities.sampling = self.0.options.sampling.as_ref().map(|_| SamplingCapability::default());
        let options = &self.0.options;
        let mut info = ClientConfig::new(capabilities, Implementation::new(&options.name, &options.version));
        // The last version that begins with `initialize`.
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if !self.0.may_ask {
            tracing::warn!(server = &*self.0.name, "it asks a person, which it may not");
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, asked::NOT_ASKED, None));
        }
        let Some(asking) = self.0.calls.asking() else {
            tracing::warn!(
                server = &*self.0.name,
                "it asks a question that belongs to no call, or to one of several callers"
            );
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        tokio::select! {
            answer = asked::elicit(&self.0.source, &asking, params) => answer.or_else(|error| {
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
        let Some(model) = &self.0.options.sampling else {
            let text = "the capability `sampling` is not declared: this client's model is not used";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None));
        };
        let Some(asking) = self.0.calls.asking() else {
            return Err(ErrorData::invalid_request(
                "there is no call for which the model could be used",
                None,
            ));
        };
        tokio::select! {
            answer = sampling::answer((&self.0.source, &self.0.name), model, &asking, params) => answer,
            () = context.ct.cancelled() => Err(ErrorData::invalid_request("it was cancelled", None)),
        }
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(roots(self.0.workspace.as_deref()))
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
