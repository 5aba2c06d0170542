// The keys: those in the filter, those that were tested, and the way of one from its hash to its bits.

import { $, element, fillList, say } from "./dom.js";
import { formatOf, isSet, missing, show } from "./filter.js";
import { state } from "./state.js";
import { count, number, quoted, rate, spread, verdict } from "./words.js";

let changed; // draws the page anew
let go; // to a bit
export const listenToKeys = (render, choose) => ([changed, go] = [render, choose]);

export const answer = (walk) => `${quoted(walk.key)} ${verdict(walk, missing(walk).length)}.`;

export function keyButton(walk, ...children) {
  const button = element("button", { type: "button", "aria-pressed": String(state.shown !== null && state.shown.key === walk.key) });
  button.append(...(children.length > 0 ? children : [walk.key]));
  button.addEventListener("click", () => {
    show(walk);
    changed();
    say(answer(walk));
  });
  return button;
}

export function renderKeys() {
  const { filter, results, shown } = state;
  $("rate").textContent = filter.set_bits === 0 && filter.observed === 0
    ? "No key is in the filter yet, so there are no false positives."
    : `${rate(filter.observed || filter.expected)}.`;
  $("answer").textContent = shown ? answer(shown) : "";
  $("answer").className = `answer ${shown && missing(shown).length > 0 ? "absent" : ""}`;
  const may = results.filter((r) => r.may_contain).length;
  $("results-summary").textContent = results.length > 1 ? `${number(may)} of ${count(results.length, "key")} may be in the filter.` : "";
  fillList("results", results.length > 1 ? results : [], (r) => element("li", {}, keyButton(r,
    element("span", { class: "key" }, r.key),
    element("span", { class: r.may_contain ? "may" : "absent" }, r.may_contain ? "may be in" : "not in"))));
  $("added").hidden = filter.keys.length === 0;
  fillList("added-keys", filter.keys, (k) => element("li", {}, keyButton(k)));
  renderWalk();
}

function renderWalk() {
  const { filter, shown } = state;
  $("walk").hidden = shown === null;
  $("walk-answer").textContent = shown === null
    ? "Type or add a key to see its hash and the bits it maps to."
    : `${answer(shown)}${shown.positions.length > 0 ? ` They are in ${spread(shown.positions)}.` : ""}`;
  if (shown === null) return;
  const format = formatOf(filter.format);
  $("walk-numbers").replaceChildren(...format.numbers.map((n, i) => element("div", {},
    element("dt", {}, n.name),
    element("dd", {}, element("code", { id: `walk-${n.name}` }, shown.numbers[i]), " ", element("span", { class: "note" }, n.meaning)))));
  const rule = (i) => format.rule.replace(/\bi\b/g, i).replace("the number of bits", filter.reached);
  fillList("walk-probes", shown.positions, (bit, i) => {
    const button = element("button", { type: "button", "aria-label": `Go to bit ${bit}` }, number(bit));
    button.addEventListener("click", () => go(bit));
    return element("tr", {},
      element("th", { scope: "row" }, String(i + 1)),
      element("td", {}, button),
      element("td", { class: isSet(bit) ? "may" : "absent" }, isSet(bit) ? "set" : "missing"),
      element("td", {}, `${number(Math.floor(bit / 8))}, bit ${bit % 8}`),
      element("td", {}, element("code", {}, rule(i))));
  });
}
