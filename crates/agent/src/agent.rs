//! The agent: the recorder's intervals go into the spool, and once a minute the engine looks at the last minutes.
//!
//! Invariant: nothing that fails after the start ends it: neither the disk nor a verdict; what failed is told in the
//! status.

use crate::board::{Board, Ends, serve};
use crate::error::AgentError;
use crate::findings::{Change, Found, Log, Tracker};
use crate::metrics::{Metrics, Page};
use crate::own::Own;
use crate::ship::{Desk, Shipper, StoreAt};
use crate::spool::{Limits, Spool};
use crate::status::Status;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zwhy_diagnose::Knowledge;
use zwhy_host::thread_cpu;
use zwhy_live::{Asking, Fed, Feed, Next, Verdict, Window};
use zwhy_record::RecordOptions;
use zwhy_serve::Server;

/// What the agent does.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    pub spool: PathBuf,
    pub limits: Limits,
    /// What is recorded, without a file.
    pub record: RecordOptions,
    /// Between two verdicts.
    pub verdict_every: Duration,
    /// What a verdict is about.
    pub verdict_span: Duration,
    /// Where metrics are served; absent: nowhere.
    pub listen: Option<SocketAddr>,
    /// Where finished files are sent; absent: nowhere.
    pub store: Option<StoreAt>,
}

impl AgentOptions {
    pub fn new(spool: impl Into<PathBuf>, record: RecordOptions) -> AgentOptions {
        AgentOptions {
            spool: spool.into(),
            limits: Limits::default(),
            record,
            verdict_every: Duration::from_secs(60),
            verdict_span: Duration::from_secs(120),
            listen: None,
            store: None,
        }
    }
}

/// Bytes of the last minutes in memory, for verdicts.
const WINDOW_BYTES: usize = 8 << 20;
/// The facts change seldom, and are long where there are many datasets.
const ASKING: Asking = Asking { tell: Duration::from_secs(60), again: Some(Duration::from_secs(600)) };
/// How often the stop flag is looked at.
const TICK: Duration = Duration::from_millis(200);

/// An agent that has begun.
pub struct Agent {
    options: AgentOptions,
    knowledge: Knowledge,
    feed: Feed,
    spool: Spool,
    log: Log,
    window: Window,
    tracker: Tracker,
    status: Status,
    began: Instant,
    /// When the next verdict is due, as time of the recording.
    next_verdict: Duration,
    facts: zwhy_evidence::CaptureFacts,
    metrics: Metrics,
    /// When the newest verdict was made.
    verdict_unix_s: Option<f64>,
    server: Option<Server>,
    board: Arc<Board>,
    shipper: Option<Shipper>,
    desk: Option<Arc<Desk>>,
}

impl Agent {
    /// Takes the spool and begins to record.
    ///
    /// # Errors
    /// When the folder cannot be made or another agent has it, or as [`Feed::start`].
    pub fn start(options: AgentOptions, knowledge: Knowledge) -> Result<Agent, AgentError> {
        let (spool, shipper) = match options.store.clone() {
            None => (Spool::open(&options.spool, options.limits)?, None),
            Some(store) => {
                let (spool, desk) = Spool::open_shipping(&options.spool, options.limits)?;
                (spool, Some(Shipper::new(options.spool.clone(), host_name(), store.open(), desk)))
            }
        };
        let server = options.listen.map(Server::open).transpose()?;
        let log = Log::open(&options.spool, spool.ended_before())?;
        let feed = Feed::start_asking(options.record.clone(), ASKING)?;
        let status = Status {
            zwhy: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_unix_s: zwhy_live::unix_now(),
            missing: feed.missing.clone(),
            listens: server.as_ref().map(|server| format!("{}metrics", server.url())),
            ..Status::default()
        };
        Ok(Agent {
            window: Window::new(options.verdict_span, WINDOW_BYTES),
            next_verdict: options.verdict_every,
            tracker: Tracker::default(),
            facts: zwhy_evidence::CaptureFacts::default(),
            metrics: Metrics::default(),
            verdict_unix_s: None,
            server,
            board: Arc::default(),
            desk: shipper.as_ref().map(|shipper| Arc::clone(&shipper.desk)),
            shipper,
            options,
            knowledge,
            feed,
            spool,
            log,
            status,
            began: Instant::now(),
        })
    }

    /// Sentences on what is missing and how to get it.
    pub fn missing(&self) -> &[String] {
        &self.status.missing
    }

    pub fn spool(&self) -> &Path {
        self.spool.folder()
    }

    /// Where metrics are served.
    pub fn listens(&self) -> Option<&str> {
        self.status.listens.as_deref()
    }

    /// Records until `stop` is set; what was recorded is on disk when this returns.
    ///
    /// # Errors
    /// When the recorder ended by itself: whoever started the agent starts it again.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), AgentError> {
        let (server, board, over) = (self.server.take(), Arc::clone(&self.board), AtomicBool::new(false));
        let mut shipper = self.shipper.take();
        std::thread::scope(|scope| {
            let _ends = Ends(&over);
            if let Some(server) = &server {
                scope.spawn(|| serve(server, &board, &over));
            }
            if let Some(shipper) = &mut shipper {
                scope.spawn(|| shipper.run(&over));
            }
            self.record(stop);
        });
        if stop.load(Ordering::Relaxed) { Ok(()) } else { Err(AgentError::Ended) }
    }

    fn record(&mut self, stop: &AtomicBool) {
        self.show();
        let mut told: Option<Instant> = None;
        while !stop.load(Ordering::Relaxed) {
            match self.feed.next(TICK) {
                Next::Interval(fed) => self.take(*fed),
                Next::Waiting => continue,
                Next::Over => break,
            }
            if told.is_none_or(|at| at.elapsed() >= STATUS_EVERY) {
                told = Some(Instant::now());
                self.tell();
            }
        }
        self.spool.finish();
        let ended = self.tracker.end();
        self.note(ended);
        self.tell();
    }

    fn take(&mut self, fed: Fed) {
        let Fed { slice, unix_s, facts } = fed;
        if let Some(mut facts) = facts {
            // The recorder knows its own thread only.
            facts.recorder.cpu_share = Some(Own::read().cpu_s / self.ran_s());
            self.facts = (*facts).clone();
            self.spool.set_facts(*facts);
        }
        self.status.samples_lost += slice.lost;
        self.spool.push(&slice, unix_s);
        let own = self.facts.recorder.pid;
        self.metrics.take(&slice, self.spool.readings(), &self.knowledge.anatomy, own);
        let now = slice.to;
        self.window.push(slice);
        if now >= self.next_verdict {
            // A host that was asleep or overloaded is not asked for every minute that was missed.
            self.next_verdict = now + self.options.verdict_every;
            self.decide(now, unix_s);
        }
        self.show();
    }

    /// Puts up the newest figures.
    fn show(&mut self) {
        if self.options.listen.is_none() {
            return;
        }
        let page = Page {
            spool: &self.spool,
            facts: &self.facts,
            status: &self.status,
            own: Own::read(),
            verdict_unix_s: self.verdict_unix_s,
            max_bytes: self.options.limits.bytes,
            ship_failures: self.desk.as_ref().map(|desk| desk.failures()),
        };
        self.board.put(self.metrics.page(&page));
    }

    fn decide(&mut self, now: Duration, unix_s: f64) {
        let Some(capture) = self.window.capture(self.options.verdict_span, now, &self.facts) else { return };
        let before = thread_cpu();
        let verdict = Verdict::of(capture, now, &self.knowledge);
        self.status.verdict_cpu_s = Some(thread_cpu().saturating_sub(before).as_secs_f64());
        self.verdict_unix_s = Some(unix_s);
        self.status.why = Some(verdict.answer.why.clone());
        self.status.act.clone_from(&verdict.answer.act);
        let found: Vec<Found> = verdict.answer.findings.iter().map(Found::from).collect();
        let changes = self.tracker.take(&found, unix_s, verdict.span_s);
        self.note(changes);
        zwhy_record::give_back_memory();
    }

    fn note(&mut self, changes: Vec<Change>) {
        if let Err(error) = self.log.put(changes) {
            self.status.problem = Some(error.to_string());
        }
        self.status.findings = self.tracker.lasting().to_vec();
    }

    /// Seconds since it started, whatever the clock did.
    fn ran_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64().max(1e-3)
    }

    /// Writes down how things are.
    fn tell(&mut self) {
        let (own, ran) = (Own::read(), self.ran_s());
        let status = &mut self.status;
        status.at_unix_s = zwhy_live::unix_now();
        (status.cpu_share, status.rss_bytes) = (own.cpu_s / ran, own.rss_bytes);
        (status.written, status.not_written) = (self.spool.written, self.spool.not_written);
        status.problem.clone_from(&self.spool.problem);
        status.unreadable = self.desk.as_ref().and_then(|desk| desk.unreadable());
        // On a full disk the old words stay.
        let _ = status.write(self.spool.folder());
    }
}

/// The host's name; "" where the kernel does not tell it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Between two writes of the status.
const STATUS_EVERY: Duration = Duration::from_secs(30);
