// The encoded bytes: all of a small filter; of a large one those of the bits in view, and the parts that
// are not bits.

import { firstBit } from "./bits.js";
import { $, element, narrow } from "./dom.js";
import { pageBits } from "./filter.js";
import { state } from "./state.js";
import { count, number } from "./words.js";

const all = 512;

export function renderBytes() {
  const { filter, wanted } = state;
  const { bytes } = filter;
  const from = firstBit() / 8;
  const small = bytes.length <= all;
  $("bytes-note").textContent = `${filter.name}, ${count(bytes.length, "byte")}` +
    (filter.parts.length > 0 ? ": " + filter.parts.map(words).join("; ") : "") + "." +
    (small ? "" : " Only the bits in view are shown.");
  const wide = narrow.matches ? 8 : 16;
  const rows = [];
  for (const part of filter.parts.length > 0 ? filter.parts : [{ name: "", from: 0, to: bytes.length }]) {
    let [start, end] = [part.from, part.to];
    if (!small && part.name === "bits") [start, end] = [part.from + from, Math.min(part.to, part.from + from + pageBits() / 8)];
    for (; start < end; start += wide) rows.push(...hexRow(bytes.subarray(start, Math.min(start + wide, end)), start, part));
  }
  $("hex").replaceChildren(...rows);
  const name = filter.is_file ? `${wanted.file.name}.bare` : wanted.file ? wanted.file.name : `${filter.format}.bloom`;
  $("download").download = name;
}

// listenToDownload makes the file only when somebody wants it: it may be large.
export function listenToDownload() {
  $("download").addEventListener("click", () => {
    URL.revokeObjectURL($("download").href);
    $("download").href = URL.createObjectURL(new Blob([state.filter.bytes], { type: "application/octet-stream" }));
  });
}

// words tells where a part lies and, of the others than the bits, which number it holds: 8 bytes at most.
function words(part) {
  const where = part.to - part.from === 1 ? `byte ${number(part.from)}` : `bytes ${number(part.from)} to ${number(part.to - 1)}`;
  if (part.name === "bits") return `the bits are ${where}`;
  const value = state.filter.bytes.subarray(part.from, part.to).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return `${part.name} is ${where} and says ${value}`;
}

function hexRow(bytes, at, part) {
  const spans = [element("span", { class: "at" }, at.toString(16).padStart(6, "0") + "  ")];
  for (const byte of bytes) {
    const name = part.name !== "bits" ? "other" : byte === 0 ? "zero" : "";
    spans.push(element("span", { class: name }, byte.toString(16).padStart(2, "0")), " ");
  }
  return [...spans, part.name === "bits" || part.name === "" ? "\n" : ` ${part.name}\n`];
}
