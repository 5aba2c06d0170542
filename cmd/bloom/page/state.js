// What the page shows, and its name in the address: what to come back to, or to send to others. A file
// is not in the address, and neither are more keys than an address holds.

import { $ } from "./dom.js";
import { quoted } from "./words.js";

export const state = {
  about: null, // formats, patterns and limits
  wanted: { keys: [], file: null }, // the added keys, and the file if there is one: { name, bytes, id }
  filter: null, // the answer, with its bytes and the array of its bits
  other: null, // the same keys in another format
  points: { name: "", list: [] }, // of the curve: for which question, and the answers so far
  passing: null, // the absent keys that pass, if somebody asked for them
  results: [], // answers to the last keys tested
  shown: null, // the key whose probes are drawn: { key, positions, … }
  tested: "", // what the field of keys had when they were tested
  cursor: 0, // the bit that the arrow keys move from
  chosen: null, // the bit whose keys are listed
};
globalThis.page = state; // for the tests, and for the curious

// The fields in the address, by their names there, and what they are if the address does not say it.
const fields = { format: "format", n: "capacity", b: "bits-per-key", k: "probes", numbered: "numbered", pattern: "pattern", with: "with" };
const usual = { n: "48", b: "10", k: "0", numbered: "0", with: "" };
const example = "n=10&keys=apple\npear\nplum\ncherry\nlemon\norange\ngrape\nmelon\npeach\nkiwi&test=stone";
const mostState = 8000; // characters
let address = "";

// saveState says in the address what the page shows. After a step, the browser goes back to the address before.
export function saveState(step = false) {
  const { wanted, tested } = state;
  if (wanted.file !== null) return;
  const said = Object.entries(fields).map(([name, id]) => [name, $(id).value]).filter(([name, value]) => value !== (usual[name] ?? ""));
  const short = said.filter(([name]) => name !== "pattern" || $("numbered").value !== "0");
  let text = String(new URLSearchParams([...short, ["keys", wanted.keys.join("\n")], ["test", tested]]));
  if (text.length > mostState || wanted.keys.some((key) => /[\r\n]/.test(key))) text = String(new URLSearchParams(short));
  if (text === address) return;
  address = text;
  history[step ? "pushState" : "replaceState"](null, "", "#" + text);
}

// isNew reports whether somebody changed the address.
export const isNew = () => location.hash.slice(1) !== address;

// loadState shows what the address says, or an example if it says nothing. An address that makes no sense
// gives the example and an error.
export async function loadState(open) {
  address = location.hash.slice(1);
  try {
    await apply(new URLSearchParams(address || example), open);
  } catch (e) {
    if (address === "") throw e;
    await apply(new URLSearchParams(example), open);
    throw new Error(`${e.message}. The page shows the example instead`);
  }
}

async function apply(params, open) {
  for (const name of params.keys()) {
    if (!(name in fields) && name !== "keys" && name !== "test") throw new Error(`the address has ${quoted(name.slice(0, 40))}, which means nothing here`);
  }
  for (const [name, id] of Object.entries(fields)) {
    const value = params.get(name) ?? usual[name] ?? $(id).options[0].value;
    $(id).value = value;
    if ($(id).value !== value) throw new Error(`the address has ${quoted(value.slice(0, 40))} for ${name}, which is not a choice`);
  }
  state.tested = $("test-keys").value = params.get("test") ?? "";
  await open((params.get("keys") ?? "").split("\n").filter((key) => key !== ""));
}
