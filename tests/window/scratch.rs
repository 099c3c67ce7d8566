use eframe::egui::{Pos2, RawInput, Rect, Vec2};
use std::time::{Duration, Instant};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

#[test]
#[ignore]
fn scratch() {
    let path: std::path::PathBuf = std::env::var("SCRATCH").unwrap().into();
    let ctx = eframe::egui::Context::default();
    let mut app = App::open(&ctx, path);
    let mut time = 0.0;
    let mut frame = |app: &mut App, what: &str| {
        time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, Vec2::new(1280.0, 800.0))),
            time: Some(time),
            ..RawInput::default()
        };
        let started = Instant::now();
        let mut output = ctx.run_ui(input, |ui| app.frame(ui));
        let ui = started.elapsed();
        let shapes = std::mem::take(&mut output.shapes);
        let triangles = ctx.tessellate(shapes, output.pixels_per_point);
        let took = started.elapsed();
        drop(triangles);
        output.drop_without_applying_deltas();
        let dropped = started.elapsed();
        if took > Duration::from_millis(25) {
            println!("{what}: ui {ui:?} all {took:?} with drop {dropped:?}");
        }
    };
    let mut rest = |app: &mut App, what: &str| {
        let mut idle = 0;
        while idle < 4 {
            frame(app, what);
            if app.is_busy(&ctx) {
                idle = 0;
                std::thread::sleep(Duration::from_millis(2));
            } else {
                idle += 1;
            }
        }
    };
    rest(&mut app, "open");
    for page in [
        Page::Overview,
        Page::Liveness,
        Page::Map,
        Page::Overview,
        Page::Map,
        Page::Operations,
        Page::Insights,
        Page::Summary,
    ] {
        println!("{page:?}");
        app.go(page);
        rest(&mut app, "page");
    }
}
