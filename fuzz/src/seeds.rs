//! What honest parties send and write: the seeds that are not text.

use comity_channel::{Channel, MemoryChannel, Mesh, RecvHalf, Result, SendHalf, memory};
use comity_circuit::{Builder, Goal, LookupTable, Owner, Program, Recipients};
use comity_core::{Bits, PartyId, SessionId};
use comity_library::table_circuit;
use comity_net::Identity;
use comity_ot::base::simplest;

use crate::mutate::rng;
use crate::network::{KNOCKS, frame, opening};
use crate::peer::{Run, arith, gmw, greeting, program, run, yao, yao_standard, yao_three_halves};

/// Target, name and bytes of each seed.
pub fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let [to_garbler, to_evaluator] = heard(yao);
    let [to_standard_garbler, to_standard_evaluator] = heard(yao_standard);
    let [_, to_three_halves] = heard(yao_three_halves);
    let [to_gmw, _] = heard(gmw);
    let [to_arith, _] = heard(arith);
    let identity = Identity::generate(&mut rng());
    let mut stream = Vec::new();
    frame(&mut stream, opening().len() as u32, 0, &opening());
    frame(&mut stream, 300, 1, &[7; 300]);
    let cut = |bytes: &[u8]| bytes[..bytes.len() * 2 / 3].to_vec();
    let mut flipped = stream.clone();
    flipped[80] ^= 1;
    let [loops, calls] = programs();
    let mut seeds = vec![
        ("hello", "valid", hello()),
        ("hello", "cut", cut(&hello())),
        ("base_ot", "valid", base_ot()),
        ("base_ot", "cut", cut(&base_ot())),
        ("base_ot", "identity", vec![0; 64]),
        ("base_ot", "not_canonical", vec![0xff; 96]),
        ("yao_garbler", "valid", to_garbler.clone()),
        ("yao_garbler", "cut", cut(&to_garbler)),
        ("yao_garbler", "zeros", vec![0; to_garbler.len()]),
        ("yao_evaluator", "valid", to_evaluator.clone()),
        ("yao_evaluator", "cut", cut(&to_evaluator)),
        ("yao_evaluator", "zeros", vec![0; to_evaluator.len()]),
        ("yao_standard_garbler", "valid", to_standard_garbler.clone()),
        ("yao_standard_garbler", "cut", cut(&to_standard_garbler)),
        ("yao_standard_garbler", "zeros", vec![0; to_standard_garbler.len()]),
        ("yao_standard_evaluator", "valid", to_standard_evaluator.clone()),
        ("yao_standard_evaluator", "cut", cut(&to_standard_evaluator)),
        ("yao_standard_evaluator", "zeros", vec![0; to_standard_evaluator.len()]),
        ("yao_three_halves_evaluator", "valid", to_three_halves.clone()),
        ("yao_three_halves_evaluator", "cut", cut(&to_three_halves)),
        ("yao_three_halves_evaluator", "zeros", vec![0; to_three_halves.len()]),
        ("gmw_peer", "valid", to_gmw.clone()),
        ("gmw_peer", "cut", cut(&to_gmw)),
        ("gmw_peer", "zeros", vec![0; to_gmw.len()]),
        ("arith_peer", "valid", to_arith.clone()),
        ("arith_peer", "cut", cut(&to_arith)),
        ("arith_peer", "zeros", vec![0; to_arith.len()]),
        ("raw_stream", "valid", stream.clone()),
        ("raw_stream", "cut", cut(&stream)),
        ("raw_stream", "flipped", flipped),
        ("frames", "small", vec![16, 0, 1, 0, 200, 0, 13, 0, 1, 0, 1, 0]),
        ("frames", "number_off", vec![16, 0, 1, 0, 16, 0, 1, 1, 16, 0, 1, 0]),
        ("frames", "too_long", vec![0xff, 0xff, 0xff, 0]),
        ("frames", "empty", vec![0, 0, 0, 0]),
        ("relay_opening", "carried", knock(1, &[22, 3, 1, 0, 2, 1, 0, 23, 3, 3, 0, 1, 9])),
        ("relay_opening", "refusal", knock(0, &[21, 3, 3, 0, 2, 2, 40])),
        ("relay_opening", "no_tls", knock(1, b"GET / HTTP/1.1\r\n\r\n")),
        ("relay_opening", "no_side", knock(2, &[])),
        ("relay_opening", "cut", cut(&knock(0, &[]))),
        ("key_file", "valid", identity.to_pkcs8().to_vec()),
        ("key_file", "cut", cut(identity.to_pkcs8())),
        ("program", "circuit", program().encode()),
        ("program", "cut", cut(&program().encode())),
        ("program", "loops", loops.encode()),
        ("program", "calls", calls.encode()),
        ("program", "shared", shared(program()).encode()),
        ("program", "version_1", version(1, program().encode())),
        ("program", "version_2", version(2, program().encode())),
        ("program", "notes", noted().encode()),
        ("program", "cut_notes", cut(&noted().encode())),
        ("program", "table", table().encode()),
        ("program", "false_table", false_table()),
    ];
    seeds.extend(crate::files::seeds());
    seeds.extend(crate::notes::seeds());
    seeds.extend(crate::okvs::seeds());
    seeds.extend(crate::arith::seeds());
    seeds.extend(crate::gmw::seeds());
    seeds.extend(crate::tinytable::seeds());
    seeds.extend(crate::ag::seeds());
    seeds.extend(crate::among::seeds());
    seeds.extend(crate::bmr::seeds());
    seeds.extend(crate::mail::seeds());
    seeds.extend(crate::ope::seeds());
    seeds.extend(crate::ot::seeds());
    seeds.extend(crate::psi::seeds());
    seeds.extend(crate::spdz::seeds());
    seeds.extend(crate::tinyot::seeds());
    seeds.extend(crate::token::seeds());
    seeds.extend(crate::zk::seeds());
    seeds
}

/// An opening at a relay, on this side, and what comes behind it.
fn knock(side: u8, behind: &[u8]) -> Vec<u8> {
    [KNOCKS, &[side], &[7; 32], behind].concat()
}

/// Party 1's hello.
fn hello() -> Vec<u8> {
    let (mut here, mut there) = memory::pair();
    let mut bytes = vec![0; comity_channel::hello::WIRE_BYTES];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Nobody answers, and the hello is on its way all the same.
            let _ = comity_channel::hello(&mut Mesh::of_two(PartyId(1), &mut there), &greeting(1), &mut rng());
        });
        here.recv(&mut bytes).expect("the peer says hello");
        drop(here);
    });
    bytes
}

/// Both messages of two base OTs.
fn base_ot() -> Vec<u8> {
    let session = SessionId::new([1; 32]);
    let (_, setup) = simplest::Sender::new(&session, &mut rng());
    let choices = Bits::from_bytes(&[0b10], 2);
    let (_, points) = simplest::Receiver::new(&session, &choices, &setup, &mut rng()).expect("an honest point");
    [&setup.to_bytes(), points.as_bytes()].concat()
}

/// A sum computed three times in turns, and four times side by side.
fn programs() -> [Program; 2] {
    let mut builder = Builder::new();
    let (a, b) = (builder.input("a", 4), builder.input("b", 4));
    let out: Vec<_> = a
        .into_iter()
        .zip(b)
        .map(|(a, b)| {
            let both = builder.and(a, b);
            builder.xor(both, a)
        })
        .collect();
    builder.output("out", &out);
    let circuit = builder.finish();
    let loops = Program::iterate(circuit.clone(), 3, &[(0, 1)]);
    let calls = Program::map(circuit, 4, &[0]);
    [loops, calls].map(|program| program.expect("the values fit"))
}

/// The program for more than two, with shares in and out, in the form for depth.
fn shared(program: &Program) -> Program {
    let some = Recipients::Parties([0, 2, 63].into_iter().collect());
    let outputs = [some, Recipients::Shared].into_iter().enumerate().take(program.outputs().len());
    let program = program.clone().with_goal(Goal::Depth).with_owner(0, Owner::Shared);
    let program = outputs.fold(program, |program, (index, to)| program?.with_recipients(index, to));
    program.expect("values that are there")
}

/// A file with a version that is no longer read.
fn version(version: u8, mut encoded: Vec<u8>) -> Vec<u8> {
    encoded[14] = version;
    encoded
}

/// A program of one table.
fn table() -> Program {
    let table = LookupTable::new(3, 4, vec![1, 9, 2, 8, 3, 7, 4, 6]).expect("eight rows");
    Program::from_circuit(table_circuit(&table, Goal::Depth)).expect("the values fit")
}

/// The same with a row that the gates do not give.
fn false_table() -> Vec<u8> {
    let mut encoded = table().encode();
    let at = encoded.windows(8).position(|rows| rows == [1, 9, 2, 8, 3, 7, 4, 6]).expect("the rows");
    encoded[at + 3] = 9;
    encoded
}

/// A program whose notes read results and inputs that are gone.
fn noted() -> Program {
    let text = "fn main(x: u5 from 0, y: u5 from 1) -> (u3, bool) { let z = x * y + 3; ((z * z) as u3, (z as u2) < (x as u2)) }";
    comity_language::compile("noted.cty", text).expect("a program that compiles")
}

/// The bytes that each of two honest parties receives; party 0 of Yao garbles.
fn heard(with: Run) -> [Vec<u8>; 2] {
    let (mine, yours) = memory::pair();
    let [mut first, mut second] = [mine, yours].map(|channel| Recorded { channel, heard: Vec::new() });
    std::thread::scope(|scope| {
        scope.spawn(|| run(with, 0, &mut first).expect("an honest run"));
        run(with, 1, &mut second).expect("an honest run");
    });
    [first.heard, second.heard]
}

/// A channel that keeps what arrives.
struct Recorded {
    channel: MemoryChannel,
    heard: Vec<u8>,
}

struct Ear<'a>(Box<dyn RecvHalf + 'a>, &'a mut Vec<u8>);

impl RecvHalf for Ear<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.recv(bytes)?;
        self.1.extend(&*bytes);
        Ok(())
    }
}

impl Channel for Recorded {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.channel.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.channel.recv(bytes)?;
        self.heard.extend(&*bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.channel.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.channel.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (send, recv) = self.channel.split();
        (send, Box::new(Ear(recv, &mut self.heard)))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.channel.exchange(out, into)?;
        self.heard.extend(&*into);
        Ok(())
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        self.channel.fork(label)
    }
}
