//! A trial of the window; the real entry point replaces it.

fn main() {
    let started = std::time::Instant::now();
    let source = std::env::args_os().nth(1).map(std::path::PathBuf::from);
    if let Err(message) = tilescope::ui::run(source, started) {
        eprintln!("{message}");
        std::process::exit(1);
    }
}
