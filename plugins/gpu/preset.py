#!/usr/bin/env python3
"""Makes devices for crates/lab/src/spec/accelerators.toml of what `measure` found: `preset.py figures.tsv NAME`.

The figures stay beside it, as plugins/gpu/measured/NAME.tsv, which the devices name as their source. A call of the lab
brings one block, so the latency and the rate are those of batches of one: the straight line through the smallest and
the largest block. The link is the slower of both ways, in the largest transfer.
"""
import sys

CODECS = {"lz4": "LZ4", "zstd": "zstd"}


def read(lines):
    """The machine, and figures by stage, bytes and batch.

    >>> machine, figures = read(["# A card, CUDA driver 0.0", "stage\\tbytes\\tbatch\\tin_us", "x\\t10\\t1\\t2.5"])
    >>> machine, figures
    ('A card, CUDA driver 0.0', {('x', 10, 1): {'in_us': 2.5}})
    """
    rows = [line.rstrip("\n").split("\t") for line in lines]
    if not rows or not rows[0][0].startswith("# "):
        sys.exit("preset.py: the first line does not name the machine; was it made by measure?")
    names = rows[1][3:]
    figures = {(stage, int(size), int(batch)): dict(zip(names, map(float, values)))
               for stage, size, batch, *values in rows[2:]}
    return rows[0][0][2:], figures


def line_through(figures, stage):
    """GB/s and µs of one block: time = latency + bytes / rate.

    >>> line_through({("x", 1000, 1): {"kernel_us": 7.0}, ("x", 3000, 1): {"kernel_us": 9.0}}, "x")
    (1.0, 6.0)
    """
    sizes = sorted(size for name, size, batch in figures if name == stage and batch == 1)
    least, most = ((size, figures[stage, size, 1]["kernel_us"]) for size in (sizes[0], sizes[-1]))
    bytes_a_us = (most[0] - least[0]) / (most[1] - least[1])
    return bytes_a_us / 1e3, least[1] - least[0] / bytes_a_us


def link(figures):
    """GB/s of the slower way.

    >>> link({("fletcher4", 10000, 2): {"in_us": 2.0}, ("lz4_decompress", 10000, 2): {"out_us": 4.0}})
    5.0
    """
    def way(stage, part):
        size, batch = max(((s, b) for name, s, b in figures if name == stage), key=lambda at: at[0] * at[1])
        return size * batch / figures[stage, size, batch][part] / 1e3
    return min(way("fletcher4", "in_us"), way("lz4_decompress", "out_us"))


def figure(name, value, says, source):
    return (f"\n[accelerator.{name}]\nvalue = {value:.3g}\nsays = \"{says}\"\nsources = [\"{source}\"]\n")


def device(machine, figures, codec, name):
    rate, us = line_through(figures, f"{codec}_compress")
    source = f"plugins/gpu/measured/{name}.tsv"
    text = f'[[accelerator]]\nname = "{name}-{codec}"\nwhat = "{CODECS[codec]} by nvCOMP, measured on {machine}"\n'
    text += figure("link_gb_per_s", link(figures), "measured with pinned memory, the slower of both ways", source)
    text += figure("gb_per_s", rate, "measured: kernels of one block, from 128 KiB to 16 MiB", source)
    if us > 0:
        text += figure("us", us, "measured: what these kernels take beside their rate", source)
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        machine, figures = read(file)
    print("\n".join(device(machine, figures, codec, sys.argv[2]) for codec in CODECS), end="")


if __name__ == "__main__":
    main()
