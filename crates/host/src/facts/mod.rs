//! What is true of the host while it is recorded: facts.json apart from the recorder's own figures.
//!
//! Invariant: nothing here fails; what cannot be read is absent and, where it matters, said in `limits`.

mod devices;
mod host;
mod kernel_config;
mod module;
mod pools;
mod root;
mod tools;

pub(crate) use host::{os_field, virtualization};
pub(crate) use module::{module_origin, module_path, pool_states};
pub use pools::PATIENCE as TOOLS_PATIENCE;
pub(crate) use root::Root;
pub use tools::{ASKING_THREAD, Output};
pub(crate) use tools::{Patience, zfs_command};

use zwhy_evidence::CaptureFacts;

/// Facts with sentences on what could not be learned.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub values: CaptureFacts,
    pub limits: Vec<String>,
}

/// Facts that take no time: host, module, parameters.
pub fn quick() -> Facts {
    let (mut facts, root) = (Facts::default(), Root::host());
    facts.values.host = host::host(&root);
    facts.values.sysctl = host::sysctl(&root);
    module::module_facts(&root, &mut facts);
    facts
}

/// Adds what only `zpool` and `zfs` can tell. May take some seconds, never much more than [`TOOLS_PATIENCE`].
pub fn ask_tools(facts: &mut Facts) {
    pools::tool_facts(facts);
}
