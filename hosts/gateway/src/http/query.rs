//! Query strings and bodies of requests.

use std::convert::Infallible;
use std::str::FromStr;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use toolkit_serve::Problem;
use toolkit_serve::axum::Json;
use toolkit_serve::axum::extract::{FromRequest, FromRequestParts, Request};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::http::request::Parts;
use url::form_urlencoded;

/// The parameters of a query string. Each is taken by its name; [`finish`](Self::finish) refuses those that nobody took.
#[derive(Debug, Default)]
pub(super) struct Query {
    given: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Query {
    /// Takes every value of a parameter; commas separate values, too.
    pub(super) fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let (taken, given) = std::mem::take(&mut self.given).into_iter().partition(|(key, _)| key == name);
        self.given = given;
        let values: Vec<(String, String)> = taken;
        let split = |(_, value): (String, String)| value.split(',').map(str::to_owned).collect::<Vec<_>>();
        values.into_iter().flat_map(split).collect()
    }

    /// Takes the value of a parameter that is given once at most.
    pub(super) fn one(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        self.known.push(name);
        let mut value = None;
        while let Some(at) = self.given.iter().position(|(key, _)| key == name) {
            let (_, given) = self.given.remove(at);
            if value.replace(given).is_some() {
                return Err(bad(format!("the parameter `{name}` is given twice")));
            }
        }
        Ok(value)
    }

    /// Takes a number within limits.
    pub(super) fn number<T>(&mut self, name: &'static str, least: T, most: T) -> Result<Option<T>, Problem>
    where
        T: FromStr + Copy + PartialOrd + std::fmt::Display,
    {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
        let wrong = || bad(format!("the parameter `{name}` is a number from {least} to {most}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// Takes `true` or `false`; false if it is not given.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, Problem> {
        match self.one(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(bad(format!("the parameter `{name}` is `true` or `false`"))),
        }
    }

    /// Takes the name of a variant of an enum.
    pub(super) fn named<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        self.one(name)?.map(|text| variant(name, &text)).transpose()
    }

    /// Takes names of variants of an enum.
    pub(super) fn all_named<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<T>, Problem> {
        self.all(name).iter().map(|text| variant(name, text)).collect()
    }

    /// Refuses parameters that nobody took.
    pub(super) fn finish(self) -> Result<(), Problem> {
        let Some((name, _)) = self.given.first() else { return Ok(()) };
        let known = match self.known[..] {
            [] => "this path takes none".to_owned(),
            _ => format!("this path takes `{}`", self.known.join("`, `")),
        };
        Err(bad(format!("there is no parameter `{}`; {known}", name.escape_debug())))
    }
}

fn variant<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Problem> {
    let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| bad(format!("the parameter `{name}`: {error}")))
}

fn bad(text: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, text)
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let given = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Self { given, known: Vec::new() })
    }
}

/// A JSON body, of which a wrong one is a problem.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Json(value) = Json::from_request(request, state).await?;
        Ok(Self(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SessionStatus;

    fn query(text: &str) -> Query {
        Query { given: form_urlencoded::parse(text.as_bytes()).into_owned().collect(), known: Vec::new() }
    }

    fn detail<T: std::fmt::Debug>(outcome: Result<T, Problem>) -> String {
        outcome.expect_err("it is refused").detail().to_owned()
    }

    #[test]
    fn parameters_are_taken_by_name_and_type() {
        let mut given = query("kind=main,sub&kind=cron&limit=5&label=a%20b%2Bc&status=idle&archived=true");
        assert_eq!(given.all("kind"), ["main", "sub", "cron"]);
        assert_eq!(given.number("limit", 1, 10).expect("a number"), Some(5));
        assert_eq!(given.one("label").expect("one").as_deref(), Some("a b+c"));
        assert_eq!(given.named("status").expect("a name"), Some(SessionStatus::Idle));
        assert!(given.flag("archived").expect("a flag"));
        given.finish().expect("all were taken");
    }

    #[test]
    fn a_wrong_parameter_says_what_is_wrong() {
        assert_eq!(detail(query("a=1&a=2").one("a")), "the parameter `a` is given twice");
        for text in ["", "0", "11", "x", "-1"] {
            let wrong = detail(query(&format!("limit={text}")).number("limit", 1, 10));
            assert_eq!(wrong, "the parameter `limit` is a number from 1 to 10");
        }
        assert!(
            detail(query("status=x").named::<SessionStatus>("status")).contains("expected one of `active`")
        );
        assert!(detail(query("a=1").flag("a")).contains("`true` or `false`"));
        let mut given = query("tokne=1&limit=1");
        given.number("limit", 1, 10).expect("a number");
        assert_eq!(detail(given.finish()), "there is no parameter `tokne`; this path takes `limit`");
    }
}
