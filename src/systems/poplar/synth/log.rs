//! `compile.log`: what PopLibs prints while it plans (formats/poplar.md 6.1 and 6.2).

use super::model::Model;

/// The lines of one compilation, with `POPLIBS_LOG_LEVEL=WARN`.
pub fn compile_log(model: &Model) -> String {
    let mut log = String::new();
    for (line, plan) in model.plans.iter().enumerate() {
        if plan.is_minimum_memory {
            let (seconds, millis) = (line / 20, line % 20 * 50);
            log.push_str(&format!(
                "2026-01-01T00:00:{seconds:02}.{millis:03}000Z PL:POPLIN    4242.4242 W: Warning: \
                 convolution planner unable to meet memory target. Optimizing for minimum memory...\n"
            ));
        }
    }
    log
}
