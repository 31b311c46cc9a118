//! Offline and online: the same outputs as in the clear, for whoever garbles and learns; and what a preparation refuses.

use comity_channel::Channel;
use comity_circuit::{Observer, Program, Recipients, library};
use comity_core::{Backend, Bits, Block, Error, Kind, Params, Prg, Result, SessionId};
use comity_cutchoose::{Config, Form, Prepared, prepare, prepared_size};
use comity_testing::Pair;

#[derive(Default)]
struct Outputs(Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn config(party: u32, garbler: u32, rho: u32) -> Config {
    Config { backend: Backend::detect(), party, garbler, params: Params::new(128, rho).unwrap(), form: Form::All }
}

/// One party's offline phase.
fn offline(ch: &mut dyn Channel, config: &Config, program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    let session = SessionId::derive("test of preparations", &[]);
    let mut rng = rng(u128::from(config.party) + 5);
    prepare(ch, &session, config, program, &mut rng, &mut bytes, &mut Outputs::default()).unwrap();
    bytes
}

/// One party's online phase.
fn online(
    ch: &mut dyn Channel,
    party: u32,
    program: &Program,
    prepared: &[u8],
    inputs: &[Bits],
) -> Result<Vec<(usize, Bits)>> {
    let pairs = program.inputs().iter().zip(inputs);
    let own: Vec<Option<Bits>> =
        pairs.map(|(i, value)| (i.owner.includes(party as u16)).then(|| value.clone())).collect();
    let mut outputs = Outputs::default();
    let loaded = Prepared::open(prepared, Backend::detect(), party, program)?.load(program, &own)?;
    loaded.run(ch, &mut rng(u128::from(party) + 9), &mut outputs)?;
    Ok(outputs.0)
}

fn number(value: u64, bits: usize) -> Bits {
    Bits::from_words(vec![value], bits)
}

#[test]
fn online_runs_compute_what_the_program_says() {
    for (garbler, to) in
        [(0, Recipients::All), (1, Recipients::only(0)), (0, Recipients::only(0)), (1, Recipients::All)]
    {
        let program = library::program("add64").unwrap().with_recipients(0, to).unwrap();
        let rho = 7;
        let (a, b) = Pair::run(
            |ch| offline(ch, &config(0, garbler, rho), &program),
            |ch| offline(ch, &config(1, garbler, rho), &program),
        );
        let most = prepared_size(&program, garbler, Params::new(128, rho).unwrap());
        assert!((a.len().max(b.len()) as u64) < most, "{} and {} bytes of {most}", a.len(), b.len());
        let inputs = [number(0xfedc_ba98_7654_3210, 64), number(0x1111_2222_3333_4444, 64)];
        let sum = number(0xfedc_ba98_7654_3210u64.wrapping_add(0x1111_2222_3333_4444), 64);
        let (x, y) = Pair::run(
            |ch| online(ch, 0, &program, &a, &inputs).unwrap(),
            |ch| online(ch, 1, &program, &b, &inputs).unwrap(),
        );
        for (party, outputs) in [(0, x), (1, y)] {
            let learns = to.includes(party as u16);
            assert!(
                outputs == if learns { vec![(0, sum.clone())] } else { vec![] },
                "party {party}, {garbler} garbles"
            );
        }
    }
}

#[test]
fn a_preparation_is_for_one_program_and_party_and_read_whole() {
    let program = library::program("add8").unwrap();
    let (a, _) = Pair::run(|ch| offline(ch, &config(0, 0, 3), &program), |ch| offline(ch, &config(1, 0, 3), &program));
    let open = |bytes: &[u8], party, program: &Program| match Prepared::open(bytes, Backend::detect(), party, program) {
        Ok(prepared) => prepared
            .load(program, &[Some(number(1, 8)), None])
            .map(|_| "loaded".to_owned())
            .unwrap_or_else(|e| e.to_string()),
        Err(Error { kind: Kind::InvalidInput(text), .. }) => text,
        Err(other) => panic!("{other}"),
    };
    assert_eq!(open(&a, 0, &program), "loaded");
    assert!(open(&a, 1, &program).contains("party 0"));
    assert!(open(&a, 0, &library::program("add16").unwrap()).contains("another program"));
    assert!(open(&a[1..], 0, &program).contains("no preparation"));
    for len in [0, 10, 40, 83, 100, a.len() - 1] {
        assert!(open(&a[..len], 0, &program).contains("cannot be read"), "{len}");
    }
}
