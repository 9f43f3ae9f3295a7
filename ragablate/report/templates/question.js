/* One question: its gold, and all arms side by side. */
const Question = (() => {
  const REASONS = {
    deduped: "left out as a duplicate", budget_cut: "cut by the budget",
    depth_cut: "cut by the depth", cleaned: "cleaned out",
    displaced: "displaced by the intervention",
  };
  const KINDS = ["answerable", "unanswerable: the right answer is to abstain", "eval gap: in no number"];

  /* What became of a gold passage in one arm. */
  function fate(row, decode, place) {
    const pid = row.gold[place];
    const [candidate, rank] = decode.found[place];
    const shownAt = row.contexts[decode.context].findIndex((passage) => passage[0] === pid);
    const came = rank ? `rank ${rank}` : candidate ? `candidate ${candidate}` : "not retrieved";
    if (shownAt >= 0) {
      return [`✓ shown as [${shownAt + 1}]`, rank ? came : `${came}, supplied`, "right"];
    }
    const evicted = decode.evicted.find((each) => each[0] === pid);
    if (evicted) return [`✗ ${REASONS[evicted[1]] || evicted[1]}`, came, "wrong"];
    return ["✗ not shown", came, "wrong"];
  }

  /* What a right answer needs, part by part. */
  function goldList(row, join) {
    const parts = row.parts.map((alternatives) => alternatives.map((alternative) =>
      alternative.passages.map((passage) => make("details", { class: "gold" },
        make("summary", {}, make("code", {}, passage.pid), make("span", { class: "gold-tag" }, "gold"),
          make("small", {}, ` ${opening(join(passage.text))}${passage.indexed ? "" : " (in no corpus)"}`)),
        make("p", { class: "text", dir: "auto" }, marked(join(passage.text), passage.evidence))))));
    if (!parts.length) return null;
    const needed = parts.length > 1 ? `Gold: all ${parts.length} parts are needed` : "Gold";
    return [make("h4", {}, needed), make("ol", { class: "passages" }, parts.map((part) => make("li", {},
      part.map((passages, n) => [n ? make("p", { class: "muted" }, "or") : null, passages]).flat(2))))];
  }

  /* Arms in rows: right or wrong, and where each gold passage went. */
  function goldTable(index, place, row, arms) {
    if (!row.gold.length) return null;
    const measure = Object.keys(index.scores)[0];
    const head = make("tr", {}, make("th", { scope: "col" }, "arm"), make("th", { scope: "col" }, measure),
      row.gold.map((pid) => make("th", { scope: "col" }, make("code", {}, pid))));
    const body = arms.map((arm) => {
      const [mark, tone, word] = sign(index.scores[measure][arm][place]);
      const decode = row.arms[arm][0];
      return make("tr", {}, make("th", { scope: "row" }, make("code", {}, index.arms[arm])),
        make("td", {}, make("span", { class: tone, title: word }, mark)),
        row.gold.map((_, n) => {
          if (!decode) return make("td", {}, "–");
          const [what, came, sort] = fate(row, decode, n);
          return make("td", {}, make("span", { class: sort }, what), make("small", {}, came));
        }));
    });
    const caption = make("caption", {}, "Where the gold went, arm by arm");
    return make("div", { class: "scroll", role: "region", "aria-label": "Where the gold went", tabindex: "0" },
      make("table", { class: "fates" }, caption, make("thead", {}, head), make("tbody", {}, body)));
  }

  function opening(text) {
    const first = text.split("\n", 1)[0];
    return first.length > 60 ? `${first.slice(0, 59)}…` : first;
  }

  /* Bring a passage of a card into view. */
  function reveal(card, pid) {
    const passage = card.passages.get(pid);
    if (!passage) return;
    const holder = passage.parentElement.closest("details");
    if (holder) holder.open = true;
    passage.open = true;
    passage.querySelector("summary").focus();
    passage.scrollIntoView({ block: "nearest" });
  }

  function pointer(card, pid, quote, kind, ...children) {
    return make("button", {
      type: "button", class: kind, title: `passage ${pid}${quote ? `: “${quote}”` : ""}`, on: ["click", () => reveal(card, pid)],
    }, children);
  }

  /* What the passages say of the claims of a sentence; one of several is quoted where it lacks support. */
  function decided(card, claims, position, quoted) {
    const held = new Map(claims.filter((c) => c[0] === "supported").map((c) => [c[1], c[3]]));
    const supports = [...held].map(([pid, quote]) =>
      pointer(card, pid, quote, "support", `✓ by [${position(pid)}]`));
    const others = claims.filter((c) => c[0] !== "supported").map(([status, pid, text, quote]) => {
      const which = quoted || claims.length > 1 ? `“${opening(text)}” ` : "";
      if (status === "contradicted") {
        return pointer(card, pid, quote, "support against", `✗ ${which}contradicted by [${position(pid)}]`);
      }
      if (status === "unsupported") return make("span", { class: "lacks" }, `✗ ${which}supported by no passage`);
      return make("span", { class: "muted" }, `? ${which}the judge gave no usable answer`);
    });
    // The spaces stand between the buttons, which would swallow them.
    return [...supports, ...others].flatMap((element) => [" ", element]);
  }

  /* A wrong answer that was taken from passages without gold: which. */
  function astray(card, row, decode) {
    if (!decode.astray.length) return null;
    const places = decode.astray.map((pid) => {
      const place = row.contexts[decode.context].findIndex((p) => p[0] === pid) + 1;
      return [" ", pointer(card, pid, "", "support against", `[${place}] ${pid}`)];
    });
    return make("p", { class: "misled" }, "✗ Grounded in the wrong passage:", places.flat());
  }

  function answer(card, row, decode) {
    if (decode.error) return make("p", { class: "answer" }, `${decode.error[0]} error: ${decode.error[1]}`);
    if (decode.answer === undefined) {
      const gate = decode.gate && decode.gate[0] !== "go" ? `the gate decided: ${decode.gate[0]}` : "no answer";
      return make("p", { class: "answer" }, gate);
    }
    const position = (pid) => row.contexts[decode.context].findIndex((p) => p[0] === pid) + 1;
    const sentences = row.answers[decode.answer].map(([pieces, claims]) => {
      const words = pieces.flatMap((piece) => {
        if (typeof piece === "string") return piece;
        const [written, pids] = piece;
        if (!pids.length) return make("span", { class: "astray", title: "points to no passage of the context" }, written);
        const bare = written.trimStart();
        return [written.slice(0, written.length - bare.length), pointer(card, pids[0], "", "cited", bare)];
      });
      const sort = ["contradicted", "unsupported"].find((status) => claims.some((c) => c[0] === status));
      return make("span", { class: sort || null }, words, decided(card, claims, position, !pieces.length));
    });
    if (!sentences.length) return make("p", { class: "answer muted" }, "(the empty answer)");
    return make("p", { class: "answer", dir: "auto" }, sentences);
  }

  function passages(card, row, join, decode, evidence) {
    card.passages = new Map();
    const context = row.contexts[decode.context];
    if (!context.length) return make("p", { class: "muted" }, "No passage.");
    return make("ol", { class: "passages" }, context.map(([pid, pieces, truncated, tokens], place) => {
      const text = join(pieces);
      const gold = row.gold.includes(pid);
      const details = make("details", { class: gold ? "gold" : null, "data-pid": pid },
        make("summary", {}, `[${place + 1}] `, make("code", {}, pid),
          gold ? make("span", { class: "gold-tag" }, "gold") : null,
          truncated ? make("small", {}, " cut short") : null,
          make("small", {}, ` ${opening(text)} (${plural(tokens, "token")})`)),
        make("p", { class: "text", dir: "auto" }, marked(text, evidence.get(pid) || [])));
      card.passages.set(pid, details);
      return make("li", {}, details);
    }));
  }

  function evicted(row, decode) {
    if (!decode.evicted.length) return null;
    const items = decode.evicted.map(([pid, reason]) => make("li", {}, make("code", {}, pid),
      row.gold.includes(pid) ? make("span", { class: "gold-tag" }, "gold") : null,
      ` ${REASONS[reason] || reason}`));
    return [make("h5", {}, `Retrieved and left out (${decode.evicted.length})`), make("ul", {}, items)];
  }

  function ranking(row, decode) {
    const pids = row.rankings[decode.ranking];
    const items = pids.map((pid) => make("li", {}, make("code", {}, pid),
      row.gold.includes(pid) ? make("span", { class: "gold-tag" }, "gold") : null));
    const searches = decode.searches.length
      ? make("p", {}, "Searched: ", decode.searches.join(" · ")) : null;
    return make("details", {}, make("summary", {}, `Retrieved (${pids.length})`), searches,
      items.length ? make("ol", {}, items) : make("p", {}, "Nothing."));
  }

  function verdicts(index, decode) {
    const rows = index.measures.map(([name, label], place) => {
      const verdict = decode.verdicts[place];
      if (!verdict) return null;
      const value = verdict[0] === null ? "–" : String(Math.round(verdict[0] * 1000) / 1000);
      return make("tr", {}, make("th", { scope: "row", title: label }, make("code", {}, name)),
        make("td", { class: "num" }, value), make("td", {}, verdict[1] || ""));
    });
    return make("details", {}, make("summary", {}, "Verdicts, with their reasons"),
      make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, rows))));
  }

  /* The exact prompt, put together when it is asked for. */
  function prompt(row, join, decode) {
    if (decode.prompt === undefined) return null;
    const body = make("div", { class: "prompt" });
    const fill = () => {
      if (body.childElementCount) return;
      let role = null;
      let block = null;
      for (const [who, pid, pieces] of row.prompts[decode.prompt]) {
        if (who !== role) {
          role = who;
          block = make("code");
          body.append(make("p", { class: "role" }, who), make("pre", {}, block));
        }
        block.append(make("span", { class: pid ? "evidence" : null }, join(pieces)));
      }
    };
    return make("details", { class: "exact", on: ["toggle", fill] }, make("summary", {}, "The exact prompt"), body);
  }

  function outcome(index, place, arm) {
    const measure = Object.keys(index.scores)[0];
    const [mark, tone, word] = sign(index.scores[measure][arm][place]);
    const bucket = index.bucket[arm][place];
    const surfaced = bucket >= 0 && index.buckets[bucket] !== "ok" ? `, surfaced at: ${index.buckets[bucket]}` : "";
    const said = { "1": "right", "0": "wrong" }[word] || word;
    return make("p", { class: "outcome" }, make("span", { class: tone }, `${mark} `), `${measure}: ${said}${surfaced}`);
  }

  function decoded(card, state, arm, number) {
    const { index, row, join, evidence } = state;
    const decode = row.arms[arm][number];
    const control = row.arms[0][number] || row.arms[0][0];
    const same = arm !== 0 && control && control.context === decode.context;
    const context = row.contexts[decode.context];
    const tokens = context.reduce((sum, passage) => sum + passage[3], 0);
    const saw = `Saw ${plural(context.length, "passage")}, ${plural(tokens, "token")}`;
    const list = passages(card, row, join, decode, evidence);
    const alike = same && control.answer !== undefined && control.answer === decode.answer;
    return [
      make("h5", {}, alike ? "Answer: the same as control's" : "Answer", decode.abstained ? " (declined)" : ""),
      answer(card, row, decode),
      astray(card, row, decode),
      decode.fits ? make("p", { class: "fits" }, decode.fits) : null,
      same
        ? make("details", {}, make("summary", {}, `${saw}: the same as control's, byte for byte`), list)
        : [make("h5", {}, saw), list],
      same ? null : evicted(row, decode),
      ranking(row, decode),
      verdicts(index, decode),
      prompt(row, join, decode),
    ].flat();
  }

  function armCard(state, place, arm) {
    const { index, row } = state;
    const decodes = row.arms[arm];
    const card = make("section", { class: arm === 0 ? "arm control" : "arm", "data-arm": String(arm) },
      make("h4", {}, make("code", {}, index.arms[arm])),
      make("p", { class: "change" }, arm === 0 ? "what the other arms change one thing of" : index.changes[arm]),
      outcome(index, place, arm));
    if (!decodes.length) {
      card.append(make("p", { class: "muted" }, "Not asked in this arm."));
      return card;
    }
    const body = make("div");
    const show = (number) => body.replaceChildren(...decoded(card, state, arm, number).filter(Boolean));
    if (decodes.length > 1) {
      const choice = make("select", { "aria-label": `Decode of ${index.arms[arm]}`, on: ["change", () => show(choice.selectedIndex)] },
        decodes.map((decode) => make("option", {}, `decode ${decode.replicate}`)));
      card.append(choice);
    }
    card.append(body);
    show(0);
    return card;
  }

  function facts(index, place, row) {
    const chips = [make("code", {}, index.qids[place]), KINDS[index.kind[place]]];
    for (const [name, values] of Object.entries(index.slices)) {
      if (values[place] !== null) chips.push(`${name}: ${values[place]}`);
    }
    for (const [name, fixes] of Object.entries(index.fixes)) {
      if (fixes[place] !== null) {
        chips.push(fixes[place] === "none" ? `${name}: no intervention fixed it` : `${name}: first fixed by ${fixes[place]}`);
      }
    }
    const list = make("ul", { class: "chips" }, chips.map((chip) => make("li", {}, chip)));
    const references = row.references.length
      ? make("p", {}, make("strong", {}, "Right answers: "), row.references.join(" · ")) : null;
    const history = row.history.length
      ? make("details", {}, make("summary", {}, `Earlier turns (${row.history.length})`),
        row.history.map(([who, text]) => make("p", { class: "text" }, `${who}: ${text}`))) : null;
    return [list, references, history];
  }

  /* Fill an element with one question.
     chosen: arms to show, remembered by the caller from question to question. */
  async function show(element, index, place, chosen) {
    const { row, join } = await Data.question(place);
    const evidence = new Map();
    for (const alternatives of row.parts) {
      for (const alternative of alternatives) {
        for (const passage of alternative.passages) {
          evidence.set(passage.pid, [...(evidence.get(passage.pid) || []), ...passage.evidence]);
        }
      }
    }
    const state = { index, row, join, evidence };
    const cards = make("div", { class: "arms" });
    const gold = make("div");
    const draw = () => {
      const arms = index.arms.map((_, arm) => arm).filter((arm) => chosen.has(arm));
      cards.replaceChildren(...arms.map((arm) => armCard(state, place, arm)));
      gold.replaceChildren(...[goldTable(index, place, row, arms)].filter(Boolean));
    };
    const boxes = index.arms.map((name, arm) => {
      const box = make("input", { type: "checkbox", checked: chosen.has(arm) });
      box.addEventListener("change", () => {
        if (box.checked) chosen.add(arm);
        else chosen.delete(arm);
        draw();
      });
      return make("label", {}, box, make("code", {}, name));
    });
    element.replaceChildren(
      make("h3", { dir: "auto" }, index.text[place]),
      ...facts(index, place, row).filter(Boolean),
      ...(goldList(row, join) || []),
      make("fieldset", {}, make("legend", {}, "Arms side by side"), boxes),
      gold, cards);
    draw();
  }

  return { show };
})();
