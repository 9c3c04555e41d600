//! PDF files.

#![expect(clippy::format_push_string, reason = "a file is put together piece by piece")]

use super::{LOOPBACK, content, error, text, toolkit};
use serde_json::json;
use toolkit_loopback::{Answer, Loopback};

/// A file with one page, with right offsets.
fn pdf(words: &str) -> Vec<u8> {
    let stream = format!("BT /F1 24 Tf 72 720 Td ({words}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let start = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        file.push_str(&format!("{place:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    ));
    file.into_bytes()
}

async fn served(body: Vec<u8>) -> Loopback {
    Loopback::start(move |_| Answer::bytes(200, body.clone()).with_header("content-type", "application/pdf"))
        .await
}

/// The program of this test does not look after commands, so there is no sandbox: the file is not opened.
#[tokio::test]
async fn without_a_program_or_a_sandbox_the_error_says_so() {
    let server = served(pdf("Hello")).await;
    let told = error(&toolkit(&[LOOPBACK]), "web_fetch", json!({ "url": server.url() })).await;
    let message = told.message();
    assert!(message.contains("poppler-utils") || message.contains("cannot run in a sandbox"), "{message}");
}

/// As a host of three lines does.
#[tokio::test]
#[ignore = "needs pdftotext: cargo xtask test"]
async fn the_text_of_a_pdf_file() {
    assert!(crate::commands::house::is_whole(), "this system has no sandbox");
    let toolkit = toolkit(&[LOOPBACK]);
    let server = served(pdf("Hello from a page")).await;
    let got = text(&toolkit, "web_fetch", json!({ "url": server.url() })).await;
    assert_eq!(content(&got).trim(), "Hello from a page");
    let broken = served(b"%PDF-1.4\nnothing of a file".to_vec()).await;
    let told = error(&toolkit, "web_fetch", json!({ "url": broken.url() })).await;
    assert!(told.message().contains("the PDF file cannot be read"), "{told}");
}
