use super::*;
use toolkit_serve::{Addressed, Bearer, ClientTokens, Cors, Principal, at_path};

#[tokio::test]
async fn a_refusal_says_what_is_wrong_as_problem_details() {
    let layers = Cors::new(Bearer::new(routes(), TOKEN), ["http://app.test"]);
    let server =
        Server::start(Addressed::local(layers).origins(["http://app.test"]), ServeOptions::default()).await;
    for (request, status, detail) in [
        (get_of("/size"), 401, "Authorization: Bearer"),
        (get_of("/size").header("authorization", "Bearer wrong"), 401, "Authorization: Bearer"),
        (get_of("/x").header("authorization", format!("Bearer {TOKEN}")), 404, "nothing here"),
        (get_of("/size").header("host", "evil.test"), 421, "host of this request"),
        (get_of("/size").header("origin", "http://evil.test"), 403, "pages of this origin"),
    ] {
        let (found, answer) = server.send(request.body(empty()).unwrap()).await;
        let problem = problem(&answer);
        assert_eq!(found, status, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert_eq!(answer.headers().contains_key("www-authenticate"), status == 401);
    }
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_call_with_the_headers_that_were_added() {
    let cors = Cors::new(Bearer::new(routes(), TOKEN), ["http://app.test"])
        .methods(&[http::Method::PATCH])
        .request_headers(&[http::HeaderName::from_static("x-mine")])
        .answer_headers(&[http::HeaderName::from_static("x-yours")]);
    let server = Server::start(cors, ServeOptions::default()).await;
    let preflight = |origin: &str| {
        let request = get_of("/size").method("OPTIONS").header("access-control-request-method", "PATCH");
        request.header("origin", origin).body(empty()).unwrap()
    };
    let (status, answer) = server.send(preflight("http://app.test")).await;
    let header = |name: &str| answer.headers()[name].to_str().unwrap();
    assert_eq!(status, 204);
    assert_eq!(header("access-control-allow-origin"), "http://app.test");
    assert_eq!(header("access-control-allow-methods"), "PATCH");
    assert!(header("access-control-allow-headers").ends_with(", x-mine"));
    assert!(header("access-control-expose-headers").ends_with(", x-yours"));
    let (status, answer) = server.send(preflight("http://evil.test")).await;
    assert_eq!((status.as_u16(), problem(&answer)["title"].as_str()), (403, Some("Forbidden")));
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_service_at_one_path_names_it() {
    let server = Server::start(at_path("/size", routes()), ServeOptions::default()).await;
    let (status, answer) = server.send(get_of("/size").method("POST").body(empty()).unwrap()).await;
    assert_eq!((status.as_u16(), &answer.body()[..]), (200, &b"0"[..]));
    let (status, answer) = server.send(get_of("/other").body(empty()).unwrap()).await;
    assert_eq!(status, 404);
    assert!(problem(&answer)["detail"].as_str().unwrap().ends_with("/size"));
}

#[tokio::test]
async fn without_a_shared_token_each_request_has_a_principal() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = ClientTokens::at(folder.path().join("tokens.json"));
    let token = tokens.add_for("laptop", "ada").unwrap();
    let named = |axum::Extension(principal): axum::Extension<Principal>| async move { principal.0 };
    let service = Bearer::of_clients(Router::new().route("/", get(named)), tokens);
    let server = Server::start(service, ServeOptions::default()).await;
    for (given, status) in [(token.as_str(), 200), ("", 401), (TOKEN, 401)] {
        let request = get_of("/").header("authorization", format!("Bearer {given}"));
        let (found, answer) = server.send(request.body(empty()).unwrap()).await;
        assert_eq!(found, status);
        assert_eq!(status == 200, &answer.body()[..] == b"client ada");
    }
}

#[tokio::test]
async fn a_shared_token_counts_as_its_file_says_at_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    let server = Server::start(Bearer::of_file(routes(), &path), ServeOptions::default()).await;
    let status = async |token: &str| {
        let request = get_of("/size").method("POST").header("authorization", format!("Bearer {token}"));
        server.send(request.body(empty()).unwrap()).await.0.as_u16()
    };
    let other = TOKEN.to_uppercase();
    assert_eq!((status(TOKEN).await, status(&other).await), (200, 401));
    let events = get_of("/events").header("authorization", format!("Bearer {TOKEN}")).body(empty()).unwrap();
    let mut client = server.connect().await;
    let mut stream = client.open(events).await.into_body();
    assert!(stream.frame().await.unwrap().is_ok());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(status(TOKEN).await, 401);
    // The stream of a client with the token ends.
    let end = tokio::time::timeout(std::time::Duration::from_secs(20), stream.frame()).await.unwrap();
    assert!(end.is_none_or(|frame| frame.is_err()));
    for (text, expected) in [("short", (401, 401)), (&*other, (401, 200))] {
        std::fs::write(&path, text).unwrap();
        assert_eq!((status(TOKEN).await, status(&other).await), expected);
    }
    assert_eq!(status("short").await, 401);
}

#[tokio::test]
async fn a_request_that_axum_rejects_is_answered_with_a_problem() {
    use axum::extract::rejection::{ExtensionRejection, JsonRejection, PathRejection};
    use axum::extract::{Json, Path};
    let json = async |body: Result<Json<Value>, JsonRejection>| Ok::<_, Problem>(body?.0.to_string());
    let path = async |number: Result<Path<u8>, PathRejection>| Ok::<_, Problem>(number?.0.to_string());
    let extension = async |principal: Result<axum::Extension<Principal>, ExtensionRejection>| {
        Ok::<_, Problem>(principal?.0.0)
    };
    let routes = Router::new()
        .route("/json", post(json))
        .route("/path/{number}", get(path))
        .route("/extension", get(extension))
        .method_not_allowed_fallback(async || Problem::new(StatusCode::METHOD_NOT_ALLOWED, "another method"));
    let server = Server::start(routes, ServeOptions::default()).await;
    for (method, path, content, status, detail) in [
        ("POST", "/json", "text/plain", 415, "application/json"),
        ("POST", "/json", "application/json", 400, "JSON"),
        ("GET", "/path/256", "", 400, "256"),
        ("GET", "/extension", "", 500, "extension"),
        ("GET", "/json", "", 405, "another method"),
    ] {
        let request = get_of(path).method(method).header("content-type", content);
        let (found, answer) = server.send(request.body(empty()).unwrap()).await;
        let problem = problem(&answer);
        assert_eq!(found, status, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
}
