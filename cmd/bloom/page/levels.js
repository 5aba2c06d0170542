// The bits of a filter at every size: squares of 2 × 2 bits, of 4 × 4 and so on, down to few pixels.
// A shade, 0 to 255, says how many of the bits of a square are set.
//
// Of large squares of random bits about the same share is set. So there the shades are those of the
// difference from the mean, in units of what chance makes of it: chance looks the same at every size, and
// whatever is more than chance stands out.

const ones = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
const computed = 3; // the first level that is kept; those before are read from the bits
const chance = 0.12; // the difference of shades for a standard deviation, of 1

export class Levels {
  constructor({ array, bits, columns, set_bits: set }) {
    Object.assign(this, { array, bits, columns, rows: Math.ceil(bits / columns), mean: set / bits, kept: [] });
    if (columns >= 64) this.build();
  }

  get last() {
    return computed + this.kept.length - 1;
  }

  // build adds up squares of 8 × 8 bits, and four of each level for one of the next.
  build() {
    const wide = this.columns / 8;
    let high = Math.ceil(this.rows / 8);
    let sums = new Uint8Array(wide * high); // 64 at most
    for (let at = 0, row = 0; at < this.array.length; at += wide, row++) {
      const from = (row >> 3) * wide;
      const end = Math.min(wide, this.array.length - at);
      for (let x = 0; x < end; x++) sums[from + x] += ones[this.array[at + x]];
    }
    for (let level = computed, columns = wide; ; level++) {
      this.kept.push({ columns, rows: high, shades: this.shadesOf(sums, level, columns) });
      if (columns <= 32 || high <= 1) return;
      [sums, columns, high] = halve(sums, columns, high);
    }
  }

  shadesOf(sums, level, columns) {
    const side = 2 ** level;
    const { mean } = this;
    const gain = Math.max(1, chance / (Math.sqrt(Math.max(mean * (1 - mean), 1e-9)) / side));
    const shades = new Uint8ClampedArray(sums.length);
    for (let i = 0; i < sums.length; i++) {
      const rows = Math.min(side, this.rows - Math.floor(i / columns) * side); // the last are fewer
      shades[i] = 255 * (mean + gain * (sums[i] / (side * rows) - mean));
    }
    return shades;
  }

  // row writes the shades of squares of a level: for each pixel the one of the column, or 256 where there is
  // none. Columns are numbers of squares, -1 for none.
  row(level, y, columns, shades) {
    if (level >= computed) this.keptRow(this.kept[level - computed], y, columns, shades);
    else this.computedRow(level, y, columns, shades);
    if ((y + 1) << level >= this.rows) this.cut(level, y, columns, shades);
  }

  keptRow(kept, y, columns, shades) {
    const from = y * kept.columns;
    for (let i = 0; i < columns.length; i++) shades[i] = columns[i] < 0 ? 256 : kept.shades[from + columns[i]];
  }

  computedRow(level, y, columns, shades) {
    const side = 1 << level, mask = (1 << side) - 1;
    const rows = Math.min(side, this.rows - y * side);
    const wide = this.columns / 8;
    const scale = 255 / (side * rows);
    for (let i = 0; i < columns.length; i++) {
      const x = columns[i] * side;
      if (x < 0) {
        shades[i] = 256;
        continue;
      }
      let sum = 0;
      for (let r = 0, at = y * side * wide + (x >> 3); r < rows; r++, at += wide) sum += ones[(this.array[at] >> (x & 7)) & mask];
      shades[i] = sum * scale;
    }
  }

  // cut leaves out what is beyond the last bit.
  cut(level, y, columns, shades) {
    const last = this.bits - (y << level) * this.columns; // bits from the first row on
    for (let i = 0; i < columns.length; i++) if (columns[i] << level >= last) shades[i] = 256;
  }
}

function halve(sums, columns, rows) {
  const wide = columns / 2, high = Math.ceil(rows / 2);
  const next = new Float32Array(wide * high);
  for (let y = 0; y < rows; y++) {
    for (let x = 0, from = y * columns, to = (y >> 1) * wide; x < wide; x++) next[to + x] += sums[from + 2 * x] + sums[from + 2 * x + 1];
  }
  return [next, wide, high];
}
