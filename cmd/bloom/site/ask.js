// How the page gets answers from the library itself, in a worker. bloom explore has another file of this
// name, which asks a server.

let worker;
let waiting; // questions by their numbers
let last = 0;

function start() {
  worker = new Worker("worker.js");
  waiting = new Map();
  const mine = waiting;
  worker.onmessage = ({ data: { id, answer, data } }) => {
    mine.get(id)(answer, data);
    mine.delete(id);
  };
}

// ask asks a question, with the bytes of a file if it is about one, and returns the answer and its bytes.
export function ask(name, question = {}, file = new Uint8Array()) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, (answer, data) => {
      if (data !== null) return resolve([answer, data]);
      if (answer.broken) { // the next question begins anew
        worker.terminate();
        worker = null;
      }
      reject(Object.assign(new Error(answer.error), { gone: answer.gone }));
    });
    worker.postMessage({ id, name, question, file });
  });
}
