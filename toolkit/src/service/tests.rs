use super::*;
use crate::tool::def::ToolDef;

struct A;
struct B;
struct C;

const fn maker(
    name: &'static str,
    service: ServiceDef,
    needs: &'static [&'static ServiceDef],
    line: u32,
) -> MakerDef {
    let location = Location { module: "plugin", file: "lib.rs", line, ..ToolDef::BASE.location };
    MakerDef { name, service, needs, run: |_| Err(ToolError::failed("never run")), close: None, location }
}

static TAKES_A: ServiceDef = ServiceDef::of::<A>();
static TAKES_B: ServiceDef = ServiceDef::of::<B>();
static TAKES_C: ServiceDef = ServiceDef::of::<C>();
static A_OF_NOTHING: MakerDef = maker("a", ServiceDef::of::<A>(), &[], 1);
static A_AGAIN: MakerDef = maker("again", ServiceDef::of::<A>(), &[], 2);
static A_OF_B: MakerDef = maker("a_of_b", ServiceDef::of::<A>(), &[&TAKES_B], 3);
static B_OF_C: MakerDef = maker("b_of_c", ServiceDef::of::<B>(), &[&TAKES_C], 4);
static C_OF_A: MakerDef = maker("c_of_a", ServiceDef::of::<C>(), &[&TAKES_A], 5);
static C_OF_C: MakerDef = maker("c_of_c", ServiceDef::of::<C>(), &[&TAKES_C], 6);
static C_OF_A_AND_B: MakerDef = maker("c_of_a_and_b", ServiceDef::of::<C>(), &[&TAKES_A, &TAKES_B], 7);

fn added(makers: &[&'static MakerDef], incomplete: Incomplete) -> (Services, Vec<String>, Vec<String>) {
    let (mut services, mut problems, mut diagnostics) = (Services::default(), Vec::new(), Vec::new());
    let explain = |_: &ServiceDef, _: &str| "which is not provided".to_owned();
    add(&mut services, makers.to_vec(), incomplete, explain, &mut problems, &mut diagnostics);
    (services, problems, diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
}

#[test]
fn what_is_wrong_with_services_is_named() {
    for (makers, expected) in [
        (&[&A_OF_NOTHING, &C_OF_A][..], &[][..]),
        (
            &[&A_OF_B, &B_OF_C],
            &[
                "the service `toolkit::service::tests::B`, made by `b_of_c` (lib.rs:4), takes `State<toolkit::service::tests::C>`, which is not provided",
            ],
        ),
        (&[&A_OF_NOTHING, &A_AGAIN], &["is made more than once: by `a` (lib.rs:1) and `again` (lib.rs:2)"]),
        (
            &[&C_OF_C],
            &[
                "in a cycle: `toolkit::service::tests::C` (lib.rs:6) takes `toolkit::service::tests::C`; remove",
            ],
        ),
        (
            &[&A_OF_B, &B_OF_C, &C_OF_A],
            &[
                "tests::A` (lib.rs:3) takes `toolkit::service::tests::B` (lib.rs:4) takes `toolkit::service::tests::C` (lib.rs:5) takes `toolkit::service::tests::A`; remove",
            ],
        ),
        (&[&A_OF_B, &B_OF_C, &C_OF_A_AND_B], &["in a cycle: "]),
    ] {
        let (_, problems, diagnostics) = added(makers, Incomplete::Refused);
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.contains(expected), "{problem}");
        }
        assert!(diagnostics.is_empty());
    }
}

#[test]
fn what_cannot_be_made_leaves_out_what_is_made_from_it() {
    let (services, problems, diagnostics) = added(&[&A_OF_B, &B_OF_C], Incomplete::LeftOut);
    assert!(problems.is_empty() && services.is_empty());
    assert_eq!(diagnostics.len(), 2);
    assert!(
        diagnostics[1].contains("made by `a_of_b` (lib.rs:3), takes `State<toolkit::service::tests::B>`")
    );

    let (services, _, diagnostics) = added(&[&A_OF_NOTHING, &B_OF_C], Incomplete::LeftOut);
    assert!(services.contains(TAKES_A.id) && !services.contains(TAKES_B.id));
    assert_eq!(diagnostics.len(), 1);
}
