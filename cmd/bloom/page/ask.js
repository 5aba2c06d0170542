// How the page gets answers from bloom explore. The site has another file of this name, in which the
// library itself answers, as WebAssembly. Nothing else knows which of them it is.

// ask asks a question, with the bytes of a file if it is about one, and returns the answer and its bytes.
export async function ask(name, question = {}, file = new Uint8Array()) {
  let response;
  try {
    response = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-bloom-question" },
      body: new Blob([JSON.stringify(question) + "\n", file]),
    });
  } catch {
    throw new Error("The server does not answer: is bloom explore still running?");
  }
  if (!response.ok) {
    const { error, gone } = await response.json();
    throw Object.assign(new Error(error), { gone });
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  const end = bytes.indexOf(10); // of the line
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), bytes.subarray(end + 1)];
}
