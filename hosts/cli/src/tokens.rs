//! The token that clients need over HTTP: created once, and stored so that only its owner can read it.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use toolkit::text::escape_line;
#[cfg(feature = "mcp")]
use toolkit_mcp::{ClientTokens, new_token};
#[cfg(not(feature = "mcp"))]
use toolkit_web::{ClientTokens, new_token};

/// A server over HTTP, whose tokens no other server takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenKind {
    /// The file of the token that clients share.
    file: &'static str,
    /// The file of the tokens of single clients.
    clients: &'static str,
    /// The subcommand that manages tokens.
    manages: &'static str,
    /// The reach of a token, for its help.
    about: &'static str,
}

/// The tokens of clients of the Model Context Protocol.
#[cfg(feature = "mcp")]
pub(crate) const MCP: TokenKind = TokenKind {
    file: "mcp-token",
    clients: "mcp-clients.json",
    manages: "toolkit mcp token",
    about: "Background jobs and approvals of a token belong to its principal: all sessions and connections with a token of this principal share them, and no other client sees them. \
            With the token of `mcp serve --http`, which clients share, they belong to a session or connection and end with it. Clients without their own token share the record of which files were read, so that `write` works across connections.",
};

/// The tokens of clients of `toolkit http`.
#[cfg(feature = "http")]
pub(crate) const HTTP: TokenKind = TokenKind {
    file: "http-token",
    clients: "http-clients.json",
    manages: "toolkit http token",
    about: "The session, background jobs, keyed calls, stored files and questions of a token belong to its principal: all requests with a token of this principal share them, and no other client sees them. \
            Clients that use the token of `toolkit http`, which they share, share all of these.",
};

/// Minimum length of a token that the user chose.
const LEAST: usize = 16;

/// A parsed `token` subcommand.
#[derive(Debug, Clone)]
pub(crate) struct TokenRequest {
    kind: TokenKind,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    Add { name: String, principal: Option<String> },
    List,
    Remove { name: String },
}

pub(crate) fn command(kind: TokenKind) -> Command {
    let name = || Arg::new("name").value_name("NAME").required(true).help("The token's name");
    let principal = Arg::new("principal")
        .long("principal")
        .value_name("NAME")
        .help("The person or program that the token belongs to, if it has another token [default: the token's name]");
    Command::new("token")
        .about("Manages tokens of single HTTP clients, whose sessions and background jobs no other client can use")
        .long_about(format!("Creates, lists and removes tokens of single HTTP clients.\n\n{}", kind.about))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("add").about("Creates a token for a client and prints it once").arg(name()).arg(principal),
        )
        .subcommand(Command::new("list").about("Lists the tokens of clients"))
        .subcommand(
            Command::new("remove")
                .about("Removes a token, and ends its sessions; the last token of a principal also ends its jobs")
                .arg(name()),
        )
}

pub(crate) fn request(matches: &mut ArgMatches, kind: TokenKind) -> Result<TokenRequest, Stop> {
    let Some((what, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage(format!("a subcommand is missing; `{} --help` lists them", kind.manages)));
    };
    let action = match what.as_str() {
        "add" => {
            let name = required(text(&mut matches, "name"))?;
            Action::Add { name, principal: text(&mut matches, "principal") }
        }
        "remove" => Action::Remove { name: required(text(&mut matches, "name"))? },
        _ => Action::List,
    };
    Ok(TokenRequest { kind, action })
}

/// Adds, lists or removes tokens of single clients.
pub(crate) fn run(
    request: &TokenRequest,
    data_dir: Option<&Path>,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let TokenRequest { kind, action } = request;
    let tokens = clients(*kind, data_dir)?;
    match action {
        Action::Add { name, principal } => {
            let principal = principal.as_deref().unwrap_or(name);
            let token = tokens.add_for(name, principal).map_err(|error| match error.kind() {
                ErrorKind::InvalidInput | ErrorKind::AlreadyExists => Stop::usage(error.to_string()),
                _ => Stop::failed(format!(
                    "the tokens of clients cannot be kept in {}: {error}",
                    tokens.path().display()
                )),
            })?;
            console.note(&format!("The token of `{name}`. It is not shown again:"));
            console.print(&format!("{token}\n"))?;
        }
        Action::List => {
            let tokens = tokens.principals().map_err(|error| Stop::failed(error.to_string()))?;
            match format {
                Format::Json => {
                    let entry = |(name, principal): &(String, String)| json!({ "name": name, "principal": principal });
                    print_json(&tokens.iter().map(entry).collect(), console)?;
                }
                Format::Text if tokens.is_empty() => {
                    let text =
                        format!("No client has a token of its own; `{} add NAME` makes one", kind.manages);
                    console.note(&text);
                }
                Format::Text => {
                    for (name, principal) in tokens {
                        let of = if name == principal { String::new() } else { format!(" (of {principal})") };
                        console.print(&format!("{name}{of}\n"))?;
                    }
                }
            }
        }
        Action::Remove { name } => {
            if !tokens.remove(name).map_err(|error| Stop::failed(error.to_string()))? {
                return Err(Stop::failed(format!(
                    "`{}` has no token; `{} list` lists those that have",
                    escape_line(name),
                    kind.manages
                )));
            }
            console.note(&format!("The token of `{name}` is no longer accepted"));
        }
    }
    Ok(Exit::Success)
}

/// The tokens of single clients in the data directory.
pub(crate) fn clients(kind: TokenKind, data_dir: Option<&Path>) -> Result<ClientTokens, Stop> {
    Ok(ClientTokens::at(needed(data_dir)?.join(kind.clients)))
}

fn needed(data_dir: Option<&Path>) -> Result<&Path, Stop> {
    data_dir.ok_or_else(|| {
        Stop::cannot_start(
            "there is no data directory to keep the tokens of clients in; set TOOLKIT_DATA_DIR".to_owned(),
        )
    })
}

/// A token and its file.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) path: PathBuf,
    pub(crate) is_new: bool,
}

/// Returns the token in the data directory, and creates it if there is none.
pub(crate) fn of(kind: TokenKind, data_dir: Option<&Path>) -> Result<Token, Stop> {
    let directory = needed(data_dir)?;
    let path = directory.join(kind.file);
    let unusable = |error: io::Error| {
        Stop::cannot_start(format!("the token of clients cannot be kept in {}: {error}", path.display()))
    };
    match make(directory, &path) {
        Ok(text) => return Ok(Token { text, path, is_new: true }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(unusable(error)),
    }
    let mut text = String::new();
    let file = fs::File::open(&path).map_err(unusable)?;
    if is_open_to_others(&file).map_err(unusable)? {
        return Err(Stop::cannot_start(format!(
            "other users can read the token of clients in {}; run `chmod 600` on the file, or remove it for a new token",
            path.display()
        )));
    }
    file.take(4096).read_to_string(&mut text).map_err(unusable)?;
    let text = text.trim().to_owned();
    if text.len() < LEAST || text.contains(char::is_whitespace) {
        return Err(Stop::cannot_start(format!(
            "{} does not hold a token of at least {LEAST} characters; remove it for a new one",
            path.display()
        )));
    }
    Ok(Token { text, path, is_new: false })
}

fn make(directory: &Path, path: &Path) -> io::Result<String> {
    fs::create_dir_all(directory)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let text = new_token()?;
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).inspect_err(|_| {
        // A partial file would prevent the next attempt.
        let _ = fs::remove_file(path);
    })?;
    Ok(text)
}

#[cfg(unix)]
fn is_open_to_others(file: &fs::File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &fs::File) -> io::Result<bool> {
    Ok(false)
}

/// Returns the line that tells a person which token clients need.
pub(crate) fn notice(token: &Token) -> String {
    let path = token.path.display();
    if token.is_new {
        format!("the token of clients, made just now and kept in {path}: {}", token.text)
    } else {
        format!("the token of clients is in {path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "mcp")]
    const KIND: TokenKind = MCP;
    #[cfg(not(feature = "mcp"))]
    const KIND: TokenKind = HTTP;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let Ok(made) = of(KIND, Some(&data)) else { panic!("no token") };
        assert!(made.is_new && made.text.len() >= 32, "{}", made.text);
        let Ok(kept) = of(KIND, Some(&data)) else { panic!("no token") };
        assert!(!kept.is_new && kept.text == made.text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&made.path).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&made.path, fs::Permissions::from_mode(0o640)).unwrap();
            assert!(of(KIND, Some(&data)).is_err(), "others can read it");
            fs::set_permissions(&made.path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for bad in ["", "short\n", "one with blanks in it, and long enough"] {
            fs::write(&made.path, bad).unwrap();
            assert!(of(KIND, Some(&data)).is_err(), "{bad:?}");
        }
        assert!(of(KIND, None).is_err());
    }
}
