//! Finds the right tool of a thousand: how often, beside a plain search.

use toolkit::Toolkit;
use toolkit::prelude::*;
use toolkit_tests::discovery::{Bm25, catalogue, compare};

toolkit::link!(core: builtin_tools);

/// At least so many of the 200 queries have a right tool among the first five.
const FLOOR: usize = 188;

fn toolkit() -> Toolkit {
    let mut builder = Toolkit::builder();
    for tool in catalogue(1_000) {
        builder = builder.tool(tool.tool().expect("a valid tool"));
    }
    builder.build().expect("a toolkit")
}

#[tokio::test]
async fn most_queries_find_a_right_tool_among_the_first_five() {
    let toolbox = toolkit().toolbox(&Caller::new()).await;
    assert!(toolbox.tools().len() >= 1_008, "{}", toolbox.tools().len());
    let plain = Bm25::new(toolbox.tools());
    let ours = |query: &str| toolbox.search(query, 5).iter().map(|hit| hit.tool.name().to_owned()).collect();
    let (recall, missed) = compare(ours, |query| plain.search(query, 5));
    for (kind, [us, them, all]) in &recall {
        println!("{kind}: {us} of {all}, plain BM25 {them}");
    }
    for query in &missed {
        let found: Vec<String> = ours(&query.text);
        println!("missed ({}): {} -> {:?}, found {found:?}", query.kind, query.text, query.tools);
    }
    let [us, them, all] = recall["all"];
    assert_eq!(all, 200);
    assert!(us >= FLOOR, "{us} of {all}: {missed:#?}");
    assert!(us > them, "{us} and {them}");
}
