//! The contents of a document: examples of configurations, each with the tools that callers see and the outcomes of calls.

/// The whole of it.
pub(crate) struct Document {
    /// Tools with whose they are, from the first table.
    pub(crate) tools: Vec<(String, String)>,
    pub(crate) examples: Vec<Example>,
}

/// A section with its files and its claims.
#[derive(PartialEq)]
pub(crate) struct Example {
    pub(crate) title: String,
    /// That of the user, and that of the project.
    pub(crate) user: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) calls: Vec<Call>,
}

/// Which tools somebody sees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) who: String,
    /// Without those that are not seen, where all others are.
    pub(crate) tools: Vec<String>,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) who: String,
    pub(crate) tool: String,
    pub(crate) argument: String,
    pub(crate) times: usize,
    pub(crate) outcome: String,
}

impl Document {
    /// # Errors
    ///
    /// Parts of the text that are no claim that can be checked.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut sections = text.split("\n## ");
        let head = sections.next().unwrap_or_default();
        let mut tools = Vec::new();
        for [names, owner, _] in rows(head, ["tools", "of", "what they do"])? {
            tools.extend(codes(&names)?.into_iter().map(|name| (name, owner.replace('`', ""))));
        }
        let all: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
        let examples = sections.map(|section| example(section, &all)).collect::<Result<Vec<_>, String>>()?;
        Ok(Self { tools, examples })
    }
}

fn example(section: &str, all: &[&str]) -> Result<Example, String> {
    let title = section.lines().next().unwrap_or_default().to_owned();
    let fault = |what: &str| format!("{title}: {what}");
    let (mut user, mut project) = (None, None);
    for block in section.split("```json5\n").skip(1) {
        let (file, _) = block.split_once("\n```").ok_or_else(|| fault("a block has no end"))?;
        let place = match file.lines().next() {
            Some("// ~/.config/toolkit/toolkit.json5") => &mut user,
            Some("// toolkit.json5 of the project") => &mut project,
            _ => return Err(fault("a file does not say first where it stands")),
        };
        if place.replace(file.to_owned()).is_some() {
            return Err(fault("one file is there twice"));
        }
    }
    let mut seen = Vec::new();
    for [who, tools] in rows(section, ["who", "tools"])? {
        let tools = match tools.strip_prefix("all but ") {
            _ if tools == "all" => all.iter().map(|tool| (*tool).to_owned()).collect(),
            None => codes(&tools)?,
            Some(but) => {
                let but = codes(but)?;
                if let Some(unknown) = but.iter().find(|tool| !all.contains(&tool.as_str())) {
                    return Err(fault(&format!("`{unknown}` is not in the table of tools")));
                }
                let rest = all.iter().filter(|tool| !but.iter().any(|other| other == *tool));
                rest.map(|tool| (*tool).to_owned()).collect()
            }
        };
        seen.push(Seen { who, tools });
    }
    let mut calls = Vec::new();
    for [who, call, outcome] in rows(section, ["who", "call", "what happens"])? {
        let mut parts = call.split('`').skip(1);
        let (Some(line), Some(times)) = (parts.next(), parts.next()) else {
            return Err(fault(&format!("{call} is no call")));
        };
        let times = match times.trim() {
            "" => 1,
            "twice" => 2,
            words => words
                .strip_suffix(" times")
                .and_then(|number| number.parse().ok())
                .ok_or_else(|| fault(&format!("{words} is no number of times")))?,
        };
        let (tool, argument) = line.split_once(' ').unwrap_or((line, ""));
        calls.push(Call { who, tool: tool.to_owned(), argument: argument.to_owned(), times, outcome });
    }
    if user.is_none() || seen.is_empty() || calls.is_empty() {
        return Err(fault("it takes a file, a table of tools and one of calls"));
    }
    Ok(Example { title, user, project, seen, calls })
}

/// The rows of every table that has these heads; any other head in the text is a mistake.
fn rows<const N: usize>(text: &str, heads: [&str; N]) -> Result<Vec<[String; N]>, String> {
    const KNOWN: [&str; 3] = ["tools|of|what they do", "who|tools", "who|call|what happens"];
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(head) = lines.next() {
        if !head.starts_with('|') {
            continue;
        }
        let head = cells(head);
        if !KNOWN.contains(&head.join("|").as_str()) {
            return Err(format!("a table has the unknown heads {head:?}"));
        }
        if lines.next().is_none_or(|rule| !rule.starts_with("|---")) {
            return Err("a table has no rule below its head".to_owned());
        }
        while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
            if head == heads {
                let row = cells(row).try_into();
                found.push(row.map_err(|row| format!("{row:?} has another number of cells than {heads:?}"))?);
            }
        }
    }
    Ok(found)
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Words in code, with commas between them.
fn codes(text: &str) -> Result<Vec<String>, String> {
    let words = text.split(", ").map(|word| {
        let word = word.strip_prefix('`').and_then(|word| word.strip_suffix('`'));
        word.map(str::to_owned).ok_or_else(|| format!("{text} is no list of names"))
    });
    words.collect()
}
