//! Runs on shares that were made for any program.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use comity_core::{Bits, Error};
use comity_protocol::{Empty, Lot, Options, Protocol, Shelf, WriteBatch};
use comity_testing::Net;
use comity_testing::laws::Outputs;

use super::*;
use crate::Bmr;

/// Batches in memory, and the checks that began and did not pass.
#[derive(Default)]
struct Kept {
    batches: VecDeque<Vec<u8>>,
    open: i32,
}

impl Shelf for Kept {
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()> {
        for batch in 0..lot.batches {
            let mut bytes = Vec::new();
            write(me, batch, &mut bytes)?;
            self.batches.push_back(bytes);
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        Ok(self.batches.pop_front().map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read + Send>))
    }

    fn check_begins(&mut self) -> Result<()> {
        self.open += 1;
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.open -= 1;
        Ok(())
    }
}

impl Supplies for Kept {
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        (material == "shares").then_some(self)
    }
}

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
        let (mut kept, mut outputs, mut rng) = (Kept::default(), Outputs::default(), laws::rng(me.0.into()));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let ahead = comity_protocol::Ahead { program: None, options: &options, make: &make, together: 1 };
        Bmr.prepare(&mut party, &ahead, &mut Empty, &mut kept).unwrap();
        assert!(kept.batches.iter().map(|batch| batch.len() as u64).sum::<u64>() <= Bmr.stored_bytes(&make, parties));
        let own = program.inputs().iter().zip(&inputs);
        let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
        let job = Job { program: &program, inputs: &own, options: &options };
        Bmr.run(&mut party, &job, &mut kept).unwrap();
        assert!(kept.open == 0 && kept.batches.is_empty(), "all checks passed, on what was made");
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
