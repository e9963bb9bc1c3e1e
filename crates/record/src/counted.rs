//! What was counted up to a moment.

use crate::proc_stat::HostCpu;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub samples: u64,
    pub lost_by_cpu: BTreeMap<u32, u64>,
    pub cpu: Duration,
    pub host_cpu: Option<HostCpu>,
}
