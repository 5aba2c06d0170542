// The calculator: of two numbers of a filter, the others follow.

import { ask } from "./ask.js";
import { $, element, row, whole } from "./dom.js";
import { number, percent, sentence, size as sizeOf } from "./words.js";

const names = ["keys", "bits_per_key", "rate", "memory"];
let given = ["keys", "rate"]; // the two numbers that were written last
let sizes = []; // the answer: a row for each format
let calculating; // timer

// give makes a number one of the two that the others follow from.
function give(name) {
  if (!given.includes(name)) given = [given[1], name];
  else given = [given.find((n) => n !== name), name];
  clearTimeout(calculating);
  calculating = setTimeout(calculate, 250);
}

const field = (name) => $(`calc-${name}`);
const units = { "": 1, k: 1e3, m: 1e6, g: 1e9, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3, tib: 1024 ** 4 };

// readers read what people write: 1,000,000 or 1e8 or 100M keys, 1% or 0.01, 64 MiB.
const readers = {
  keys: (text) => inUnits(text, "a number of keys is whole, such as 250000, 1e8 or 100M"),
  bits_per_key: () => whole("calc-bits_per_key"),
  rate: (text) => {
    const value = Number(text.replace(/%$/, "")) / (text.endsWith("%") ? 100 : 1);
    if (text === "" || Number.isNaN(value)) throw new Error(`a rate is a number such as 0.01 or 1%, not “${text}”`);
    return value;
  },
  memory: (text) => inUnits(text, "a memory is a number of bytes such as 64MiB"),
};

function inUnits(text, what) {
  const [, digits, unit] = /^([\d.,]+(?:e\d+)?)\s*([a-z]*)$/i.exec(text) ?? [];
  const value = digits === undefined ? NaN : Number(digits.replaceAll(",", "")) * (units[unit.toLowerCase()] ?? NaN);
  if (!(value >= 1) || !Number.isSafeInteger(Math.round(value)) || what.includes("whole") && !Number.isInteger(value)) throw new Error(`${what}, not “${text}”`);
  return Math.round(value);
}

const asked = () => given.map((name) => [name, field(name).value.trim()]);

export async function calculate() {
  const now = JSON.stringify(asked());
  try {
    const [answer] = await ask("sizes", Object.fromEntries(asked().map(([name, text]) => [name, readers[name](text)])));
    if (now !== JSON.stringify(asked())) return; // more was written
    sizes = answer.sizes;
    $("calc-note").textContent = "";
  } catch (e) {
    sizes = [];
    $("calc-note").textContent = sentence(e.message);
  }
  renderSizes();
}

function wordsOf(size) {
  return {
    keys: size.keys === null ? "any number" : number(size.keys),
    bits_per_key: String(size.bits_per_key),
    probes: String(size.probes),
    rate: percent(size.rate),
    memory: size.memory === null ? "grows with the keys" : sizeOf(size.memory),
  };
}

function renderSizes() {
  $("calc-sizes").replaceChildren(...sizes.map((size) => {
    if (!size.error) return row(size.format, ...Object.values(wordsOf(size)));
    const line = element("tr", {}, element("th", { scope: "row" }, size.format));
    line.append(element("td", { colspan: "5", class: "reason" }, `none: ${size.error}`));
    return line;
  }));
  renderFollowing();
}

// renderFollowing writes the numbers that follow, in the chosen format, into their fields.
function renderFollowing() {
  const format = $("format").value;
  const size = sizes.find((s) => s.format === format);
  const words = size && !size.error ? wordsOf(size) : {};
  for (const name of names) {
    field(name).classList.toggle("follows", !given.includes(name));
    if (!given.includes(name)) field(name).value = (words[name] ?? "").replaceAll("\u00a0", " ");
  }
  if (sizes.length > 0) $("calc-note").textContent = `The dashed fields are those of the format ${format}` + (size?.error ? ", which has no such filter." : ".");
}

export function listenToSizes() {
  for (const name of names) field(name).addEventListener("input", () => give(name));
  $("calculator").addEventListener("submit", (event) => event.preventDefault());
  $("format").addEventListener("change", renderFollowing);
}
