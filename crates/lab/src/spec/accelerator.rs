//! Devices that the provider `model` can play, by their public figures: `provider=model:qat-8950`.
//!
//! A figure without a source is not there. What is not known of a device costs nothing in the model, so that a result
//! with it is a bound, and is called one.

use serde::Deserialize;
use std::sync::LazyLock;

/// A device, with what is publicly known of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    /// `qat-8950`
    pub name: String,
    pub what: String,
    /// What a buyer should know beside the figures.
    pub note: Option<String>,
    /// Latency of each call, microseconds.
    pub us: Option<Figure>,
    /// GB a second over its link, each way.
    pub link_gb_per_s: Option<Figure>,
    /// GB a second of plain data through it.
    pub gb_per_s: Option<Figure>,
}

/// A number, and who says so.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub value: f64,
    /// What the source says, and how the number comes from it.
    pub says: String,
    /// Addresses of public documents, or files of this repository with figures that its own programs measured.
    pub sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    accelerator: Vec<Accelerator>,
}

const TEXT: &str = include_str!("accelerators.toml");

static ALL: LazyLock<Vec<Accelerator>> =
    LazyLock::new(|| toml::from_str(TEXT).map(|file: File| file.accelerator).unwrap_or_default());

/// All that are known.
pub fn accelerators() -> &'static [Accelerator] {
    &ALL
}

/// The one of that name.
pub fn find(name: &str) -> Option<&'static Accelerator> {
    ALL.iter().find(|known| known.name == name)
}

impl Accelerator {
    /// Each figure with the setting that it stands for, and what that is in words.
    pub fn figures(&self) -> [(&'static str, &'static str, Option<&Figure>); 3] {
        [
            ("provider_link_gb_per_s", "link", self.link_gb_per_s.as_ref()),
            ("provider_gb_per_s", "rate", self.gb_per_s.as_ref()),
            ("provider_us", "latency", self.us.as_ref()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_figure_has_its_source_and_the_documentation_names_both() {
        let file: File = toml::from_str(TEXT).unwrap();
        let docs = include_str!("../../../../docs/LAB.md");
        let names: BTreeSet<&str> = file.accelerator.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names.len(), file.accelerator.len());
        for accelerator in &file.accelerator {
            let name = &accelerator.name;
            assert!(docs.contains(&format!("`model:{name}`")), "{name} is not in docs/LAB.md");
            let figures = || accelerator.figures().into_iter().filter_map(|(.., figure)| figure);
            assert!(figures().next().is_some(), "{name}: nothing is known of it");
            for figure in figures() {
                assert!(
                    figure.value > 0.0 && !figure.says.is_empty() && !figure.sources.is_empty(),
                    "{name}"
                );
                for source in &figure.sources {
                    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(source);
                    let measured = source.starts_with("plugins/gpu/measured/") && file.is_file();
                    assert!(measured || source.starts_with("https://"), "{name}: {source}");
                    assert!(docs.contains(source), "{name}: {source} is not in docs/LAB.md");
                }
            }
        }
    }

    #[test]
    fn links_of_pcie_are_what_the_standard_allows() {
        // Lanes × GT/s × 128 / 130 / 8.
        let most = |lanes: f64, transfers: f64| lanes * transfers * 128.0 / 130.0 / 8.0;
        for (name, lanes, transfers) in [
            ("qat-8950", 8.0, 8.0),
            ("csd-3000", 4.0, 16.0),
            ("gpu-pcie4", 16.0, 16.0),
            ("gpu-pcie5", 16.0, 32.0),
            ("cxl-pcie5-x8", 8.0, 32.0),
        ] {
            let link = find(name).unwrap().link_gb_per_s.as_ref().unwrap();
            assert!(link.value <= most(lanes, transfers) + 0.005, "{name}: {}", link.value);
        }
    }
}
