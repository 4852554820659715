//! Messages to and from a browser, over pipes or a web socket. A thread of its own reads; whoever
//! calls writes.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::error::{Error, Result, Shown};

use super::greeter::{Greeter, Welcome};

/// The longest message that is read: a screenshot of the most pixels a frame may have.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

pub(super) const GONE: &str =
    "the browser has ended: it was closed, killed or has crashed; open it again";

/// Written by whoever calls, and by the thread that reads.
pub(super) type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// Writes one message, ended by a zero byte.
pub(super) fn write_message(
    writer: &Mutex<Box<dyn Write + Send>>,
    message: &Value,
) -> std::io::Result<()> {
    let text = format!("{message}\0");
    // The lock guards no data that could be half changed, only whose turn it is.
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer.write_all(text.as_bytes())?;
    writer.flush()
}

/// What the reading thread brings.
pub(super) enum Incoming {
    Message(Value),
    /// Nothing more will come.
    Ended(String),
}

/// Over two pipes, messages ended by a zero byte.
pub(super) fn over_pipes(
    to: impl Write + Send + 'static,
    from: impl Read + Send + 'static,
    welcome: Welcome,
) -> Result<(Writer, Receiver<Incoming>)> {
    let (told, messages) = channel();
    let writer: Writer = Arc::new(Mutex::new(Box::new(to)));
    let told = Teller { told, greeter: greeter(&writer, welcome, false) };
    spawn(move || read_to_end(told, |told| read_pipe(from, told)))?;
    Ok((writer, messages))
}

/// Over a web socket at `address`, `ws://host:port/devtools/…`.
pub(super) fn over_socket(
    address: &str,
    patience: Duration,
    welcome: Welcome,
) -> Result<(Writer, Receiver<Incoming>)> {
    let (stream, mut socket) = connect(address, patience)?;
    let writer = SocketWriter(WebSocket::from_raw_socket(stream, Role::Client, None));
    let (told, messages) = channel();
    let writer: Writer = Arc::new(Mutex::new(Box::new(writer)));
    let told = Teller { told, greeter: greeter(&writer, welcome, true) };
    spawn(move || read_to_end(told, |told| read_socket(&mut socket, told)))?;
    Ok((writer, messages))
}

fn spawn(read: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name("seechange-browser".to_owned()).spawn(read);
    thread.map(drop).map_err(|error| Error::surface("no thread to read").with_source(error))
}

/// Where what was read goes.
struct Teller {
    told: Sender<Incoming>,
    greeter: Greeter,
}

fn greeter(writer: &Writer, welcome: Welcome, attaches: bool) -> Greeter {
    let writer: Weak<_> = Arc::downgrade(writer);
    Greeter::new(writer, welcome, attaches)
}

fn read_to_end(mut told: Teller, read: impl FnOnce(&mut Teller) -> String) {
    let why = read(&mut told);
    // Nobody may be there any more to be told.
    drop(told.told.send(Incoming::Ended(why)));
}

/// Reads until the end; says why it ended. Messages that are no JSON end it too.
fn read_pipe(from: impl Read, told: &mut Teller) -> String {
    let mut reader = BufReader::with_capacity(1 << 16, from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let mut limited = reader.by_ref().take(MAX_MESSAGE_BYTES as u64);
        match limited.read_until(0, &mut bytes) {
            Ok(_) if bytes.pop() == Some(0) => {}
            Ok(_) | Err(_) => return GONE.to_owned(),
        }
        if let Err(why) = pass_on(&bytes, told) {
            return why;
        }
    }
}

fn pass_on(bytes: &[u8], told: &mut Teller) -> Result<(), String> {
    let message: Value = serde_json::from_slice(bytes)
        .map_err(|_| "the browser sent what is no JSON: it cannot be spoken to".to_owned())?;
    told.greeter.greet(&message);
    told.told.send(Incoming::Message(message)).map_err(|_| GONE.to_owned())
}

fn read_socket(socket: &mut WebSocket<Shared>, told: &mut Teller) -> String {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if let Err(why) = pass_on(text.as_bytes(), told) {
                    return why;
                }
            }
            Ok(Message::Close(_)) | Err(_) => return GONE.to_owned(),
            Ok(_) => {}
        }
    }
}

/// A socket that is read in one thread and written in another. Whoever writes, writes whole frames.
#[derive(Clone)]
struct Shared(Arc<TcpStream>, Arc<Mutex<()>>);

impl Read for Shared {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        (&*self.0).read(bytes)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // The lock guards no data, only whose turn it is.
        let _turn = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        (&*self.0).write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        (&*self.0).flush()
    }
}

/// The other thread's end is closed with it: its read would never return.
struct SocketWriter(WebSocket<Shared>);

impl Write for SocketWriter {
    /// One message, ended by a zero byte that is not sent.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let text = String::from_utf8_lossy(text).into_owned();
        self.0.send(Message::text(text)).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(std::io::Error::other)
    }
}

impl Drop for SocketWriter {
    fn drop(&mut self) {
        // One that is closed already needs nothing more.
        drop(self.0.get_ref().0.shutdown(std::net::Shutdown::Both));
    }
}

/// The socket, and the web socket over it that is read.
fn connect(address: &str, patience: Duration) -> Result<(Shared, WebSocket<Shared>)> {
    let wrong = |why: &str| {
        Error::surface(format!(
            "{} cannot be attached to: {why}: start the browser with --remote-debugging-port=9222 \
             and take webSocketDebuggerUrl from http://127.0.0.1:9222/json/version",
            Shown(address)
        ))
    };
    let host = address
        .strip_prefix("ws://")
        .and_then(|rest| rest.split('/').next())
        .filter(|host| !host.is_empty())
        .ok_or_else(|| wrong("it is no ws://host:port/devtools/… address"))?;
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let places = std::net::ToSocketAddrs::to_socket_addrs(&host)
        .map_err(|_| wrong("there is no such host"))?;
    let stream = places
        .into_iter()
        .find_map(|place| TcpStream::connect_timeout(&place, patience).ok())
        .ok_or_else(|| wrong("nobody listens there"))?;
    let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(patience)));
    set.map_err(|error| wrong("the socket fails").with_source(error))?;
    let shared = Shared(Arc::new(stream), Arc::default());
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let (socket, _) =
        tungstenite::client::client_with_config(address, shared.clone(), Some(config))
            .map_err(|error| wrong(&format!("no web socket answers ({error})")))?;
    shared.0.set_read_timeout(None).map_err(|_| wrong("the socket fails"))?;
    // A browser that stops reading is an error, not a hang.
    shared.0.set_write_timeout(Some(patience)).map_err(|_| wrong("the socket fails"))?;
    Ok((shared, socket))
}
