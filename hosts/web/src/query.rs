//! Query strings.

use crate::problems::bad_request;
use toolkit_serve::Problem;
use toolkit_serve::axum::http::Uri;
use url::form_urlencoded;

/// Returns the values of the parameters `known`, each of which is given once at most; other ones are refused.
pub(crate) fn parameters<const N: usize>(
    uri: &Uri,
    known: [&str; N],
) -> Result<[Option<String>; N], Problem> {
    let mut values = [const { None }; N];
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        let Some(place) = known.iter().position(|known| *known == name) else {
            let taken = if N == 0 { "none".to_owned() } else { format!("`{}`", known.join("`, `")) };
            let text = format!("there is no parameter `{}`; this path takes {taken}", name.escape_debug());
            return Err(bad_request(text));
        };
        if values[place].replace(value.into_owned()).is_some() {
            return Err(bad_request(format!("the parameter `{name}` is given twice")));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_by_name_once() {
        let of = |uri: &'static str| {
            parameters(&Uri::from_static(uri), ["a", "b"]).map_err(|problem| problem.detail().to_owned())
        };
        assert_eq!(of("/?b=x%20y&a="), Ok([Some(String::new()), Some("x y".to_owned())]));
        assert_eq!(of("/"), Ok([None, None]));
        assert_eq!(of("/?c=1").unwrap_err(), "there is no parameter `c`; this path takes `a`, `b`");
        assert_eq!(of("/?a=1&a=1").unwrap_err(), "the parameter `a` is given twice");
    }
}
