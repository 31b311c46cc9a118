//! The links between the parties: they count what goes over them, and do what a plan says at its instant.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// All links of one run.
pub(crate) struct Links {
    shared: Arc<Shared>,
    /// Where a listening party is, told to each link to it.
    targets: Vec<(usize, Sender<String>)>,
    /// The address that a party calls to reach another one.
    addresses: Vec<((usize, usize), String)>,
}

struct Shared {
    bytes: AtomicU64,
    at: u64,
    fired: AtomicBool,
    /// Called once, when `at` bytes have gone; nothing more goes before it returns.
    fire: Mutex<Box<dyn FnMut() + Send>>,
    delay: Option<(usize, Duration)>,
    open: Mutex<Vec<([usize; 2], TcpStream)>>,
}

impl Links {
    /// Links among `parties` parties, which call `fire` when `at` bytes have gone over all of them. Bytes
    /// from and to the party in `delay` take longer.
    pub(crate) fn new(
        parties: usize,
        at: u64,
        delay: Option<(usize, Duration)>,
        fire: impl FnMut() + Send + 'static,
    ) -> Links {
        let shared = Arc::new(Shared {
            bytes: AtomicU64::new(0),
            at,
            fired: AtomicBool::new(false),
            fire: Mutex::new(Box::new(fire)),
            delay,
            open: Mutex::default(),
        });
        let mut links = Links { shared, targets: Vec::new(), addresses: Vec::new() };
        for caller in 0..parties {
            for called in 0..caller {
                links.add(caller, called);
            }
        }
        links
    }

    fn add(&mut self, caller: usize, called: usize) {
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        self.addresses.push(((caller, called), here.local_addr().unwrap().to_string()));
        let (tell, target) = mpsc::channel::<String>();
        self.targets.push((called, tell));
        let shared = self.shared.clone();
        thread::spawn(move || {
            let Ok(target) = target.recv() else { return };
            // A caller tries again, and a stranger's connection does not end the wait for it.
            while let Ok((caller_side, _)) = here.accept() {
                let Ok(called_side) = TcpStream::connect(&target) else { return };
                shared.join([caller, called], caller_side, called_side);
            }
        });
    }

    /// Says where a party listens.
    pub(crate) fn listens(&self, party: usize, address: &str) {
        for (called, tell) in &self.targets {
            if *called == party {
                let _ = tell.send(address.to_owned());
            }
        }
    }

    /// The address at which `caller` reaches `called`.
    pub(crate) fn address(&self, caller: usize, called: usize) -> &str {
        let link = self.addresses.iter().find(|(link, _)| *link == (caller, called));
        link.map_or("127.0.0.1:1", |(_, address)| address)
    }

    /// The bytes that have gone so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::SeqCst)
    }

    /// Something that cuts all links of a party.
    pub(crate) fn cutter(&self, party: usize) -> impl FnMut() + Send + 'static {
        let shared = self.shared.clone();
        move || {
            for (link, stream) in shared.open.lock().unwrap().iter() {
                if link.contains(&party) {
                    let _ = stream.shutdown(Shutdown::Both);
                }
            }
        }
    }

    /// Replaces what is done at the instant.
    pub(crate) fn at_the_instant(&self, fire: impl FnMut() + Send + 'static) {
        *self.shared.fire.lock().unwrap() = Box::new(fire);
    }
}

impl Shared {
    fn join(self: &Arc<Self>, link: [usize; 2], one: TcpStream, other: TcpStream) {
        for (from, to) in [(&one, &other), (&other, &one)] {
            let (from, to, shared) = (from.try_clone().unwrap(), to.try_clone().unwrap(), self.clone());
            thread::spawn(move || shared.forward(link, &from, &to));
        }
        self.open.lock().unwrap().extend([(link, one), (link, other)]);
    }

    fn forward(&self, link: [usize; 2], mut from: &TcpStream, mut to: &TcpStream) {
        let mut piece = vec![0; 1 << 14];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            if let Some((_, time)) = self.delay.filter(|(party, _)| link.contains(party)) {
                thread::sleep(time);
            }
            let before = self.bytes.fetch_add(count as u64, Ordering::SeqCst);
            // What came before the instant arrives, and the rest after.
            let early = self.at.saturating_sub(before).min(count as u64) as usize;
            if to.write_all(&piece[..early]).is_err() {
                break;
            }
            if before + count as u64 >= self.at && !self.fired.swap(true, Ordering::SeqCst) {
                (self.fire.lock().unwrap())();
            }
            if to.write_all(&piece[early..count]).is_err() {
                break;
            }
        }
        let _ = (to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read));
    }
}
