//! `gateway`: the host itself.

use toolkit::prelude::*;
use toolkit::{Caller, Preparation};

use super::service::{GatewayService, GatewayStatus};
use crate::titles;

const NO_SERVICE: &str = "this host is no gateway";

/// The action.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum GatewayAction {
    /// Shows the status.
    Status,
    /// Restarts the gateway, where its configuration allows that.
    Restart,
}

/// The result.
#[toolkit::args]
#[derive(Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct GatewayResult {
    /// The status.
    pub status: Option<GatewayStatus>,
    /// True if the gateway restarts.
    pub restarting: Option<bool>,
}

/// Hides the tool where the host is no gateway.
async fn provided(_caller: &Caller, tool: &mut Preparation) {
    if tool.service::<dyn GatewayService>().is_none() {
        tool.hide(NO_SERVICE);
    }
}

/// Shows the status of the gateway in which this session lives, or restarts it. A restart lets other runs end; this run goes on after it.
///
/// # Errors
///
/// If a restart is not enabled, not allowed for this session's person, or denied.
#[tool(
    name = "gateway",
    group = "automation",
    title = "Show or restart the gateway",
    permission = "gateway",
    asks,
    prepare = provided
)]
pub async fn gateway(
    ctx: &ToolContext,
    /// The action.
    action: GatewayAction,
) -> Result<Json<GatewayResult>, ToolError> {
    let service = ctx.service::<dyn GatewayService>().ok_or_else(|| ToolError::unavailable(NO_SERVICE))?;
    let mut result = GatewayResult::default();
    match action {
        GatewayAction::Status => {
            titles::begin(ctx, "Status of the gateway", "");
            result.status = Some(service.status(ctx).await?);
        }
        GatewayAction::Restart => {
            titles::begin(ctx, "Restart the gateway", "");
            // Before the question: nobody approves what is refused then.
            service.check_restart(ctx).await?;
            ctx.ask(Ask::new("gateway", "Restart the gateway").with_pattern("restart").before_acting())
                .await?;
            service.restart(ctx).await?;
            result.restarting = Some(true);
        }
    }
    Ok(Json(result))
}
