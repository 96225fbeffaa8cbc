//! Ctrl-C in a run: it ends immediately, with a message that nothing is lost.

use std::io::Write as _;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// From now on, an interrupted run says which results are stored before it ends.
pub fn announce() {
    // If signals cannot be watched, they end the run without a message.
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
