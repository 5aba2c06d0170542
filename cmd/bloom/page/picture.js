// The picture of a whole filter: from all of it to single bits, with the probes of a key, and with those
// of absent keys that pass.

import { colour } from "./dom.js";
import { Levels } from "./levels.js";
import { count } from "./words.js";

const closest = 40; // pixels of a bit
const mostMarks = 256; // a header may ask for thousands of probes
const fullHeat = 0.1; // share of absent keys that pass where the heat is full, in every picture

export class Picture {
  // pick is called with a bit that somebody clicks. Without it, the picture does not move.
  constructor(canvas, pick) {
    Object.assign(this, { canvas, filter: null, levels: null, marks: [], frame: null, heat: null, asked: 0 });
    new ResizeObserver(() => this.levels && this.whole()).observe(canvas);
    this.moves = pick !== undefined;
    if (this.moves) listen(this, pick);
  }

  // show draws a filter, the whole of it if it is another one than before. Its levels are built when it is
  // first seen.
  show(filter, { marks = [], frame = null, heat = null } = {}) {
    Object.assign(this, { marks: marks.slice(0, mostMarks), frame, heat });
    if (filter.array !== this.filter?.array) {
      this.filter = filter;
      this.levels = new Levels(filter);
      this.whole();
    }
    this.canvas.setAttribute("aria-label", `Picture of ${count(filter.bits, "bit")} in ${count(this.levels.rows, "row")} of ${filter.columns}, ${(100 * this.levels.mean).toFixed(1)} % set` +
      (marks.length > 0 ? `, with ${count(marks.length, "probe")} of a key` : ""));
    this.draw();
  }

  get pixels() {
    return devicePixelRatio || 1;
  }

  // whole zooms out until all bits are in view.
  whole() {
    const { canvas, levels, pixels } = this;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * pixels));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * pixels));
    this.least = Math.min(canvas.width / levels.columns, canvas.height / levels.rows);
    this.scale = Math.min(this.least, closest * pixels);
    this.x = this.y = 0;
    this.move(0, 0);
  }

  // move moves the picture by pixels. It stays in view, in the middle where there is more room than bits.
  move(dx, dy) {
    const { canvas, levels, scale } = this;
    const within = (at, room, length) => room >= length ? (length - room) / 2 : Math.max(0, Math.min(at, length - room));
    this.x = within(this.x - dx / scale, canvas.width / scale, levels.columns);
    this.y = within(this.y - dy / scale, canvas.height / scale, levels.rows);
    if (this.moves) canvas.style.touchAction = scale > this.least ? "none" : "pan-y"; // a finger moves it, or the page
    this.draw();
  }

  // zoom enlarges the picture around a pixel.
  zoom(factor, px = this.canvas.width / 2, py = this.canvas.height / 2) {
    const before = this.scale;
    this.scale = Math.max(Math.min(this.least, closest * this.pixels), Math.min(this.scale * factor, closest * this.pixels));
    this.x += px / before - px / this.scale;
    this.y += py / before - py / this.scale;
    this.move(0, 0);
  }

  // goTo moves a bit into the middle.
  goTo(bit) {
    this.x = (bit % this.levels.columns) - this.canvas.width / this.scale / 2;
    this.y = Math.floor(bit / this.levels.columns) - this.canvas.height / this.scale / 2;
    this.move(0, 0);
  }

  bitAt(px, py) {
    const { columns, bits } = this.levels;
    const x = Math.floor(this.x + px / this.scale), y = Math.floor(this.y + py / this.scale);
    const bit = y * columns + x;
    return x >= 0 && x < columns && bit >= 0 && bit < bits ? bit : null;
  }

  // draw draws in the next frame.
  draw() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      if (this.levels && this.canvas.clientWidth > 0) this.drawNow();
    });
  }

  drawNow() {
    const start = performance.now();
    const { canvas } = this;
    const context = canvas.getContext("2d", { alpha: false });
    if (this.image?.width !== canvas.width || this.image?.height !== canvas.height) this.image = context.createImageData(canvas.width, canvas.height);
    this.drawBits();
    context.putImageData(this.image, 0, 0);
    if (this.heat) this.drawHeat(context);
    if (this.frame) this.drawFrame(context);
    this.drawMarks(context);
    this.took = performance.now() - start;
  }

  drawBits() {
    const { canvas: { width, height }, image, levels, scale } = this;
    const level = Math.max(0, Math.min(Math.floor(-Math.log2(scale) + 1e-9), Math.max(0, levels.last)));
    const square = scale * 2 ** level; // pixels
    const pixels = new Uint32Array(image.data.buffer);
    const palette = this.palette();
    const gap = square >= 8 ? 1 : 0; // between bits
    const columns = squares(width, this.x * scale, square, Math.ceil(levels.columns / 2 ** level), gap);
    const rows = squares(height, this.y * scale, square, Math.ceil(levels.rows / 2 ** level), gap);
    const shades = new Uint16Array(width);
    for (let y = 0, before = null; y < height; y++) {
      const line = pixels.subarray(y * width, (y + 1) * width);
      if (rows[y] === before) pixels.copyWithin(y * width, (y - 1) * width, y * width);
      else if (rows[y] < 0) line.fill(palette[256]);
      else {
        levels.row(level, rows[y], columns, shades);
        for (let x = 0; x < width; x++) line[x] = palette[shades[x]];
      }
      before = rows[y];
    }
  }

  // palette has the colours of all shades, and last that of no bit.
  palette() {
    const [clear, set, none] = ["--clear", "--set", "--card"].map(colour);
    const name = String([clear, set, none]);
    if (this.colours?.name === name) return this.colours.palette;
    const palette = new Uint32Array(257);
    const put = (i, [r, g, b]) => { palette[i] = (255 << 24) | (b << 16) | (g << 8) | r; };
    for (let i = 0; i < 256; i++) put(i, clear.map((c, j) => Math.round(c + ((set[j] - c) * i) / 255)));
    put(256, none);
    this.colours = { name, palette };
    return palette;
  }

  place(bit) {
    const { columns } = this.levels;
    return [((bit % columns) - this.x) * this.scale, (Math.floor(bit / columns) - this.y) * this.scale];
  }

  // drawFrame frames the bits of the grid.
  drawFrame(context) {
    const [left, top] = this.place(this.frame.from);
    const rows = Math.max(1, (this.frame.to - this.frame.from) / this.levels.columns);
    const width = Math.min(this.frame.to - this.frame.from, this.levels.columns) * this.scale, height = rows * this.scale;
    context.strokeStyle = css(colour("--focus"));
    context.lineWidth = 2 * this.pixels;
    const grow = 2 * this.pixels;
    context.strokeRect(left - grow, top - grow, width + 2 * grow, height + 2 * grow);
  }

  // drawHeat covers the parts where probes of absent keys that pass are, by the share of the keys.
  drawHeat(context) {
    const { cells, shares } = this.heat;
    const [left, top] = this.place(0);
    const wide = (this.levels.columns * this.scale) / cells, high = (this.levels.rows * this.scale) / cells;
    const red = colour("--missing");
    shares.forEach((share, i) => {
      if (share === 0) return;
      context.fillStyle = `rgb(${red} / ${0.85 * Math.min(1, share / fullHeat)})`.replaceAll(",", " ");
      context.fillRect(left + (i % cells) * wide, top + Math.floor(i / cells) * high, Math.max(wide, 1), Math.max(high, 1));
    });
  }

  // drawMarks draws a ring around each probe, or an edge around its bit where that is large enough.
  drawMarks(context) {
    const { canvas, filter, pixels, scale } = this;
    context.font = `600 ${11 * pixels}px sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.marks.forEach((bit, i) => {
      const [left, top] = this.place(bit);
      const [x, y] = [left + scale / 2, top + scale / 2];
      const radius = Math.max(8 * pixels, scale * 0.7);
      if (x < -radius || y < -radius || x > canvas.width + radius || y > canvas.height + radius) return;
      const set = (filter.array[Math.floor(bit / 8)] >> (bit % 8)) & 1;
      context.setLineDash(set ? [] : [4 * pixels, 2 * pixels]);
      for (const [name, width] of [["--card", 5], [set ? "--may" : "--missing", 2.5]]) {
        context.strokeStyle = css(colour(name));
        context.lineWidth = width * pixels;
        context.beginPath();
        if (scale < 12 * pixels) context.arc(x, y, radius, 0, 2 * Math.PI);
        else context.rect(left, top, scale, scale);
        context.stroke();
      }
      context.setLineDash([]);
      if (scale < 12 * pixels) return;
      context.fillStyle = css(colour(set ? "--on-set" : "--missing"));
      context.fillText(String(i + 1), x, y);
    });
  }
}

const css = (rgb) => `rgb(${rgb.join(" ")})`;

// squares returns the number of the square at each pixel of a row or a column, -1 for none.
function squares(length, from, square, most, gap) {
  const numbers = new Int32Array(length);
  for (let i = 0; i < length; i++) {
    const at = (from + i + 0.5) / square;
    const n = Math.floor(at);
    numbers[i] = n >= 0 && n < most && (gap === 0 || (at - n) * square < square - gap) ? n : -1;
  }
  return numbers;
}

// listen moves a picture with a pointer or two, with the wheel and with keys.
function listen(picture, pick) {
  const { canvas } = picture;
  const fingers = new Map();
  const at = (event) => [event.offsetX * picture.pixels, event.offsetY * picture.pixels];
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, at(event));
    canvas.setPointerCapture(event.pointerId);
    moved = fingers.size > 1 ? Infinity : 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    fingers.set(event.pointerId, now);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (fingers.size === 1) return picture.move(now[0] - before[0], now[1] - before[1]);
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
    picture.zoom(distance(now) / Math.max(distance(before), 1), other[0], other[1]);
  });
  const lift = (event) => {
    const was = fingers.delete(event.pointerId);
    if (!was || event.type !== "pointerup" || moved > 4 * picture.pixels) return;
    const bit = picture.bitAt(...at(event));
    if (bit !== null) pick(bit);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // somebody scrolls the page
    event.preventDefault();
    picture.zoom(2 ** (-event.deltaY / (event.ctrlKey ? 60 : 240)), ...at(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 64 * picture.pixels;
    const keys = {
      ArrowLeft: () => picture.move(step, 0),
      ArrowRight: () => picture.move(-step, 0),
      ArrowUp: () => picture.move(0, step),
      ArrowDown: () => picture.move(0, -step),
      "+": () => picture.zoom(2),
      "=": () => picture.zoom(2),
      "-": () => picture.zoom(0.5),
      0: () => picture.whole(),
      Enter: () => pick(picture.bitAt(canvas.width / 2, canvas.height / 2)),
    };
    if (!(event.key in keys) || event.altKey || event.metaKey || event.ctrlKey) return;
    keys[event.key]();
    event.preventDefault();
  });
}
