//! Conversions of values that a tool function may return without a wrapper.

use super::{Image, IntoToolOutput, JsonOutput, ToolOutput};
use crate::arg::{ArgsType, schema_of};
use crate::content::Content;
use crate::error::ToolError;
use crate::schema::SchemaFn;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

macro_rules! texts {
    ($($type:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl IntoToolOutput for $type {
                fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                    Ok(ToolOutput::text(self))
                }
            }
        )*
    };
}

texts!(String, &'static str, Cow<'static, str>, char);

macro_rules! values {
    ($($type:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl IntoToolOutput for $type {
                const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<Self>);

                fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                    ToolOutput::json(&self)
                }
            }
        )*
    };
}

// No 128-bit integers: JSON numbers end at 64 bits here, and a larger value would fail at run time.
values!(bool, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f64);

#[diagnostic::do_not_recommend]
impl IntoToolOutput for f32 {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<Self>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        // Converted through its decimal form, so that 0.1 stays 0.1.
        self.to_string().parse::<f64>()?.into_tool_output()
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::default())
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for Content {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput { content: vec![self], ..ToolOutput::default() })
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for Vec<Content> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput { content: self, ..ToolOutput::default() })
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for Vec<Image> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let mut all = ToolOutput::default();
        for image in self {
            let ToolOutput { content, attachments, .. } = image.into_tool_output()?;
            all.content.extend(content);
            all.attachments.extend(attachments);
        }
        Ok(all)
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for (String, Image) {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let (text, image) = self;
        (text, vec![image]).into_tool_output()
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for (String, Vec<Image>) {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let (text, images) = self;
        let mut output = images.into_tool_output()?;
        output.content.insert(0, Content::text(text));
        Ok(output)
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: ArgsType + JsonOutput> IntoToolOutput for T {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<T>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput> IntoToolOutput for Vec<T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<Self>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput> IntoToolOutput for BTreeMap<String, T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<Self>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput, S> IntoToolOutput for HashMap<String, T, S> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<BTreeMap<String, T>>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        // Sorted, so that equal maps give equal texts.
        self.into_iter().collect::<BTreeMap<_, _>>().into_tool_output()
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = match T::OUTPUT_SCHEMA {
        Some(_) => Some(schema_or_null::<T>),
        None => None,
    };
    const TEXT_SAYS_MORE: bool = T::TEXT_SAYS_MORE;

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match self {
            Some(value) => value.into_tool_output(),
            None => Value::Null.into_tool_output(),
        }
    }
}

/// Returns the schema of an output that may be `null`.
fn schema_or_null<T: IntoToolOutput>(generator: &mut SchemaGenerator) -> Schema {
    match T::OUTPUT_SCHEMA {
        Some(schema) => json_schema!({ "anyOf": [schema(generator), {"type": "null"}] }),
        None => Schema::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the text and the details of an output.
    fn told(value: impl IntoToolOutput) -> (String, Option<Value>) {
        let output = value.into_tool_output().unwrap();
        (output.to_text(), output.details)
    }

    #[test]
    fn values_are_their_json() {
        assert_eq!(told(5_u8), ("5".to_owned(), Some(json!(5))));
        assert_eq!(told(u64::MAX), (u64::MAX.to_string(), Some(json!(u64::MAX))));
        assert_eq!(told(i64::MIN), (i64::MIN.to_string(), Some(json!(i64::MIN))));
        assert_eq!(told(true), ("true".to_owned(), Some(json!(true))));
        assert_eq!(told(0.5_f64), ("0.5".to_owned(), Some(json!(0.5))));
        assert_eq!(told(0.1_f32), ("0.1".to_owned(), Some(json!(0.1))));
        assert_eq!(told(f32::NAN), ("null".to_owned(), Some(json!(null))));
        assert_eq!(told(f64::INFINITY), ("null".to_owned(), Some(json!(null))));
        assert_eq!(told(json!({"a": 1})), ("{\n  \"a\": 1\n}".to_owned(), Some(json!({"a": 1}))));
    }

    #[test]
    fn texts_are_no_structured_data() {
        assert_eq!(told('c'), ("c".to_owned(), None));
        assert_eq!(told("text"), ("text".to_owned(), None));
    }

    #[test]
    fn lists_and_maps_are_their_json() {
        assert_eq!(told(vec!["a"]), ("[\n  \"a\"\n]".to_owned(), Some(json!(["a"]))));
        let map = HashMap::from([("b".to_owned(), vec![1]), ("a".to_owned(), vec![])]);
        let (text, details) = told(map);
        assert_eq!(details, Some(json!({"a": [], "b": [1]})));
        assert!(text.find("\"a\"") < text.find("\"b\""), "{text}");
        // Content blocks are returned unchanged.
        assert_eq!(told(vec![Content::text("a"), Content::text("b")]), ("a\nb".to_owned(), None));
    }

    #[test]
    fn nothing_is_null() {
        assert_eq!(told(Some("text")), ("text".to_owned(), None));
        assert_eq!(told(Some(5)), ("5".to_owned(), Some(json!(5))));
        assert_eq!(told(None::<String>), ("null".to_owned(), Some(json!(null))));
        assert_eq!(told(Some(Some(true))), ("true".to_owned(), Some(json!(true))));
    }

    #[test]
    fn a_schema_says_where_null_may_stand() {
        let schema = |make: Option<SchemaFn>| make.map(crate::schema::of_output);
        assert_eq!(schema(<u16 as IntoToolOutput>::OUTPUT_SCHEMA).unwrap()["maximum"], 65535);
        assert_eq!(
            schema(<Option<bool> as IntoToolOutput>::OUTPUT_SCHEMA).unwrap()["anyOf"],
            json!([
                {"type": "boolean"}, {"type": "null"}
            ])
        );
        assert_eq!(schema(<Option<String> as IntoToolOutput>::OUTPUT_SCHEMA), None);
        assert_eq!(schema(<Vec<bool> as IntoToolOutput>::OUTPUT_SCHEMA).unwrap()["items"]["type"], "boolean");
        assert_eq!(schema(<Vec<Content> as IntoToolOutput>::OUTPUT_SCHEMA), None);
    }
}
