//! How often the parties of a whole run wait for each other.

use comity_circuit::Program;
use comity_core::Bits;
use comity_protocol::{Empty, Options, Protocol};
use comity_testing::laws::Outputs;

use super::*;
use crate::Bmr;

/// The turns of the link that has most, of a whole run among three.
fn turns(program: &Program, products: &str) -> u64 {
    let mut rng = laws::rng(1);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    let right: Vec<(usize, Bits)> = laws::clear(program, &inputs).into_iter().enumerate().collect();
    let links = memory_mesh(3, Some(comity_testing::PATIENCE));
    std::thread::scope(|scope| {
        let (inputs, right) = (&inputs, &right);
        let party = move |links: PerPeer<_>| {
            let links = links.map(|_, link| Counted::new(link));
            let counters: Vec<Counter> = links.iter().map(|(_, link)| link.counter()).collect();
            let mut net = Mesh::new(links);
            let (me, params, backend) = (net.me(), Params::default(), Backend::detect());
            let here = Here { me, parties: 3, session: SessionId::derive("test", &[b"turns"]), params, backend };
            let mut options = Options::new(Bmr.card());
            options.set(me, "products", products).unwrap();
            let own = program.inputs().iter().zip(inputs);
            let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
            let (mut outputs, mut rng) = (Outputs::default(), laws::rng(u128::from(me.0) + 9));
            let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
            Bmr.run(&mut me, &Job { program, inputs: &own, options: &options }, &mut Empty).unwrap();
            assert_eq!(outputs.0, *right);
            counters.iter().map(|counter| counter.counts().rounds).max().unwrap()
        };
        let parties: Vec<_> = links.into_iter().map(|links| scope.spawn(move || party(links))).collect();
        parties.into_iter().map(|party| party.join().unwrap()).max().unwrap()
    })
}

/// However deep a program is, as long as its gates are one chunk.
#[test]
fn rounds_are_few_and_do_not_depend_on_depth() {
    let [shallow, deep] = [4, 200].map(|width| Program::from_circuit(laws::chain_and_layer(width)).unwrap());
    assert_eq!([&shallow, &deep].map(|program| turns(program, "macs")), [28; 2]);
    assert_eq!(turns(&deep, "ot"), 50);
    let aes = comity_library::program("aes128").unwrap();
    assert_eq!(turns(&aes, "macs"), 32);
}
