//! `/v1/tools`: the list, the definition of a tool, and a check of arguments.

use crate::accept::AcceptsJson;
use crate::access::Access;
use crate::answer::Answer;
use crate::body;
use crate::describe::{Shown, is_of};
use crate::last_calls;
use crate::problems::{bad_request, list as problems_of, of_refusal, unknown_tool};
use crate::web::Web;
use bytes::Bytes;
use serde_json::{Value, json};
use toolkit::{Tool, ToolErrorKind, Toolbox};
use toolkit_serve::axum::extract::rejection::{BytesRejection, PathRejection};
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::{HeaderMap, Uri};
use toolkit_serve::{Problem, Query};

/// Tools that a search returns.
const MAX_FOUND: usize = 50;
/// Bytes of the text of a search.
const MAX_QUERY: usize = 1_024;

pub(crate) async fn list(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    uri: Uri,
) -> Result<Answer, Problem> {
    let [group, source, query] = Query::of(&uri).only(["group", "source", "q"])?;
    if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY) {
        return Err(bad_request(format!("the parameter `q` has {MAX_QUERY} bytes at most")));
    }
    let client = web.inner.clients.of(&access)?;
    let toolbox = web.inner.toolbox(&access, &client).await;
    let configuration = web.inner.toolkit.configuration();
    let shown = Shown { toolbox: &toolbox, access: &access, configuration: &configuration };
    let is_wanted = |tool: &Tool| {
        group.as_deref().is_none_or(|group| tool.groups().any(|other| other == group))
            && source.as_deref().is_none_or(|source| is_of(tool.source(), source))
    };
    if let Some(query) = query {
        let hits = toolbox.search(&query, toolbox.tools().len());
        let found = hits.into_iter().map(|hit| hit.tool).filter(|tool| is_wanted(tool)).take(MAX_FOUND);
        let found: Vec<Value> = found.map(|tool| shown.entry(tool)).collect();
        return Answer::ok(&json!({ "tools": found }), &client.sent);
    }
    let mut entries: Vec<Value> =
        toolbox.tools().filter(|tool| is_wanted(tool)).map(|tool| shown.entry(tool)).collect();
    // Tools that the policy denies are there with their verdict, unless the client is limited to others.
    let denied = toolbox.denied().into_iter().filter(|denied| access.admits_name(&denied.tool));
    for denied in denied {
        if let Some(tool) =
            web.inner.toolkit.tool(&denied.tool).filter(|tool| access.admits(tool) && is_wanted(tool))
        {
            entries.push(shown.entry(&tool));
        }
    }
    entries.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    Answer::ok(&json!({ "tools": entries }), &client.sent)
}

pub(crate) async fn definition(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Answer, Problem> {
    let Path(name) = path?;
    let [] = Query::of(&uri).only([])?;
    let client = web.inner.clients.of(&access)?;
    let toolbox = web.inner.toolbox(&access, &client).await;
    let tool = find(&web, &toolbox, &access, &name)?;
    let configuration = web.inner.toolkit.configuration();
    let shown = Shown { toolbox: &toolbox, access: &access, configuration: &configuration };
    let mut definition = shown.definition(tool);
    if last_calls::data_dir(&web, &access).is_some() {
        definition["hasCalls"] = true.into();
    }
    Answer::ok(&definition, &client.sent)
}

pub(crate) async fn validate(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Answer, Problem> {
    let Path(name) = path?;
    let [] = Query::of(&uri).only([])?;
    let client = web.inner.clients.of(&access)?;
    let (arguments, _memory) = body::arguments(&headers, &bytes?, &client.read)?;
    let toolbox = web.inner.toolbox(&access, &client).await;
    find(&web, &toolbox, &access, &name)?;
    let checked = match toolbox.check_arguments(&name, arguments) {
        Ok((arguments, repairs)) => json!({ "valid": true, "arguments": arguments, "repairs": repairs }),
        Err(error) if error.kind() == ToolErrorKind::InvalidArguments => {
            let problems = error.problems().map_or_else(|| json!([]), problems_of);
            json!({ "valid": false, "problems": problems, "text": error.message() })
        }
        Err(error) => return Err(of_refusal(&error, &web.inner.toolkit.configuration(), &access)),
    };
    Answer::ok(&checked, &client.sent)
}

/// Returns a tool that the client may use.
fn find<'a>(web: &Web, toolbox: &'a Toolbox, access: &Access, name: &str) -> Result<&'a Tool, Problem> {
    if !web.inner.is_visible(toolbox, access, name) {
        return Err(unknown_tool(name));
    }
    toolbox.find(name).map_err(|error| of_refusal(&error, &web.inner.toolkit.configuration(), access))
}
