//! Offline and online: the same outputs as in the clear, for whoever garbles and learns; that a batch is used once; and
//! what it refuses.

use comity_channel::{Channel, Mesh};
use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, Result, SessionId};
use comity_cutchoose::{CutChoose, Prepared, prepare};
use comity_protocol::{Ahead, Empty, Here, Job, Need, Options, Party, Protocol};
use comity_testing::laws::{Outputs, rng};
use comity_testing::{Kept, Pair, told};

const RHO: u32 = 7;

/// The options of party 0, which says its role.
fn options(role: &str) -> Options {
    let mut options = Options::new(CutChoose.card());
    options.set(PartyId(0), "role", role).unwrap();
    options
}

fn here(me: u16) -> Here {
    let params = Params::new(128, RHO).unwrap();
    Here { params, ..Here::new(PartyId(me), 2, SessionId::derive("test of batches", &[])) }
}

/// Runs one party's offline phase, for `runs` runs.
fn offline(ch: &mut dyn Channel, me: u16, role: &str, program: &Program, runs: u64) -> Kept {
    let (mut kept, mut rng, mut observer, options) =
        (Kept::new("copies", []), rng(u128::from(me) + 5), Outputs::default(), options(role));
    let need = CutChoose.needs(program, &options, here(me).params).unwrap().remove(0);
    assert_eq!((need.material, need.batches, &need.units[..]), ("copies", 1, &[1][..]));
    let make = Need { units: vec![runs], batches: runs, ..need };
    let mut net = Mesh::of_two(PartyId(me), ch);
    let mut me = Party { net: &mut net, here: here(me), rng: &mut rng, observer: &mut observer };
    let ahead = Ahead { program: Some(program), options: &options, make: &make, together: 1 };
    CutChoose.prepare(&mut me, &ahead, &mut Empty, &mut kept).unwrap();
    assert!(kept.lots.iter().all(|(_, lot)| (lot.batches, &lot.units[..]) == (1, &[1][..])));
    for bytes in &kept.batches {
        assert!((bytes.len() as u64) < make.bytes, "{} bytes of {}", bytes.len(), make.bytes);
    }
    assert!(observer.0.is_empty());
    kept
}

/// Runs one party on what is kept.
fn online(
    ch: &mut dyn Channel,
    me: u16,
    role: &str,
    program: &Program,
    inputs: &[Bits],
    kept: &mut Kept,
) -> Result<Vec<(usize, Bits)>> {
    let pairs = program.inputs().iter().zip(inputs);
    let own: Vec<Option<Bits>> = pairs.map(|(i, value)| i.owner.includes(me).then(|| value.clone())).collect();
    let (mut outputs, mut rng, options) = (Outputs::default(), rng(u128::from(me) + 9), options(role));
    let mut net = Mesh::of_two(PartyId(me), ch);
    let mut me = Party { net: &mut net, here: here(me), rng: &mut rng, observer: &mut outputs };
    CutChoose.run(&mut me, &Job { program, inputs: &own, options: &options }, kept)?;
    assert!(kept.notes().is_empty(), "a batch serves one run: there is nothing to note");
    Ok(outputs.0)
}

fn number(value: u64, bits: usize) -> Bits {
    Bits::from_words(vec![value], bits)
}

fn refused<T>(ended: Result<T>, words: &str) {
    match ended {
        Err(Error { kind: Kind::InvalidInput(text), .. }) => assert!(text.contains(words), "{text}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is not refused: {words}"),
    }
}

#[test]
fn online_runs_compute_what_the_program_says() {
    for (role, to) in [
        ("garbler", Recipients::All),
        ("evaluator", Recipients::only(0)),
        ("garbler", Recipients::only(0)),
        ("evaluator", Recipients::All),
    ] {
        let program = comity_library::program("add64").unwrap().with_recipients(0, to).unwrap();
        let (mut a, mut b) = Pair::run(|ch| offline(ch, 0, role, &program, 1), |ch| offline(ch, 1, role, &program, 1));
        let inputs = [number(0xfedc_ba98_7654_3210, 64), number(0x1111_2222_3333_4444, 64)];
        let sum = number(0xfedc_ba98_7654_3210u64.wrapping_add(0x1111_2222_3333_4444), 64);
        let (x, y) = Pair::run(
            |ch| online(ch, 0, role, &program, &inputs, &mut a).unwrap(),
            |ch| online(ch, 1, role, &program, &inputs, &mut b).unwrap(),
        );
        for (party, outputs) in [(0u16, x), (1, y)] {
            let wanted = if to.includes(party) { vec![(0, sum.clone())] } else { vec![] };
            assert!(outputs == wanted, "party {party}; party 0 is the {role}");
        }
    }
}

/// Two runs of one session are prepared apart, and each takes one; then none is left, which is found out
/// before anything is sent.
#[test]
fn each_run_takes_a_lot_of_its_own() {
    let program = comity_library::program("add8").unwrap();
    let role = "garbler";
    let (mut a, mut b) = Pair::run(|ch| offline(ch, 0, role, &program, 2), |ch| offline(ch, 1, role, &program, 2));
    let sessions = |kept: &Kept| -> Vec<SessionId> {
        let open =
            |bytes: &[u8], me| Prepared::open(bytes, Backend::detect(), PartyId(me), &program).map(|p| p.session());
        let me = u16::from(open(&kept.batches[0], 0).is_err());
        kept.batches.iter().map(|bytes| open(bytes, me).unwrap()).collect()
    };
    assert!(sessions(&a) == sessions(&b) && sessions(&a)[0] != sessions(&a)[1]);
    let lots = |kept: &Kept| -> Vec<SessionId> { kept.lots.iter().map(|(lot, _)| *lot).collect() };
    assert!(lots(&a) == lots(&b) && lots(&a)[0] != lots(&a)[1]);
    for (x, y) in [(3, 4), (200, 100)] {
        let inputs = [number(x, 8), number(y, 8)];
        let (one, two) = Pair::run(
            |ch| online(ch, 0, role, &program, &inputs, &mut a).unwrap(),
            |ch| online(ch, 1, role, &program, &inputs, &mut b).unwrap(),
        );
        assert!(one == [(0, number((x + y) & 255, 8))] && one == two);
    }
    let (sent, ended) = told(&[], |ch| online(ch, 0, role, &program, &[number(1, 8), number(1, 8)], &mut a));
    refused(ended, "no lot of copies is left");
    assert!(sent.is_empty());
}

/// A run that does not fit is refused before anything is sent. Inputs that do not fit leave the lot where it is.
#[test]
fn a_run_that_does_not_fit_its_lot_is_refused() {
    let program = comity_library::program("add8").unwrap();
    let role = "garbler";
    let (mut a, _) = Pair::run(|ch| offline(ch, 0, role, &program, 1), |ch| offline(ch, 1, role, &program, 1));
    let mut run = |role, x| told(&[], |ch| online(ch, 0, role, &program, &[x, number(1, 8)], &mut a));
    let (sent, ended) = run(role, number(1, 7));
    refused(ended, "bits");
    assert!(sent.is_empty());
    // The lot is still there, and now it is used.
    let (sent, ended) = run("evaluator", number(1, 8));
    refused(ended, "other roles");
    assert!(sent.is_empty());
    refused(run(role, number(1, 8)).1, "no lot of copies is left");

    let mut coded = options(role);
    coded.set(PartyId(0), "coded", "yes").unwrap();
    refused(CutChoose.needs(&program, &coded, here(0).params), "stored copies cannot be coded");
    refused(CutChoose.amount(1, &coded, here(0).params), "name one");
}

#[test]
fn a_batch_is_for_one_program_and_party_and_read_whole() {
    let program = comity_library::program("add8").unwrap();
    // The phases apart, as who measures them calls them.
    let written = |ch: &mut dyn Channel, me| {
        let (mut bytes, mut net) = (Vec::new(), Mesh::of_two(PartyId(me), ch));
        let (mut rng, mut observer) = (rng(u128::from(me) + 5), Outputs::default());
        let mut me = Party { net: &mut net, here: here(me), rng: &mut rng, observer: &mut observer };
        prepare(&mut me, &program, PartyId(0), &mut bytes).unwrap();
        bytes
    };
    let (a, _) = Pair::run(|ch| written(ch, 0), |ch| written(ch, 1));
    let open =
        |bytes: &[u8], me, program: &Program| match Prepared::open(bytes, Backend::detect(), PartyId(me), program) {
            Ok(prepared) => {
                assert_eq!((prepared.garbler(), prepared.params().rho), (PartyId(0), RHO));
                let loaded = prepared.load(program, &[Some(number(1, 8)), None]);
                loaded.map(|_| "loaded".to_owned()).unwrap_or_else(|e| e.to_string())
            }
            Err(Error { kind: Kind::Store(text), .. }) => text,
            Err(other) => panic!("{other}"),
        };
    assert_eq!(open(&a, 0, &program), "loaded");
    assert!(open(&a, 1, &program).contains("the batch is party 0's"));
    assert!(open(&a, 0, &comity_library::program("add16").unwrap()).contains("another program"));
    assert!(open(&a[1..], 0, &program).contains("as one of this version"));
    for len in [0, 10, 40, 83, 100, a.len() - 1] {
        assert!(open(&a[..len], 0, &program).contains("cannot be read"), "{len}");
    }
}
