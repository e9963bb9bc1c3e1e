// Sample counters over time and tables of facts, in the shape of real ones.

export function timelineBlock(): Record<string, unknown> {
  const t = Array.from({ length: 60 }, (_, i) => i + 1);
  const curve = (group: string, name: string, unit: string, of: (i: number) => number) => ({
    group,
    name,
    unit,
    t,
    v: t.map((_, i) => of(i)),
  });
  return {
    duration_s: 60,
    curves: [
      curve("CPU of the host", "user", "CPUs", () => 0.2),
      curve("CPU of the host", "system", "CPUs", (i) => 1.2 + Math.sin(i / 5) / 3),
      curve("Datasets", "read", "B/s", (i) => 2e8 + i * 1e6),
      curve("ARC size", "size", "B", () => 2 ** 33),
    ],
    marks: [{ t: 20, name: "phase", text: "<b>read</b>" }],
  };
}

export function factsBlock(): unknown {
  return [
    {
      title: "Host",
      columns: ["", ""],
      rows: [
        ["name", "db7"],
        ["memory", "64G"],
      ],
      more: 0,
    },
    {
      title: "Parameters that differ",
      columns: ["parameter", "value", "default"],
      rows: [["zfs_arc_max", "<img src=x onerror=alert(1)>", "0"]],
      more: 3,
    },
  ];
}
