//! The macros, with their docs: here the examples can use everything.

/// Turns a function into a tool.
///
/// The function stays what it was: callable and testable directly, with its docs and attributes. Beside it comes a static
/// descriptor, with which the tool registers itself in every program that its crate is linked into.
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
/// | key | value | what it says |
/// |---|---|---|
/// | `name` | `"read"`, or a constant | what models call it by: `[a-z][a-z0-9_]*`, at most 64 bytes; default: the function's name |
/// | `group` | `"fs"`, or a list | the groups it belongs to |
/// | `title` | `"Read a file"` | its name for people |
/// | `description` | `"…"`, or a constant | what it does, for the model; default: the doc comment up to its first heading |
/// | `alias` | `"cat"`, or a list | other names that it answers to, never advertised |
/// | `read_only` | flag | it changes nothing |
/// | `destructive` | flag | it may destroy something |
/// | `idempotent` | flag | a second call with the same arguments changes nothing more |
/// | `open_world` | flag | it deals with things outside this machine |
/// | `optional` | flag | it is there only where an allow list names it |
/// | `enabled` | `enabled = false` | it is left out unless the configuration says otherwise |
/// | `auto_execute` | flag | it runs without a question although it is not `read_only`; see [Permission](#permission) |
/// | `asks` | flag | it [asks](crate::ToolContext::ask) by itself where it has to, so that nobody is asked before it runs |
/// | `permission` | `"edit"`, or a constant | the kind of permission it needs, for policies and rules; default: its name |
/// | `channel` | `"telegram"` | it is there only in sessions that came in by this channel |
/// | `prepare` | path of an `async fn(&Caller, &mut Preparation)`, with or without a `Result<(), E>` | makes it ready for a caller, once a toolbox: see [`Preparation`](crate::Preparation) and [For each caller](#for-each-caller) |
/// | `timeout` | `"30s"`, `"250ms"`, `"5m"`, `"1h"` | how long a call may take; default: the host's, [10 minutes](crate::Builder::timeout). See [Time](#time-cancelling-and-panics) |
/// | `concurrency` | `4` | how many calls of it may run at once in one toolkit, over all sessions; further ones wait their turn, uncounted by the time limit; default: any number |
/// | `truncate` | `truncate(max_lines = 100, max_bytes = 4096, keep = "head")`, `truncate = "off"` | how much of its text the model gets; what is not said is the host's, [2,000 lines and 51,200 bytes](crate::OutputLimits). `keep` is `"head"`, `"tail"` or `"ends"`. The whole goes to a file that the model is told of. `"off"` holds for what it returns, not for its errors and what it writes to [`ToolContext::output`](crate::ToolContext::output) |
/// | `format_error` | path of a `fn(&InvalidArguments) -> String` | words the error for arguments that do not fit, instead of the list of problems |
/// | `icon` | `"file"` | an icon for user interfaces |
/// | `deprecated` | `"use read"` | why it should no longer be used |
/// | `crate` | `::my::toolkit` | where this crate is, if not at `::toolkit` |
///
/// A flag can be written as `read_only = true` or `read_only = false` too.
///
/// # Permission
///
/// **A plain `#[tool]` asks before each call**, and a host without an [`Approver`](crate::Approver) denies the call. It runs without a
/// question if one of these holds:
///
/// * It is `read_only`: it changes nothing.
/// * It is `auto_execute`: it changes something harmless.
/// * It is `asks`: it calls [`ctx.ask(..)`](crate::ToolContext::ask) itself, where it knows better what is at stake.
/// * The configuration allows it: `permission: { my_tool: "allow" }`.
/// * The host allows everything: `Toolkit::builder().approver(toolkit::AllowAll)` during development, or
///   [`without_asking_first`](crate::Builder::without_asking_first) where the host decides elsewhere.
///
/// # For each caller
///
/// A description can hold `{workspace}`, `{working_directory}`, `{agent}`, `{channel}`, `{provider}`, `{model}`, `{os}` and
/// `{date}` (in UTC, as 2026-01-31), which are filled in for whom it is shown to. Other braces stay as they are.
///
/// What `prepare` names runs each time that a toolbox is made for a caller who may use the tool, beside those of all other
/// tools. One that fails, panics or takes longer than [5 seconds](crate::Builder::prepare_timeout) leaves its tool out of
/// this toolbox, which says so in its [diagnostics](crate::Toolbox::diagnostics).
///
/// # Parameters
///
/// * `ctx: &ToolContext` is the [context](crate::ToolContext) of the call.
/// * `State<T>`, or `&State<T>`, is a [service](crate::State) that the host provides, or a
///   [function](macro@crate::service) makes.
/// * `Config<T>`, or `&Config<T>`, is the tool's [section](crate::Config) of the configuration.
/// * `#[args] args: MyArgs` takes all arguments as one struct, made with [`args`](macro@crate::args).
/// * Every other parameter is an argument of that name; its doc comment is its description.
///
/// An argument has a type that can be [read from JSON](crate::ToolArg). `&str`, `&Path` and `&[T]` borrow from a
/// `String`, `PathBuf` or `Vec<T>` that lives as long as the call. `Option<T>` makes it optional: it is shown as `T`, not
/// required, and `null` means absent; so do `Option<&str>`, `Option<&Path>` and `Option<&[T]>`.
///
/// # Types of arguments
///
/// | type | JSON | |
/// |---|---|---|
/// | `bool` | boolean | |
/// | `u8`, `i8`, `u16`, `i16` | integer | the schema shows the bounds of the type |
/// | `u32`, `i32`, `u64`, `i64`, `usize`, `isize` | integer | of the bounds, the schema shows the 0 of unsigned types; the others say nothing to a model, but are enforced |
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
/// Any other type with serde's `Deserialize` and schemars' `JsonSchema` is an argument too.
///
/// Arguments that the tool does not have are refused. Within a struct, `#[toolkit::args]` does the same.
///
/// # On an argument
///
/// | `#[arg(…)]` | what it says |
/// |---|---|
/// | `default` | absent means `Default::default()` |
/// | `default = 10` | absent means this value. A literal is converted, also `"fast"` for an enum; any other expression has the parameter's type. The schema shows it if the type serialises |
/// | `rename = "type"` | the name that the model uses |
/// | `alias = "path"` | another name that is accepted, never advertised; or a list |
/// | `range(1..=10)` | bounds of a number; ends can be constants |
/// | `length(1..=80)` | bounds of the length of a string (in characters), a list or a map; `length(5)` is exactly 5 |
/// | `pattern = "^[a-z]+$"` | a regular expression (ECMA-262) that the string must match, checked at compile time by the engine used at run time |
/// | `example = "src/main.rs"` | an example value, for the schema |
/// | `secret` | its value is taken out of history, events and errors; the function and the caller of the tool get it whole |
///
/// Every rule appears in the JSON Schema, and the schema is what enforces it.
///
/// # Arguments that do not fit
///
/// Aliases are names of their own, `null` for something optional means absent, and `5.0` is 5. Where the arguments of a call
/// still do not fit the schema, what can only mean one thing is repaired, at any depth:
///
/// | what came | what the function gets |
/// |---|---|
/// | `"5"`, `"true"`, `"True"` for a number or a boolean | `5`, `true`; not for `"1,000"`, `"0x10"` or `"yes"` |
/// | `"{\"a\": 1}"`, `"[1, 2]"` for an object or a list | what the JSON says, also from within a code fence |
/// | `"src"` for a list of strings, one object for a list of such | a list with this one item; not for a string that may be several, as `"a,b"` |
/// | `filePath`, `FILE-PATH` for `file_path`; `"InProgress"` for `"in_progress"` | the name, or the allowed value, in its own case style |
/// | an empty text, `""` or `null` for all arguments | `{}` |
/// | `{"arguments": {…}}`, all arguments as a string, or in a code fence | the arguments themselves |
///
/// A value that fits is never changed, what could mean two things is refused, and what comes out fits the schema. Each
/// [`Repair`](crate::Repair) is told in the result's metadata, under `repairs`. What remains wrong is reported to the model
/// all at once, as [`InvalidArguments`](crate::InvalidArguments).
///
/// # What it returns
///
/// Anything that [becomes an output](crate::IntoToolOutput), where a table lists all types: `()`, strings, numbers, `bool`,
/// structs and enums with [`#[toolkit::args]`](macro@args), `Vec`, `Option` and maps of these, [`Json<T>`](crate::Json) for
/// other structured data, [`Image`](crate::Image), [`ToolOutput`](crate::ToolOutput), and a `Result` of these.
///
/// The error of a `Result` is a [`ToolError`](crate::ToolError), a type that converts into one, as every
/// [`std::error::Error`] does, or one that converts into `Box<dyn Error + Send + Sync>`: a `String`, a `&'static str`, such a
/// box, an `anyhow::Error`.
///
/// # Beside other calls
///
/// Within a session, calls of tools that are `read_only` run together, every other call alone, all in the order in which
/// they came. A call that [asks a person](crate::ToolContext::ask) lets others go first until it is answered. `read_only`
/// is the author's word: nothing checks that the function changes nothing.
///
/// # Time, cancelling and panics
///
/// The time limit counts from the function's first wait, not from the call: waiting for its turn and for a person is not
/// in it. A host can set another for [all tools](crate::Builder::timeout) that state none, or for
/// [one call](crate::CallOptions::timeout) whatever the tool states. Without a tokio runtime, or in one without timers,
/// there is no limit.
///
/// When the call is late, cancelled or dropped, an async function is dropped at the `.await` where it is: what it holds is
/// released, what it did stands. What it spawned goes on unless it listens to
/// [`ToolContext::cancellation_token`](crate::ToolContext::cancellation_token). A function that neither ends nor awaits
/// cannot be stopped, and holds up its thread.
///
/// A panic becomes an error result, unless the program is compiled with `panic = "abort"`: then it ends the process.
///
/// # Functions that are not async
///
/// A plain `fn` runs on tokio's blocking pool; without a tokio runtime its calls fail. Nothing can stop it from outside:
/// when its call is late, cancelled or dropped, the caller gets its answer at once and the function goes on until it looks
/// at [`ToolContext::is_cancelled`](crate::ToolContext::is_cancelled) or
/// [`check_cancelled`](crate::ToolContext::check_cancelled). Until it ends it counts among the calls of its tool
/// (`concurrency`), but not for the order of its session: a late writer may still write beside the next call.
///
/// # What the macro cannot see
///
/// `WHAT_THE_MACRO_CANNOT_SEE`
pub use toolkit_macros::tool;

/// Makes a struct or enum of your own an argument type, and a type that a tool can return.
///
/// It derives `Deserialize` and `Serialize` of serde and `JsonSchema` of schemars, those that the type does not derive itself,
/// through `toolkit`'s own re-exports: a crate with tools needs no other dependency. The attributes of
/// [serde](https://serde.rs/attributes.html) and [schemars](https://graham.cool/schemars/deriving/attributes/) work as
/// ever. Unknown fields are refused, unless it is `#[toolkit::args(allow_unknown_fields)]`.
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

/// Names the crates that a host expects tools from.
///
/// A dependency that no code mentions is not linked at all, and its tools would silently be absent. `link!` mentions each
/// crate, and building a [`Toolkit`](crate::Toolkit) fails if one of them brought no tool. Its order is the order of
/// precedence: of two tools with one name in different crates, the earlier crate's is there and the other is a
/// [`Diagnostic`](crate::Diagnostic).
///
/// ```ignore
/// toolkit::link!(core: builtin_tools, my_plugin, #[cfg(feature = "memory")] memory, renamed as its_own_name);
/// ```
///
/// `core:` marks the next crate's tools as core tools, which go before all others. A dependency that `Cargo.toml` renames is
/// written `renamed as its_own_name`. Crates with tools that are not listed are there too if some code mentions them;
/// they come last, by name. An umbrella crate that only brings in others has a `link!` of its own.
#[macro_export]
macro_rules! link {
    ($($list:tt)*) => {
        $crate::__private::link_list! { [$crate] $($list)* }
    };
}

/// Registers names for policies: groups, profiles and aliases of tools, whether or not those tools are compiled in.
///
/// It counts only in a crate that the host calls core, so that no plugin can say what a group holds.
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
/// The members of a group are names of tools. A profile holds entries as configuration has them, or every tool. An alias
/// stands for a tool in every list. `names`, which can be left out, are further names of tools: one that stands in a list is not
/// told as a mistake, though no tool has it yet.
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

/// Registers skills that a crate brings: texts, each a whole `SKILL.md`, or directories that hold a directory with a `SKILL.md`
/// for each.
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
/// A text of the crate's own is `include_str!("../skills/review/SKILL.md")`. They count after the workspace's and the user's, and
/// only where the crate's tools would be there for everybody: not of a plugin that is blocked or `optional`, and in the
/// sessions of its channel alone.
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

/// The [`Tool`](crate::Tool) of a function with `#[tool]`, for tests and for hosts that register tools by hand.
///
/// It works through re-exports and takes no name of its own.
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
/// What is no function does not compile. Whether a function has `#[tool]` is known when the program runs: its type says nothing
/// of its attributes.
///
/// # Panics
///
/// When the function has no `#[tool]`.
#[macro_export]
macro_rules! tool_ref {
    ($($path:tt)+) => {
        $crate::__private::tool_of(&$($path)+)
    };
}

/// Turns a function into a source of tools that depend on who calls: those of an account, of a project, of a server.
///
/// It runs each time that a toolbox is made, beside the [preparations](crate::Preparation) of other tools and within the same
/// [limit of time](crate::Builder::prepare_timeout). It takes `&Caller`, [`State<T>`](crate::State) and
/// [`Config<T>`](crate::Config) of its plugin, in any order, and returns what [becomes tools](crate::IntoTools): a `Vec<Tool>`,
/// an `Option<Tool>`, a `Tool`, or a `Result` of one of these.
///
/// Its tools are its crate's. They never take a name or alias of another tool, and the policy decides about them as about all
/// others. One that cannot be there, and a factory that fails, panics or is late, are told in the toolbox's
/// [diagnostics](crate::Toolbox::diagnostics); all else is there without them. The `concurrency` of such a tool holds for one
/// toolbox. [`Toolkit::empty`](crate::Toolkit::empty) runs no factories.
///
/// A plain `fn` runs where the toolbox is made: let one that blocks be `async` and use a blocking pool.
///
/// ```standalone_crate
/// use toolkit::Tool;
/// use toolkit::prelude::*;
///
/// #[toolkit::tool_factory]
/// async fn greetings(caller: &Caller) -> Result<Vec<Tool>, toolkit::InvalidTool> {
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

/// Turns a function into the source of a service, so that a plugin with a connection needs nothing from its host but `link!`.
///
/// What the function returns is the `T` of tools' [`State<T>`](crate::State): a value, an `Arc<T>`, where `T` may be a trait
/// object, or a `Result` of one of these. It takes [`Config<T>`](crate::Config), the section `plugins.<id>` of its plugin, and
/// `State<T>` of other services.
///
/// The service is made when a call of a tool that takes it first needs it, once for a toolkit: calls that come meanwhile wait.
/// If that fails, those calls get the error, as [`Unavailable`](crate::ToolErrorKind::Unavailable), and the next call tries
/// again. It counts among the time of the call. The service is dropped with the toolkit, its toolboxes and calls under way.
///
/// A service that the host [provides](crate::Builder::service) goes first. Two functions for one service, and services that are
/// made from each other in a circle, are errors when the toolkit is built. [`ToolContext::service`](crate::ToolContext::service)
/// makes nothing: it finds a service that the tool takes as a parameter, or that was made before.
/// [`Toolkit::empty`](crate::Toolkit::empty) makes no services.
///
/// A plain `fn` runs where the call is polled: let one that blocks be `async` and use a blocking pool.
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
/// #[toolkit::service]
/// async fn connect(settings: Config<Settings>) -> Result<Database, std::io::Error> {
///     Ok(Database(settings.database.clone()))
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

/// Says of the crate it stands in which plugin it is. Once a crate, anywhere in it.
///
/// | field | value | what it says |
/// |---|---|---|
/// | `id` | `"acme"` | by which policies and the configuration name it: `[a-z][a-z0-9_-]*`, at most 64 bytes. Required; without `plugin!` it is the name of the crate |
/// | `title` | `"Acme"`, or a constant | its name for people |
/// | `description` | `"…"`, or a constant | what it brings |
/// | `optional` | `true` | its tools are there only where an allow list names them, the plugin or `group:plugins` |
/// | `channel` | `"telegram"` | its tools are there only in sessions that came in by this channel |
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
