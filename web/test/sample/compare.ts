// A sample comparison in the shape of a real one: a move from AES-CCM to AES-GCM.

const interval = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });

function delta(name: string, a: number, b: number, real: boolean) {
  const change = { value: b - a, low: b - a - 0.02, high: b - a + 0.02 };
  return {
    name,
    samples: [Math.round(a * 1000), Math.round(b * 1000)],
    cpu_s: [a * 10, b * 10],
    share_a: interval(a),
    share_b: interval(b),
    change,
    p_value: real ? 0.0001 : 0.6,
    real,
  };
}

export function comparison(): Record<string, unknown> {
  const seen = { confidence: 0.94, confidence_word: "high" };
  const times = { before: 4.38, after: 1.91, ratio: 0.44, low: 0.4, high: 0.48 };
  return {
    verdict_of_change: "1,000 → 1,000 samples: 3 functions really changed.",
    after: {
      outcome: "helped",
      verdict: 'It helped: "AES-CCM encryption runs in slow per-block code" is gone.',
      before: { name: "before.zwhy" },
      after: { name: "after<script>alert(1)</script>.zwhy" },
      findings: [
        {
          class: "crypto-ccm-not-accelerated",
          title: "AES-CCM encryption runs in slow per-block code",
          state: "gone",
          before: seen,
          after: null,
          share_before: interval(0.7),
          share_after: interval(0.1),
          change: { value: -0.6, low: -0.62, high: -0.58, p_value: 0, real: true },
        },
      ],
      work: { unit: "bytes", source: "counters", rate: times },
      cost: { cpus: times, zfs_cpus: null, cpu_s_per_unit: times, zfs_cpu_s_per_unit: times },
      promise: null,
      settings: [
        {
          kind: "property",
          of: "tank/\u202egames",
          name: "encryption",
          before: "aes-256-ccm",
          after: "aes-256-gcm",
        },
      ],
      doubts: [{ text: "The second recording is shorter.", forbids: false }],
      note: "Two runs of the same kind differ, too.",
    },
    diff: {
      normalised: "Shares are of all samples of the same profile.",
      stages: [delta("decrypt", 0.7, 0.2, true), delta("arc", 0.05, 0.06, false)],
      threads: [delta("z_rd_int", 0.8, 0.5, true)],
      functions: [delta("aes_encrypt_block", 0.6, 0, true), delta("zio_done", 0.01, 0.012, false)],
    },
  };
}
