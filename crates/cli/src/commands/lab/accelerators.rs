//! The devices that the provider `model` can play, with where their figures come from.

use zwhy_lab::{Accelerator, AcceleratorFigure, accelerators};

/// Of each device its name, what is known of it and what is not, and the sources.
pub fn lines() -> Vec<String> {
    let mut lines =
        vec!["Devices that provider=model:NAME plays, by public figures (no source, no figure):".to_owned()];
    lines.extend(accelerators().iter().flat_map(of_device));
    lines.push(
        "What has no public figure costs nothing until it is set (provider_gb_per_s=…): till then a result is a bound."
            .to_owned(),
    );
    lines
}

fn of_device(device: &Accelerator) -> Vec<String> {
    let mut lines = vec![format!("  model:{}: {}", device.name, device.what)];
    for (setting, what, figure) in device.figures() {
        match figure {
            Some(AcceleratorFigure { value, says, sources }) => {
                lines.push(format!("    {setting}={value}: {says}"));
                lines.extend(sources.iter().map(|source| format!("      {source}")));
            }
            None => lines.push(format!("    {setting}: no public figure of its {what}")),
        }
    }
    lines.extend(device.note.iter().map(|note| format!("    {note}")));
    lines
}
