//! The description of the routes and tools, as `OpenAPI` 3.1.

mod paths;
mod schemas;

use crate::access::{Access, Asking};
use schemas::Components;
use serde_json::{Map, Value, json};
use toolkit::Toolbox;

/// An `OpenAPI` 3.1 document, to which a host adds its own paths.
///
/// ```
/// # use toolkit_web::Description;
/// # fn extend(description: Description) -> serde_json::Value {
/// description
///     .title("My service", "1.0.0")
///     .path("/v1/health", serde_json::json!({ "get": { "responses": { "200": { "description": "It is well." } } } }))
///     .into_json()
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Description(Value);

impl Description {
    /// Sets the title and the version of the service.
    #[must_use]
    pub fn title(mut self, title: &str, version: &str) -> Self {
        self.0["info"]["title"] = title.into();
        self.0["info"]["version"] = version.into();
        self
    }

    /// Adds a path item, in place of one that is there.
    #[must_use]
    pub fn path(mut self, path: &str, item: Value) -> Self {
        self.0["paths"][path] = item;
        self
    }

    /// Adds a schema to the components, in place of one that is there.
    #[must_use]
    pub fn schema(mut self, name: &str, schema: Value) -> Self {
        self.0["components"]["schemas"][name] = schema;
        self
    }

    /// Returns the document.
    pub fn into_json(self) -> Value {
        self.0
    }
}

/// Describes the routes for a client, and its tools.
pub(crate) fn describe(toolbox: &Toolbox, access: &Access) -> Description {
    let mut components = Components::new();
    let mut all: Map<String, Value> = paths::fixed(access.mode() == Asking::Served);
    for tool in toolbox.tools() {
        let (path, item) = paths::of_tool(tool, &mut components);
        all.insert(path, item);
    }
    Description(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tools",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The tools of a toolkit: their list and schemas, a check of arguments, and calls.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": all,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": paths::responses(),
            "parameters": paths::parameters(),
            "schemas": components.into_schemas(),
        },
    }))
}
