// The page of bloom explore, and of the site. It draws what the library answers: every hash and every
// position is the library's.

import { ask } from "./ask.js";
import { firstBit, listenToBits, renderBit, renderBits } from "./bits.js";
import { listenToDownload, renderBytes } from "./bytes.js";
import { askOther, askPassing, heatOf, renderCompare } from "./compare.js";
import { askPoints, renderCurve } from "./curve.js";
import { $, element, inTurn, lines, narrow, say } from "./dom.js";
import { choosesProbes, find, pageBits, rebuild, show, testTyped } from "./filter.js";
import { listenToKeys, renderKeys } from "./key.js";
import { Picture } from "./picture.js";
import { calculate, listenToSizes } from "./sizes.js";
import { isNew, loadState, state } from "./state.js";
import { count, number, percent, quoted } from "./words.js";

let picture;

function render() {
  renderForm();
  renderNumbers();
  renderCurve();
  renderKey();
}

// renderKey draws what depends on the key that is shown.
function renderKey() {
  renderKeys();
  renderPicture();
  renderBits();
  renderBit();
  renderCompare();
  renderBytes();
}

// change asks for the filter with these keys, and says what has changed. The browser goes back from a step.
async function change(next, spoken, step) {
  await rebuild(next, step);
  await askOther();
  render();
  if (spoken) say(spoken());
  askPoints();
}

const shape = () => `${count(state.filter.bits, "bit")}, ${count(state.filter.probes, "probe")} a key, ${percent(state.filter.set_bits / state.filter.bits)} filled`;

function renderForm() {
  const { filter, wanted } = state;
  $("sizes").hidden = wanted.file !== null;
  $("file-note").hidden = wanted.file === null;
  $("format").disabled = filter.is_file; // which says its format
  $("probes").disabled = !choosesProbes();
  if (!choosesProbes()) $("probes").value = "0";
  if (wanted.file) {
    $("file-name").textContent = wanted.file.name;
    $("file-says").textContent = filter.is_file ? `, which says that its format is ${filter.format}` : `, as bare bytes of ${filter.format}`;
  }
  const own = !wanted.file && $("probes").value === "0";
  $("probes").options[0].textContent = own ? `${filter.probes}, the format's own` : "the format's own";
}

function renderNumbers() {
  const { filter, wanted } = state;
  const added = wanted.keys.length + Number($("numbered").value);
  if (wanted.file && filter.key_count !== null) {
    $("n-keys").textContent = number(filter.key_count);
    $("n-keys-note").textContent = added ? `${number(added)} of them added here` : "as the file says";
  } else if (wanted.file) {
    $("n-keys").textContent = filter.estimated_keys === null ? "all" : `≈ ${number(Math.round(filter.estimated_keys))}`;
    $("n-keys-note").textContent = added ? `estimated, ${number(added)} of them added here` : "estimated from the fill";
  } else {
    const capacity = filter.curve.keys;
    $("n-keys").textContent = number(added);
    $("n-keys-note").textContent = (added > capacity ? "more than the " : "of ") + `${number(capacity)} expected`;
  }
  $("n-fill").textContent = percent(filter.set_bits / filter.bits);
  $("n-fill-note").textContent = `${number(filter.set_bits)} of ${count(filter.bits, "bit")}`;
  $("n-expected").textContent = percent(filter.expected);
  $("n-expected-note").textContent = "with this many keys";
  $("n-observed").textContent = percent(filter.observed);
  $("n-observed-note").textContent = "of random hashes";
}

function renderPicture() {
  const { filter, passing, shown } = state;
  $("picture-box").hidden = filter.bits <= pageBits();
  if (filter.bits <= pageBits()) return;
  const frame = { from: firstBit(), to: Math.min(firstBit() + pageBits(), filter.bits) };
  picture.show(filter, { frame, marks: shown?.positions, heat: heatOf(passing?.filter) });
}

let opened = new DataTransfer(); // the file that the field names: a refused one leaves all as it is

async function openFile(file) {
  const { array } = state.about.limits;
  try {
    if (file.size > array + 4096) throw new Error(`the filter in ${quoted(file.name)} has more than ${count(array, "byte")} of bits, the most that this page shows; bloom inspect accepts any size`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    await open({ name: file.name, bytes });
    opened = new DataTransfer();
    opened.items.add(file);
  } finally {
    $("file").files = opened.files;
  }
}

async function open(file) {
  const before = $("numbered").value;
  $("numbered").value = "0";
  try {
    await change({ keys: [], file }, () => `${file.name}: ${shape()}.`);
  } catch (e) {
    $("numbered").value = before;
    throw e;
  }
}

// closeFile lets the field name no file.
function closeFile() {
  opened = new DataTransfer();
  $("file").value = "";
}

// Starting

function listen() {
  const choose = listenToBits(() => {
    renderPicture();
    renderBits();
    renderBit();
    renderBytes();
  });
  const goTo = (bit) => {
    choose(bit);
    if (!$("picture-box").hidden) picture.goTo(bit);
  };
  listenToKeys(() => {
    renderKey();
    inTurn(async () => {
      await askOther();
      renderCompare();
    });
  }, goTo);
  picture = new Picture($("picture"), (bit) => bit !== null && choose(bit));
  globalThis.picture = picture; // for the tests
  for (const [id, act] of Object.entries({ "zoom-in": () => picture.zoom(2), "zoom-out": () => picture.zoom(0.5), "zoom-whole": () => picture.whole() })) $(id).addEventListener("click", act);
  $("go").addEventListener("submit", (event) => {
    event.preventDefault();
    inTurn(async () => {
      const bit = Number($("go-bit").value);
      if (!Number.isInteger(bit) || bit < 0 || bit >= state.filter.bits) throw new Error(`There is no bit ${$("go-bit").value}: the last is ${state.filter.bits - 1}`);
      goTo(bit);
    });
  });
  listenToSkip();
  listenToForms();
  listenToFiles();
  listenToDownload();
  listenToSizes();
  addEventListener("hashchange", () => isNew() && inTurn(load));
  narrow.addEventListener("change", () => state.filter && render());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.filter && render());
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (!state.filter || entry.contentRect.width === width) return;
    width = entry.contentRect.width;
    renderCurve();
  }).observe($("curve"));
}

// listenToSkip leads to the field: with Enter when the key is up, for else it would be typed there.
function listenToSkip() {
  const skip = document.querySelector(".skip");
  let down = false;
  skip.addEventListener("keydown", (event) => (down = event.key === "Enter"));
  skip.addEventListener("click", (event) => {
    event.preventDefault(); // the address is not for it
    if (!down) $("test-keys").focus();
  });
  skip.addEventListener("keyup", () => {
    if (down) $("test-keys").focus();
    down = false;
  });
}

function listenToForms() {
  const changed = () => inTurn(() => change(state.wanted, () => `The filter has ${shape()}.`));
  $("shape").addEventListener("change", changed);
  $("shape").addEventListener("submit", (event) => event.preventDefault());
  $("with").addEventListener("change", changed);
  $("clear").addEventListener("click", () => inTurn(async () => {
    state.shown = null;
    $("numbered").value = "0";
    await change({ ...state.wanted, keys: [] }, () => `The keys added here are gone. The filter is ${percent(state.filter.set_bits / state.filter.bits)} filled.`, true);
  }));
  $("numbers").addEventListener("click", () => inTurn(async () => {
    const { keys } = state.wanted;
    $("numbered").value = "100000";
    $("capacity").value = String(100000 + keys.length);
    if ($("with").value === "") $("with").value = $("format").value === "leveldb" ? state.about.default : "leveldb";
    closeFile();
    await change({ keys, file: null }, null, true);
    await pass();
  }));
  $("pass").addEventListener("click", () => inTurn(pass));
  listenToTyping();
}

async function pass() {
  await askPassing();
  render();
  say($("passing-note").textContent);
}

function listenToTyping() {
  const field = $("test-keys");
  const add = () => inTurn(async () => {
    const keys = lines("test-keys");
    if (keys.length === 0) throw new Error("There is no key to add: type one key, or several keys on separate lines");
    const before = state.wanted.keys.length;
    state.results = [];
    await change({ ...state.wanted, keys: [...state.wanted.keys, ...keys] }, () =>
      `${count(state.wanted.keys.length - before, "key")} added. The filter is ${percent(state.filter.set_bits / state.filter.bits)} filled.`);
    show(find(keys.at(-1)));
    field.value = "";
    await testTyped(0);
    await askOther();
    render();
  });
  $("test").addEventListener("submit", (event) => {
    event.preventDefault();
    add();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    add();
  });
  // While somebody types, the key of the line with the caret is shown.
  let waiting = false;
  field.addEventListener("input", () => {
    if (waiting) return;
    waiting = true;
    inTurn(async () => {
      waiting = false;
      if (field.value === state.tested) return;
      const before = field.value.slice(0, field.selectionStart).split(/\r?\n/);
      await testTyped(before.slice(0, -1).filter((line) => line !== "").length);
      await askOther();
      renderKey();
      if (state.shown) say(state.results.length === 1 ? $("answer").textContent : $("results-summary").textContent);
    });
  });
}

function listenToFiles() {
  $("close-file").addEventListener("click", () => inTurn(async () => {
    closeFile();
    await change({ keys: [], file: null }, () => `A new filter: ${shape()}.`);
  }));
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
}

const load = () => loadState(async (keys) => {
  closeFile();
  Object.assign(state, { results: [], shown: null, cursor: 0 });
  await rebuild({ keys, file: null });
  if (lines("test-keys").length > 0) await testTyped(0);
  await askOther();
  render();
  askPoints();
});

const options = (id, list) => $(id).append(...list.map(([value, text]) => element("option", { value }, text)));

inTurn(async () => {
  [state.about] = await ask("about");
  const { formats, limits, patterns } = state.about;
  for (const id of ["format", "with"]) options(id, formats.map((f) => [f.id, f.id]));
  options("probes", [["0", "the format's own"], ...Array.from({ length: limits.probes }, (_, k) => [String(k + 1), String(k + 1)])]);
  options("pattern", patterns.map((p) => [p, p]));
  for (const [id, limit] of Object.entries({ capacity: "capacity", "bits-per-key": "bits_per_key", numbered: "numbered" })) $(id).max = limits[limit];
  listen();
  const [given, bytes] = await ask("given");
  await load();
  if (given !== null) {
    $("format").value = given.format;
    await open({ name: given.name, bytes });
  }
  calculate();
});
