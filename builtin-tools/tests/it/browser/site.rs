//! A site on loopback.

use toolkit_loopback::{Answer, Loopback, Request};

/// Serves these pages by path; all else is 404.
pub(super) async fn site(pages: &'static [(&'static str, &'static str)]) -> Loopback {
    serve(move |request| {
        let path = request.path.split('?').next().unwrap_or_default();
        let page = pages.iter().find(|(known, _)| *known == path);
        page.map_or_else(|| Answer::bytes(404, "nothing here"), |(_, body)| html(body))
    })
    .await
}

pub(super) async fn serve(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Loopback {
    Loopback::start(move |request| match request.path.as_str() {
        "/favicon.ico" => Answer::bytes(204, ""),
        _ => answer(request),
    })
    .await
}

pub(super) fn html(body: &str) -> Answer {
    Answer::bytes(200, body.to_owned()).with_header("content-type", "text/html; charset=utf-8")
}

/// The requests for pages, without the icon.
pub(super) fn paths(server: &Loopback) -> Vec<String> {
    let paths = server.requests().into_iter().map(|request| request.path);
    paths.filter(|path| path != "/favicon.ico").collect()
}
