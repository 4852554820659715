//! The transport: lines of stdin through the [`Gate`], messages to stdout.
//!
//! Both are read and written by threads of their own, for a read cannot be called off and a client
//! that does not read must not stop what runs.

use std::io::{self, BufReader, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as SyncReceiver, sync_channel};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::front::cli::act::lines::{Line, read_line};
use crate::front::wire::strict::MAX_BYTES;

use super::gate::{Gate, Passage};
use super::running::Running;

/// How many messages may wait in each direction.
const WAITING: usize = 16;

/// How long the last answers may take to be read when the session is over.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// stdin and stdout as a transport of the SDK.
pub(super) struct Stdio {
    lines: Receiver<Line>,
    ender: Ender,
    outgoing: Option<Sender<Vec<u8>>>,
    /// The answer to a line that did not go on, until there is room for it.
    answer: Option<Vec<u8>>,
    gate: Gate,
    running: Running,
}

/// Ends a transport from elsewhere.
#[derive(Clone)]
pub(super) struct Ender(Arc<Notify>);

/// The thread that writes.
pub(super) struct Written(SyncReceiver<()>);

impl Stdio {
    /// Begins to read and to write.
    pub(super) fn open(running: &Running) -> (Self, Written) {
        let (reader, lines) = channel(WAITING);
        let (outgoing, messages) = channel(WAITING);
        let ender = Ender(Arc::new(Notify::new()));
        std::thread::spawn(move || read(&reader));
        let written = write(messages, ender.clone(), running.clone());
        let stdio = Self {
            lines,
            ender,
            outgoing: Some(outgoing),
            answer: None,
            gate: Gate::default(),
            running: running.clone(),
        };
        (stdio, written)
    }

    /// Something that ends this transport.
    pub(super) fn ender(&self) -> Ender {
        self.ender.clone()
    }

    /// The next message. May be called off at any point without losing a line or an answer.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Self { lines, ender, outgoing, answer, gate, .. } = self;
            let outgoing = outgoing.as_ref()?;
            tokio::select! {
                biased;
                () = ender.0.notified() => return None,
                room = outgoing.reserve(), if answer.is_some() => {
                    room.ok()?.send(answer.take().unwrap_or_default());
                }
                line = lines.recv(), if answer.is_none() => match gate.judge(&line?) {
                    Passage::Pass(message) => return Some(*message),
                    Passage::Answer(error) => *answer = Some(framed(error.to_string().into_bytes())),
                    Passage::Ignore => {}
                }
            }
        }
    }
}

impl Ender {
    pub(super) fn end(&self) {
        self.0.notify_one();
    }
}

impl Written {
    /// Waits until everything is written, or a client that does not read has had its time.
    pub(super) fn wait(&self) {
        while self.0.recv_timeout(LAST_WORDS).is_ok() {}
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let Some(id) = answered_id(&message) {
            self.gate.answered(&id);
        }
        let outgoing = self.outgoing.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let outgoing = outgoing.ok_or_else(closed)?;
            let bytes = serde_json::to_vec(&message)?;
            outgoing.send(framed(bytes)).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next().await;
        if message.is_none() {
            self.running.end();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        Ok(())
    }
}

/// The id of the request that a message answers.
fn answered_id(message: &ServerJsonRpcMessage) -> Option<Value> {
    let id = match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    };
    id.and_then(|id| serde_json::to_value(id).ok())
}

fn framed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(b'\n');
    bytes
}

/// Reads stdin to its end; a failure is one.
fn read(lines: &Sender<Line>) {
    let mut input = BufReader::new(io::stdin());
    while let Ok(Some(line)) = read_line(&mut input, MAX_BYTES) {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Writes messages until there are no more; where nobody reads them the session is over.
fn write(mut messages: Receiver<Vec<u8>>, ender: Ender, running: Running) -> Written {
    let (done, written) = sync_channel::<()>(1);
    std::thread::spawn(move || {
        let mut output = io::stdout();
        while let Some(message) = messages.blocking_recv() {
            if output.write_all(&message).and_then(|()| output.flush()).is_err() {
                running.end();
                ender.end();
                break;
            }
        }
        // Its end tells whoever waits.
        drop(done);
    });
    Written(written)
}
