//! The `OpenAPI` description.

use super::Server;
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

/// A tree.
#[toolkit::args]
struct Tree {
    /// Its name.
    name: String,
    /// Its branches.
    branches: Vec<Tree>,
}

/// Counts a tree.
#[tool(read_only)]
async fn count_tree(
    /** The tree. */
    tree: Tree,
) -> Json<Vec<u32>> {
    Json(vec![u32::try_from(tree.branches.len()).unwrap_or(u32::MAX)])
}

/// Old.
#[tool(read_only, deprecated = "use `count_tree`")]
async fn old() {}

fn dynamic(name: &str, schema: Value) -> Tool {
    Tool::builder(name)
        .description("Made at run time.")
        .read_only()
        .input_schema(schema)
        .build(|_, _| async { "" })
        .unwrap()
}

async fn description() -> Value {
    let odd = dynamic("odd", json!({ "type": "object", "properties": { "a": { "type": "integer" } } }));
    let near =
        dynamic("odd_input", json!({ "type": "object", "properties": { "b": { "type": "integer" } } }));
    let toolkit = Toolkit::empty().tools([tool_ref!(count_tree), tool_ref!(old)]).tools([odd, near]).build();
    Server::start(toolkit.unwrap()).await.get("/v1/openapi.json").await.result()
}

#[tokio::test]
async fn each_tool_is_a_path_with_its_schema() {
    let document = description().await;
    assert_eq!(document["openapi"], "3.1.0");
    for name in ["count_tree", "old", "odd", "odd_input"] {
        let operation = &document["paths"][format!("/v1/tools/{name}/call")]["post"];
        let schema = operation.pointer("/requestBody/content/application~1json/schema/$ref").unwrap();
        let component = schema.as_str().unwrap().strip_prefix('#').unwrap();
        assert_eq!(document.pointer(component).unwrap()["type"], "object", "{name}");
        assert_eq!(operation["responses"]["422"]["$ref"], "#/components/responses/E422");
    }
    assert_eq!(document["paths"]["/v1/tools/old/call"]["post"]["deprecated"], true);
    let property = |component: &str| document["components"]["schemas"][component]["properties"].to_string();
    assert!(property("odd_input").contains("\"a\"") && property("odd_input_input").contains("\"b\""));
}

#[tokio::test]
async fn every_reference_leads_somewhere_and_no_operation_has_a_name_twice() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = description().await;
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50);
    for reference in found {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    let paths = document["paths"].as_object().unwrap();
    let mut ids: Vec<&Value> = paths
        .values()
        .flat_map(|item| item.as_object().unwrap().values())
        .map(|operation| &operation["operationId"])
        .collect();
    let count = ids.len();
    ids.sort_by_key(ToString::to_string);
    ids.dedup();
    assert_eq!(ids.len(), count);
    // Questions are described where they are answered.
    assert!(!paths.contains_key("/v1/asks"));
}
