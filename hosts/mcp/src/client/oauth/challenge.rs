//! The reason for which a server refuses a request.

use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// The reason for which a server refuses a request.
pub(super) struct Challenge {
    pub(super) header: String,
    /// Scope that a valid token lacks.
    pub(super) wants: Option<String>,
    /// The authorization server no longer knows this program.
    pub(super) is_forgotten: bool,
}

impl Challenge {
    pub(super) fn of(error: &StreamableHttpError<reqwest::Error>) -> Option<Self> {
        match error {
            StreamableHttpError::AuthRequired(error) => {
                Some(Self { header: error.www_authenticate_header.clone(), wants: None, is_forgotten: false })
            }
            // Not every server that forbids something means that.
            StreamableHttpError::InsufficientScope(error)
                if error.www_authenticate_header.contains("insufficient_scope") =>
            {
                Some(Self {
                    header: error.www_authenticate_header.clone(),
                    wants: Some(error.required_scope.clone().unwrap_or_default()),
                    is_forgotten: false,
                })
            }
            // Servers that keep registrations in memory lose them at each restart.
            StreamableHttpError::Auth(AuthError::TokenRefreshFailed(why))
                if why.contains("invalid_client") || why.contains("unauthorized_client") =>
            {
                Some(Self { header: String::new(), wants: None, is_forgotten: true })
            }
            _ => None,
        }
    }
}
