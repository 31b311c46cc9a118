//! The machine's ceilings.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use comity_core::{Aes128, Backend, Block};
use comity_terminal::failure::{Failure, Outcome};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;

use crate::suite::{Bench, Suite};

/// Bytes from memory to memory, one thread.
pub(super) const MEMORY: Bench = Bench {
    name: "machine.memory_copy",
    about: "bytes copied from memory to memory, one thread",
    ceiling: None,
    run: memory,
};

fn memory(suite: &mut Suite) -> Outcome {
    // Far more than any cache holds.
    let source = vec![1u8; 256 << 20];
    let mut target = vec![2u8; source.len()];
    suite.rate("machine.memory_copy", "bytes/s", None, 5, || {
        target.copy_from_slice(black_box(&source));
        black_box(&mut target);
        Ok(source.len() as f64)
    })
}

/// Bytes copied inside a core's first cache: what the evaluators are held against.
pub(super) const CACHE: Bench = Bench {
    name: "machine.cache_copy",
    about: "bytes copied inside the first cache, 16 KiB at a time, one thread",
    ceiling: None,
    run: cache,
};

fn cache(suite: &mut Suite) -> Outcome {
    let source = vec![1u8; 16 << 10];
    let mut target = vec![2u8; source.len()];
    suite.rate("machine.cache_copy", "bytes/s", None, 21, || {
        const TIMES: usize = 1 << 16;
        for _ in 0..TIMES {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        Ok((TIMES * source.len()) as f64)
    })
}

/// AES-128 under one key, the blocks in cache, with the machine's best instructions whichever backend is
/// forced: what every hash and generator is held against.
pub(super) const AES: Bench =
    Bench { name: "machine.aes", about: "AES-128 blocks under one key, in cache, one thread", ceiling: None, run: aes };

fn aes(suite: &mut Suite) -> Outcome {
    let cipher = Aes128::new(Backend::fastest(), Block::from_u128(1));
    let mut blocks = vec![Block::ZERO; 1 << 10];
    suite.rate("machine.aes", "blocks/s", None, 21, || {
        const TIMES: usize = 1 << 13;
        for _ in 0..TIMES {
            cipher.encrypt(black_box(&mut blocks));
        }
        Ok((TIMES * blocks.len()) as f64)
    })
}

/// Bytes through a TCP connection on this machine, as plain as it gets: two threads, large writes, nothing checked.
pub(super) const LOOPBACK: Bench = Bench {
    name: "machine.loopback",
    about: "bytes through one TCP connection on this machine, one way",
    ceiling: None,
    run: loopback,
};

fn loopback(suite: &mut Suite) -> Outcome {
    let failed = |e: std::io::Error| Failure::from(comity::Error::io("loopback", e));
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    suite.rate("machine.loopback", "bytes/s", None, 5, || {
        const BYTES: usize = 2 << 30;
        let sender = std::thread::spawn(move || -> std::io::Result<()> {
            let mut stream = TcpStream::connect(address)?;
            let buffer = vec![3u8; 128 << 10];
            (0..BYTES / buffer.len()).try_for_each(|_| stream.write_all(&buffer))
        });
        let (mut stream, _) = listener.accept().map_err(failed)?;
        let mut buffer = vec![0u8; 128 << 10];
        for _ in 0..BYTES / buffer.len() {
            stream.read_exact(&mut buffer).map_err(failed)?;
        }
        sender.join().expect("the sender does not panic").map_err(failed)?;
        Ok(BYTES as f64)
    })
}

/// Multiplications of a group element by a scalar, which is what base OTs are made of.
pub(super) const GROUP: Bench = Bench {
    name: "machine.group",
    about: "ristretto255 multiplications by a scalar, variable base",
    ceiling: None,
    run: group,
};

fn group(suite: &mut Suite) -> Outcome {
    let scalar = Scalar::from_bytes_mod_order([0x5a; 32]);
    let mut point = RISTRETTO_BASEPOINT_POINT;
    suite.rate("machine.group", "mul/s", None, 9, || {
        const TIMES: usize = 1000;
        for _ in 0..TIMES {
            point *= black_box(scalar);
        }
        black_box(point);
        Ok(TIMES as f64)
    })
}
