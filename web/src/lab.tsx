// Opens the page of an experiment: unpacks its one data block and shows it.

import { render } from "preact";
import { unpack } from "./data/block";
import { type LabData, readLab } from "./data/lab";
import { dark, followAddress, page } from "./state/store";
import "./styles/page.css";
import "./styles/lab.css";
import "./styles/print.css";
import { EmptyLab, LabApp, UnreadLab } from "./ui/lab/LabApp";

async function load(): Promise<LabData | string | null> {
  const block = document.querySelector('script[type="application/zwhy"][id="lab"]');
  if (!block) return null;
  try {
    return readLab(await unpack(block.textContent ?? "", "experiment"));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function open(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) return;
  followAddress();
  page.subscribe((state) => {
    document.documentElement.dataset.theme = state.theme;
  });
  dark.subscribe((isDark) => {
    document.documentElement.dataset.dark = String(isDark);
  });
  const data = await load();
  root.textContent = "";
  if (data === null) render(<EmptyLab />, root);
  else if (typeof data === "string") render(<UnreadLab message={data} />, root);
  else render(<LabApp data={data} />, root);
  // Tests and tools wait for this.
  document.documentElement.dataset.ready = "true";
}

void open();
