// Filters and keys, as the library answers.

import { ask } from "./ask.js";
import { $, lines, narrow, whole } from "./dom.js";
import { saveState, state } from "./state.js";

export const formatOf = (id) => state.about.formats.find((f) => f.id === id);

// choosesProbes reports whether filters of the chosen format can have another number of probes
// than the format's own.
export const choosesProbes = () => formatOf($("format").value)?.chooses_probes ?? false;

export const numbered = () => ({ pattern: $("pattern").value, count: whole("numbered") });

function question(format, { keys, file }) {
  const q = { format, keys, numbered: numbered() };
  if (file) return q;
  return { ...q, capacity: whole("capacity"), bits_per_key: whole("bits-per-key"), probes: formatOf(format).chooses_probes ? Number($("probes").value) : 0 };
}

// rebuild asks for the filter of the form with the given keys, and for the one that it is compared with.
// The page takes over the keys only when the answers have come. A step is one that the browser goes back from.
export async function rebuild(next, step = false) {
  const built = await build($("format").value, next);
  const other = $("with").value === "" || next.file ? null : await build($("with").value, next);
  if (next.file !== state.wanted.file) Object.assign(state, { results: [], shown: null, cursor: 0 });
  Object.assign(state, { wanted: { keys: built.keys.map((k) => k.key), file: next.file }, filter: built, other, passing: null, chosen: null });
  if (built.is_file) $("format").value = built.format;
  state.cursor = Math.min(state.cursor, Math.max(0, built.bits - 1));
  if (state.results.length > 0) await test(state.results.map((r) => r.key));
  if (state.shown) state.shown = find(state.shown.key);
  saveState(step);
}

async function build(format, next) {
  const { file } = next;
  const q = question(format, next);
  let reply;
  if (file?.id) reply = await ask("filter", { ...q, file: file.id }).catch(unlessGone);
  const [answer, data] = reply ?? await ask("filter", file ? { ...q, has_file: true } : q, file?.bytes);
  if (file) file.id = answer.file;
  const bytes = answer.in_file ? file.bytes.subarray(answer.in_file.from, answer.in_file.to) : data;
  const bits = answer.parts.find((p) => p.name === "bits") || { from: 0, to: 0 };
  return { ...answer, bytes, array: bytes.subarray(bits.from, bits.to) };
}

function unlessGone(e) {
  if (!e.gone) throw e;
}

// askAbout asks a question about a filter that was built. If it is gone, it is built once more.
export async function askAbout(name, which, more) {
  const once = () => ask(name, { filter: state[which].id, ...more });
  const reply = await once().catch(unlessGone);
  if (reply) return reply;
  state[which].id = (await build(state[which].format, state.wanted)).id;
  return once();
}

export async function test(keys) {
  const [answer] = await askAbout("test", "filter", { keys });
  state.results = answer.results;
}

// testTyped tests the keys of the field, and shows the one of the line, counted from 0.
export async function testTyped(line) {
  const keys = lines("test-keys");
  state.tested = $("test-keys").value;
  state.results = [];
  if (keys.length > 0) {
    await test(keys);
    show(find(keys[Math.min(line, keys.length - 1)]));
  }
  saveState();
}

// find returns the answer for a key that was tested or added.
export const find = (key) => state.results.find((r) => r.key === key) || state.filter.keys.find((k) => k.key === key) || null;

export const isSet = (bit, filter = state.filter) => (filter.array[Math.floor(bit / 8)] >> (bit % 8)) & 1;
export const missing = (walk) => walk.positions.filter((bit) => !isSet(bit));

// show draws a key's probes. If none of its bits is in view, it moves to the first missing bit, or to the
// first bit if none is missing.
export function show(walk) {
  state.shown = walk;
  const gone = missing(walk);
  const places = gone.length > 0 ? gone : walk.positions;
  if (places.length > 0 && !places.some((bit) => onPage(bit) === onPage(state.cursor))) state.cursor = places[0];
}

// pageBits is how many bits the grid shows at a time. A picture shows all of a larger filter: so the bits of a
// key are on the first screen, also of a phone.
export const pageBits = () => (narrow.matches ? 256 : 1024);
export const onPage = (bit) => Math.floor(bit / pageBits());
