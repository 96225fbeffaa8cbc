//! Handles Ctrl-C during a run. The run prints that all results are kept, and ends immediately.

use std::io::Write as _;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Installs a handler for SIGINT and SIGTERM that prints the message and then ends the process.
pub fn announce() {
    // If signals cannot be handled, they end the run without a message.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _ = writeln!(
                std::io::stderr(),
                "\ntune: interrupted; what was measured is kept\nhelp: run the same command again to go on"
            );
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}
