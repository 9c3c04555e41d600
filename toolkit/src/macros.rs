//! The macros. They are documented here, where examples can use the whole crate.

/// Turns a function into a tool.
///
/// The function is unchanged: it can be called and tested directly, and keeps its docs and attributes. The macro adds a
/// static definition that registers the tool in every program that its crate is linked into.
///
/// ```
/// use toolkit::prelude::*;
///
/// /// Looks a word up in a text.
/// ///
/// /// # Errors
/// ///
/// /// This section is for people: the description that a model reads ends at the first heading.
/// #[tool(name = "lookup", group = "text", read_only)]
/// async fn lookup(
///     ctx: &ToolContext,
///     /// The text to search.
///     text: &str,
///     /// The word to look for.
///     #[arg(length(1..=80), example = "whale")]
///     word: &str,
///     /// How many places to return.
///     #[arg(default = 3, range(1..=100))]
///     limit: usize,
///     /// Whether case matters.
///     case_sensitive: Option<bool>,
/// ) -> Result<String, ToolError> {
///     let _ = (ctx, case_sensitive);
///     let places: Vec<String> = text.match_indices(word).take(limit).map(|(at, _)| at.to_string()).collect();
///     if places.is_empty() {
///         return Err(ToolError::not_found(format!("`{word}` is not in the text; try a shorter word")));
///     }
///     Ok(places.join(", "))
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// // Still an ordinary function:
/// let ctx = ToolContext::detached(Caller::new());
/// assert_eq!(lookup(&ctx, "a whale, a whale", "whale", 1, None).await.unwrap(), "2");
///
/// // And a tool:
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(lookup)).build().unwrap();
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// let result = toolbox.call(ToolCall::new("1", "lookup", r#"{ "text": "a whale", "word": "whale" }"#)).await;
/// assert_eq!(result.text(), "2");
/// # }
/// ```
///
/// # On the tool
///
/// | key | value | meaning |
/// |---|---|---|
/// | `name` | `"read"`, or a constant | the tool's name: `[a-z][a-z0-9_]*`, at most 64 bytes; default: the function's name |
/// | `group` | `"fs"`, or a list | the groups it belongs to |
/// | `title` | `"Read a file"` | the display name |
/// | `description` | `"…"`, or a constant | the description for the model; default: the doc comment up to its first heading, or `#[doc = include_str!("…")]` |
/// | `alias` | `"cat"`, or a list | aliases, which are accepted and never advertised |
/// | `read_only` | flag | it changes nothing |
/// | `destructive` | flag | it may destroy something |
/// | `idempotent` | flag | a second call with the same arguments changes nothing more |
/// | `open_world` | flag | it accesses things outside this machine |
/// | `optional` | flag | it exists only if an allow list names it |
/// | `enabled` | `enabled = false` | it does not exist unless the configuration enables it |
/// | `auto_execute` | flag | it runs without approval although it is not `read_only`; see [Permission](#permission) |
/// | `asks` | flag | it [asks](crate::ToolContext::ask) for approval itself if needed, so that no approval is needed before it runs. It takes `&ToolContext` |
/// | `always_asks` | flag | as `asks`, and each call asks, under the tool's kind of permission: a caller for whom [nobody can be asked](crate::Caller::unattended) gets the tool only if a rule may allow a call |
/// | `permission` | `"edit"`, or a constant | the kind of permission it needs, for policies and rules; default: its name |
/// | `channel` | `"telegram"` | it exists only in sessions that came in through this channel |
/// | `prepare` | path of an `async fn(&Caller, &mut Preparation)`, with or without a `Result<(), E>` | prepares it for a caller, once per toolbox: see [`Preparation`](crate::descriptor::Preparation) and [For each caller](#for-each-caller) |
/// | `timeout` | `"30s"`, `"250ms"`, `"5m"`, `"1h"` | the time limit of a call; default: the host's, [10 minutes](crate::Builder::timeout). See [Time](#time-cancelling-and-panics) |
/// | `concurrency` | `4` | the maximum number of simultaneous calls in one toolkit, over all sessions; further calls wait their turn, which does not count toward the time limit; default: no maximum |
/// | `truncate` | `truncate(max_lines = 100, max_bytes = 4096, keep = "head")`, `truncate = "off"` | the limits of the text for the model; unspecified limits are the host's, [2,000 lines and 51,200 bytes](crate::output::OutputLimits). `keep` is `"head"`, `"tail"` or `"ends"`. The whole text is saved to a file whose path the model gets. `"off"` applies to the returned output, not to errors and text written to [`ToolContext::output`](crate::ToolContext::output) |
/// | `format_error` | path of a `fn(&InvalidArguments) -> String` | formats the error for invalid arguments, instead of the list of problems |
/// | `icon` | `"file"` | an icon for user interfaces |
/// | `deprecated` | `"use read"` | the reason why it should no longer be used |
/// | `crate` | `::my::toolkit` | the path of this crate; default: its name in `Cargo.toml`, or `::toolkit` |
///
/// A flag can be written as `read_only = true` or `read_only = false` too.
///
/// # Permission
///
/// **A plain `#[tool]` asks for approval before each call**, and a host without an [`Approver`](crate::Approver) denies
/// the call. The tool runs without approval if one of these holds:
///
/// * It is `read_only`: it changes nothing.
/// * It is `auto_execute`: it changes something harmless.
/// * It is `asks`: it calls [`ctx.ask(..)`](crate::ToolContext::ask) itself, when it knows the details of the action.
/// * The configuration allows it: `permission: { my_tool: "allow" }`.
/// * The host allows everything: `Toolkit::builder().approver(toolkit::AllowAll)` during development, or
///   [`without_asking_first`](crate::Builder::without_asking_first) if the host decides elsewhere.
///
/// # For each caller
///
/// A description can contain `{workspace}`, `{working_directory}`, `{agent}`, `{channel}`, `{provider}`, `{model}`,
/// `{os}` and `{date}` (in UTC, as 2026-01-31), which are filled in for each caller. Other braces stay unchanged.
///
/// The `prepare` function runs each time a toolbox is created for a caller who may use the tool, concurrently with
/// those of all other tools. If it fails, panics or takes longer than [5 seconds](crate::Builder::prepare_timeout), the
/// tool is left out of this toolbox, which reports it in its [diagnostics](crate::Toolbox::diagnostics).
///
/// # Parameters
///
/// * `ctx: &ToolContext` is the [context](crate::ToolContext) of the call.
/// * `State<T>`, or `&State<T>`, is a [service](crate::State) that the host provides, or that a
///   [function](macro@crate::service) creates.
/// * `Config<T>`, or `&Config<T>`, is the tool's [section](crate::Config) of the configuration.
/// * `#[args] args: MyArgs` takes all arguments as one struct, made with [`args`](macro@crate::args).
/// * Every other parameter is an argument of that name; its doc comment is its description.
///
/// The type of an argument must be [readable from JSON](crate::descriptor::ToolArg). `&str`, `&Path` and `&[T]` borrow from a
/// `String`, `PathBuf` or `Vec<T>` that lives as long as the call. `Option<T>` makes the argument optional: it is shown
/// as `T`, not required, and `null` means absent. The same applies to `Option<&str>`, `Option<&Path>` and
/// `Option<&[T]>`.
///
/// # Types of arguments
///
/// | type | JSON | |
/// |---|---|---|
/// | `bool` | boolean | |
/// | `u8`, `i8`, `u16`, `i16` | integer | the schema shows the bounds of the type |
/// | `u32`, `i32`, `u64`, `i64`, `usize`, `isize` | integer | the schema shows only the 0 of unsigned types; the other bounds are of no use to a model, but are enforced |
/// | `f64`, `f32` | number | |
/// | `char`, `String`, `&str`, `PathBuf`, `&Path` | string | |
/// | `std::time::Duration` | string | numbers with units (`ns`, `us`, `ms`, `s`, `m`, `h`, `d`), as `30s`, `1h30m` or `1.5h`; or ISO 8601 without years and months, as `PT30S` or `P1DT12H`. The schema says so |
/// | `Vec<T>`, `&[T]`, arrays, sets | array | |
/// | tuples | array | one schema for each place |
/// | maps with keys of type `String` | object | any names |
/// | structs and enums with [`#[toolkit::args]`](macro@args) | object; an enum without fields is one of its names | |
/// | `DateTime<Utc>`, `NaiveDate`, `NaiveTime`, `NaiveDateTime` of `chrono` | string | with the feature `chrono` of `toolkit`; in RFC 3339 |
/// | `Uuid` of `uuid` | string | with the feature `uuid` |
/// | `Url` of `url` | string | with the feature `url` |
/// | `serde_json::Value` | anything | |
/// | `i128`, `u128` | – | refused at compile time: no JSON number holds all of them |
///
/// Any other type with serde's `Deserialize` and schemars' `JsonSchema` can be the type of an argument too.
///
/// Unknown arguments are rejected. Within a struct, `#[toolkit::args]` does the same.
///
/// # On an argument
///
/// | `#[arg(…)]` | meaning |
/// |---|---|
/// | `default` | absent means `Default::default()` |
/// | `default = 10` | absent means this value. A literal is converted, including `"fast"` for an enum; any other expression has the parameter's type. The schema shows the value if the type serialises |
/// | `rename = "type"` | the name that the model uses |
/// | `alias = "path"` | an alias, or a list of them, which is accepted and never advertised |
/// | `range(1..=10)` | bounds of a number; ends can be constants |
/// | `length(1..=80)` | bounds of the length of a string (in characters), a list or a map; `length(5)` is exactly 5 |
/// | `pattern = "^[a-z]+$"` | a regular expression (ECMA-262) that the string must match, checked at compile time by the engine used at run time |
/// | `example = "src/main.rs"` | an example value, for the schema |
/// | `secret` | its value is redacted from history, events and errors; the function and the caller of the tool get it whole |
///
/// Every rule appears in the JSON Schema, which enforces it.
///
/// # Arguments that do not fit
///
/// Aliases are accepted as names, `null` for an optional argument means absent, and `5.0` is 5. If the arguments of a
/// call still do not match the schema, values with only one possible meaning are repaired, at any depth:
///
/// | received | passed to the function |
/// |---|---|
/// | `"5"`, `"true"`, `"True"` for a number or a boolean | `5`, `true`; not for `"1,000"`, `"0x10"` or `"yes"` |
/// | `"{\"a\": 1}"`, `"[1, 2]"` for an object or a list | the parsed JSON, also from within a code fence |
/// | `"src"` for a list of strings, one object for a list of objects | a list with this one item; not for a string that may mean several, as `"a,b"` |
/// | `filePath`, `FILE-PATH` for `file_path`; `"InProgress"` for `"in_progress"` | the name, or the allowed value, in its own case style |
/// | an empty text, `""` or `null` for all arguments | `{}` |
/// | `{"arguments": {…}}`, all arguments as a string, or in a code fence | the arguments themselves |
///
/// A valid value is never changed, an ambiguous value is rejected, and the repaired arguments match the schema. Each
/// [`Repair`](crate::arguments::Repair) is listed in the result's metadata, under `repairs`. All remaining problems are reported
/// to the model at once, as [`InvalidArguments`](crate::arguments::InvalidArguments).
///
/// # What it returns
///
/// Any type that [converts into an output](crate::output::IntoToolOutput), where a table lists all types: `()`, strings,
/// numbers, `bool`, structs and enums with [`#[toolkit::args]`](macro@args), `Vec`, `Option` and maps of these,
/// [`Json<T>`](crate::Json) for other structured data, [`Image`](crate::Image), [`ToolOutput`](crate::ToolOutput), and
/// a `Result` of these.
///
/// The error of a `Result` is a [`ToolError`](crate::ToolError), a type that converts into one, as every
/// [`std::error::Error`] does, or one that converts into `Box<dyn Error + Send + Sync>`: a `String`, a `&'static str`, such a
/// box, an `anyhow::Error`.
///
/// # Beside other calls
///
/// Within a session, calls of tools that are `read_only` run together, every other call runs alone, all in the order in
/// which they arrived. A call that [asks a person](crate::ToolContext::ask) lets others run until it is answered.
/// `read_only` is the author's statement: it is not checked that the function changes nothing.
///
/// # Time, cancelling and panics
///
/// The time limit counts from the function's first wait, not from the call: waiting for its turn and for a person does
/// not count. A host can set another limit for [all tools](crate::Builder::timeout) that state none, or for [one
/// call](crate::CallOptions::timeout), overriding the tool's own. Without a tokio runtime, or in one without timers,
/// there is no limit.
///
/// If the call is late, cancelled or dropped, an async function is dropped at its current `.await`: the values it holds
/// are dropped, and its effects stay. Tasks that it spawned go on unless they listen to
/// [`ToolContext::cancellation_token`](crate::ToolContext::cancellation_token). A function that neither ends nor awaits
/// cannot be stopped, and blocks its thread.
///
/// A panic becomes an error result, unless the program is compiled with `panic = "abort"`: then it ends the process.
///
/// # Functions that are not async
///
/// A plain `fn` runs on tokio's blocking pool; without a tokio runtime its calls fail. It cannot be stopped from
/// outside: if its call is late, cancelled or dropped, the caller gets the result at once, and the function goes on
/// until it checks [`ToolContext::is_cancelled`](crate::ToolContext::is_cancelled) or
/// [`check_cancelled`](crate::ToolContext::check_cancelled). Until it ends it counts toward the maximum of simultaneous
/// calls (`concurrency`), but it does not hold up the next call of its session: a late writer may still write at the
/// same time as the next call.
///
#[doc = include_str!("macros/limits.md")]
pub use toolkit_macros::tool;

/// Makes methods tools: each method of the `impl` block with `#[tool]` is one, and its state is the service of that type.
///
/// A method takes `&self`, and else what a function with [`#[tool]`](macro@crate::tool) takes. The host provides the value with
/// [`Builder::service`](crate::Builder::service), or a [`#[toolkit::service]`](macro@crate::service) function creates it; a toolkit without it
/// does not start, and the error names the type. A function of the block without `self` is a tool without state. The methods stay ordinary
/// methods, and [`tool_ref!`](crate::tool_ref) finds their tools: `tool_ref!(Notes::keep)`. The key `crate` names this crate under another
/// path, as in `#[tool]`.
///
/// ```standalone_crate
/// use std::sync::Mutex;
/// use toolkit::prelude::*;
///
/// struct Notes(Mutex<Vec<String>>);
///
/// #[toolkit::tools]
/// impl Notes {
///     /// Keeps a note.
///     #[tool(name = "keep_note", auto_execute)]
///     async fn keep(&self, /** The note. */ text: String) -> String {
///         self.0.lock().unwrap().push(text);
///         "kept".to_owned()
///     }
///
///     /// Counts the notes.
///     #[tool(name = "count_notes", read_only)]
///     fn count(&self) -> usize {
///         self.0.lock().unwrap().len()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::builder().service(Notes(Mutex::default())).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "keep_note", r#"{ "text": "tides" }"#)).await.text(), "kept");
/// assert_eq!(toolbox.call(ToolCall::new("2", "count_notes", "{}")).await.text(), "1");
/// # Ok(()) }
/// ```
pub use toolkit_macros::tools;

/// Makes your own struct or enum an argument type, and a type that a tool can return.
///
/// It derives `Deserialize` and `Serialize` of serde and `JsonSchema` of schemars, through `toolkit`'s own re-exports: a
/// crate with tools needs no other dependency. The attributes of
/// [serde](https://serde.rs/attributes.html) and [schemars](https://graham.cool/schemars/deriving/attributes/) work as
/// usual, below this one: above it nothing knows them, and a derive of these three traits above it is a second
/// implementation. Unknown fields are rejected, unless the attribute is `#[toolkit::args(allow_unknown_fields)]`.
///
#[doc = include_str!("macros/foreign_types.md")]
///
/// Fields take the same `#[arg(…)]` as [parameters](macro@crate::tool#on-an-argument), with one difference: a `default`
/// for a type other than a number, a string, `bool` or `char` is an expression of the field's type.
///
/// ```
/// use toolkit::prelude::*;
///
/// /// How to order.
/// #[toolkit::args]
/// #[serde(rename_all = "snake_case")]
/// enum Order {
///     /// Newest first.
///     Newest,
///     /// By name.
///     Name,
/// }
///
/// #[toolkit::args]
/// struct Query {
///     /// What to look for.
///     #[arg(length(1..), alias = "q")]
///     text: String,
///     /// How to order what is found.
///     #[arg(default = Order::Newest)]
///     order: Order,
///     /// How many to return.
///     #[arg(default = 10, range(1..=50))]
///     limit: u32,
/// }
///
/// /// Searches the notes.
/// #[tool(read_only)]
/// async fn search(#[args] query: Query) -> String {
///     format!("{} ({})", query.text, query.limit)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(search)).build().unwrap();
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "search", r#"{ "q": "tides" }"#)).await.text(), "tides (10)");
/// # }
/// ```
pub use toolkit_macros::args;

/// Lists the crates that a host expects tools from.
///
/// A dependency that no code mentions is not linked at all, and its tools would silently be absent. `link!` mentions
/// each crate, and building a [`Toolkit`](crate::Toolkit) fails if one of them registers no tool. Its order is the
/// order of precedence: of two tools with one name in different crates, the earlier crate's exists, and the other is
/// reported as a [`Diagnostic`](crate::registry::Diagnostic).
///
/// ```ignore
/// toolkit::link!(core: builtin_tools, my_plugin, #[cfg(feature = "memory")] memory, renamed as its_own_name);
/// ```
///
/// `core:` marks the next crate's tools as core tools, which take precedence over all others. A dependency that
/// `Cargo.toml` renames is written `renamed as its_own_name`. It is an item, or a statement with a `;`; modules of the crate
/// itself need no `link!`. Tools of crates that are not listed exist too if some
/// code mentions the crates; they come last, sorted by crate name. An umbrella crate that only links others has a
/// `link!` of its own.
#[macro_export]
macro_rules! link {
    ($($list:tt)*) => {
        $crate::__private::link_list! { [$crate] $($list)* }
    };
}

/// Registers names for policies: groups, profiles and aliases of tools, whether or not those tools are compiled in.
///
/// It has an effect only in a core crate, so that no plugin can define the content of a group.
///
/// ```
/// toolkit::policy_data! {
///     groups: [("paint", &["draw", "erase"])],
///     profiles: [("artist", Some(&["group:paint", "look"])), ("everything", None)],
///     aliases: [("rubber", "erase")],
///     names: ["varnish"],
/// }
/// # fn main() {}
/// ```
///
/// The members of a group are names of tools. A profile contains entries as in a configuration, or every tool. An alias
/// stands for a tool in every list. `names`, which is optional, are further names of tools: they are accepted in lists
/// without a warning, although no tool has them yet.
#[macro_export]
macro_rules! policy_data {
    (groups: $groups:expr, profiles: $profiles:expr, aliases: $aliases:expr $(,)?) => {
        $crate::policy_data! { groups: $groups, profiles: $profiles, aliases: $aliases, names: [] }
    };
    (groups: $groups:expr, profiles: $profiles:expr, aliases: $aliases:expr, names: $names:expr $(,)?) => {
        $crate::policy_data! {
            groups: $groups, profiles: $profiles, aliases: $aliases, names: $names, planned: []
        }
    };
    (
        groups: $groups:expr,
        profiles: $profiles:expr,
        aliases: $aliases:expr,
        names: $names:expr,
        planned: $planned:expr $(,)?
    ) => {
        $crate::__private::inventory::submit! {
            $crate::__private::PolicyData {
                module: ::core::module_path!(),
                groups: &$groups,
                profiles: &$profiles,
                aliases: &$aliases,
                names: &$names,
                planned: &$planned,
            }
        }
    };
}

/// Registers the skills of a crate: texts, each a whole `SKILL.md`, or directories whose subdirectories each contain a
/// `SKILL.md`.
///
/// ```
/// toolkit::skills! {
///     texts: ["---\nname: review\ndescription: How to review a change\n---\nRead it twice."],
/// }
/// toolkit::skills! {
///     directories: ["/usr/share/acme/skills"],
/// }
/// # fn main() {}
/// ```
///
/// A text of the crate's own is `include_str!("../skills/review/SKILL.md")`. Skills of crates come after the
/// workspace's and the user's in precedence, and exist only if the crate's tools would exist for every caller: not if
/// the plugin is blocked or `optional`, and only in the sessions of its channel.
#[macro_export]
macro_rules! skills {
    (texts: [$($text:expr),* $(,)?] $(,)?) => {
        $crate::skills! { [$($text),*] [] }
    };
    (directories: [$($directory:expr),* $(,)?] $(,)?) => {
        $crate::skills! { [] [$($directory),*] }
    };
    ([$($text:expr),*] [$($directory:expr),*]) => {
        $crate::__private::inventory::submit! {
            $crate::__private::LinkedSkills {
                module: ::core::module_path!(),
                texts: &[$($text),*],
                directories: &[$($directory),*],
            }
        }
    };
}

/// Returns the [`Tool`](crate::Tool) of a function with `#[tool]`, for tests and for hosts that register tools by hand.
///
/// It works through re-exports and defines no name.
///
/// ```
/// use toolkit::prelude::*;
///
/// mod inner {
///     use toolkit::prelude::*;
///     /// Says hello.
///     #[tool]
///     pub async fn hello() -> &'static str {
///         "hello"
///     }
/// }
/// use inner::hello as greet;
///
/// assert_eq!(toolkit::tool_ref!(greet).name(), "hello");
/// ```
///
/// A method with `#[tool]` is named with its type: `tool_ref!(Notes::count)`.
///
/// An argument that is not a function does not compile. A function without `#[tool]` is only detected when the program
/// runs, because the type of a function does not contain its attributes.
///
/// # Panics
///
/// Panics if the function has no `#[tool]`.
#[macro_export]
macro_rules! tool_ref {
    (&$($path:tt)+) => {
        ::core::compile_error!("`tool_ref!` takes the function itself; leave the `&` out")
    };
    ($value:ident . $($rest:tt)+) => {
        ::core::compile_error!("a method is named with its type: `tool_ref!(Notes::count)`")
    };
    ($first:path, $($rest:tt)+) => {
        ::core::compile_error!("`tool_ref!` takes one function; write one `tool_ref!` for each")
    };
    ($($path:tt)+) => {
        $crate::__private::tool_of(&$($path)+)
    };
}

/// Turns a function into a source of tools that depend on the caller: those of an account, of a project, of a server.
///
/// It runs each time a toolbox is created, concurrently with the [preparations](crate::descriptor::Preparation) of other tools and
/// within the same [time limit](crate::Builder::prepare_timeout). It takes `&Caller`, [`State<T>`](crate::State) and
/// [`Config<T>`](crate::Config) of its plugin, in any order, and returns a type that [converts into
/// tools](crate::registry::IntoTools): a `Vec<Tool>`, an `Option<Tool>`, a `Tool`, or a `Result` of one of these.
///
/// Its tools belong to its crate. They never take a name or alias of another tool, and the policy applies to them as to
/// all others. Invalid tools, and a factory that fails, panics or is late, are reported in the toolbox's
/// [diagnostics](crate::Toolbox::diagnostics); the other tools exist without them. The `concurrency` of such a tool
/// applies to one toolbox. [`Toolkit::empty`](crate::Toolkit::empty) runs no factories.
///
/// A plain `fn` runs on the thread that creates the toolbox: make a blocking function `async` and use a blocking pool.
///
/// ```standalone_crate
/// use toolkit::Tool;
/// use toolkit::prelude::*;
///
/// #[toolkit::tool_factory]
/// async fn greetings(caller: &Caller) -> Result<Vec<Tool>, toolkit::descriptor::InvalidTool> {
///     let agent = caller.agent.clone().unwrap_or_default();
///     let tool = Tool::builder("greet_agent")
///         .description(format!("Greets {agent}."))
///         .read_only()
///         .build(move |_, _| {
///             let greeting = format!("Hello, {agent}!");
///             async move { greeting }
///         })?;
///     Ok(vec![tool])
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::builder().build()?;
/// let toolbox = toolkit.toolbox(&Caller::new().with_agent("Ada")).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "greet_agent", "{}")).await.text(), "Hello, Ada!");
/// # Ok(()) }
/// ```
pub use toolkit_macros::tool_factory;

/// Turns a function into the source of a service, so that a plugin with a connection needs nothing from its host except
/// `link!`.
///
/// The return value is the `T` of tools' [`State<T>`](crate::State): a value, an `Arc<T>`, where `T` may be a trait
/// object, or a `Result` of one of these. The function takes [`Config<T>`](crate::Config), the section `plugins.<id>`
/// of its plugin, and `State<T>` of other services.
///
/// `section = "name"` gives the service a section of its own, `plugins.<id>.name`: then a crate can have several services with a `Config<T>`
/// each, and a secret that is missing in one section stops only the service that reads it. [`tool_factory`](macro@crate::tool_factory) takes the
/// key, too.
///
/// The service is created when a call of a tool that takes it first needs it, once per toolkit: calls that arrive
/// meanwhile wait. If that fails, those calls get the error, as [`Unavailable`](crate::ToolErrorKind::Unavailable), and
/// the next call tries again. The time counts toward the call's limit. The service is dropped with the toolkit, its
/// toolboxes and running calls.
///
/// `close = function` names an `async fn(Arc<T>)` that closes the service when the host [shuts the toolkit
/// down](crate::Toolkit::shutdown), if the service was created. A host that does not shut down does not call it.
///
/// A service that the host [provides](crate::Builder::service) takes precedence. Two functions for one service, and
/// services that need each other in a cycle, are errors when the toolkit is built.
/// [`ToolContext::service`](crate::ToolContext::service) creates nothing: it returns a service that the tool takes as a
/// parameter, or that was created before. [`Toolkit::empty`](crate::Toolkit::empty) creates no services.
///
/// A plain `fn` runs on the thread that polls the call: make a blocking function `async` and use a blocking pool.
///
/// ```standalone_crate
/// use toolkit::Config;
/// use toolkit::prelude::*;
///
/// #[toolkit::args]
/// struct Settings {
///     /// The name of the database.
///     #[arg(default = "main")]
///     database: String,
/// }
///
/// struct Database(String);
///
/// #[toolkit::service(close = disconnect)]
/// async fn connect(settings: Config<Settings>) -> Result<Database, std::io::Error> {
///     Ok(Database(settings.database.clone()))
/// }
///
/// async fn disconnect(database: std::sync::Arc<Database>) {
///     println!("{} is closed", database.0);
/// }
///
/// /// Names the database.
/// #[tool(read_only)]
/// async fn which(database: State<Database>) -> String {
///     database.0.0.clone()
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolbox = Toolkit::builder().build()?.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "which", "{}")).await.text(), "main");
/// # Ok(()) }
/// ```
pub use toolkit_macros::service;

/// Declares the crate that contains it as a plugin. It can be used once per crate, anywhere in it.
///
/// | field | value | meaning |
/// |---|---|---|
/// | `id` | `"acme"` | the id in policies and the configuration: `[a-z][a-z0-9_-]*`, at most 64 bytes. Required; without `plugin!` it is the name of the crate |
/// | `title` | `"Acme"`, or a constant | the display name |
/// | `description` | `"…"`, or a constant | a description of its contents |
/// | `optional` | `true` | its tools exist only if an allow list names them, the plugin or `group:plugins` |
/// | `channel` | `"telegram"` | its tools exist only in sessions that came in through this channel |
///
/// ```standalone_crate
/// toolkit::plugin! {
///     id: "acme",
///     title: "Acme",
///     description: "Tools for Acme.",
///     optional: true,
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! plugin {
    ($($fields:tt)*) => {
        $crate::__private::plugin_fields! { [$crate] $($fields)* }
    };
}
