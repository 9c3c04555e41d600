//! Tests of texts that are redacted, and of texts that are not.

use super::*;
use serde_json::json;

/// `«…»` marks the secret. Keys are assembled here, so that no scanner reports this file as a leak.
fn secrets() -> Vec<String> {
    let long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    let upper = "2B3C4D5E6F7G2H3I";
    [
        format!("key «sk-{long}»."),
        format!("«sk-proj-{long}_{long}»"),
        format!("«sk-ant-api03-{long}-AA»"),
        format!("«sk-or-v1-{}»", "0123456789abcdef".repeat(4)),
        format!("remote: «ghp_{}»", &long[..36]),
        format!("«gho_{}»", &long[..36]),
        format!("«ghs_{}» ", &long[..36]),
        format!("«github_pat_11AAAAAAA0_{long}»"),
        format!("«glpat-{}»", &long[..20]),
        format!("«AKIA{upper}»"),
        format!("(«ASIA{upper}»)"),
        format!("aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCY{}»", "ABCDEFGHIJ"),
        format!("\"SecretAccessKey\": \"«wJalrXUtnFEMI/K7MDENG/bPxRfiCY{}»\"", "ABCDEFGHIJ"),
        format!("?key=«AIza{}»", &long[..35]),
        format!("«ya29.{long}»"),
        format!("«xoxb-123456789012-{}»", &long[..24]),
        format!("«xoxp-123456789012-{}»", &long[..24]),
        format!("https://hooks.slack.com/services/«T00000000/B00000000/{}»", &long[..24]),
        format!("«sk_live_{}»", &long[..24]),
        format!("«rk_live_{}»", &long[..24]),
        format!("«npm_{}»", &long[..36]),
        format!("«pypi-AgEIcHlwaS5vcmc{long}{long}»"),
        format!("HF «hf_{}»", &long[..34]),
        format!("https://api.telegram.org/bot«123456789:AA{}»/getMe", &long[..33]),
        format!("«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{long}»"),
        format!("Authorization: Bearer «{long}»"),
        "Authorization: Basic «dXNlcjpwYXNzd29yZA==»".to_owned(),
        "-H 'authorization: token «0b4e1f7a9c»'".to_owned(),
        format!("{{\"Authorization\":\"Bearer «{long}»\"}}"),
        format!("uses bearer «{long}» to log in"),
        "Cookie: «session=0b4e1f7a9c; theme=dark»".to_owned(),
        "postgres://app:«hunter2»@db.internal/app".to_owned(),
        "https://ada:«p%40ss»@example.com/x".to_owned(),
        "redis://:«s3cret»@localhost:6379".to_owned(),
        format!("git clone https://«{}»@example.com/x.git", &long[..24]),
        "-----BEGIN RSA PRIVATE KEY-----«\nMIIEow\nabc=\n»-----END RSA PRIVATE KEY-----".to_owned(),
        "-----BEGIN OPENSSH PRIVATE KEY-----«\nb3BlbnNzaC1rZXk\n(cut)»".to_owned(),
        "«b3BlbnNzaC1rZXk\nAAAAB3NzaC1yc2E\n»-----END OPENSSH PRIVATE KEY-----".to_owned(),
        "password=«hunter2»".to_owned(),
        "DB_PASSWORD=«correcthorse»".to_owned(),
        "export API_TOKEN=«correcthorse»".to_owned(),
        "password: «hunter2!»".to_owned(),
        "password: \"«correct horse battery»\"".to_owned(),
        "{\"password\":\"«hunter2»\"}".to_owned(),
        r#"{\"password\": \"«hunter2»\"}"#.to_owned(),
        r#"{"password": "«hunt\"er2»"}"#.to_owned(),
        "passwd = '«hunter2»'".to_owned(),
        "spring.datasource.password=«h8nter»".to_owned(),
        "api_key: \"«0b4e1f7a9c»\"".to_owned(),
        "apiKey: '«0b4e1f7a9c»',".to_owned(),
        "X-Api-Key: «0b4e1f7a9c»".to_owned(),
        "let token = \"«0b4e1f7a9c3d»\";".to_owned(),
        "https://example.com/?access_token=«abcdefgh»&x=1".to_owned(),
        "https://example.com/?x=1&token=«abcdefgh»".to_owned(),
        "client_secret=«0b4e1f7a9c»".to_owned(),
        "clientSecret: \"«kj3h4k5jh34k5j»\"".to_owned(),
        "os.environ['API_KEY'] = '«0b4e1f7a9c3d»'".to_owned(),
        "login --password «hunter2» --verbose".to_owned(),
        "login --api-key «0b4e1f7a9c3d»".to_owned(),
        "AZURE_ACCOUNT_KEY=«Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==»".to_owned(),
        "token: \"password=«hunter2»\"".to_owned(),
    ]
    .into()
}

#[test]
fn secrets_are_found() {
    let redactor = Redactor::new();
    for marked in secrets() {
        let text = marked.replace(['«', '»'], "");
        let (before, rest) = marked.split_once('«').unwrap();
        let (secret, after) = rest.split_once('»').unwrap();
        let redacted = redactor.redact(&text);
        // `token: "…"` may be replaced as a whole: the test only demands that the secret is gone.
        assert!(!redacted.contains(secret), "{text}: {redacted}");
        if !text.starts_with("token: ") {
            assert_eq!(redacted, format!("{before}{REDACTED}{after}"), "{text}");
        }
        assert_eq!(redactor.redact(&redacted), redacted, "again");
        for text in [format!("x\n{text}"), format!("é {text}")] {
            assert!(!redactor.redact(&text).contains(secret), "{text}");
        }
    }
}

const HARMLESS: &[&str] = &[
    "fn parse(token: &str) -> Result<Token, Error> {",
    "let token = parser.next_token();",
    "let token = Token::new(kind);",
    "self.token = token;",
    "token: None,",
    "password: String,",
    "password: Option<String>,",
    "password: SecretString,",
    "    pub password: Box<str>,",
    "password = getpass.getpass()",
    "password = input(\"Enter your password: \")",
    "placeholder=\"Enter your password\"",
    "\"password\": \"string\"",
    "\"password\": {\"type\": \"string\", \"minLength\": 8}",
    "const password = process.env.PASSWORD;",
    "password: ${DB_PASSWORD}",
    "password=$PASSWORD",
    "PASSWORD=${PASSWORD:-}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "api_key=api_key",
    "api_key = os.environ[\"OPENAI_API_KEY\"]",
    "api_key: \"OPENAI_API_KEY\"",
    "client = OpenAI(api_key=config.api_key)",
    "apiKey: string;",
    "api_key: <your key>",
    "max_tokens=100000",
    "max_tokens: 4096, temperature: 1",
    "usage: 1234 tokens",
    "tokens = tokenizer.encode(text)",
    "token_type: bearer",
    "eos_token: \"<|endoftext|>\"",
    "nextPageToken: \"CAUQAA1b2c3d\"",
    "the password is wrong",
    "Password: ********",
    "forgot your password?",
    "secret: bool,",
    "#[arg(secret)] key: String",
    "secretName: db-credentials",
    "secret = sha256_digest",
    "PWD=/home/ada/project",
    "pwd: /srv/project",
    "password_file=/run/secrets/db",
    "sk-fading-circle-container",
    "class=\"sk-cube-grid sk-folding-cube-animation\"",
    "risk-assessment-of-the-whole-programme",
    "task-1234567890-abcdefghijkl",
    "import scikit-learn as sk",
    "ghp_ is the prefix of a token",
    "AKIA is how they start",
    "asiatic lily",
    "http://localhost:8080/@scope/package",
    "https://example.com:443/path?user=ada@example.com",
    "git@github.com:owner/repository.git",
    "ssh://git@github.com/owner/repository",
    "npm_config_registry=https://registry.npmjs.org",
    "pypi-publish: true",
    "bearer authentication is required",
    "Authorization: required",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "12:AA:bb:cc:dd:ee",
    "at 10:15:32 the job ran",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "commit 7fe71b0c2e0f5b58a2475a695676c8e9e9355",
    "match token { Token::Comma => {} }",
    "if password == confirmation {",
    "assert_eq!(token, \"if\");",
    "token = \"identifier\"",
    "kind: \"token\", text: \"fn\"",
    "cookies: enabled",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg",
];

#[test]
fn harmless_text_is_left_alone() {
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for text in HARMLESS {
        if let Cow::Owned(redacted) = redactor.redact(text) {
            wrong.push(format!("{text}: {redacted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn named_values_are_found_in_every_form() {
    let secret = "zu \"geheim\"/ä&1\nzwei";
    let redactor = Redactor::new().value(format!("{secret}\n"));
    let encode = |text: &str| data_encoding::BASE64.encode(text.as_bytes());
    for (text, rest) in [
        (format!("<{secret}>"), "<[redacted]>"),
        (format!("{secret:?}"), "\"[redacted]\""),
        (json!({"a": secret}).to_string(), r#"{"a":"[redacted]"}"#),
        (json!({"a": json!({"b": secret}).to_string()}).to_string(), r#"{"a":"{\"b\":\"[redacted]\"}"}"#),
        ("q=zu%20%22geheim%22%2F%C3%A4%261%0Azwei&".into(), "q=[redacted]&"),
        ("q=zu+%22geheim%22%2f%c3%a4%261%0azwei&".into(), "q=[redacted]&"),
        (r#"zu \"geheim\"/\u00e4&1\nzwei"#.into(), "[redacted]"),
        // A line of the secret, as a tool that numbers lines shows it.
        ("1→zu \"geheim\"/ä&1".into(), "1→[redacted]"),
    ] {
        assert_eq!(redactor.redact(&text), rest, "{text}");
    }
    for before in ["", "a", "ab", "user:"] {
        for after in ["", "c", "cd", " and more"] {
            let text = encode(&format!("{before}{secret}{after}"));
            let kept = redactor.redact(&text).replace(REDACTED, "");
            assert!(kept.len() <= text.len() - secret.len(), "{text}: {kept}");
        }
    }
    assert_eq!(Redactor::new().value("abc").redact("abc"), "abc", "too short to be looked for");
}

#[test]
fn the_value_of_a_variable_is_found() {
    let path = std::env::var("PATH").unwrap();
    assert_eq!(Redactor::new().env("PATH").redact(&format!("in {path}.")), "in [redacted].");
    assert_eq!(format!("{:?}", Redactor::new().env("PATH")), "Redactor { values: 1, .. }");
    assert_eq!(format!("{:?}", Redactor::new().env("TOOLKIT_NOT_SET")), "Redactor { values: 0, .. }");
}

#[test]
fn json_is_searched_everywhere() {
    let redactor = Redactor::new().value("planted-1").with_own(vec!["99887".into()]);
    let mut value = json!({
        "a": ["planted-1", {"b": "x planted-1"}],
        "planted-1": 1,
        "password": "pp",
        "pin": 99887,
        "other": 1,
        "user": {"apiKey": "kk", "token": "if", "secret": {"type": "string"}, "Authorization": "Basic x"},
        "keep": "me",
    });
    redactor.redact_value(&mut value);
    let expected = json!({
        "a": [REDACTED, {"b": "x [redacted]"}],
        "[redacted]": 1,
        "password": REDACTED,
        "pin": REDACTED,
        "other": 1,
        "user": {"apiKey": REDACTED, "token": "if", "secret": {"type": "string"}, "Authorization": REDACTED},
        "keep": "me",
    });
    assert_eq!(value, expected);
    assert!(
        value.as_object().unwrap().keys().eq(expected.as_object().unwrap().keys()),
        "their order is kept"
    );
}

#[test]
fn a_secret_across_the_limit_is_found() {
    let redactor = Redactor::new().value("planted");
    for limit in 0..12 {
        let cut = redactor.redact_to("ab planted c", limit);
        let expected = if limit <= 3 { &"ab "[..limit] } else { "ab [redacted]" };
        assert!(cut.starts_with(expected) && !cut.contains('p'), "{limit}: {cut}");
    }
    assert_eq!(redactor.redact_to("éé", 3), "é");
}

#[test]
fn every_pattern_compiles_and_is_fast_on_hostile_text() {
    for place in 0..patterns::count() {
        assert!(patterns::compiles(place), "pattern {place}");
    }
    let redactor = Redactor::new();
    // Texts that would make a backtracking search run for minutes; a second is a generous limit here.
    for piece in [
        "token=",
        "password:",
        "-----BEGIN PRIVATE KEY-----",
        "a://b:",
        "eyJaaaaaaaaa.",
        "\"password\":\"\\",
        "A",
        "private key a\n",
    ] {
        let _ = redactor.redact(&piece.repeat((64 << 10) / piece.len()));
    }
}

#[test]
fn named_secrets_alone() {
    let redactor = Redactor::new().value("abc\"def").value("12345");
    assert!(redactor.has_named() && !Redactor::new().has_named());
    let mut value = json!({"password": "hunter22", "a abc\"def": ["x abc\"def y", 12345, 1234, null], "b": r#"{"c":"abc\"def"}"#});
    redactor.redact_named(&mut value);
    assert_eq!(
        value,
        json!({"password": "hunter22", "a [redacted]": ["x [redacted] y", "[redacted]", 1234, null], "b": r#"{"c":"[redacted]"}"#})
    );
    assert!(
        redactor.finds_named(&json!("abc\"def").to_string()) && !redactor.finds_named("password=hunter22")
    );
    for (text, begun) in [("", 0), ("x", 0), ("x ab", 2), ("abc\"de", 6), ("1234", 4), ("abc\"def", 0)] {
        assert_eq!(redactor.begun_named(text), begun, "{text}");
    }
}
