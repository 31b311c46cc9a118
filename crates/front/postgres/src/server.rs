//! [`Server`]: a PostgreSQL server of one's own in a temporary folder, for tests, demonstrations and benchmarks.
//!
//! It listens on a Unix socket in that folder, and on no port unless it is told to ([`Server::listen`]).
//! PostgreSQL refuses to run as root, and so for root it runs as another user, through `setpriv`. Where it is
//! not installed there is no server: nothing is downloaded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::{fs, io};

use postgres::{Client, NoTls};

use crate::error::{Error, Result};

/// A running server. Dropped, it ends and its folder is removed.
pub struct Server {
    dir: PathBuf,
    /// What the server was started with; `None` if another process started it, and will end it.
    own: Option<Own>,
}

struct Own {
    /// The folder of PostgreSQL's programs.
    bin: PathBuf,
    /// The user that the server runs as, if not this one.
    user: Option<(u32, u32)>,
}

impl Server {
    /// Starts a server; `None` where PostgreSQL is not installed.
    ///
    /// # Errors
    /// [`Error::File`] if it is installed and does not start.
    pub fn start() -> Result<Option<Server>> {
        let Some(bin) = binaries() else { return Ok(None) };
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Short, since a socket's path has 107 bytes at most.
        let dir = std::env::temp_dir().join(format!("comity-pg-{}-{number}", std::process::id()));
        let own = Own { bin, user: other_user() };
        let failed = |source| Error::File { path: dir.clone(), source };
        fs::create_dir(&dir).map_err(failed)?;
        let server = Server { dir: dir.clone(), own: Some(own) };
        server.own(&server.dir, 0o700).map_err(failed)?;
        let data = server.data();
        let data = data.to_str().ok_or_else(|| failed(io::Error::other("the folder's name is not UTF-8")))?;
        // `C` orders text by its bytes; the accounts of the machine are trusted through the folder's mode.
        server.run("initdb", &["-D", data, "-A", "trust", "-U", "comity", "--locale=C", "-E", "UTF8", "-N"])?;
        server.up()?;
        Ok(Some(server))
    }

    /// The server that the tests of this process share; it ends when the last of them drops it. A test runner
    /// that starts a process for each test starts a server for all of them, and names its folder in
    /// `COMITY_TEST_POSTGRES`.
    ///
    /// # Errors
    /// As [`start`](Server::start).
    pub fn shared() -> Result<Option<Arc<Server>>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        if let Some(dir) = std::env::var_os("COMITY_TEST_POSTGRES") {
            return Ok(Some(Arc::new(Server { dir: dir.into(), own: None })));
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Ok(Some(server));
        }
        let server = Server::start()?.map(Arc::new);
        *shared = server.as_ref().map_or_else(Weak::new, Arc::downgrade);
        Ok(server)
    }

    /// Starts the server again after [`kill`](Server::kill).
    ///
    /// # Errors
    /// [`Error::File`] if it does not start.
    pub fn up(&self) -> Result<()> {
        self.start_with("-c listen_addresses=''")
    }

    /// Starts the server again, now also on a port of the loopback interface, with TLS there if there is a
    /// certificate with its key, both in PEM. Returns the port.
    ///
    /// # Errors
    /// [`Error::File`] if it does not end, or does not start.
    pub fn listen(&self, certificate: Option<[&str; 2]>) -> Result<u16> {
        self.kill()?;
        let ssl = if certificate.is_some() { "on" } else { "off" };
        for (name, text) in ["server.crt", "server.key"].into_iter().zip(certificate.into_iter().flatten()) {
            let path = self.data().join(name);
            fs::write(&path, text)
                .and_then(|()| self.own(&path, 0o600))
                .map_err(|source| Error::File { path, source })?;
        }
        let mut tries = 0;
        loop {
            // Somebody else may take the port between these lines.
            let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
            let port = free.map_err(|source| Error::File { path: self.dir.clone(), source })?.port();
            match self.start_with(&format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl={ssl}")) {
                Err(_) if tries < 5 => tries += 1,
                started => return started.map(|()| port),
            }
        }
    }

    fn start_with(&self, options: &str) -> Result<()> {
        let options = format!("-k {} {options}", self.dir.display());
        let (data, log) = (self.data(), self.dir.join("log"));
        let (data, log) = (data.to_string_lossy(), log.to_string_lossy());
        self.run("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "-s", "start"])
    }

    /// Ends the server as a loss of power would, except for the disk: no session is closed.
    ///
    /// # Errors
    /// [`Error::File`] if it does not end.
    pub fn kill(&self) -> Result<()> {
        self.run("pg_ctl", &["-D", &self.data().to_string_lossy(), "-m", "immediate", "-w", "-s", "stop"])
    }

    /// A new, empty database; returns its address.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn database(&self) -> Result<String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("db{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut client = Client::connect(&self.address("postgres"), NoTls)?;
        client.batch_execute(&format!("create database {name}"))?;
        Ok(self.address(&name))
    }

    fn address(&self, database: &str) -> String {
        format!("host={} user=comity dbname={database}", self.dir.display())
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Gives a file or folder to the server's user alone.
    #[cfg(unix)]
    fn own(&self, path: &Path, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::{PermissionsExt, chown};
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        match self.own.as_ref().and_then(|own| own.user) {
            Some((user, group)) => chown(path, Some(user), Some(group)),
            None => Ok(()),
        }
    }

    #[cfg(not(unix))]
    fn own(&self, _: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn run(&self, program: &str, args: &[&str]) -> Result<()> {
        let Some(own) = &self.own else {
            let message = "another process started this server, and only that process can restart or end it";
            return Err(Error::File { path: self.dir.clone(), source: io::Error::other(message) });
        };
        let path = own.bin.join(program);
        let mut command = match own.user {
            Some((user, group)) => {
                let mut command = Command::new("setpriv");
                command
                    .args([&format!("--reuid={user}"), &format!("--regid={group}"), "--clear-groups", "--"])
                    .arg(&path);
                command
            }
            None => Command::new(&path),
        };
        // The server inherits what pg_ctl has: a pipe would stay open as long as it runs.
        let (out, err) = (self.dir.join(format!("{program}.out")), self.dir.join(format!("{program}.err")));
        let failed = |source| Error::File { path: path.clone(), source };
        let [out, file] = [&out, &err].map(fs::File::create);
        command.args(args).current_dir(&self.dir).stdin(Stdio::null());
        command.env_remove("PGDATA").stdout(out.map_err(failed)?).stderr(file.map_err(failed)?);
        let status = command.status().map_err(failed)?;
        if status.success() {
            return Ok(());
        }
        let mut said = fs::read_to_string(&err).unwrap_or_default();
        said.push_str(&fs::read_to_string(self.dir.join("log")).unwrap_or_default());
        Err(failed(io::Error::other(format!("{status}: {}", said.trim()))))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.own.is_some() {
            let _ = self.kill();
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// The folder with PostgreSQL's programs; Debian has them outside of PATH.
fn binaries() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    folders.into_iter().find(|folder| ["initdb", "pg_ctl"].iter().all(|program| folder.join(program).is_file()))
}

/// The user that the server runs as: for root `postgres`, or else `nobody`.
#[cfg(unix)]
fn other_user() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root {
        return None;
    }
    let accounts = fs::read_to_string(Path::new("/etc/passwd")).unwrap_or_default();
    let numbers = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    Some(numbers("postgres").or_else(|| numbers("nobody")).unwrap_or((65534, 65534)))
}

#[cfg(not(unix))]
fn other_user() -> Option<(u32, u32)> {
    None
}
