//! Runs on shares that were made for any program.

use comity_core::{Bits, Error};
use comity_protocol::{Empty, Options, Protocol};
use comity_testing::laws::Outputs;
use comity_testing::{Kept, Net};

use super::*;
use crate::Bmr;

fn on_shares<const N: usize>(products: &str) {
    let program = Program::from_circuit(laws::chain_and_layer(20)).unwrap();
    let mut rng = laws::rng(3);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    let right: Vec<(usize, Bits)> = laws::clear(&program, &inputs).into_iter().enumerate().collect();
    Net::<N>::run(|net| {
        let (me, parties, params, backend) = (net.me(), net.parties(), Params::default(), Backend::detect());
        let here = Here { me, parties, session: SessionId::derive("test", &[b"shares"]), params, backend };
        let mut options = Options::new(Bmr.card());
        options.set(me, "stored", "shares").unwrap();
        options.set(me, "products", products).unwrap();
        let make = Bmr.needs(&program, &options, params).unwrap();
        let (mut kept, mut outputs, mut rng) = (Kept::new("shares", []), Outputs::default(), laws::rng(me.0.into()));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let ahead = comity_protocol::Ahead { program: None, options: &options, make: &make, together: 1 };
        Bmr.prepare(&mut party, &ahead, &mut Empty, &mut kept).unwrap();
        assert!(kept.batches.iter().map(|batch| batch.len() as u64).sum::<u64>() <= Bmr.stored_bytes(&make, parties));
        let own = program.inputs().iter().zip(&inputs);
        let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
        let job = Job { program: &program, inputs: &own, options: &options };
        Bmr.run(&mut party, &job, &mut kept).unwrap();
        assert!(kept.batches.is_empty() && kept.notes.replace("()", "").is_empty() && !kept.notes.is_empty());
        let again = Bmr.run(&mut party, &job, &mut kept);
        assert!(matches!(
            again,
            Err(Error { kind: comity_core::Kind::InvalidInput(_) | comity_core::Kind::Store(_), .. })
        ));
        assert_eq!(outputs.0, right);
    });
}

#[test]
fn shares_for_any_program_are_masks() {
    on_shares::<2>("macs");
    on_shares::<3>("macs");
    on_shares::<3>("ot");
}
