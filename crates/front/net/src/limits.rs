//! `Limits`: the clock that times a run's waits, when the run has to end, and who can stop it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use comity_core::{Error, Result};

use crate::tcp::seconds;

/// The limits of a run. Every wait of its connections checks them, and each connection's keeper does while
/// nobody waits.
#[derive(Clone, Default)]
pub struct Limits {
    pub(crate) now: Now,
    pub(crate) stop: Stop,
    deadline: Option<(Instant, Duration)>,
}

/// A clock: a function that returns the time. The default is the system's.
#[derive(Clone)]
pub struct Now(Arc<dyn Fn() -> Instant + Send + Sync>);

/// A handle that stops a run, from any thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Limits {
    /// The limits of a run whose waits are timed by this clock, and that this handle stops. It has no deadline.
    pub fn new(now: Now, stop: Stop) -> Limits {
        Limits { now, stop, deadline: None }
    }

    /// These limits, with a deadline after this time from now.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Limits {
        self.deadline = self.now.get().checked_add(time).map(|end| (end, time));
        self
    }

    /// Whether the run may go on.
    ///
    /// # Errors
    /// [`Stopped`](comity_core::Kind) if it was stopped, [`Deadline`](comity_core::Kind) if its time is over.
    pub fn check(&self) -> Result<()> {
        if self.stop.is_stopped() {
            return Err(Error::stopped());
        }
        match self.deadline {
            Some((end, time)) if self.now.get() >= end => Err(Error::deadline(format!(
                "the run did not end within {}: give it more time, or find out what the others are doing",
                seconds(time)
            ))),
            _ => Ok(()),
        }
    }
}

impl Now {
    /// A clock that this function reads.
    pub fn new(read: impl Fn() -> Instant + Send + Sync + 'static) -> Now {
        Now(Arc::new(read))
    }

    /// The time.
    pub fn get(&self) -> Instant {
        (self.0)()
    }

    /// The time since `then`.
    pub fn since(&self, then: Instant) -> Duration {
        self.get().saturating_duration_since(then)
    }
}

impl Default for Now {
    fn default() -> Now {
        Now::new(Instant::now)
    }
}

impl Stop {
    /// Stops the run: its waits end soon, with an error, and it sends nothing more.
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the run was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// The flag behind the handle, for code that can only set a flag, such as a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}
