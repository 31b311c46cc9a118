//! Ctrl-C, and a system that asks this process to end: the run is stopped, and all that it had begun to write is removed. A second
//! time ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use comity::Stop;
use comity_terminal::console::note;
use comity_terminal::failure::Ending;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The handle that a signal stops this process's runs by.
pub(crate) fn stop() -> &'static Stop {
    static STOP: OnceLock<Stop> = OnceLock::new();
    STOP.get_or_init(Stop::default)
}

/// Whether there is nothing to stop: a person is asked.
fn idle() -> &'static Arc<AtomicBool> {
    static IDLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    IDLE.get_or_init(Arc::default)
}

/// Does what may wait for a person, and holds nothing that has begun: a signal ends the process meanwhile.
pub(crate) fn while_idle<T>(wait: impl FnOnce() -> T) -> T {
    idle().store(true, Relaxed);
    let done = wait();
    idle().store(false, Relaxed);
    done
}

/// Stops runs at a signal from now on.
pub(crate) fn on() {
    for signal in [SIGINT, SIGTERM] {
        let code = i32::from(Ending::Stopped.code());
        // The one that ends the process looks whether it is the second, so it has to come before the one that says so.
        let second = flag::register_conditional_shutdown(signal, code, stop().flag());
        let asked = second.and_then(|_| flag::register_conditional_shutdown(signal, code, idle().clone()));
        if let Err(error) = asked.and_then(|_| flag::register(signal, stop().flag())) {
            note(&format!("a signal ends this process at once, since it cannot be caught: {error}"));
        }
    }
}
