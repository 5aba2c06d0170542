// The library, as WebAssembly, in a worker of its own: the page goes on while it answers.
"use strict";

importScripts("wasm_exec.js");

const go = new Go();
const ready = start();

async function start() {
  const response = await fetch("bloom.wasm");
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  const byStream = response.headers.get("Content-Type") === "application/wasm";
  const { instance } = await (byStream
    ? WebAssembly.instantiateStreaming(response, go.importObject)
    : WebAssembly.instantiate(await response.arrayBuffer(), go.importObject));
  go.run(instance); // until the page is gone
}

onmessage = async ({ data: { id, name, question, file } }) => {
  try {
    await ready;
    if (go.exited) throw new Error("it has ended");
    const [answer, data] = bloomAnswer(name, JSON.stringify(question), file);
    postMessage({ id, answer: JSON.parse(answer), data }, data ? [data.buffer] : []);
  } catch (e) {
    const memory = file.length > 0 ? ", for a filter of this size perhaps by want of memory" : "";
    postMessage({ id, answer: { error: `the library does not run in this browser${memory}: ${e.message}`, gone: false, broken: true }, data: null });
  }
};
