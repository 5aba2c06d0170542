// The elements of the page.

import { number, sentence } from "./words.js";

export const $ = (id) => document.getElementById(id);
export const narrow = matchMedia("(max-width: 40rem)");
const mostRows = 256; // of a list or table: the browser takes a second to lay out thousands

export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") e.className = value;
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

export function svg(name, attributes = {}, text = "") {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.textContent = text;
  return e;
}

// row is a row of a table: its name and its cells.
export const row = (name, ...cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));

// fillList draws the first items of a list or table, and says how many more there are.
export function fillList(id, items, draw) {
  $(id).replaceChildren(...items.slice(0, mostRows).map(draw));
  const more = items.length - mostRows;
  $(`${id}-more`).textContent = more > 0 ? `The first ${mostRows} are shown; there are ${number(more)} more.` : "";
}

export const lines = (id) => $(id).value.split(/\r?\n/).filter((line) => line !== "");

// whole returns the value of a number field, or throws an error that says what is wrong.
export function whole(id) {
  const field = $(id);
  const name = document.querySelector(`label[for=${id}]`).textContent;
  const value = field.value.trim() === "" ? NaN : Number(field.value);
  field.setAttribute("aria-invalid", String(!Number.isInteger(value)));
  if (!Number.isInteger(value)) throw new Error(`${name}: enter a whole number`);
  return value;
}

// say lets a screen reader say something.
export function say(text) {
  $("status").textContent = text;
}

export function fail(e) {
  $("error").textContent = sentence(e.message);
  $("error").hidden = false;
}

// inTurn runs pieces of work one after the other, so that answers come in the order of the questions.
let last = Promise.resolve();
export function inTurn(work) {
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

// colour returns a colour of the style sheet, as red, green and blue.
export function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}
