//! Ctrl-C, and a system that asks this process to end: the run is stopped, and all that it had begun to write is removed. A second
//! time ends the process at once.

use std::sync::OnceLock;

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

/// Stops runs at a signal from now on.
pub(crate) fn on() {
    for signal in [SIGINT, SIGTERM] {
        // The one that ends the process looks whether it is the second, so it has to come before the one that says so.
        let second = flag::register_conditional_shutdown(signal, i32::from(Ending::Stopped.code()), stop().flag());
        if let Err(error) = second.and_then(|_| flag::register(signal, stop().flag())) {
            note(&format!("a signal ends this process at once, since it cannot be caught: {error}"));
        }
    }
}
