//! Other ways to write a simple command, by which a rule may ask about it or deny it.
//!
//! A rule names a program and its subcommand, such as `git push *`. `/usr/bin/git push x`, `git -C . push x` and `cargo +nightly
//! publish` have the same effect in other forms. These forms never allow anything: an omitted option may change the effect of a
//! command.

use shell_verdict::Part;
use std::collections::BTreeSet;

/// Maximum number of forms of a command.
const MAX_FORMS: usize = 64;
/// Maximum number of words that are searched for a subcommand.
const MAX_WORDS: usize = 32;
/// Maximum number of nested subcommands, as in `gcloud compute instances delete`.
const MAX_LEVELS: usize = 3;

/// The options of a program that may come before its subcommand.
struct Options {
    programs: &'static str,
    /// Options without a value.
    plain: &'static str,
    /// Options whose value is the next word, if it is not attached.
    valued: &'static str,
}

const OPTIONS: &[Options] = &[
    Options {
        programs: "git",
        plain: "-p --paginate -P --no-pager --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --bare \
                --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs -v --version -h --help \
                --html-path --man-path --info-path --exec-path",
        valued: "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds",
    },
    Options {
        programs: "docker podman nerdctl",
        plain: "-D --debug --tls --tlsverify -v --version --help -r --remote --noout --syslog",
        valued: "-c --context --connection -H --host --url -l --log-level --config --tlscacert --tlscert --tlskey --identity \
                 --root --runroot --storage-driver --storage-opt --tmpdir --namespace -n -f --file -p --project-name --profile \
                 --env-file --project-directory --ansi --progress --parallel",
    },
    Options {
        programs: "docker-compose podman-compose",
        plain: "-v --version --verbose --compatibility --dry-run --all-resources",
        valued: "-f --file -p --project-name --profile --env-file --project-directory --ansi --progress --parallel -c --context \
                 -H --host",
    },
    Options {
        programs: "kubectl oc",
        plain: "--insecure-skip-tls-verify --match-server-version --warnings-as-errors --help -h -A --all-namespaces",
        valued: "-n --namespace --context --cluster --user -s --server --kubeconfig --token --as --as-group --as-uid --cache-dir \
                 --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name -v --v --vmodule \
                 --username --password --profile --profile-output -l --selector -o --output -f --filename",
    },
    Options {
        programs: "helm",
        plain: "--debug --help -h --kube-insecure-skip-tls-verify",
        valued: "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-token --registry-config \
                 --repository-config --repository-cache --burst-limit --qps",
    },
    Options {
        programs: "npm pnpm yarn bun npx",
        plain: "-g --global -s --silent -q --quiet -d -dd -ddd --verbose --json -y --yes --workspaces -ws -r --recursive \
                --workspace-root --force -f --no-audit --no-fund --offline --no-color --color --dry-run --if-present -D",
        valued: "--prefix -C --dir -w --workspace --filter -F --registry --userconfig --globalconfig --cache --loglevel --cwd \
                 --otp --tag --access --use-yarnrc --config",
    },
    Options {
        programs: "cargo",
        plain: "-v -vv --verbose -q --quiet --locked --offline --frozen -V --version -h --help --list",
        valued: "--config -Z -C --color --manifest-path --target-dir --explain",
    },
    Options {
        programs: "systemctl loginctl machinectl timedatectl hostnamectl",
        plain: "--user --system --global --no-pager -q --quiet --no-legend --plain -a --all -l --full --now -f --force \
                --no-block --wait --no-ask-password --no-reload --runtime --failed -r --recursive --reverse --value",
        valued: "-H --host -M --machine -C --capsule -t --type -p --property -P -n --lines -o --output -s --signal --root --image \
                 --state --job-mode --kill-who --kill-whom --kill-value --preset-mode --what --message --timestamp \
                 --check-inhibitors",
    },
    Options {
        programs: "gh glab",
        plain: "-h --help --version -w --web -y --yes",
        valued: "-R --repo --hostname -g --group",
    },
    Options {
        programs: "pip pip3 pipx",
        plain: "-v -vv -vvv --verbose -q -qq --quiet -h --help -V --version --debug --isolated --require-virtualenv --no-input \
                --no-cache-dir --disable-pip-version-check --no-color --no-python-version-warning",
        valued: "--python --log --keyring-provider --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert \
                 --cache-dir --use-feature --use-deprecated",
    },
    Options {
        programs: "uv poetry pdm hatch",
        plain: "-v --verbose -q --quiet -n --no-interaction --no-cache --offline --no-config --no-progress --native-tls \
                --no-ansi --ansi --no-plugins --isolated",
        valued: "--directory -C --project -P --config-file --cache-dir --color -p --python -e --env --config",
    },
    Options { programs: "go", plain: "", valued: "-C" },
    Options {
        programs: "apt apt-get aptitude apt-cache",
        plain: "-y --yes --assume-yes -q -qq --quiet -s --simulate --dry-run -d --download-only -f --fix-broken -m \
                --ignore-missing -V --verbose-versions -b --build --no-install-recommends --install-recommends --reinstall \
                --purge --auto-remove --autoremove --allow-unauthenticated --allow-downgrades --force-yes --no-upgrade \
                --only-upgrade -u",
        valued: "-o --option -c --config-file -t --target-release --default-release -a --host-architecture",
    },
    Options {
        programs: "dnf yum microdnf zypper",
        plain: "-y --assumeyes -q --quiet -v --verbose -C --cacheonly --refresh --nogpgcheck -n --non-interactive --assumeno -b \
                --best --allowerasing --skip-broken --nobest --no-refresh",
        valued: "-c --config --releasever --enablerepo --disablerepo --repo --repoid -x --exclude --setopt --installroot -R --root \
                 -d --debuglevel -e --errorlevel --forcearch --color --advisory",
    },
    Options { programs: "terraform tofu", plain: "-help -version", valued: "" },
    Options {
        programs: "aws",
        plain: "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --cli-auto-prompt --no-cli-auto-prompt",
        valued: "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout \
                 --cli-binary-format",
    },
    Options {
        programs: "gcloud gsutil bq",
        plain: "-q --quiet --no-user-output-enabled --user-output-enabled --log-http -m -D -DD",
        valued: "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account \
                 --access-token-file --trace-token --flags-file --flatten --zone --region -h -o -u",
    },
    Options {
        programs: "az",
        plain: "--debug --verbose --only-show-errors -y --yes",
        valued: "--subscription -o --output --query -g --resource-group",
    },
    Options {
        programs: "hg",
        plain: "-y --noninteractive -q --quiet -v --verbose --debug",
        valued: "-R --repository --cwd --config",
    },
    Options {
        programs: "jj",
        plain: "--ignore-working-copy --ignore-immutable --debug --quiet --no-pager",
        valued: "-R --repository --at-operation --at-op --color --config --config-toml --config-file",
    },
    Options {
        programs: "svn",
        plain: "--non-interactive --no-auth-cache --trust-server-cert -q --quiet",
        valued: "--username --password --config-dir --config-option",
    },
    Options { programs: "adb", plain: "-a -d -e", valued: "-s -t -H -P -L" },
    Options { programs: "tmux", plain: "-2 -C -CC -D -l -N -u -v", valued: "-c -f -L -S -T" },
    Options {
        programs: "brew gem bundle composer rustup flatpak snap pacman apk",
        plain: "-v --verbose -q --quiet -n --no-interaction -y --yes --user --system --no-cache",
        valued: "-d --working-dir -X --repository -p --root --installation",
    },
];

/// The forms of a command, and the remaining number of forms to add.
struct Forms {
    found: BTreeSet<String>,
    left: usize,
}

impl Forms {
    fn new() -> Self {
        Self { found: BTreeSet::new(), left: MAX_FORMS }
    }

    /// Adds a form. Returns true if more can be added.
    fn add(&mut self, form: impl FnOnce() -> String) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        self.found.insert(form());
        true
    }
}

/// Each other way to write a simple command: with the mere name of its program, with the file that this is, without the options
/// before its subcommands, and each of them with a blank at its end, so that `git push *` also describes `git push`.
pub(super) fn other_forms(part: &Part) -> Vec<String> {
    forms_of(part, UNKNOWN)
}

/// Each way to write a simple command of which the program or a word is known only when it runs, with [`ANY_TEXT`] in place of what is
/// unknown. None if all of it is known.
pub(super) fn possible_forms(part: &Part) -> Vec<String> {
    if part.words.first().is_some_and(Option::is_none) || sets_later(part) {
        return vec![ANY_TEXT.to_owned()];
    }
    if part.words.iter().all(Option::is_some) { Vec::new() } else { forms_of(part, ANY_TEXT) }
}

/// Returns true for a builtin that gives a program another name or keeps a command for later.
fn sets_later(part: &Part) -> bool {
    let mut words = part.words.iter();
    let Some(name) = words.next().and_then(Option::as_deref) else { return false };
    let has_arguments = part.words.len() > 1;
    match name {
        "alias" => words.any(|word| word.as_ref().is_none_or(|word| word.contains('='))),
        "bind" | "compgen" | "complete" | "enable" | "fc" | "hash" => has_arguments,
        "mapfile" | "readarray" => {
            words.any(|word| word.as_ref().is_none_or(|word| word.starts_with('-') && word.contains('C')))
        }
        "trap" => has_arguments && part.parts.is_empty(),
        _ => false,
    }
}

/// Returns true for a builtin of the shell.
pub(super) fn is_builtin(name: &str) -> bool {
    has(BUILTINS, name)
}

/// The builtins of the shells that judge commands.
const BUILTINS: &str = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo \
     enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read \
     readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait";

/// Returns each other way to write a simple command, with `unknown` in place of each unknown word.
fn forms_of(part: &Part, unknown: &str) -> Vec<String> {
    let words: Vec<&str> = part.words.iter().map(|word| word.as_deref().unwrap_or(unknown)).collect();
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let mut forms = Forms::new();
    let program = part.program.as_deref().unwrap_or(first);
    for name in [Some(*first), Some(program), part.executable.as_ref().and_then(|path| path.to_str())] {
        name.map(|name| forms.add(|| joined(name, rest)));
    }
    if let Some(name) = linked_name(part, first) {
        collect(&name, rest, &mut forms);
    }
    collect(program, rest, &mut forms);
    let mut forms = forms.found;
    let ended: Vec<String> = forms.iter().map(|form| format!("{form} ")).collect();
    forms.extend(ended);
    forms.into_iter().collect()
}

/// Returns the name of the program that a path leads to by links, if it is another one.
fn linked_name(part: &Part, word: &str) -> Option<String> {
    if !word.contains('/') {
        return None;
    }
    let real = part.directory.as_ref()?.join(word).canonicalize().ok()?;
    real.file_name()?.to_str().filter(|name| !word.ends_with(name)).map(str::to_owned)
}

/// Placeholder for a word that is unknown before the command runs.
pub(super) const UNKNOWN: &str = "?";
/// Any text, in a form that a rule may match: no command contains it.
pub(super) const ANY_TEXT: &str = "\0";

/// Adds the forms of a program with these words.
fn collect(program: &str, words: &[&str], forms: &mut Forms) {
    // `git push` executes `git-push`.
    if let Some(command) = program.strip_prefix("git-").filter(|command| !command.is_empty()) {
        let words: Vec<&str> = std::iter::once(command).chain(words.iter().copied()).collect();
        return collect("git", &words, forms);
    }
    forms.add(|| joined(program, words));
    if is_python(program)
        && let Some(at) = words.iter().position(|word| *word == "-m")
        && let Some((module, rest)) = words[at + 1..].split_first()
    {
        collect(module, rest, forms);
    }
    let options = OPTIONS.iter().find(|options| has(options.programs, program));
    for at in starts(options, program, words) {
        for meant in aliased(program, words, at) {
            forms.add(|| meant);
        }
        within(options, program, &words[at..], MAX_LEVELS, forms);
    }
}

/// Adds the words from a subcommand on, and the same without the options before the next subcommand.
fn within(options: Option<&Options>, program: &str, words: &[&str], levels: usize, forms: &mut Forms) {
    if !forms.add(|| joined(program, words)) {
        return;
    }
    let Some((subcommand, rest)) = words.split_first().filter(|_| levels > 1) else { return };
    let begun = format!("{program} {subcommand}");
    for at in starts(options, program, rest) {
        within(options, &begun, &rest[at..], levels - 1, forms);
    }
}

/// Returns the positions at which the subcommand may be. An unknown option may or may not take the next word as its value.
fn starts(options: Option<&Options>, program: &str, words: &[&str]) -> BTreeSet<usize> {
    let (mut found, mut seen, mut waiting) = (BTreeSet::new(), BTreeSet::new(), vec![0_usize]);
    while let Some(at) = waiting.pop() {
        let Some(word) = words.get(at).filter(|_| at < MAX_WORDS && seen.insert(at)) else { continue };
        let is_toolchain =
            word.starts_with('+') && matches!(program, "cargo" | "rustc" | "rustdoc" | "rustfmt");
        if *word == "--" || *word == UNKNOWN || *word == ANY_TEXT || is_toolchain {
            waiting.push(at + 1);
            if *word == ANY_TEXT {
                found.insert(at);
            }
        } else if word.len() > 1 && word.starts_with('-') {
            let takes = takes_next(options, word);
            if takes != Some(true) {
                waiting.push(at + 1);
            }
            if takes != Some(false) {
                waiting.push(at + 2);
            }
        } else {
            found.insert(at);
        }
    }
    found
}

/// Returns true if an option takes the next word as its value. `None` if that is unknown.
fn takes_next(options: Option<&Options>, word: &str) -> Option<bool> {
    if word.contains('=') {
        return Some(false);
    }
    let options = options?;
    if has(options.plain, word) {
        return Some(false);
    }
    if has(options.valued, word) {
        return Some(true);
    }
    if word.starts_with("--") {
        return None;
    }
    // Several letters in one word, of which the first that takes a value takes the rest of it.
    for (at, letter) in word.char_indices().skip(1) {
        let option = format!("-{letter}");
        if has(options.valued, &option) {
            return Some(at + letter.len_utf8() == word.len());
        }
        if !has(options.plain, &option) {
            return None;
        }
    }
    Some(false)
}

/// Returns the commands that a git subcommand stands for, through an alias set by the options before it.
fn aliased(program: &str, words: &[&str], at: usize) -> Vec<String> {
    if program != "git" {
        return Vec::new();
    }
    let set = words[..at].windows(2).filter(|pair| pair[0] == "-c").map(|pair| pair[1]);
    let aliases = set.filter_map(|setting| setting.split_once('=')).filter(|(key, _)| {
        let (section, name) = key.split_once('.').unwrap_or_default();
        section.eq_ignore_ascii_case("alias") && name.eq_ignore_ascii_case(words[at])
    });
    let rest = &words[at + 1..];
    aliases
        .map(|(_, meaning)| match meaning.strip_prefix('!') {
            Some(command) => joined(command.trim(), rest),
            None => joined("git", &[&[meaning.trim()], rest].concat()),
        })
        .collect()
}

fn is_python(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "python" | "pypy" | "py")
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn joined(program: &str, words: &[&str]) -> String {
    let mut text = program.to_owned();
    for word in words {
        text.push(' ');
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(command: &str) -> BTreeSet<String> {
        let words: Vec<&str> = command.split(' ').collect();
        let mut forms = Forms::new();
        collect(words[0], &words[1..], &mut forms);
        forms.found
    }

    #[test]
    fn options_before_a_subcommand_are_left_out() {
        for (command, form) in [
            ("git push", "git push"),
            ("git -C . push x", "git push x"),
            ("git -C. push", "git push"),
            ("git --no-pager -c a=b push", "git push"),
            ("git --git-dir=x --work-tree y push", "git push"),
            ("git --unknown push", "git push"),
            ("git --unknown x push", "git push"),
            ("git -pC x push", "git push"),
            ("git ? push", "git push"),
            ("git -C ? push", "git push"),
            ("git -c alias.p=push p -f", "git push -f"),
            ("git -c ALIAS.P=!git p push", "git push"),
            ("git stash -q drop", "git stash drop"),
            ("git-push origin", "git push origin"),
            ("docker --context x run -it y", "docker run -it y"),
            ("docker compose -f x.yml down", "docker compose down"),
            ("kubectl -n x delete pod y", "kubectl delete pod y"),
            ("kubectl delete -n x pod y", "kubectl delete pod y"),
            ("npm --prefix x publish", "npm publish"),
            ("cargo +nightly publish", "cargo publish"),
            ("cargo +nightly -Z x publish", "cargo publish"),
            ("systemctl --user restart x", "systemctl restart x"),
            ("gh -R o/r pr merge 5", "gh pr merge 5"),
            ("gh pr -R o/r merge 5", "gh pr merge 5"),
            ("pip --proxy x install y", "pip install y"),
            ("python3 -m pip install y", "pip install y"),
            ("python3.11 -I -m pip -q install y", "pip install y"),
            ("go -C x install", "go install"),
            ("apt-get -y install x", "apt-get install x"),
            ("apt-get -yqq install x", "apt-get install x"),
            ("apt-get -o A::B=c install x", "apt-get install x"),
            ("terraform -chdir=x apply", "terraform apply"),
            ("gcloud -q compute --zone z instances delete x", "gcloud compute instances delete x"),
            ("unheard-of --x y go", "unheard-of go"),
            ("rm -rf x", "rm x"),
        ] {
            assert!(forms(command).contains(form), "{command}: {:?}", forms(command));
        }
    }

    #[test]
    fn a_value_is_no_subcommand() {
        for (command, form) in [
            ("git -C push status", "git push status"),
            ("git -c push log", "git push log"),
            ("git --no-pager log push", "git push"),
            ("git log push", "git push"),
            ("git commit -m push", "git push"),
            ("docker --context run ps", "docker run ps"),
            ("kubectl -n delete get pods", "kubectl delete get pods"),
            ("apt-get -o remove install x", "apt-get remove install x"),
        ] {
            assert!(!forms(command).contains(form), "{command}: {:?}", forms(command));
        }
    }

    #[test]
    fn only_so_many_forms_are_looked_at() {
        let command = format!("x{}", " -a b".repeat(10_000));
        assert!(forms(&command).len() <= MAX_FORMS);
    }
}
