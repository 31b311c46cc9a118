//! Runs on shares that were made for any program.

use comity_core::{Bits, Error, Kind};
use comity_protocol::{Empty, Options, Protocol};
use comity_testing::laws::Outputs;
use comity_testing::{Kept, Net};

use super::*;
use crate::Bmr;

/// Makes shares and uses them up: in a run, or for a garbled program that a run takes.
fn on_shares<const N: usize>(program: &Program, products: &str, garbled: bool) {
    let mut rng = laws::rng(3);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    let right: Vec<(usize, Bits)> = laws::clear(program, &inputs).into_iter().enumerate().collect();
    Net::<N>::run(|net| {
        let (me, parties) = (net.me(), net.parties());
        let here = Here::new(me, parties, SessionId::derive("test", &[b"shares"]));
        let mut options = Options::new(Bmr.card());
        options.set(me, "products", products).unwrap();
        let (mut shares, mut outputs, mut rng) = (Kept::new("shares", []), Outputs::default(), laws::rng(me.0.into()));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let make = Bmr.source(program, &options).unwrap();
        let ahead = comity_protocol::Ahead { program: None, options: &options, make: &make, together: 1 };
        Bmr.prepare(&mut party, &ahead, &mut Empty, &mut shares).unwrap();
        let stored = shares.batches.iter().map(|batch| batch.len() as u64).sum::<u64>();
        assert!(stored <= Bmr.stored_bytes(&make, parties));

        let own = program.inputs().iter().zip(&inputs);
        let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
        if garbled {
            let mut kept = Kept::new("garbled", []);
            let make = Bmr.needs(program, &options, here.params).unwrap();
            let ahead = comity_protocol::Ahead { program: Some(program), make: &make[0], ..ahead };
            Bmr.prepare(&mut party, &ahead, &mut shares, &mut kept).unwrap();
            assert!(Bmr.prepare(&mut party, &ahead, &mut shares, &mut kept).is_err(), "no share is left");
            Bmr.run(&mut party, &Job { program, inputs: &own, options: &options }, &mut kept).unwrap();
        } else {
            options.set(me, "stored", "shares").unwrap();
            assert_eq!(
                (Bmr.needs(program, &options, here.params).unwrap(), Bmr.source(program, &options)),
                (vec![make], None)
            );
            let job = Job { program, inputs: &own, options: &options };
            Bmr.run(&mut party, &job, &mut shares).unwrap();
            let again = Bmr.run(&mut party, &job, &mut shares);
            assert!(matches!(again, Err(Error { kind: Kind::InvalidInput(_) | Kind::Store(_), .. })));
        }
        // Checks began, and each passed.
        assert!(shares.batches.is_empty() && shares.notes().replace("()", "").is_empty() && !shares.notes().is_empty());
        assert_eq!(outputs.0, right);
    });
}

#[test]
fn shares_for_any_program_are_masks() {
    let program = Program::from_circuit(laws::chain_and_layer(20)).unwrap();
    for garbled in [false, true] {
        on_shares::<2>(&program, "macs", garbled);
        on_shares::<3>(&program, "macs", garbled);
        on_shares::<3>(&program, "ot", garbled);
    }
}

/// Of several batches that were made for a run none is missing, and none is left.
#[test]
fn several_batches_are_used_up() {
    let program = laws::turns(2_500, 4);
    on_shares::<2>(&program, "macs", false);
    on_shares::<3>(&program, "macs", true);
}
