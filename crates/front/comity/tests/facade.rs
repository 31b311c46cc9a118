//! All that a program needs, from `comity` alone.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use comity::{
    Bits, Channel, Error, KeyDir, PartyId, Program, RecvHalf, Report, SendHalf, Session, SystemRng, compile, duplex,
    evaluate, format, input, nisc,
};

/// A channel of one's own, here over a socket: what `comity` asks of it, and no more.
struct Mine(TcpStream);

struct Half(TcpStream);

fn told(error: std::io::Error) -> Error {
    Error::io("my channel", error)
}

impl SendHalf for Half {
    fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.write_all(bytes).map_err(told)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.0.flush().map_err(told)
    }
}

impl RecvHalf for Half {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.read_exact(bytes).map_err(|error| {
            let _ = self.0.shutdown(Shutdown::Both);
            told(error)
        })
    }
}

impl Mine {
    fn half(&self) -> Half {
        Half(self.0.try_clone().expect("a socket can be had twice"))
    }
}

impl Channel for Mine {
    fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.half().send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.half().recv(bytes)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.half().flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.half().send(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(self.half()), Box::new(self.half()))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), Error> {
        duplex(self.split(), out, into)
    }
}

const TEXT: &str = "fn main(a: i16 from 0, xs: [u8; 3] from 1) -> (sum: i32 to 0, any: bool, sizes: [u8; 3]) {
    let sum = a as i32 + (xs[0] as i32) + (xs[1] as i32) + (xs[2] as i32);
    (sum, xs[0] > 1, xs)
}";

fn both(program: &Program, a: i16, xs: [u8; 3]) -> [Report; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let here = listener.accept().unwrap().0;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| Session::new(1).over(Mine(there)).run(program, [input(program, "xs", xs).unwrap()]));
        let own = Session::new(0).over(Mine(here)).run(program, [input(program, "a", a).unwrap()]);
        [own.unwrap(), other.join().unwrap().unwrap()]
    })
}

#[test]
fn a_channel_of_ones_own_and_values_by_name() {
    let program = compile("sums", TEXT).unwrap();
    let [own, other] = both(&program, -300, [1, 2, 255]);
    assert_eq!(own.output::<i32>(&program, "sum").unwrap(), -42);
    assert_eq!(own.output::<i64>(&program, "sum").unwrap(), -42);
    assert!(!other.output::<bool>(&program, "any").unwrap());
    assert_eq!(other.output::<[u8; 3]>(&program, "sizes").unwrap(), [1, 2, 255]);
    assert_eq!(other.output::<Vec<u32>>(&program, "sizes").unwrap(), [1, 2, 255]);
    let why = other.output::<i32>(&program, "sum").unwrap_err().to_string();
    assert!(why.contains("`sum` is for party 0"), "{why}");
    let why = own.output::<u8>(&program, "sim").unwrap_err().to_string();
    assert!(why.contains("no output `sim`") && why.contains("sizes"), "{why}");
    assert!(own.output::<bool>(&program, "sum").is_err() && input(&program, "a", 40_000u16).is_err());
    let clear =
        evaluate(&program, [input(&program, "a", -300).unwrap(), input(&program, "xs", [1u8, 2, 255]).unwrap()])
            .unwrap();
    assert_eq!((0, clear[0].clone()), own.outputs[0]);
    assert!(evaluate(&program, []).unwrap_err().to_string().contains("missing"));
    let mut alone = Mine(TcpStream::connect(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()).unwrap());
    assert!(alone.fork("beside").err().unwrap().to_string().contains("beside"), "forks are optional");
}

#[test]
#[cfg(feature = "serde")]
fn a_report_is_serialized_with_the_keys_of_the_command() {
    let program = compile("sums", TEXT).unwrap();
    let [own, _] = both(&program, 1, [0, 0, 255]);
    let object = serde_json::to_value(&own).unwrap();
    assert_eq!(
        (&object["party"], &object["parties"], &object["adversary"]),
        (&0.into(), &2.into(), &"malicious".into())
    );
    assert_eq!(object["outputs"]["0"], "00000100");
    assert_eq!(object["bytes"]["sent"], own.bytes_sent);
    assert_eq!(object["peers"]["1"]["received"], own.bytes_received);
    assert!(object["seconds"]["phases"]["hello"].as_f64().is_some() && object["options"]["coded"] == false);
}

#[test]
fn integers_are_bits_and_back() {
    assert_eq!(Bits::from(0x0102u16).to_u128(), Some(0x0102));
    assert_eq!(Bits::from(-1i8).to_u128(), Some(255));
    assert_eq!(Bits::from(u128::MAX).to_u128(), Some(u128::MAX));
    assert_eq!(Bits::from_u128(5, 3).unwrap().to_bytes(), [5]);
    assert_eq!(Bits::from_u128(5, 200).map(|bits| (bits.len(), bits.to_u128())), Some((200, Some(5))));
    assert_eq!(Bits::from_u128(8, 3), None);
    let mut wide = Bits::zeros(200);
    wide.set(150, true);
    assert_eq!(wide.to_u128(), None);
}

#[test]
fn circuits_keys_and_queries_come_through_the_facade() {
    let (circuit, read) = format::read(&b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n"[..]).unwrap();
    assert_eq!(read, format::Format::BristolFashion);
    let program = Program::from_circuit(circuit).unwrap();
    let one = || Bits::from_u128(1, 1).unwrap();
    assert_eq!(evaluate(&program, [(0, one()), (1, one())]).unwrap(), [one()]);
    let dir = std::env::temp_dir().join(format!("comity-facade-{}", std::process::id()));
    let identity = KeyDir::new(&dir).create(&mut SystemRng).unwrap();
    assert_eq!(KeyDir::new(&dir).identity().unwrap().fingerprint(), identity.fingerprint());
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(nisc::Copies::all(40).unwrap().total(), 40);
    assert_eq!(PartyId(1).other(), PartyId(0));
}
