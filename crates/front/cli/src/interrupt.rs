//! Ctrl-C, a terminal that is closed, and a system that asks this process to end: the run is stopped, and all
//! that it had begun to write is removed. A second time ends the process at once. A file that gets longer
//! than it may is an error, and no signal that kills.

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
    if stop().is_stopped() {
        // The signal came just before, when there was something to stop: it would be waited for in vain.
        std::process::exit(i32::from(Ending::Stopped.code()));
    }
    let done = wait();
    idle().store(false, Relaxed);
    done
}

/// The signals that stop a run.
fn signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGHUP) {
        signals.push(signal_hook::consts::SIGHUP);
    }
    signals
}

/// Whether this process was started to ignore a signal, as nohup does. Where the system does not say it was not.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal - 1) & 1 == 1)
}

/// Makes of the signal for a file that gets too long (`ulimit -f`) the error that the write then has. From
/// the start of every command.
pub(crate) fn long_files_are_errors() {
    #[cfg(unix)]
    {
        // Nobody looks at the flag: a signal that is caught does not end the process.
        let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// Stops runs at a signal from now on.
pub(crate) fn on() {
    for signal in signals() {
        let code = i32::from(Ending::Stopped.code());
        // The one that ends the process looks whether it is the second, so it has to come before the one that says so.
        let second = flag::register_conditional_shutdown(signal, code, stop().flag());
        let asked = second.and_then(|_| flag::register_conditional_shutdown(signal, code, idle().clone()));
        if let Err(error) = asked.and_then(|_| flag::register(signal, stop().flag())) {
            note(&format!("a signal ends this process at once, since it cannot be caught: {error}"));
        }
    }
}
