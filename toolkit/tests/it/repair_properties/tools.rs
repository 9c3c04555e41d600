//! One tool a type.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

#[toolkit::args]
pub(crate) struct Plain {
    flag: bool,
    letter: Option<char>,
    #[serde(rename = "fileName")]
    file_name: PathBuf,
    size: Option<u16>,
    inner: Option<Inner>,
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inner {
    first_value: i64,
    second_value: Option<Vec<u64>>,
}

#[toolkit::args]
#[serde(transparent)]
pub(crate) struct Newtype(u32);

#[toolkit::args]
pub(crate) struct Pair(u8, Option<String>);

#[toolkit::args]
pub(crate) enum Units {
    One,
    TwoWords,
    Three,
}

#[toolkit::args]
#[serde(rename_all = "snake_case")]
pub(crate) enum External {
    Unit,
    NewType(i8),
    Fields { a_b: u8, c: Option<bool> },
    Two(u8, char),
}

#[toolkit::args]
#[serde(tag = "kind")]
pub(crate) enum Internal {
    Unit,
    Fields { n: u64, s: Option<String> },
    Wraps(Inner),
}

#[toolkit::args]
#[serde(tag = "t", content = "c")]
pub(crate) enum Adjacent {
    Unit,
    NewType(i64),
    Fields { n: u8 },
}

#[toolkit::args]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(i64),
    Text(String),
    List(Vec<u8>),
}

#[toolkit::args]
pub(crate) struct Flattened {
    name: String,
    #[serde(flatten)]
    inner: Inner,
}

#[toolkit::args]
pub(crate) struct FlattenedEnum {
    name: String,
    #[serde(flatten)]
    inner: Adjacent,
}

#[toolkit::args]
pub(crate) struct FlattenedMap {
    name: bool,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

#[toolkit::args]
pub(crate) struct Tree {
    value: u8,
    children: Option<Vec<Tree>>,
}

macro_rules! tools {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            /// Answers with what it got.
            #[tool(read_only)]
            async fn $name(value: $type) -> String {
                serde_json::to_string(&value).unwrap()
            }
        )*

        pub(crate) fn all() -> Vec<Tool> {
            vec![$(tool_ref!($name)),*]
        }
    };
}

tools!(
    a_bool: bool, a_char: char, a_string: String, a_path: PathBuf,
    an_i8: i8, an_i16: i16, an_i32: i32, an_i64: i64, an_isize: isize,
    a_u8: u8, a_u16: u16, a_u32: u32, a_u64: u64, a_usize: usize, an_f64: f64,
    an_option: Option<u8>, an_option_of_text: Option<String>,
    a_vec: Vec<i64>, a_vec_of_options: Vec<Option<u8>>, a_vec_of_vecs: Vec<Vec<String>>, a_vec_of_units: Vec<Units>,
    an_array: [u8; 3], an_array_of_chars: [char; 2],
    a_set: BTreeSet<u8>, a_hash_set: HashSet<String>, a_set_of_chars: BTreeSet<char>, a_set_of_tuples: BTreeSet<(u8, bool)>,
    a_single: (i8,), a_tuple: (u8, String, bool), a_tuple_of_options: (Option<u64>, Option<char>),
    a_map: BTreeMap<String, i16>, a_hash_map: HashMap<String, Vec<char>>, a_map_of_options: BTreeMap<String, Option<bool>>,
    plain: Plain, inner: Inner, newtype: Newtype, pair: Pair, units: Units, external: External, internal: Internal,
    adjacent: Adjacent, untagged: Untagged, flattened: Flattened, flattened_enum: FlattenedEnum,
    flattened_map: FlattenedMap, tree: Tree, a_vec_of_structs: Vec<Inner>, an_option_of_enum: Option<External>,
    a_box: Box<Inner>,
);
