//! What a host sends is not believed further than it reaches: names of other hosts stay what they are.

use crate::source::{host, of, path, start_ms, store};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::sync::Arc;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Apart, Picture, Scope, UnitKey, put_capture};
use zwhy_profile::Event;

#[tokio::test]
async fn a_host_cannot_rename_the_functions_of_another_one() {
    let (dir, store) = store().await;
    let anatomy = &Knowledge::embedded().anatomy;
    let before = Picture::take(&store, of("gzip"), Apart::Nothing).await.unwrap();
    // The same recording from another host, with names of its own under the ids of all.
    let unit = UnitKey { host: "evil".into(), start_ms: start_ms("gzip"), name: "00000001".into() };
    let capture = zwhy_capture::Capture::open(&path("gzip")).unwrap();
    put_capture(&store, &unit, capture).await.unwrap();
    let key = zwhy_capture::shipped_key("frames", "evil", unit.start_ms, &unit.name, 0);
    let file = dir.path().join(key);
    let bytes = bytes::Bytes::from(std::fs::read(&file).unwrap());
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(&file).unwrap(), batches[0].schema(), None).unwrap();
    let mut rows = 0;
    for batch in &batches {
        let at = batch.schema().index_of("function").unwrap();
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        columns[at] = Arc::new(StringArray::from(vec!["zil_commit"; batch.num_rows()]));
        rows += batch.num_rows() as u64;
        writer.write(&RecordBatch::try_new(batch.schema(), columns).unwrap()).unwrap();
    }
    writer.close().unwrap();

    let both = Scope { hosts: vec![host("gzip"), "evil".into()], ..Scope::default() };
    let all = Picture::take(&store, both, Apart::Nothing).await.unwrap();
    assert!(all.refused >= rows - 1 && all.refused > 100, "{} of {rows}", all.refused);
    let (one, two) = (before.functions(Event::Cpu), all.functions(Event::Cpu));
    for (a, b) in one.iter().zip(&two) {
        assert_eq!((&a.function, a.own * 2, a.total * 2), (&b.function, b.own, b.total));
    }
    assert_eq!(one.len(), two.len());
    // Alone its stacks have no names, and all of its samples.
    let alone = Scope { hosts: vec!["evil".into()], ..Scope::default() };
    let alone = Picture::take(&store, alone, Apart::Nothing).await.unwrap();
    let samples = |p: &Picture| p.stages(anatomy).iter().map(|row| row.samples).sum::<u64>();
    assert_eq!(samples(&alone), samples(&before));
    assert!(alone.functions(Event::Cpu).iter().all(|row| row.function != "zil_commit" || row.total == 0));
}

#[tokio::test]
async fn files_that_are_none_of_the_agents_are_not_read() {
    let (dir, store) = store().await;
    let count = |p: &Picture| p.groups.iter().map(|g| g.count).sum::<u64>();
    let before = count(&Picture::take(&store, Scope::default(), Apart::Nothing).await.unwrap());
    for name in
        ["samples/rubbish.parquet", "samples/host=x/day=1/y.parquet", "facts/host=x/z.json", "samples/README"]
    {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"no Parquet").unwrap();
    }
    assert_eq!(count(&Picture::take(&store, Scope::default(), Apart::Nothing).await.unwrap()), before);
}
