//! Query strings.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{StatusCode, Uri};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use std::convert::Infallible;
use std::fmt::Display;
use std::str::FromStr;
use url::form_urlencoded;

/// The parameters of a query string, as an extractor too. Each is taken by its name; [`finish`](Self::finish) refuses those that were not taken.
///
/// ```
/// use toolkit_serve::Query;
///
/// # fn main() -> Result<(), toolkit_serve::Problem> {
/// let mut query = Query::of(&http::Uri::from_static("/v1/sessions?limit=5&label=a%20b"));
/// assert_eq!(query.number("limit", 1, 100)?, Some(5));
/// assert_eq!(query.one("label")?.as_deref(), Some("a b"));
/// query.finish()
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Query {
    given: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Query {
    /// Returns the parameters of a request.
    pub fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        Self { given: form_urlencoded::parse(query.as_bytes()).into_owned().collect(), known: Vec::new() }
    }

    /// Takes the values of parameters that are given once at most, and refuses all others.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if one of them is given twice, or if there is another one.
    pub fn only<const N: usize>(mut self, names: [&'static str; N]) -> Result<[Option<String>; N], Problem> {
        let mut values = [const { None }; N];
        for (value, name) in values.iter_mut().zip(names) {
            *value = self.one(name)?;
        }
        self.finish()?;
        Ok(values)
    }

    /// Takes every value of a parameter; commas separate values, too.
    pub fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let (taken, given) = std::mem::take(&mut self.given).into_iter().partition(|(key, _)| key == name);
        self.given = given;
        let values: Vec<(String, String)> = taken;
        let split = |(_, value): (String, String)| value.split(',').map(str::to_owned).collect::<Vec<_>>();
        values.into_iter().flat_map(split).collect()
    }

    /// Takes the value of a parameter that is given once at most.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if it is given twice.
    pub fn one(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
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
    ///
    /// # Errors
    ///
    /// A problem with status 400 if it is given twice, is no number, or is beyond the limits.
    pub fn number<T>(&mut self, name: &'static str, least: T, most: T) -> Result<Option<T>, Problem>
    where
        T: FromStr + Copy + PartialOrd + Display,
    {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
        let wrong = || bad(format!("the parameter `{name}` is a number from {least} to {most}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// Takes `true` or `false`; false if it is not given.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if it is given twice, or is something else.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, Problem> {
        match self.one(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(bad(format!("the parameter `{name}` is `true` or `false`"))),
        }
    }

    /// Takes the name of a variant of an enum.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if it is given twice, or there is no such variant.
    pub fn named<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        self.one(name)?.map(|text| variant(name, &text)).transpose()
    }

    /// Takes names of variants of an enum.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if there is no such variant.
    pub fn all_named<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<T>, Problem> {
        self.all(name).iter().map(|text| variant(name, text)).collect()
    }

    /// Refuses parameters that were not taken.
    ///
    /// # Errors
    ///
    /// A problem with status 400 if there is one.
    pub fn finish(self) -> Result<(), Problem> {
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
        Ok(Self::of(&parts.uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum State {
        Active,
        Idle,
    }

    fn query(text: &str) -> Query {
        Query::of(&format!("/?{text}").parse().expect("a URI"))
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
        assert_eq!(given.named("status").expect("a name"), Some(State::Idle));
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
        let unknown = detail(query("status=x").named::<State>("status"));
        assert!(unknown.contains("expected `active` or `idle`"), "{unknown}");
        assert!(detail(query("a=1").flag("a")).contains("`true` or `false`"));
        let mut given = query("tokne=1&limit=1");
        given.number("limit", 1, 10).expect("a number");
        assert_eq!(detail(given.finish()), "there is no parameter `tokne`; this path takes `limit`");
    }

    #[test]
    fn parameters_are_taken_all_at_once() {
        let of = |text: &str| query(text).only(["a", "b"]).map_err(|problem| problem.detail().to_owned());
        assert_eq!(of("b=x%20y&a="), Ok([Some(String::new()), Some("x y".to_owned())]));
        assert_eq!(of(""), Ok([None, None]));
        assert_eq!(of("c=1").expect_err("unknown"), "there is no parameter `c`; this path takes `a`, `b`");
        assert_eq!(of("a=1&a=1").expect_err("twice"), "the parameter `a` is given twice");
        assert_eq!(detail(query("a=1").only([])), "there is no parameter `a`; this path takes none");
    }
}
