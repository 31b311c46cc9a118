//! Tables made ahead: the same computation, each once, for one program and party, and bytes that are no tables.

use comity_circuit::Program;
use comity_core::{Error, Kind, Params};
use comity_protocol::{Ahead, Empty, Job, Options, Party, Protocol};
use comity_testing::Kept;
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};

use super::{both, online, own, prepared};
use crate::{TinyTable, TinyTableSemiHonest};

/// Runs on what was prepared until nothing is left.
#[test]
fn what_is_prepared_is_what_a_run_takes() {
    let program = Program::map(chain_and_layer(20), 70, &[]).unwrap();
    let options = Options::new(TinyTableSemiHonest.card());
    let mut make = TinyTableSemiHonest.needs(&program, &options, Params::default()).unwrap().remove(0);
    (make.batches, make.units) = (2, vec![2]);
    let values: Vec<_> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(2))).collect();
    both(3, |me| {
        let mut store = Kept::new(make.material, []);
        let ahead = Ahead { program: Some(&program), options: &options, make: &make, together: 1 };
        TinyTableSemiHonest.prepare(me, &ahead, &mut Empty, &mut store).unwrap();
        assert!(store.lots.iter().all(|(_, lot)| lot.units == [1] && lot.batches == 1));
        assert!(store.batches.len() == 2 && store.batches[0] != store.batches[1]);
        let inputs = own(me.me(), &program, &values);
        for left in [1, 0] {
            let mut outputs = Outputs::default();
            let here = me.here.child(&format!("run {left}"));
            let mut me = Party { net: me.net, here, rng: me.rng, observer: &mut outputs };
            let job = Job { program: &program, inputs: &inputs, options: &options };
            TinyTableSemiHonest.run(&mut me, &job, &mut store).unwrap();
            assert_eq!(store.batches.len(), left);
            assert_eq!(outputs.0[0].1, clear(&program, &values)[0]);
        }
        let job = Job { program: &program, inputs: &inputs, options: &options };
        let ended = TinyTableSemiHonest.run(me, &job, &mut store);
        assert!(matches!(ended, Err(Error { kind: Kind::InvalidInput(why), .. }) if why.contains("no lot of tables")));
        let nameless = Ahead { program: None, ..ahead };
        assert!(TinyTableSemiHonest.prepare(me, &nameless, &mut Empty, &mut store).is_err());
    });
}

#[test]
fn what_are_no_tables_of_this_run_is_refused() {
    let program = Program::from_circuit(chain_and_layer(30)).unwrap();
    let other = Program::from_circuit(chain_and_layer(29)).unwrap();
    let kept = both(1, |me| prepared(me, &program));
    let refused = |program: &Program, tables: [&[u8]; 2], words: &str| {
        let ends = both(1, |me| {
            let values: Vec<_> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(1))).collect();
            online(me, program, &values, tables[usize::from(me.me().0)]).map(drop)
        });
        let why = ends[0].as_ref().unwrap_err();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains(words)), "{words}: {why}");
    };
    refused(&other, [&kept[0], &kept[1]], "for another program");
    refused(&program, [&kept[1], &kept[0]], "the tables are party 1's, and this is party 0");
    let version = [&b"comity tinytab 0"[..], &kept[0][16..]].concat();
    refused(&program, [&version, &kept[1]], "does not begin as one of this version");
    for len in [0, 16, 80, 81, 100, kept[0].len() - 1] {
        refused(&program, [&kept[0][..len], &kept[1]], "cannot be read");
    }
    refused(&program, [&[&kept[0][..], &[0]].concat(), &kept[1]], "more bytes");
}

/// A batch of authenticated tables is a lot: a run takes it, however it ends. A peer that stops at the check
/// costs this run's tables, which are gone then, and no other's.
#[test]
fn authenticated_tables_are_used_once_however_a_run_ends() {
    use comity_channel::{Change, Channel, Direction, Mesh, Tamper, Tampering};
    let program = Program::map(chain_and_layer(5), 7, &[]).unwrap();
    let options = Options::new(TinyTable.card());
    let params = Params::new(128, 8).unwrap();
    let mut make = TinyTable.needs(&program, &options, params).unwrap().remove(0);
    (make.batches, make.units) = (2, vec![2]);
    let values: Vec<_> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(2))).collect();
    let ends = both(3, |me| {
        let here = comity_protocol::Here { params, ..me.here };
        let mut me = Party { net: me.net, here, rng: me.rng, observer: &mut () };
        let mut store = Kept::new(make.material, []);
        let ahead = Ahead { program: Some(&program), options: &options, make: &make, together: 1 };
        TinyTable.prepare(&mut me, &ahead, &mut Empty, &mut store).unwrap();
        assert!(store.lots.iter().all(|(_, lot)| lot.units == [1] && lot.batches == 1));
        assert!(store.batches.len() == 2 && store.batches.iter().all(|lot| lot.len() as u64 <= make.bytes));
        let inputs = own(here.me, &program, &values);
        let mut outputs = Outputs::default();
        let job = Job { program: &program, inputs: &inputs, options: &options };
        let at = here.child("one");
        TinyTable
            .run(&mut Party { net: me.net, here: at, rng: me.rng, observer: &mut outputs }, &job, &mut store)
            .unwrap();
        assert_eq!((store.batches.len(), &outputs.0[0].1), (1, &clear(&program, &values)[0]));
        // Party 1 is lost when its digest is due.
        let layers = program.lowered()[0].layered().layers().iter().filter(|layer| layer.ands > 0);
        let layers: usize = layers.map(|layer| (layer.ands * 7).div_ceil(8)).sum();
        let tamper =
            Tamper { direction: Direction::Outgoing, at: (5_usize * 7).div_ceil(8) + layers, change: Change::Close };
        let ch = me.net.pair().unwrap().1;
        let link: Box<dyn Channel> = if here.me.0 == 1 { Box::new(Tampering::new(ch, &tamper)) } else { Box::new(ch) };
        let mut net = Mesh::of_two(here.me, link);
        let mut outputs = Outputs::default();
        let mut me = Party { net: &mut net, here: here.child("two"), rng: me.rng, observer: &mut outputs };
        let ended = TinyTable.run(&mut me, &job, &mut store);
        let again = TinyTable.run(&mut me, &job, &mut store);
        assert!(matches!(again, Err(Error { kind: Kind::InvalidInput(why), .. }) if why.contains("no lot of tables")));
        (ended, outputs.0.len(), store.batches.len())
    });
    for (ended, learned, left) in ends {
        assert!(matches!(ended, Err(Error { kind: Kind::Closed, .. })) && learned == 0 && left == 0, "{ended:?}");
    }
}
