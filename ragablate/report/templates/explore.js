/* Finding questions: search, filters, the list, and the question that is open. */
(() => {
  const PAGE = 50;
  const at = (id) => document.getElementById(id);
  const form = at("filters");
  const list = at("list");
  const more = at("more");
  const status = at("status");
  const panel = at("question");
  let index = null;
  let words = [];
  let found = [];
  let limit = PAGE;
  let opened = -1;
  const chosen = new Set();
  const columns = { slice: [], fix: [] };

  const plain = (text) => text.normalize("NFKC").toLowerCase();

  function select(name, label, options, groups) {
    const control = make("select", { name }, options.map(([value, text]) => make("option", { value }, text)),
      (groups || []).map(([title, own]) => {
        const group = make("optgroup", { label: title }, own.map(([value, text]) => make("option", { value }, text)));
        return group;
      }));
    return make("label", {}, label, control);
  }

  /* The values of columns as options, each known by its place. */
  function choices(kind, named, write) {
    return Object.entries(named).map(([name, own]) => {
      const distinct = [...new Set(own.filter((value) => value !== null))].sort();
      return [name, distinct.map((value) => {
        columns[kind].push((place) => own[place] === value);
        return [String(columns[kind].length - 1), write(name, value)];
      })];
    });
  }

  function controls() {
    const search = make("input", { type: "search", name: "find", placeholder: "words of the question, or its id", autocomplete: "off" });
    const contrasts = index.contrasts.map(([, change], place) => [String(place), change]);
    const values = choices("slice", index.slices, (name, value) => `${name} = ${value}`);
    const used = new Set(index.bucket.flat().filter((bucket) => bucket >= 0));
    const buckets = index.buckets.map((name, place) => [String(place), name === "ok" ? "nowhere: no failure" : name])
      .filter(([place]) => used.has(Number(place)));
    const fixes = choices("fix", index.fixes, (_, value) => (value === "none" ? "nothing" : value));
    const parts = [make("label", { class: "find" }, "Search", search)];
    if (contrasts.length) {
      parts.push(select("contrast", "Compare control with", contrasts));
      parts.push(select("moved", "Changed", [["", "changed or not"], ["changed", "changed"], ["better", "better"],
        ["worse", "worse"], ["same", "unchanged"], ["unmeasured", "unmeasured"]]));
    }
    parts.push(select("kind", "Kind", [["", "every kind"], ["0", "answerable"], ["1", "unanswerable"], ["2", "eval gap"]]));
    if (values.length) parts.push(select("slice", "Slice", [["", "every slice"]], values));
    parts.push(select("bucket", "Failure surfaced at", [["", "anywhere or nowhere"], ...buckets]));
    parts.push(select("arm", "in arm", index.arms.map((name, place) => [String(place), name])));
    if (fixes.length) parts.push(select("fix", "First fixed by", [["", "anything or nothing"]], fixes));
    parts.push(make("label", {}, "\u00a0", make("button", { type: "reset" }, "Show all questions")));
    form.replaceChildren(...parts);
  }

  function value(name) {
    const control = form.elements.namedItem(name);
    return control ? control.value : "";
  }

  function change(place) {
    const [, , control, treatment, measure] = index.contrasts[Number(value("contrast"))];
    const scores = index.scores[measure];
    const before = scores[control][place];
    const after = scores[treatment][place];
    if (before === null || after === null) return "unmeasured";
    return after > before ? "better" : after < before ? "worse" : "same";
  }

  /* The tests of the filters that are set. */
  function tests() {
    const asked = plain(value("find")).split(/\s+/).filter(Boolean);
    const made = asked.map((word) => (place) => words[place].includes(word));
    const moved = value("moved");
    if (moved === "changed") made.push((place) => ["better", "worse"].includes(change(place)));
    else if (moved) made.push((place) => change(place) === moved);
    const kind = value("kind");
    if (kind) made.push((place) => index.kind[place] === Number(kind));
    const bucket = value("bucket");
    if (bucket) made.push((place) => index.bucket[Number(value("arm"))][place] === Number(bucket));
    for (const kind of ["slice", "fix"]) {
      if (value(kind)) made.push(columns[kind][Number(value(kind))]);
    }
    return made;
  }

  function filter() {
    const every = tests();
    found = [];
    for (let place = 0; place < index.qids.length; place += 1) {
      if (every.every((test) => test(place))) found.push(place);
    }
    limit = PAGE;
    draw();
  }

  function kept(arm) {
    const contrast = index.contrasts[Number(value("contrast"))];
    return arm === 0 || (contrast && contrast[3] === arm);
  }

  function row(place) {
    const measure = Object.keys(index.scores)[0];
    const button = make("button", { type: "button", on: ["click", () => go(place)] },
      make("small", {}, make("code", {}, index.qids[place])), " ", index.text[place]);
    const marks = index.arms.map((name, arm) => {
      const [mark, tone, word] = sign(index.scores[measure][arm][place]);
      return make("td", { class: kept(arm) ? "arm-cell kept" : "arm-cell" },
        make("span", { class: tone, title: `${name}: ${measure} ${word}` }, mark));
    });
    return make("tr", { class: place === opened ? "chosen" : null, "data-place": String(place) },
      make("td", { class: "hit" }, button), marks);
  }

  function draw() {
    const measure = Object.keys(index.scores)[0];
    const head = make("tr", {}, make("th", { scope: "col" }, `question, and ${measure} by arm`),
      index.arms.map((name, arm) => make("th", { scope: "col", class: kept(arm) ? "arm-head kept" : "arm-head", title: name }, name.length > 24 ? `${name.slice(0, 23)}…` : name)));
    const rows = found.slice(0, limit).map(row);
    list.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, rows)));
    list.hidden = !found.length;
    more.hidden = found.length <= limit;
    more.textContent = `Show ${Math.min(PAGE, found.length - limit)} more`;
    status.textContent = found.length
      ? `${found.length.toLocaleString("en")} of ${plural(index.qids.length, "question")}`
      : "No question is like that. Take a filter back.";
  }

  function step(by) {
    const next = found[found.indexOf(opened) + by];
    return next === undefined ? make("button", { type: "button", disabled: true }, by < 0 ? "Previous" : "Next")
      : make("button", { type: "button", on: ["click", () => go(next)] }, by < 0 ? "Previous" : "Next");
  }

  function go(place) {
    const target = `#q=${encodeURIComponent(index.qids[place])}`;
    if (location.hash === target) show(place);
    else location.hash = target;
  }

  async function show(place) {
    opened = place;
    for (const each of list.querySelectorAll("tr[data-place]")) {
      each.classList.toggle("chosen", Number(each.dataset.place) === place);
    }
    const body = make("div");
    try {
      await Question.show(body, index, place, chosen);
    } catch (error) {
      complain(error);
      return;
    }
    if (opened !== place) return;
    const back = make("button", { type: "button", on: ["click", () => form.elements.namedItem("find").focus()] }, "Back to the list");
    panel.replaceChildren(make("div", { class: "steps" }, step(-1), step(1), back), ...body.childNodes);
    panel.hidden = false;
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "start" });
  }

  function follow() {
    if (!location.hash.startsWith("#q=")) return;
    let qid;
    try {
      qid = decodeURIComponent(location.hash.slice(3));
    } catch {
      return;
    }
    const place = index.qids.indexOf(qid);
    if (place >= 0) show(place);
  }

  function complain(error) {
    const trouble = at("trouble");
    trouble.textContent = `Single questions cannot be shown: ${error.message}.`;
    trouble.hidden = false;
  }

  /* From a button of the list to the one above or below. */
  function arrows(event) {
    const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const here = event.target.closest("tr[data-place]");
    if (!by || !here || !here[by]) return;
    event.preventDefault();
    here[by].querySelector("button").focus();
  }

  function reachable() {
    for (const region of document.querySelectorAll(".scroll")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    }
  }

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not(.exact)")) {
      if (!details.open) details.dataset.shut = "yes";
      details.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const details of document.querySelectorAll("details[data-shut]")) {
      details.open = false;
      delete details.dataset.shut;
    }
  });

  async function start() {
    reachable();
    try {
      index = await Data.open();
    } catch (error) {
      complain(error);
      return;
    }
    words = index.qids.map((qid, place) => plain(`${qid} ${index.text[place]}`));
    index.arms.forEach((_, arm) => chosen.add(arm));
    controls();
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    more.addEventListener("click", () => { limit += PAGE; draw(); });
    list.addEventListener("keydown", arrows);
    addEventListener("hashchange", follow);
    filter();
    follow();
  }

  start();
})();
