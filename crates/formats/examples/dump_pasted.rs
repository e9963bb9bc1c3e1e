//! Temporary: dumps what each file of a folder imports to as pasted text.
use std::io::Write;
use zwhy_formats::{ImportOptions, import_bytes};
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().flatten().map(|e| e.path()).collect();
    paths.sort();
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for format in [Some("pasted".to_owned()), None] {
            let options =
                ImportOptions { format: format.clone(), host_symbols: false, ..ImportOptions::default() };
            let result = import_bytes("input", bytes.clone(), &options);
            writeln!(out, "=== {name} {format:?}").unwrap();
            match result {
                Err(e) => writeln!(out, "error {e}").unwrap(),
                Ok(i) => {
                    writeln!(out, "{:?}", i.stats).unwrap();
                    let e = &i.evidence;
                    writeln!(out, "{:?}", e.host).unwrap();
                    let at = |id| e.origin_name(id);
                    for r in &e.flat {
                        writeln!(out, "{:?} {}", r, at(r.origin)).unwrap();
                    }
                    for r in &e.trees {
                        writeln!(out, "{:?} {}", r, at(r.origin)).unwrap();
                    }
                    for r in &e.threads {
                        writeln!(out, "thread {:?} {:?} {:?} {}", r.comm, r.cpu_pct, r.nice, at(r.origin))
                            .unwrap();
                    }
                    for r in &e.kstats {
                        writeln!(
                            out,
                            "kstat {:?} {:?} {:?} {:?} {}",
                            r.source,
                            r.name,
                            r.value,
                            r.rate,
                            at(r.origin)
                        )
                        .unwrap();
                    }
                    for r in &e.params {
                        writeln!(out, "param {:?} {:?} {}", r.name, r.value, at(r.origin)).unwrap();
                    }
                    for r in &e.properties {
                        writeln!(out, "prop {:?} {:?} {:?} {}", r.dataset, r.name, r.value, at(r.origin))
                            .unwrap();
                    }
                    for t in &e.tables {
                        writeln!(out, "table {:?} {:?} {}", t.tool, t.columns, at(t.origin)).unwrap();
                        for r in &t.rows {
                            writeln!(out, "   {r:?}").unwrap();
                        }
                    }
                    writeln!(out, "samples {}", e.profile.samples.len()).unwrap();
                }
            }
        }
    }
}
