// The page of bloom explore. It draws the bytes that the API returns. The library
// computes all hashes and positions.
"use strict";

const $ = (id) => document.getElementById(id);
const pageBits = 1024; // bits that the grid shows at a time
const mostRows = 256; // of a list or table: the browser takes a second to lay out thousands
const narrow = matchMedia("(max-width: 40rem)");
const number = new Intl.NumberFormat("en");

let about; // formats and limits
let wanted = { keys: [], file: null }; // the added keys, and the file if there is one
let filter = null; // the last answer of /api/filter, with bytes and format
let points = { name: "", list: [] }; // of the curve: for which question, and the answer
let tested = ""; // what the form of tests had when it was last sent
let results = []; // answers to the last keys tested
let shown = null; // the key whose probes are drawn: { key, positions, … }
let cursor = 0; // the bit that the arrow keys move from
let chosen = null; // the bit whose keys are listed

// Talking to the server

async function ask(path, question) {
  const options = question && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer: is bloom explore still running?");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// inTurn runs pieces of work one after the other, so that answers come in the order of
// the requests.
let last = Promise.resolve();
function inTurn(work) {
  last = last.then(async () => {
    try {
      await work();
      $("error").hidden = true;
    } catch (e) {
      fail(e);
    }
  });
  return last;
}

function fail(e) {
  $("error").textContent = sentence(e.message);
  $("error").hidden = false;
}

function sentence(text) {
  return text[0].toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");
}

function say(text) {
  $("status").textContent = text;
}

// toBase64 returns the bytes of a file. The browser's own conversion takes a tenth of the time
// of a loop here.
const toBase64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});
const fromBase64 = (text) => {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
};

// Asking for filters and answers

// rebuild asks for the filter of the form with the given keys. The page takes over the
// keys only when the answer has come.
async function rebuild(next, spoken) {
  const question = { format: $("format").value, keys: next.keys };
  if (next.file) {
    question.file = next.file.encoded;
  } else {
    question.capacity = whole("capacity");
    question.bits_per_key = whole("bits-per-key");
    question.probes = choosesProbes() ? Number($("probes").value) : 0;
  }
  const answer = await ask("api/filter", question);
  if (next.file !== wanted.file) [results, shown, cursor] = [[], null, 0];
  wanted = { keys: answer.keys.map((k) => k.key), file: next.file };
  filter = received(answer);
  if (filter.is_file) $("format").value = filter.format;
  cursor = Math.min(cursor, Math.max(0, filter.bits - 1));
  chosen = null;
  if (results.length > 0) await test(results.map((r) => r.key));
  if (shown) shown = find(shown.key);
  render();
  if (spoken) say(spoken());
  drawPoints();
  saveState();
}

// choosesProbes reports whether filters of the chosen format can have another number of probes
// than the format's own.
const choosesProbes = () => about.formats.find((f) => f.id === $("format").value)?.chooses_probes ?? false;

// drawPoints asks for the points of the curve, unless the page has them. For LevelDB's format
// they take longer than the filter, so nothing waits for them.
async function drawPoints() {
  const c = filter.curve;
  if (c === null) return;
  const question = { format: filter.format, keys: c.keys, probes: c.probes };
  const name = JSON.stringify(question);
  if (points.name === name) return;
  points = { name, list: [] };
  try {
    const { points: list } = await ask("api/curve", question);
    if (points.name !== name) return; // another curve is asked for
    points.list = list;
    renderCurve();
  } catch (e) {
    if (points.name === name) points.name = "";
    fail(e);
  }
}

// received prepares an answer of /api/filter for drawing. Whatever takes a look at
// every byte is done here, once: drawing takes the same time for every size.
function received(answer) {
  const bytes = fromBase64(answer.encoded);
  const bits = answer.parts.find((p) => p.name === "bits") || { from: 0, to: 0 };
  const array = bytes.subarray(bits.from, bits.to);
  URL.revokeObjectURL($("download").href);
  $("download").href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  return { ...answer, bytes, array, fill: fillOf(array) };
}

const mostBars = 1024; // of the strip
const onesOfByte = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

// fillOf returns the share of set bits, 0 to 1, in each of mostBars runs of bytes of the
// same length, or in each byte if there are fewer.
function fillOf(array) {
  const fill = new Float32Array(Math.min(mostBars, array.length));
  for (let i = 0; i < fill.length; i++) {
    const from = Math.floor((i * array.length) / fill.length);
    const to = Math.floor(((i + 1) * array.length) / fill.length);
    let ones = 0;
    for (let at = from; at < to; at++) ones += onesOfByte[array[at]];
    fill[i] = ones / (8 * (to - from));
  }
  return fill;
}

// whole returns the value of a number field, or throws an error that says what is wrong.
function whole(id) {
  const field = $(id);
  const name = document.querySelector(`label[for=${id}]`).textContent;
  const value = field.value.trim() === "" ? NaN : Number(field.value);
  field.setAttribute("aria-invalid", String(!Number.isInteger(value)));
  if (!Number.isInteger(value)) throw new Error(`${name}: enter a whole number`);
  return value;
}

// testTyped tests the keys of the form, and shows the one of the line, counted from 0.
async function testTyped(line) {
  const keys = lines("test-keys");
  tested = $("test-keys").value;
  if (keys.length > 0) {
    await test(keys);
    show(find(keys[Math.min(line, keys.length - 1)]));
    render();
    say(results.length === 1 ? `${quoted(shown.key)} ${verdict(shown)}.` : $("results-summary").textContent);
  } else {
    results = [];
    render();
  }
  saveState();
}

async function test(keys) {
  const answer = await ask("api/test", { format: filter.format, encoded: filter.encoded, keys });
  results = answer.results;
}

// State in the address: what to come back to, or to send to others. A file is not in it, and
// neither are more keys than an address holds.

const example = "keys=apple\npear\nplum\ncherry\nlemon\norange\ngrape\nmelon\npeach\nkiwi&test=pear\nstone";
const mostState = 8000; // characters
let state = ""; // in the address

function saveState() {
  if (wanted.file !== null) return;
  const fields = { format: $("format").value, n: $("capacity").value, b: $("bits-per-key").value, k: $("probes").value };
  const all = { ...fields, keys: wanted.keys.join("\n"), test: tested };
  let text = String(new URLSearchParams(all));
  if (text.length > mostState || wanted.keys.some((key) => /[\r\n]/.test(key))) text = String(new URLSearchParams(fields));
  if (text === state) return;
  state = text;
  history.replaceState(null, "", "#" + state);
}

// loadState makes the filter that the address says, or an example if it says none. An address
// that makes no sense gives the example and an error.
async function loadState() {
  const text = location.hash.slice(1);
  state = text;
  try {
    await applyState(new URLSearchParams(text || example));
  } catch (e) {
    if (text === "") throw e;
    await applyState(new URLSearchParams(example));
    throw e;
  }
}

async function applyState(params) {
  const has = (name, usual) => params.get(name) ?? usual;
  $("format").value = has("format", about.formats[0].id);
  $("capacity").value = has("n", "48");
  $("bits-per-key").value = has("b", "10");
  $("probes").value = has("k", "0");
  if ($("format").value === "") throw new Error(`the address asks for the format ${quoted(params.get("format"))}, which there is not`);
  if ($("probes").value === "") throw new Error(`the address asks for ${quoted(params.get("k"))} probes, which a filter cannot have`);
  $("test-keys").value = has("test", "");
  tested = $("test-keys").value;
  [results, shown, cursor] = [[], null, 0];
  await rebuild({ keys: has("keys", "").split("\n").filter((key) => key !== ""), file: null });
  if (lines("test-keys").length > 0) await testTyped(0);
}

// find returns the server's answer for a key that was tested or added.
function find(key) {
  return results.find((r) => r.key === key) || filter.keys.find((k) => k.key === key) || null;
}

const lines = (id) => $(id).value.split(/\r?\n/).filter((line) => line !== "");

function shape() {
  return `${count(filter.bits, "bit")}, ${count(filter.probes, "probe")} a key, ${percent(filter.set_bits / filter.bits)} filled`;
}

// Reading bits

const isSet = (bit) => (filter.array[Math.floor(bit / 8)] >> (bit % 8)) & 1;
const missing = (walk) => walk.positions.filter((bit) => !isSet(bit));

// verdict returns the meaning of a key's bits in words.
function verdict(walk) {
  const gone = missing(walk).length;
  const may = walk.may_contain ?? gone === 0;
  if (walk.positions.length === 0) return may ? "may be in the filter: it answers yes to every key" : "is not in the filter: it holds no key";
  if (may) return `may be in the filter: all ${walk.positions.length} bits are set`;
  return `is certainly not in the filter: ${gone} of ${walk.positions.length} bits ${gone === 1 ? "is" : "are"} missing`;
}

// Words for numbers

function count(n, what) {
  return `${number.format(n)} ${what}${n === 1 ? "" : "s"}`;
}

function percent(share) {
  const p = 100 * share;
  let text = p >= 10 ? p.toFixed(1) : String(Number(p.toPrecision(2)));
  if (!(p > 0) || p >= 99.95) text = String(Math.round(p || 0));
  else if (p < 0.0001) text = p.toExponential(1);
  return text + "\u00a0%";
}

const quoted = (key) => `“${key}”`;

// Drawing

function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") e.className = value;
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

function svg(name, attributes = {}, text = "") {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.textContent = text;
  return e;
}

function render() {
  renderForm();
  renderNumbers();
  renderBits();
  renderBit();
  renderWalk();
  renderResults();
  renderCurve();
  renderBytes();
}

function renderForm() {
  $("sizes").hidden = wanted.file !== null;
  $("file-note").hidden = wanted.file === null;
  $("format").disabled = filter.is_file; // which says its format
  $("probes").disabled = !choosesProbes();
  if (!choosesProbes()) $("probes").value = "0";
  if (wanted.file) {
    $("file-name").textContent = wanted.file.name;
    $("file-says").textContent = filter.is_file ? `, which says that its format is ${filter.format}` : `, as bare bytes of ${filter.format}`;
  } else if ($("probes").value === "0") $("probes").options[0].textContent = `${filter.probes}, the format's own`;
  else $("probes").options[0].textContent = "the format's own";
}

function renderNumbers() {
  const added = wanted.keys.length;
  if (wanted.file && filter.key_count !== null) {
    $("n-keys").textContent = number.format(filter.key_count);
    $("n-keys-note").textContent = added ? `${number.format(added)} of them added here` : "as the file says";
  } else if (wanted.file) {
    const estimated = number.format(Math.round(filter.estimated_keys));
    $("n-keys").textContent = filter.estimated_keys === null ? "all" : `≈ ${estimated}`;
    $("n-keys-note").textContent = added ? `estimated, ${number.format(added)} of them added here` : "estimated from the fill";
  } else {
    const capacity = filter.curve.keys;
    $("n-keys").textContent = number.format(added);
    $("n-keys-note").textContent = (added > capacity ? "more than the " : "of ") + `${number.format(capacity)} expected`;
  }
  $("n-fill").textContent = percent(filter.set_bits / filter.bits);
  $("n-fill-note").textContent = `${number.format(filter.set_bits)} of ${count(filter.bits, "bit")}`;
  $("n-expected").textContent = percent(filter.expected);
  $("n-expected-note").textContent = "with this many keys";
  $("n-observed").textContent = percent(filter.observed);
  $("n-observed-note").textContent = `of ${number.format(filter.samples)} absent keys`;
}

function firstBit() {
  return Math.floor(cursor / pageBits) * pageBits;
}

const columns = () => (narrow.matches ? 16 : 32);

function renderBits() {
  const grid = $("grid");
  const from = firstBit();
  const to = Math.min(from + pageBits, filter.bits);
  const had = grid.contains(document.activeElement);
  const probes = new Map(); // bit → numbers of the probes
  if (shown) shown.positions.forEach((bit, i) => probes.has(bit) ? probes.get(bit).push(i + 1) : probes.set(bit, [i + 1]));
  const rows = [];
  const wide = columns();
  for (let start = from; start < to; start += wide) {
    const row = element("div", { role: "row", "aria-rowindex": String(start / wide + 1) });
    for (let bit = start; bit < Math.min(start + wide, to); bit++) row.append(cell(bit, bit - start, probes.get(bit)));
    rows.push(row);
  }
  grid.setAttribute("aria-rowcount", String(Math.ceil(filter.bits / wide)));
  grid.setAttribute("aria-colcount", String(wide));
  grid.replaceChildren(...rows);
  if (had) focusBit();

  $("bits-note").textContent = filter.bits === 0
    ? "The filter has no bits."
    : `${count(filter.bits, "bit")}; every key maps to ${filter.probes}.` + (shown ? ` The outlined bits are those of ${quoted(shown.key)}. It ${verdict(shown)}.` : "");
  $("go-bit").max = filter.bits - 1;
  $("pager").hidden = filter.bits <= pageBits;
  if (filter.bits > pageBits) {
    $("page-note").textContent = `Bits ${number.format(from)} to ${number.format(to - 1)}`;
    $("previous").disabled = from === 0;
    $("next").disabled = to === filter.bits;
    renderStrip(from, to);
  }
}

function cell(bit, column, probes) {
  const set = isSet(bit);
  const names = ["bit"];
  let label = `bit ${bit}, ${set ? "set" : "clear"}`;
  if (set) names.push("set");
  if (probes) {
    names.push("probed");
    label += `, probe ${probes.join(" and ")} of ${shown.key}`;
    if (!set) {
      names.push("missing");
      label += ", missing";
    }
  }
  if (bit === chosen) names.push("chosen");
  return element("div", {
    class: names.join(" "),
    role: "gridcell",
    tabindex: bit === cursor ? "0" : "-1",
    "data-bit": String(bit),
    "aria-colindex": String(column + 1),
    "aria-label": label,
  }, probes ? (probes.length > 1 ? `${probes[0]}+` : String(probes[0])) : "");
}

// renderStrip draws the fill over the whole length, and a frame around the part that
// the grid shows.
function renderStrip(from, to) {
  const canvas = $("strip");
  const scale = devicePixelRatio || 1;
  const width = (canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale)));
  const height = (canvas.height = Math.round(36 * scale));
  const style = getComputedStyle(document.documentElement);
  const draw = canvas.getContext("2d");
  draw.fillStyle = style.getPropertyValue("--clear");
  draw.fillRect(0, 0, width, height);
  draw.fillStyle = style.getPropertyValue("--set");
  const bars = Math.min(Math.floor(width / (2 * scale)), filter.fill.length);
  for (let i = 0; i < bars; i++) {
    const runs = filter.fill.subarray(Math.floor((i * filter.fill.length) / bars), Math.floor(((i + 1) * filter.fill.length) / bars));
    const high = Math.round((height * runs.reduce((sum, share) => sum + share, 0)) / runs.length);
    draw.fillRect((i * width) / bars, height - high, width / bars + 0.5, high);
  }
  draw.strokeStyle = style.getPropertyValue("--may");
  draw.lineWidth = 2 * scale;
  const left = (from / filter.bits) * width;
  draw.strokeRect(Math.min(left, width - 4 * scale) + scale, scale, Math.max(((to - from) / filter.bits) * width - 2 * scale, 2 * scale), height - 2 * scale);
}

function renderBit() {
  $("bit").hidden = chosen === null;
  if (chosen === null) return;
  const keys = filter.keys.filter((k) => k.positions.includes(chosen));
  $("bit-title").textContent = `Bit ${number.format(chosen)} is ${isSet(chosen) ? "set" : "clear"}`;
  $("bit-note").textContent = keys.length > 0
    ? `${count(keys.length, "key")} added here map${keys.length === 1 ? "s" : ""} to it:`
    : isSet(chosen) ? "No key added here maps to it; it was set in the file." : "No key added here maps to it.";
  fillList("bit-keys", keys, (k) => element("li", {}, keyButton(k)));
}

// fillList draws the first items of a list or table, and says how many more there are.
function fillList(id, items, draw) {
  $(id).replaceChildren(...items.slice(0, mostRows).map(draw));
  const more = items.length - mostRows;
  $(`${id}-more`).textContent = more > 0 ? `The first ${mostRows} are shown; there are ${number.format(more)} more.` : "";
}

function keyButton(walk, ...children) {
  const button = element("button", { type: "button", "aria-pressed": String(shown !== null && shown.key === walk.key) });
  button.append(...(children.length > 0 ? children : [walk.key]));
  button.addEventListener("click", () => {
    show(walk);
    render();
    say(`${quoted(walk.key)} ${verdict(walk)}.`);
  });
  return button;
}

// show draws a key's probes. If none of its bits is in view, it moves to the first
// missing bit, or to the first bit if none is missing.
function show(walk) {
  shown = walk;
  const gone = missing(walk);
  const places = gone.length > 0 ? gone : walk.positions;
  if (places.length > 0 && !places.some((bit) => Math.floor(bit / pageBits) === Math.floor(cursor / pageBits))) cursor = places[0];
}

function renderWalk() {
  $("walk").hidden = shown === null;
  if (shown === null) {
    $("walk-answer").textContent = "Add or test a key to see its hash and the bits it maps to.";
    return;
  }
  const format = about.formats.find((f) => f.id === filter.format);
  $("walk-answer").textContent = `${quoted(shown.key)} ${verdict(shown)}.`;
  $("walk-numbers").replaceChildren(...format.numbers.map((n, i) => element("div", {},
    element("dt", {}, n.name),
    element("dd", {}, element("code", { id: `walk-${n.name}` }, shown.numbers[i]), " ", element("span", { class: "note" }, n.meaning)))));
  const rule = (i) => format.rule.replace(/\bi\b/g, i).replace("the number of bits", filter.bits);
  fillList("walk-probes", shown.positions, (bit, i) => {
    const go = element("button", { type: "button", "aria-label": `Go to bit ${bit}` }, number.format(bit));
    go.addEventListener("click", () => choose(bit));
    return element("tr", {},
      element("th", { scope: "row" }, String(i + 1)),
      element("td", {}, go),
      element("td", { class: isSet(bit) ? "may" : "absent" }, isSet(bit) ? "set" : "missing"),
      element("td", {}, `${number.format(Math.floor(bit / 8))}, bit ${bit % 8}`),
      element("td", {}, element("code", {}, rule(i))));
  });
}

function renderResults() {
  const may = results.filter((r) => r.may_contain).length;
  $("results-summary").textContent = results.length === 0 ? "" : `${number.format(may)} of ${count(results.length, "key")} may be in the filter.`;
  fillList("results", results, (r) => element("li", {}, keyButton(r,
    element("span", { class: "key" }, r.key),
    element("span", { class: r.may_contain ? "may" : "absent" }, r.may_contain ? "may be in" : "not in"))));
}

function renderCurve() {
  const box = $("curve");
  const c = filter.curve;
  box.replaceChildren();
  $("curve-table").replaceChildren();
  if (c === null) {
    $("curve-note").textContent = "There is no number of keys to draw it for.";
    return;
  }
  $("curve-note").textContent = `For ${count(c.keys, "key")} and ${c.probes === 0 ? "the format's own number of probes" : count(c.probes, "probe")}. ` +
    `Chosen: ${c.chosen.bits_per_key.toFixed(1).replace(/\.0$/, "")} bits per key, ${percent(c.chosen.rate)}. ` +
    (c.now ? `Now: ${c.now.bits_per_key.toFixed(1)} bits for each key in it, ${percent(c.now.rate)} observed.` : "Now: no key yet.");
  const drawn = points.list.filter((p) => p.rate > 0);
  if (drawn.length === 0) return; // they come later: see drawPoints
  $("curve-table").replaceChildren(...drawn.map((p) => element("tr", {},
    element("th", { scope: "row" }, String(p.bits_per_key)), element("td", {}, percent(p.rate)))));

  const width = Math.max(260, box.clientWidth), height = 240;
  const left = 58, right = 12, top = 12, bottom = 40;
  const lowest = Math.floor(Math.log10(Math.min(...drawn.map((p) => p.rate), 0.1)));
  const x = (bits) => left + ((bits - 1) / (drawn.at(-1).bits_per_key - 1)) * (width - left - right);
  const y = (rate) => top + (Math.log10(rate) / lowest) * (height - top - bottom);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": $("curve-note").textContent });
  for (let e = 0; e >= lowest; e--) {
    drawing.append(svg("line", { class: "rule", x1: left, x2: width - right, y1: y(10 ** e), y2: y(10 ** e) }));
    if (e % Math.ceil(-lowest / 6) === 0) drawing.append(svg("text", { x: left - 8, y: y(10 ** e) + 4, "text-anchor": "end" }, `${Number((100 * 10 ** e).toPrecision(1))} %`));
  }
  for (let bits = 4; bits <= drawn.at(-1).bits_per_key; bits += 4) drawing.append(svg("text", { x: x(bits), y: height - bottom + 18, "text-anchor": "middle" }, String(bits)));
  drawing.append(svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, "bits per key"));
  drawing.append(svg("polyline", { class: "path", points: drawn.map((p) => `${x(p.bits_per_key)},${y(p.rate)}`).join(" ") }));
  const near = c.now !== null && Math.abs(x(c.now.bits_per_key) - x(c.chosen.bits_per_key)) < 70;
  const mark = (point, name, label, below) => {
    if (!point || point.rate < 10 ** lowest || point.bits_per_key < 1 || point.bits_per_key > drawn.at(-1).bits_per_key) return;
    const [px, py] = [x(point.bits_per_key), y(point.rate)];
    const atRight = px > width - 90;
    drawing.append(svg("circle", { class: name, cx: px, cy: py, r: 6 }),
      svg("text", { class: "label", x: px + (atRight || below ? -10 : 10), y: py + (below ? 20 : -8), "text-anchor": atRight || below ? "end" : "start" }, label));
  };
  mark(c.chosen, "chosen", "chosen", false);
  mark(c.now, "now", "now", near);
  box.append(drawing);
}

// renderBytes writes all bytes of a small filter. Of a large filter it writes the bytes
// of the bits in view, and the parts that are not bits.
function renderBytes() {
  const all = 512;
  const bytes = filter.bytes;
  const from = firstBit() / 8;
  const small = bytes.length <= all;
  $("bytes-note").textContent = `${filter.name}, ${count(bytes.length, "byte")}` +
    (filter.parts.length > 0 ? ": " + filter.parts.map(partWords).join("; ") : "") + "." +
    (small ? "" : " Only the bits in view are shown.");
  const wide = narrow.matches ? 8 : 16;
  const rows = [];
  for (const part of filter.parts.length > 0 ? filter.parts : [{ name: "", from: 0, to: bytes.length }]) {
    let [start, end] = [part.from, part.to];
    if (!small && part.name === "bits") [start, end] = [part.from + from, Math.min(part.to, part.from + from + pageBits / 8)];
    for (; start < end; start += wide) rows.push(...hexRow(bytes.subarray(start, Math.min(start + wide, end)), start, part));
  }
  $("hex").replaceChildren(...rows);
  $("download").download = filter.is_file ? `${wanted.file.name}.bare` : wanted.file ? wanted.file.name : `${filter.format}.bloom`;
}

// partWords tells where a part lies and, of the others than the bits, which number it
// holds: 8 bytes at most.
function partWords(part) {
  const where = part.to - part.from === 1 ? `byte ${number.format(part.from)}` : `bytes ${number.format(part.from)} to ${number.format(part.to - 1)}`;
  if (part.name === "bits") return `the bits are ${where}`;
  const value = filter.bytes.subarray(part.from, part.to).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
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

// Moving among bits

function focusBit() {
  const target = $("grid").querySelector(`[data-bit="${cursor}"]`);
  if (target) target.focus();
}

function moveTo(bit) {
  const before = firstBit();
  cursor = Math.max(0, Math.min(filter.bits - 1, bit));
  if (firstBit() !== before) {
    renderBits();
    renderBytes();
  } else {
    for (const e of $("grid").querySelectorAll('[tabindex="0"]')) e.tabIndex = -1;
    $("grid").querySelector(`[data-bit="${cursor}"]`).tabIndex = 0;
  }
}

// choose moves to a bit and lists its keys.
function choose(bit) {
  moveTo(bit);
  chosen = cursor;
  renderBits();
  renderBit();
  focusBit();
  say(`${$("bit-title").textContent}. ${$("bit-note").textContent} ${filter.keys.filter((k) => k.positions.includes(chosen)).map((k) => k.key).slice(0, 20).join(", ")}`);
}

function gridKey(event) {
  const wide = columns();
  const start = cursor - (cursor % wide);
  const moves = {
    ArrowLeft: cursor - 1,
    ArrowRight: cursor + 1,
    ArrowUp: cursor - wide,
    ArrowDown: cursor + wide,
    Home: event.ctrlKey ? 0 : start,
    End: event.ctrlKey ? filter.bits - 1 : start + wide - 1,
    PageUp: cursor - pageBits,
    PageDown: cursor + pageBits,
  };
  if (event.key === "Enter" || event.key === " ") choose(cursor);
  else if (event.key in moves) {
    const to = moves[event.key];
    if (to >= 0 && to < filter.bits) moveTo(to);
    else if (event.key.startsWith("Page") || event.key === "End") moveTo(to);
    focusBit();
  } else return;
  event.preventDefault();
}

// Calculator

const numbers = ["keys", "bits_per_key", "rate", "memory"];
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

async function calculate() {
  const asked = given.map((name) => [name, $(`calc-${name}`).value.trim()]);
  const asText = JSON.stringify(asked);
  try {
    const question = Object.fromEntries(asked.map(([name, text]) => [name, name === "bits_per_key" ? whole("calc-bits_per_key") : text]));
    const answer = await ask("api/size", question);
    if (asText !== JSON.stringify(given.map((name) => [name, $(`calc-${name}`).value.trim()]))) return; // more was written
    sizes = answer.sizes;
    $("calc-note").textContent = "";
  } catch (e) {
    sizes = [];
    $("calc-note").textContent = sentence(e.message);
  }
  renderSizes();
}

const bytesWords = (n) => {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) [n, unit] = [n / 1024, unit + 1];
  return `${Number(n.toPrecision(n >= 100 ? 4 : 3))} ${units[unit]}`;
};

function sizeWords(size) {
  if (size.error) return { error: size.error };
  return {
    keys: size.keys === null ? "any number" : number.format(size.keys),
    bits_per_key: String(size.bits_per_key),
    probes: String(size.probes),
    rate: percent(size.rate),
    memory: size.memory === null ? "grows with the keys" : bytesWords(size.memory),
  };
}

function renderSizes() {
  $("calc-sizes").replaceChildren(...sizes.map((size) => {
    const words = sizeWords(size);
    const head = element("th", { scope: "row" }, size.format);
    if (words.error) return element("tr", {}, head, element("td", { colspan: "5", class: "reason" }, `none: ${words.error}`));
    return element("tr", {}, head, ...["keys", "bits_per_key", "probes", "rate", "memory"].map((name) => element("td", {}, words[name])));
  }));
  renderFollowing();
}

// renderFollowing writes the numbers that follow, in the chosen format, into their fields.
function renderFollowing() {
  const size = sizes.find((s) => s.format === $("format").value);
  const words = size ? sizeWords(size) : {};
  for (const name of numbers) {
    const field = $(`calc-${name}`);
    field.classList.toggle("follows", !given.includes(name));
    if (!given.includes(name)) field.value = (words[name] ?? "").replaceAll("\u00a0", " ");
  }
  if (sizes.length > 0) $("calc-note").textContent = `The dashed fields are those of the format ${$("format").value}` + (size?.error ? ", which has no such filter." : ".");
}

// Files

async function openFile(file) {
  if (file.size > about.limits.file) throw new Error(`the file ${quoted(file.name)} is larger than ${count(about.limits.array, "byte")} of bits, the most that this page shows; bloom inspect takes any size`);
  const encoded = await toBase64(file);
  await rebuild({ keys: [], file: { name: file.name, encoded } }, () => `${file.name}: ${shape()}.`);
}

// Starting

function listen() {
  $("shape").addEventListener("change", () => inTurn(() => rebuild(wanted, () => `The filter has ${shape()}.`)));
  $("shape").addEventListener("submit", (event) => event.preventDefault());
  $("close-file").addEventListener("click", () => inTurn(async () => {
    $("file").value = "";
    await rebuild({ keys: [], file: null }, () => `A new filter: ${shape()}.`);
  }));

  const add = (keys) => inTurn(async () => {
    if (keys.length === 0) throw new Error("There is no key to add: write one, or several, one a line");
    const before = wanted.keys.length;
    await rebuild({ keys: [...wanted.keys, ...keys], file: wanted.file }, () =>
      `${count(wanted.keys.length - before, "key")} added. The filter is ${percent(filter.set_bits / filter.bits)} filled.`);
    show(find(keys.at(-1)));
    render();
    $("add-keys").value = "";
  });
  $("add").addEventListener("submit", (event) => {
    event.preventDefault();
    add(lines("add-keys"));
  });
  $("examples").addEventListener("click", () => {
    const taken = new Set(wanted.keys);
    const keys = [];
    for (let i = 1; keys.length < 10; i++) if (!taken.has(`key ${i}`)) keys.push(`key ${i}`);
    add(keys);
  });
  $("clear").addEventListener("click", () => inTurn(async () => {
    shown = null;
    await rebuild({ keys: [], file: wanted.file }, () => `The keys added here are gone. The filter is ${percent(filter.set_bits / filter.bits)} filled.`);
  }));

  $("test").addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    inTurn(async () => {
      if (lines("test-keys").length === 0) throw new Error("There is no key to test: write one, or several, one a line");
      await testTyped(0);
    });
  });
  // While somebody types, the key of the line with the caret is shown.
  let typing;
  $("test-keys").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => inTurn(async () => {
      if ($("test-keys").value === tested) return;
      const before = $("test-keys").value.slice(0, $("test-keys").selectionStart).split(/\r?\n/);
      await testTyped(before.slice(0, -1).filter((line) => line !== "").length);
    }), 250);
  });
  addEventListener("hashchange", () => location.hash.slice(1) !== state && inTurn(loadState));

  for (const name of numbers) $(`calc-${name}`).addEventListener("input", () => give(name));
  $("calculator").addEventListener("submit", (event) => event.preventDefault());
  $("format").addEventListener("change", renderFollowing);
  for (const form of ["add", "test"]) {
    $(form).addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $(form).requestSubmit();
    });
  }

  $("grid").addEventListener("keydown", gridKey);
  $("grid").addEventListener("click", (event) => {
    const target = event.target.closest("[data-bit]");
    if (target) choose(Number(target.dataset.bit));
  });
  $("go").addEventListener("submit", (event) => {
    event.preventDefault();
    inTurn(async () => {
      const bit = whole("go-bit");
      if (bit < 0 || bit >= filter.bits) throw new Error(`There is no bit ${bit}: the last is ${filter.bits - 1}`);
      choose(bit);
    });
  });
  const turn = (by) => () => {
    moveTo(firstBit() + by);
    say($("page-note").textContent);
  };
  $("previous").addEventListener("click", turn(-pageBits));
  $("next").addEventListener("click", turn(pageBits));
  $("strip").addEventListener("click", (event) => moveTo(Math.floor((event.offsetX / $("strip").clientWidth) * filter.bits)));

  $("file").addEventListener("change", () => {
    if ($("file").files.length > 0) inTurn(() => openFile($("file").files[0]));
  });
  const carriesFile = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    $("drop-veil").hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) $("drop-veil").hidden = true;
  });
  document.addEventListener("drop", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    $("drop-veil").hidden = true;
    const file = event.dataTransfer.files[0]; // is gone after the event
    inTurn(() => openFile(file));
  });

  narrow.addEventListener("change", () => filter && render());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => filter && render());
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (filter && entry.contentRect.width !== width) {
      width = entry.contentRect.width;
      renderBits();
      renderCurve();
    }
  }).observe($("curve"));
}

inTurn(async () => {
  about = await ask("api/formats");
  for (const f of about.formats) $("format").append(element("option", { value: f.id }, f.id));
  $("probes").append(element("option", { value: "0" }, "the format's own"));
  for (let k = 1; k <= about.limits.probes; k++) $("probes").append(element("option", { value: String(k) }, String(k)));
  $("capacity").max = about.limits.keys;
  $("bits-per-key").max = about.limits.bits_per_key;
  listen();
  calculate();
  await loadState();
  const given = await ask("api/given");
  if (given === null) return;
  $("format").value = given.format;
  await rebuild({ keys: [], file: given }, () => `${given.name}: ${shape()}.`);
});
