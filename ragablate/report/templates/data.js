"use strict";

/* The data of single questions: base64 of deflated JSON, unpacked when needed. */
const Data = (() => {
  const parts = document.querySelectorAll("script.part");
  const unpacked = new Map();
  let index = null;

  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  async function open() {
    if (typeof DecompressionStream !== "function") {
      throw new Error("this browser cannot unpack the questions; one of 2023 or later can");
    }
    index = await unpack(document.getElementById("index"));
    return index;
  }

  function part(number) {
    if (!unpacked.has(number)) unpacked.set(number, unpack(parts[number]));
    return unpacked.get(number);
  }

  /* The part that holds a shared text: the last one that begins at or before it. */
  function holder(number) {
    let low = 0;
    let high = index.firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (index.firsts[middle] <= number) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function* shared(row) {
    for (const context of row.contexts) for (const passage of context) yield* passage[1];
    for (const prompt of row.prompts) for (const segment of prompt) yield* segment[2];
    for (const alternatives of row.parts) {
      for (const alternative of alternatives) {
        for (const passage of alternative.passages) yield* passage.text;
      }
    }
  }

  /* One question, and a function that puts a text in stretches together. */
  async function question(place) {
    const number = Math.floor(place / index.per_part);
    const row = (await part(number)).questions[place - number * index.per_part];
    const needed = new Set();
    for (const piece of shared(row)) if (typeof piece === "number") needed.add(holder(piece));
    const texts = new Map();
    await Promise.all([...needed].map(async (n) => texts.set(n, (await part(n)).texts)));
    const join = (pieces) => pieces.map((piece) => {
      if (typeof piece !== "number") return piece;
      const n = holder(piece);
      return texts.get(n)[piece - index.firsts[n]];
    }).join("");
    return { row, join };
  }

  return { open, question };
})();
