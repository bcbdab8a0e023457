//! A TCP proxy that does to bytes what networks do to them.
//!
//! ```text
//! for each connection, in each direction: a thread that reads, and one that
//!     waits until the bytes are due, and while the network is cut
//!     drops them if the connection is half open in that direction
//!     passes them on otherwise, and breaks the connection when it has carried all that it was given
//! ```

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// From the worker to the coordinator, and back.
const UP: usize = 0;
const DOWN: usize = 1;

/// Directions in which a half-open connection carries nothing.
#[derive(Clone, Copy, Debug)]
pub struct Swallow {
    pub up: bool,
    pub down: bool,
}

/// How the network behaves to connections that are made from now on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// The delay in each direction.
    pub delay: Duration,
    /// A connection breaks when it has carried a random number of bytes below this, both ways together.
    pub breaks_within: Option<usize>,
}

/// The proxy; it listens until the test ends.
pub struct Proxy {
    pub address: String,
    network: Arc<Network>,
}

struct Network {
    coordinator: String,
    weather: Weather,
    is_cut: Mutex<bool>,
    mended: Condvar,
    connections: Mutex<Vec<Arc<Tunnel>>>,
    random: Mutex<StdRng>,
}

/// One connection of a worker, and the one to the coordinator that belongs to it.
struct Tunnel {
    ends: [TcpStream; 2],
    /// Whether bytes in that direction are dropped.
    swallows: [AtomicBool; 2],
    /// Bytes that it still carries before it breaks.
    left: AtomicUsize,
    /// Whether the end that sends in that direction has closed.
    closed: [AtomicBool; 2],
}

impl Proxy {
    /// A proxy in front of a coordinator.
    pub fn new(coordinator: &str, weather: Weather) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let network = Arc::new(Network {
            coordinator: coordinator.to_owned(),
            weather,
            is_cut: Mutex::new(false),
            mended: Condvar::new(),
            connections: Mutex::new(Vec::new()),
            random: Mutex::new(StdRng::seed_from_u64(5)),
        });
        let accepting = Arc::clone(&network);
        thread::spawn(move || listener.incoming().for_each(|stream| accepting.connect(stream.unwrap())));
        Self { address, network }
    }

    /// Drops all data in both directions until [`mend`](Self::mend), without closing a connection.
    pub fn cut(&self) {
        *self.network.is_cut.lock().unwrap() = true;
    }

    /// Forwards data again, also the data that was held back.
    pub fn mend(&self) {
        *self.network.is_cut.lock().unwrap() = false;
        self.network.mended.notify_all();
    }

    /// The present connections drop all data in these directions and stay open. New connections work.
    pub fn half_open(&self, swallow: Swallow) {
        for connection in self.network.connections.lock().unwrap().iter() {
            connection.swallows[UP].store(swallow.up, Ordering::SeqCst);
            connection.swallows[DOWN].store(swallow.down, Ordering::SeqCst);
        }
    }

    /// How many connections there have been.
    pub fn connections(&self) -> usize {
        self.network.connections.lock().unwrap().len()
    }

    /// Whether worker and coordinator, in this order, have given up the connection of that number.
    pub fn is_given_up(&self, number: usize) -> [bool; 2] {
        let connection = Arc::clone(&self.network.connections.lock().unwrap()[number]);
        [UP, DOWN].map(|direction| connection.closed[direction].load(Ordering::SeqCst))
    }
}

impl Network {
    fn connect(self: &Arc<Self>, worker: TcpStream) {
        // Nobody listens while the coordinator is down; the worker notices at its end.
        let Ok(coordinator) = TcpStream::connect(&self.coordinator) else { return };
        worker.set_nodelay(true).unwrap();
        coordinator.set_nodelay(true).unwrap();
        let left = self.weather.breaks_within.map(|most| self.random.lock().unwrap().random_range(0..most));
        let connection = Arc::new(Tunnel {
            ends: [worker, coordinator],
            swallows: Default::default(),
            left: AtomicUsize::new(left.unwrap_or(usize::MAX)),
            closed: Default::default(),
        });
        self.connections.lock().unwrap().push(Arc::clone(&connection));
        for direction in [UP, DOWN] {
            let (arrived, leaving) = channel();
            let (from, to) = (Arc::clone(&connection), Arc::clone(&connection));
            let network = Arc::clone(self);
            thread::spawn(move || from.take(direction, &arrived));
            thread::spawn(move || network.pass(direction, &to, &leaving));
        }
    }

    /// Passes bytes on; an empty piece means that the sender has closed.
    fn pass(&self, direction: usize, connection: &Tunnel, leaving: &Receiver<(Instant, Vec<u8>)>) {
        let mut out = &connection.ends[1 - direction];
        while let Ok((arrived, bytes)) = leaving.recv() {
            thread::sleep((arrived + self.weather.delay).saturating_duration_since(Instant::now()));
            drop(self.mended.wait_while(self.is_cut.lock().unwrap(), |is_cut| *is_cut).unwrap());
            if connection.swallows[direction].load(Ordering::SeqCst) {
                continue;
            }
            if bytes.is_empty() {
                out.shutdown(Shutdown::Write).ok();
                continue;
            }
            let carried = connection.carry(bytes.len());
            let written = out.write_all(&bytes[..carried]);
            if carried < bytes.len() || written.is_err() {
                connection.ends.iter().for_each(|end| _ = end.shutdown(Shutdown::Both));
                return;
            }
        }
    }
}

impl Tunnel {
    /// Takes what comes from one end.
    fn take(&self, direction: usize, arrived: &Sender<(Instant, Vec<u8>)>) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let length = (&self.ends[direction]).read(&mut buffer).unwrap_or(0);
            if length == 0 {
                self.closed[direction].store(true, Ordering::SeqCst);
            }
            if arrived.send((Instant::now(), buffer[..length].to_vec())).is_err() || length == 0 {
                return;
            }
        }
    }

    /// How many of that many bytes are still carried.
    fn carry(&self, bytes: usize) -> usize {
        let less = |left: usize| Some(if left == usize::MAX { left } else { left.saturating_sub(bytes) });
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).unwrap();
        bytes.min(left)
    }
}
