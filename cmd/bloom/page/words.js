// Words for numbers, keys and answers.

const whole = new Intl.NumberFormat("en");
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const number = (n) => whole.format(n);
export const count = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
export const quoted = (key) => `“${key}”`;
export const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");

export function percent(share) {
  const p = 100 * share;
  let text = p >= 10 ? p.toFixed(1) : String(Number(p.toPrecision(2)));
  if (!(p > 0) || p >= 99.95) text = String(Math.round(p || 0));
  else if (p < 0.0001) text = p.toExponential(1);
  return text + "\u00a0%";
}

export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) [bytes, unit] = [bytes / 1024, unit + 1];
  return `${Number(bytes.toPrecision(bytes >= 100 ? 4 : 3))} ${units[unit]}`;
}

// rate says in words how many absent keys are hits.
export function rate(share) {
  if (share >= 1) return "Every absent key is a hit";
  if (share > 0.5) return `${Math.floor(100 * share)} in 100 absent keys are hits`;
  if (share > 0) return `1 in ${three.format(Math.round(1 / share))} absent keys is a hit`;
  return "No absent key is a hit";
}

// verdict is the meaning of a key's bits.
export function verdict(walk, missing) {
  const may = walk.may_contain ?? missing === 0;
  if (walk.positions.length === 0) return may ? "may be in the filter: every key is a hit" : "is not in the filter: the filter has no keys";
  if (may) return `may be in the filter: all ${walk.positions.length} bits are set`;
  return `is certainly not in the filter: ${missing} of ${walk.positions.length} bits ${missing === 1 ? "is" : "are"} missing`;
}

// spread says how far a key's bits are from each other.
export function spread(positions) {
  const lines = new Set(positions.map((bit) => Math.floor(bit / 512))).size;
  return lines === 1 ? "one line of 64 bytes" : `${lines} lines of 64 bytes`;
}
