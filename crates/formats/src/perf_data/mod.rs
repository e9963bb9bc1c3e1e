//! perf.data: files and streams of `perf record`, whole, cut or damaged, without perf.
//!
//! Two passes over the mapped bytes. The first ([`survey`]) takes what is not a sample: mappings,
//! thread names, losses, notes of the recorder. Its changes are replayed in time order
//! ([`spaces`]), after which each sample can be placed whatever the order of the file. The second
//! pass turns samples into rows; equal raw call chains are named once ([`stacks`]). Compressed
//! records are decompressed again in the second pass rather than kept. At the end the rows are
//! brought into time order ([`order`]).

mod features;
mod gap;
mod header;
mod kernel_names;
mod known;
mod order;
mod report;
mod source_lines;
mod spaces;
mod stacks;
mod survey;
mod user_names;
mod walk;
mod weights;
mod zstd_stream;

use crate::{Confidence, Importer};
use crate::{ErrorKind, FormatError, ImportOptions, Imported, Input};
use header::Layout;
use kernel_names::KernelNames;
pub(crate) use known::{ImageKey, Known, KnownName, KnownNames};
use source_lines::SourceLines;
use spaces::{Change, Spaces};
use stacks::Stacks;
use std::mem::take;
use survey::Survey;
use user_names::UserNames;
use walk::{Item, Walker};
use weights::Weights;
use zwhy_perf::attr::Schema;
use zwhy_profile::{Nanos, Profile, StringTable};

pub(crate) static IMPORTER: Importer = Importer {
    name: "perf.data",
    sniff,
    read: |input, options| Ok(read(input, options, Known::default(), false)?.0),
};

fn sniff(head: &[u8]) -> Confidence {
    if header::byte_order(head).is_some() { Confidence::Certain } else { Confidence::No }
}

/// Reads a recording with what is `known` of it; `keep` gives back the names of user code it needed.
pub(crate) fn read(
    input: &Input,
    options: &ImportOptions,
    known: Known,
    keep: bool,
) -> Result<(Imported, Known), FormatError> {
    let mut layout = Layout::read(input)?;
    if layout.features.directory {
        return Err(directory(input));
    }
    let mut profile = Profile::new();
    let mut known = known;
    let mut user = UserNames::new(options, take(&mut known.objects));
    user.keep = keep;
    let (mut survey, schema) = first_pass(input, &mut layout, options, user, &mut profile.strings);
    if survey.features.directory {
        return Err(directory(input));
    }
    if survey.samples == 0 && schema.attrs.is_empty() {
        return Err(FormatError::read(
            ErrorKind::Empty,
            input.name(),
            "it describes no event and holds no sample",
        )
        .hint("check that `perf record` wrote to the pipe until its end"));
    }
    let spaces = replay(&mut survey, &mut profile.strings);
    let refused = spaces.refused;
    survey.user.add_build_ids(&survey.features.build_ids);
    let kernel = if schema.attrs.iter().all(|a| a.exclude_kernel) {
        KernelNames::default()
    } else {
        KernelNames::load(
            take(&mut survey.kernel_maps),
            take(&mut survey.kernel_code),
            &survey.features,
            options,
            &known,
        )
    };
    let problem = kernel.problem.clone();
    let user = std::mem::take(&mut survey.user);
    let mut stacks = Stacks::new(kernel, user, options.limits.max_depth);
    if options.lines && options.host_symbols {
        stacks.lines = Some(SourceLines::new(&survey.features.build_ids));
    }
    second_pass(input, &layout, options, &survey, spaces, &mut stacks, &mut profile);
    let (cut_chains, broken_chains) = (stacks.cut_chains, stacks.broken_chains);
    let without_lines = stacks.lines.take().map(|lines| lines.missing()).unwrap_or_default();
    // Its tables are as large as the rows of a large file; sorting needs that room.
    known.objects = stacks.into_user_names().into_known().collect();
    order::by_time(&mut profile.samples);
    weights::set_measures(&schema, &survey, options.by_samples, &mut profile);
    let imported = report::imported(report::Parts {
        input,
        layout: &layout,
        schema: &schema,
        survey: &survey,
        profile,
        kernel_problem: problem,
        cut_chains,
        broken_chains,
        without_lines,
        untracked_processes: refused,
    });
    Ok((imported, known))
}

fn directory(input: &Input) -> FormatError {
    FormatError::read(
        ErrorKind::Unsupported,
        input.name(),
        "it is part of a `perf record --threads` directory; the samples are in its other files",
    )
    .hint("import the text of `perf script -i DIR`, or record without --threads")
}

fn walker(layout: &Layout, arch: Option<&str>) -> Walker {
    Walker::new(layout.schema.clone(), layout.order, arch.unwrap_or("x86_64"))
}

/// Returns also all events of the file, those that came as records included.
fn first_pass(
    input: &Input,
    layout: &mut Layout,
    options: &ImportOptions,
    user: UserNames,
    strings: &mut StringTable,
) -> (Survey, Schema) {
    let mut walker = walker(layout, layout.features.arch.as_deref());
    let mut survey = Survey::new(user, take(&mut layout.features));
    walker.walk(input, layout.data.clone(), &options.limits, &mut |schema, item| {
        survey.take(schema, strings, item);
    });
    let mut schema = walker.schema;
    for (attr, described) in schema.attrs.iter_mut().zip(&survey.features.events.attrs) {
        if attr.name.is_empty() {
            attr.name.clone_from(&described.name);
        }
    }
    (survey, schema)
}

fn replay(survey: &mut Survey, strings: &mut StringTable) -> Spaces {
    let mut changes = take(&mut survey.changes);
    // The idle task is never announced.
    let comm = strings.intern("swapper");
    changes.insert(0, (0, Change::Comm { pid: 0, tid: 0, comm, exec: false }));
    changes.sort_by_key(|(time, _)| *time);
    Spaces::replay(&changes)
}

fn second_pass(
    input: &Input,
    layout: &Layout,
    options: &ImportOptions,
    survey: &Survey,
    mut spaces: Spaces,
    stacks: &mut Stacks,
    profile: &mut Profile,
) {
    // The same start as the first pass, or the two could disagree on a damaged file.
    let mut walker = walker(layout, survey.features.arch.as_deref());
    // Exactly: columns that grow step by step leave holes in the heap as large as themselves.
    profile.samples.reserve(usize::try_from(survey.samples).unwrap_or(0));
    let mut weights: Option<Weights> = None;
    let mut era = (i32::MIN, u64::MAX, spaces::Era(0));
    walker.walk(input, layout.data.clone(), &options.limits, &mut |schema, item| {
        let Item::Sample(sample) = item else { return };
        // Of a pipe the events come as records, before their samples.
        let weights = match &mut weights {
            Some(known) if known.len() == schema.attrs.len() => known,
            other => other.insert(Weights::of(schema, survey, options.by_samples)),
        };
        let (event, weight) = weights.of_sample(&sample);
        if (era.0, era.1) != (sample.pid, sample.time) {
            era = (sample.pid, sample.time, spaces.era(sample.pid, sample.time));
        }
        let stack = stacks.of(profile, &spaces, era.2, &sample);
        let thread = spaces.thread(sample.pid, sample.tid, sample.time, |comm| match comm {
            Some(comm) => {
                profile.threads.intern(zwhy_profile::Thread { pid: sample.pid, tid: sample.tid, comm })
            }
            None => profile.thread(sample.pid, sample.tid, &unnamed_thread(sample.tid)),
        });
        profile.samples.push(zwhy_profile::Sample {
            t: Nanos(sample.time.saturating_sub(survey.first).min(i64::MAX as u64) as i64),
            cpu: sample.cpu,
            thread,
            stack,
            event,
            count: 1,
            weight,
        });
    });
}

/// As perf shows a thread whose name it does not know.
fn unnamed_thread(tid: i32) -> String {
    if tid < 0 { String::new() } else { format!(":{tid}") }
}
