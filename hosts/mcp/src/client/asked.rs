//! Requests of a server to the user at this end.

use super::visible;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use toolkit::{Ask, ToolContext, ToolError, ToolErrorKind, approval::Elicitation, descriptor::Source};
use url::Url;

/// The error of a server that may not ask people.
pub(super) const NOT_ASKED: &str =
    "the capability `elicitation` is not declared: this server may ask no person";

/// The kind of permission to send a person to an address.
const KIND: &str = "mcp_url";

/// Passes a server's request to the user who made the call, in the server's name.
///
/// # Errors
///
/// If no user can be asked, or the call is over.
pub(super) async fn elicit(
    source: &Source,
    context: &ToolContext,
    params: ElicitRequestParams,
) -> Result<ElicitResult, ToolError> {
    let (message, requested_schema) = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, requested_schema)
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            return open(source, context, &message, &url).await;
        }
        _ => return Ok(ElicitResult::new(ElicitationAction::Decline)),
    };
    let mut schema = serde_json::to_value(&requested_schema).map_err(ToolError::wrap)?;
    visible::schema(&mut schema).map_err(ToolError::failed)?;
    let message = visible::text(message);
    let elicitation = Elicitation::new(format!("{} asks: {message}", at_the_beginning(source)), schema)?;
    let defaults = defaults(&elicitation.schema);
    match context.elicit_value(elicitation).await {
        Ok(Some(mut value)) => {
            if let Value::Object(members) = &mut value {
                for (name, default) in defaults {
                    members.entry(name).or_insert(default);
                }
            }
            Ok(ElicitResult::new(ElicitationAction::Accept).with_content(value))
        }
        Ok(None) => Ok(ElicitResult::new(ElicitationAction::Decline)),
        Err(error) if error.kind() == ToolErrorKind::Aborted && !context.is_cancelled() => {
            Ok(ElicitResult::new(ElicitationAction::Cancel))
        }
        Err(error) => Err(error),
    }
}

/// Returns the name of a source for the beginning of a sentence.
fn at_the_beginning(source: &Source) -> String {
    let name = source.to_string();
    let mut rest = name.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}

/// Asks the user to open a URL. Nothing is opened here: the user does that.
async fn open(
    source: &Source,
    context: &ToolContext,
    message: &str,
    url: &str,
) -> Result<ElicitResult, ToolError> {
    let page = Page::of(url)
        .map_err(|why| ToolError::failed(format!("{source} names an address that is not shown: {why}")))?;
    let ask = Ask::new(KIND, format!("go on in a browser, where {source} sends you"))
        .with_pattern(&page.url)
        .with_text("address", &page.url)
        .with_text("host", &page.host)
        .with_text("says", message)
        .with_text("how", "open the address yourself, then allow this; it is not opened for you")
        .raised()
        .once_only();
    let action = match context.ask_in_person(ask).await {
        Ok(()) => ElicitationAction::Accept,
        Err(error) if error.kind() == ToolErrorKind::Denied => ElicitationAction::Decline,
        Err(error) if error.kind() == ToolErrorKind::Aborted && !context.is_cancelled() => {
            ElicitationAction::Cancel
        }
        Err(error) => return Err(error),
    };
    Ok(ElicitResult::new(action))
}

/// An address that a person is sent to.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    url: String,
    /// Host with its port, in the form that a browser shows, and in the ASCII form if that differs.
    host: String,
}

impl Page {
    fn of(url: &str) -> Result<Self, String> {
        let parsed = Url::parse(url).map_err(|error| error.to_string())?;
        if !matches!(parsed.scheme(), "https" | "http") {
            return Err(format!("its scheme is {:?}, and only `https` and `http` are used", parsed.scheme()));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err("it names a user, which makes another host look like its own".to_owned());
        }
        let sent = parsed.host_str().unwrap_or_default();
        let read = url::quirks::domain_to_unicode(sent);
        let port = parsed.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = match read.as_str() {
            "" => format!("{sent}{port}"),
            read if read == sent => format!("{sent}{port}"),
            read => format!("{read}{port} (sent as {sent})"),
        };
        Ok(Self { url: parsed.into(), host })
    }
}

/// Returns the default values of the fields of a form.
fn defaults(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_readable() {
        for (url, shown, host) in [
            ("https://example.com/a?b=c", "https://example.com/a?b=c", "example.com"),
            (
                "https://bücher.example:8443/",
                "https://xn--bcher-kva.example:8443/",
                "bücher.example:8443 (sent as xn--bcher-kva.example)",
            ),
            (
                "https://xn--bcher-kva.example/",
                "https://xn--bcher-kva.example/",
                "bücher.example (sent as xn--bcher-kva.example)",
            ),
            ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x", "127.0.0.1:9"),
            ("https://a.example/%E2%80%AE\u{202e}", "https://a.example/%E2%80%AE%E2%80%AE", "a.example"),
        ] {
            let expected = Page { url: shown.to_owned(), host: host.to_owned() };
            assert_eq!(Page::of(url), Ok(expected));
        }
        for (url, why) in [
            ("javascript:alert(1)", "its scheme is \"javascript\""),
            ("file:///etc/passwd", "its scheme is \"file\""),
            ("https://bank.example@evil.example/", "it names a user"),
            ("nothing", "relative URL without a base"),
        ] {
            assert!(Page::of(url).unwrap_err().contains(why), "{url}");
        }
    }
}
