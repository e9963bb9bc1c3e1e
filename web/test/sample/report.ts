// Puts sample data into the page as the Rust side does: base64 of gzip at the marker.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { MARKER } from "../../build/lock-down";
import { type Block, encode } from "./flame";

const TEMPLATE = new URL("../../../crates/report/template/report.html", import.meta.url);

export function pack(bytes: Uint8Array | string): string {
  return gzipSync(bytes).toString("base64");
}

export function template(): string {
  return readFileSync(TEMPLATE, "utf8");
}

export function blockElement(id: string, base64: string): string {
  return `<script type="application/zwhy" id="${id}">${base64}</script>`;
}

export function reportWith(elements: readonly string[]): string {
  return template().replace(MARKER, () => elements.join("\n"));
}

export function report(answer: unknown, flame: Block): string {
  return reportWith([
    blockElement("answer", pack(JSON.stringify(answer))),
    blockElement("flame", pack(encode(flame))),
  ]);
}
