//! The thread that starts all isolate processes of this process.
//!
//! A child asks the kernel to end it together with its parent, and for the kernel that parent is the
//! *thread* that started it. So one thread starts them all, and it never ends.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::store::lock;

/// In the environment of the *host*: lets isolates write to its standard error, for those who work on
/// the isolate itself.
const STDERR: &str = "CARREL_ISOLATE_STDERR";

/// Gets the process, or why there is none.
type Reply = Box<dyn FnOnce(io::Result<Child>) + Send>;

struct Order {
    program: PathBuf,
    memory_bytes_max: usize,
    reply: Reply,
}

static ORDERS: Mutex<Option<Sender<Order>>> = Mutex::new(None);

/// Starts a process; `reply` is called on the starting thread and must not wait.
pub fn start(program: PathBuf, memory_bytes_max: usize, reply: Reply) {
    let sender = match sender() {
        Ok(sender) => sender,
        Err(error) => return reply(Err(error)),
    };
    let order = Order { program, memory_bytes_max, reply };
    if let Err(unsent) = sender.send(order) {
        *lock(&ORDERS) = None;
        (unsent.0.reply)(Err(io::Error::other("the thread that starts processes is gone")));
    }
}

fn sender() -> io::Result<Sender<Order>> {
    let mut orders = lock(&ORDERS);
    if let Some(sender) = &*orders {
        return Ok(sender.clone());
    }
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("carrel-spawn".to_owned()).spawn(move || serve(receiver))?;
    Ok(orders.insert(sender).clone())
}

fn serve(orders: Receiver<Order>) {
    for Order { program, memory_bytes_max, reply } in orders {
        let stderr = match std::env::var_os(STDERR) {
            Some(value) if value == "1" => Stdio::inherit(),
            _ => Stdio::null(),
        };
        let child = Command::new(program)
            .arg(format!("--memory={memory_bytes_max}"))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn();
        reply(child);
    }
}
