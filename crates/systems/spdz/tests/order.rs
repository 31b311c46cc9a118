//! When what leaves: outputs after every check of what came before, and a note of each check before its first
//! message.

use std::sync::{Arc, Mutex};

use comity_channel::{Channel, Counted};
use comity_circuit::Recipients;
use comity_field_shares::{ByOwner, FieldBits, FieldTriples, MacKey};
use comity_protocol::Dealer;
use comity_spdz::FieldSource;
use comity_testing::assert_waits;
use zeroize::Zeroizing;

use super::*;

type Log = Arc<Mutex<Vec<&'static str>>>;

/// A source that notes checks in the log of what its party says.
struct Noting(Fresh<Block>, Log);

impl Dealer for Noting {
    type Batch = FieldTriples<Block>;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<FieldTriples<Block>> {
        self.0.deal(net, at_least)
    }

    fn check_begins(&mut self) -> Result<()> {
        self.1.lock().unwrap().push("(");
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.1.lock().unwrap().push(")");
        Ok(())
    }
}

impl FieldSource<Block> for Noting {
    fn key(&self) -> &MacKey<Block> {
        self.0.key()
    }

    fn bits(&mut self, net: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<Block>> {
        self.0.bits(net, shared, masks)
    }

    fn elements(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<Block>, Zeroizing<Vec<Block>>)> {
        self.0.elements(net, n)
    }
}

/// The conduct of a party whose messages to its first peer are logged.
fn logged(me: PartyId, log: &Log) -> Liar {
    let (first, log) = (PartyId(u16::from(me.0 == 0)), log.clone());
    Liar {
        talks: Box::new(move |act| {
            if let JointAct::Says { what, peer, .. } = act
                && peer == first
            {
                log.lock().unwrap().push(what);
            }
        }),
        ..Liar::honest()
    }
}

/// What parties compute by hand.
type Program = fn(&mut FieldMachine<'_, Block, Liar>, &mut Mesh<'_>) -> Result<()>;

fn ands(machine: &mut FieldMachine<'_, Block, Liar>, mesh: &mut Mesh<'_>) -> Result<()> {
    liars::ands(machine, mesh).map(drop)
}

/// Puts in a bit, which is said to all, and opens nothing before the output.
fn an_input(machine: &mut FieldMachine<'_, Block, Liar>, mesh: &mut Mesh<'_>) -> Result<()> {
    let own = (mesh.me().0 == 1).then(|| bits(1, 1));
    let x = machine.input(mesh, PartyId(1), own.as_ref(), 1)?;
    machine.reveal(mesh, Recipients::All, &x).map(drop)
}

/// Opens factors, and says nothing before.
fn a_product(machine: &mut FieldMachine<'_, Block, Liar>, mesh: &mut Mesh<'_>) -> Result<()> {
    let (mut x, y) = (machine.random_bits(mesh, 1)?, machine.random_bits(mesh, 1)?);
    machine.products(mesh, &mut x, &y)?;
    machine.reveal(mesh, Recipients::All, &x).map(drop)
}

/// What each of three parties says online and notes, and how it ends; party 1 is the liar, if there is one.
fn noted(program: Program, liar: Option<Lie>) -> [(Vec<&'static str>, bool); 3] {
    Net::<3>::run(|mesh| {
        let (me, here) = (mesh.me(), here(mesh));
        let (log, mut rng) = (Log::default(), rng(u128::from(me.0) + 1));
        let dealer = FieldDealer::<Block>::setup(mesh, here.child("dealer"), &mut rng).unwrap();
        let conduct = liar.filter(|_| me.0 == 1).map_or_else(|| logged(me, &log), |lie| lie());
        let source = Box::new(Noting(Fresh(dealer), log.clone()));
        let mut machine = FieldMachine::with(here.child("machine"), source, &mut rng, conduct);
        let ended = program(&mut machine, mesh).is_ok();
        if me.0 == 1 {
            for peer in mesh.peers() {
                while mesh.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        drop(machine);
        let said = log.lock().unwrap().clone();
        (said, ended)
    })
}

const CHECK: [&str; 7] = ["echo", "commitments", "echo", "coin", "commitments", "echo", "sigma"];

#[test]
fn outputs_come_after_checks_and_checks_after_their_notes() {
    let all = [&["announced bits", "announced bits", "factors", "("][..], &CHECK, &["outputs"], &CHECK, &[")"]];
    let to_one = [&["(", "outputs"][..], &CHECK, &[")"]];
    let whole = [all.concat(), to_one.concat()].concat();
    for (said, ended) in noted(ands, None) {
        assert!(ended && said == whole, "{said:?}");
    }
}

/// No honest party shows its share of an output after a lie, and each has noted that a check began and not
/// that it passed.
#[test]
fn after_a_lie_no_output_leaves() {
    let lies: [(&str, Program, Lie); 5] = [
        ("a false factor", ands, || Liar::holds("factors")),
        ("another factor to one", ands, || Liar::says("factors")),
        ("other announced bits to one", ands, || Liar::says("announced bits")),
        ("a false factor where nothing was said", a_product, || Liar::holds("factors")),
        ("other announced bits where nothing was opened", an_input, || Liar::says("announced bits")),
    ];
    for (what, program, lie) in lies {
        for (me, (said, ended)) in noted(program, Some(lie)).into_iter().enumerate().filter(|(me, _)| *me != 1) {
            assert!(!ended && !said.contains(&"outputs"), "{what}: party {me} said {said:?}");
            assert!(said.contains(&"(") && !said.contains(&")"), "{what}: party {me} has noted {said:?}");
        }
    }
}

/// A party of two that puts in a byte and shows the product of both; with what it had heard and said before
/// the output.
fn party(ch: &mut dyn Channel, me: u16) -> Result<[usize; 2]> {
    let mut ch = Counted::new(ch);
    let counter = ch.counter();
    let mut mesh = Mesh::of_two(PartyId(me), &mut ch);
    let (here, mut rng) = (here(&mesh), rng(me.into()));
    let dealer = FieldDealer::<Block>::setup(&mut mesh, here.child("dealer"), &mut rng)?;
    let mut machine = FieldMachine::new(here.child("machine"), Box::new(Fresh(dealer)), &mut rng);
    let mut input = |owner: u16| {
        let own = (me == owner).then(|| bits(0xa5, 8));
        machine.input(&mut mesh, PartyId(owner), own.as_ref(), 8)
    };
    let (mut x, y) = (input(0)?, input(1)?);
    machine.products(&mut mesh, &mut x, &y)?;
    let counts = counter.counts();
    machine.reveal(&mut mesh, Recipients::All, &x)?;
    Ok([counts.received, counts.sent].map(|bytes| bytes as usize))
}

/// Between two, to the byte: the coin's seed after the other's commitment or seed, sigma after the coin, an
/// output after the other's sigma.
#[test]
fn nothing_is_told_before_what_it_waits_for() {
    let marks = comity_testing::Pair::run(|ch| party(ch, 0).unwrap(), |ch| party(ch, 1).unwrap());
    let run = |me: u16| move |ch: &mut dyn Channel| party(ch, me).map(drop);
    let [heard, said] = marks.0;
    // The first one commits, hears the other's seed and opens; it commits to its sigma, hears the other's and
    // opens, and shows its output.
    let first = [
        ("the coin's seed", heard + 32, said + 32),
        ("sigma, and then the output", heard + 32 + 16, said + 32 + 64 + 32),
    ];
    assert_waits(run(0), run(1), &first);
    let [heard, said] = marks.1;
    let second = [
        ("the coin's seed", heard + 32, said),
        ("sigma", heard + 32 + 64 + 32, said + 32),
        ("the output", heard + 32 + 64 + 32 + 48, said + 32 + 16),
    ];
    assert_waits(run(1), run(0), &second);
}
