use super::*;
use crate::End;

#[tokio::test]
async fn a_command_that_kill_does_not_end_is_not_waited_for() {
    let job = Command::new("sleep").arg("1000").env("PATH", "/usr/bin:/bin").current_dir("/").spawn().await;
    let job = job.unwrap();
    let process = |pid| Process { pid, parent: 1, command: "sleep 1000".to_owned(), state: 'D' };
    let left = |pid| Stopped { left: vec![process(pid)], ..Stopped::default() };
    job.look_at(&left(job.pid() + 1));
    assert!(!job.progress().exited);
    job.look_at(&left(job.pid()));
    assert_eq!(job.exited().await.end, End::Lost);
    assert!(job.progress().exited && !job.progress().gone);
    // It does end, after all.
    job.stop(Duration::ZERO).await;
    job.gone().await;
}

#[test]
fn an_error_of_starting_names_what_the_system_lacks() {
    let error = |exists: fn(&str) -> bool| with_missing(io::ErrorKind::NotFound.into(), exists).to_string();
    let plain = io::Error::from(io::ErrorKind::NotFound).to_string();
    assert_eq!(error(|_| true), plain);
    assert_eq!(error(|path| path != "/proc/self"), format!("{plain}: /proc is not mounted"));
    let both = format!("{plain}: /proc is not mounted, and there is no /dev/null");
    assert_eq!(error(|_| false), both);
}
