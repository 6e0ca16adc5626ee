// SPDX-License-Identifier: MIT
"use strict";
/**
 * The index: what the reader asks of it lives in the address's fragment and nowhere else
 * (#q=h200&sort=-bfloat16&reference=...), and each change draws the rows that it asks for.
 */
(() => {
  const table = document.getElementById("runs");
  if (!table) return;
  const CHUNK = 25;
  const USUAL = "-when";
  const FLAGS = ["complete", "slower", "all"];
  const CHOICES = ["kind", "device", "backend", "profile"];
  const get = (id) => document.getElementById(id);
  const { element } = drawing;
  const data = JSON.parse(get("data").textContent);
  const read = rows.read(table, data);
  const places = new Map(read.ids.map((id, place) => [id, place]));
  const reader = ratios.reader(data);
  const controls = get("controls");
  const heads = table.tHead.rows[0];
  const state = { limit: CHUNK, open: new Set(), held: null, laid: null, said: "" };

  /** Say something else in the fragment; what is null or usual is left out. */
  function say(changes, replace = false) {
    const said = new URLSearchParams(setting.read());
    for (const [key, value] of Object.entries(changes)) {
      said.delete(key);
      for (const one of [value ?? []].flat()) if (one !== "") said.append(key, one);
    }
    history[replace ? "replaceState" : "pushState"](null, "", `#${said}`);
    apply();
  }

  /** What the fragment asks for; what names no run or nothing to choose is passed over. */
  function asked() {
    const said = setting.read();
    const place = (id) => places.get(id) ?? null;
    const offered = (key) => [...controls.elements[key].options].some(({ value }) => value === said.get(key));
    const picked = said.getAll("run").map(place).filter((one) => one !== null);
    return {
      words: (said.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
      choices: Object.fromEntries(CHOICES.map((key) => [key, offered(key) ? said.get(key) : ""])),
      flags: Object.fromEntries(FLAGS.map((key) => [key, said.has(key)])),
      sort: said.get("sort") ?? USUAL, workload: workload(),
      reference: place(said.get("reference")),
      picked: [...new Set(picked)],
    };
  }

  /** Let the controls say what the fragment says. */
  function show({ choices, flags }) {
    const typed = setting.read().get("q") ?? "";
    if (controls.elements.q.value.trim() !== typed) controls.elements.q.value = typed;
    for (const key of CHOICES) controls.elements[key].value = choices[key];
    for (const key of FLAGS) controls.elements[key].checked = flags[key];
  }

  /** The places of the runs that are asked for. */
  function chosen({ words, choices, flags }) {
    const fits = (i) => {
      const [name, kind, backend] = data.devices.values[data.devices.of[i]];
      const has = { kind, backend, device: rows.plain(name), profile: read.texts.profile[i] };
      return (flags.all || read.newest[i]) && (!flags.complete || data.complete[i])
        && (!flags.slower || data.slower[i]) && CHOICES.every((key) => !choices[key] || choices[key] === has[key])
        && words.every((word) => read.hay[i].includes(word));
    };
    return read.nodes.map((_, i) => i).filter(fits);
  }

  /** The workload of scores. */
  const workload = () => data.workloads.map(({ name }) => name)
    .find((name) => name === setting.read().get("workload")) ?? data.workloads[0].name;

  /** What a column sorts by. */
  function values(key) {
    if (key === "since") return data.slower.map((count) => count || null);
    if (key === "launches") return read.texts.launches.map(Number);
    if (Object.hasOwn(read.texts, key)) return read.texts[key];
    if (Object.hasOwn(read.figures, key)) return read.figures[key];
    const [word, name] = key.split(/\.(.*)/);
    if (word !== "ratio" || !state.held) return null;
    const { mean, single } = state.held.against;
    if (name === undefined) return read.nodes.map((_, i) => mean(i, workload()).log);
    const exercise = data.exercises.findIndex((one) => one.name === name);
    return exercise < 0 ? null : read.nodes.map((_, i) => single(i, exercise).log);
  }

  /** Put places in the order that is asked for, newest first where that is none. */
  function sorted(found, { sort }) {
    const descending = sort.startsWith("-");
    const by = values(sort.replace("-", ""));
    return by ? found.sort(rows.order(by, descending)) : found;
  }

  /** Hold all runs against the reference, unless they are. */
  function hold(reference) {
    const key = reference === null ? null : `${reference} ${workload()}`;
    if ((state.held?.key ?? null) === key) return;
    state.held = null;
    if (reference !== null) {
      const against = reader.against(reference);
      const shown = data.exercises.map((_, i) => i).filter((i) => against.totals[i] && against.weights[i]);
      state.held = { key, reference, against, shown };
    }
    headings();
  }

  /** Columns of ratios instead of those of figures, or these again. */
  function headings() {
    heads.querySelectorAll(".ratio").forEach((head) => head.remove());
    table.classList.toggle("held", state.held !== null);
    if (!state.held) return;
    const titles = state.held.shown.map((i) => [`ratio.${data.exercises[i].name}`, data.exercises[i].title]);
    for (const [key, title] of [["ratio", `Times as fast, ${data.workloads.find(({ name }) => name === workload()).title.toLowerCase()}`], ...titles]) {
      const head = element("th", { scope: "col", class: "ratio", "data-key": key });
      sortable(head, title);
      heads.lastElementChild.before(head);
    }
  }

  /** Make a heading sort by its column, numbers from the best, and again the other way. */
  function sortable(head, title) {
    const { key } = head.dataset;
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      const least = key in read.texts ? key !== "when" && key !== "launches" : rows.LOWER_IS_BETTER.includes(key);
      const first = least ? key : `-${key}`;
      const again = least ? `-${key}` : key;
      const next = asked().sort === first ? again : first;
      say({ sort: next === USUAL ? null : next });
    });
    head.replaceChildren(button);
  }

  /** Tell by which column the rows are sorted. */
  function tellSort({ sort }) {
    for (const head of heads.cells) {
      const { key } = head.dataset;
      if (key === sort.replace("-", "")) head.setAttribute("aria-sort", sort === key ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  /** A row with what only a script can give it, and what its controls do. */
  function dressed(i) {
    const node = read.nodes[i];
    if (node.cells[0].firstChild) return node;
    node.className = read.newest[i] ? "" : "old shown";
    const [box, dot] = cells.controls(node, `${read.texts.machine[i]}, ${read.texts.when[i]}`);
    box.addEventListener("change", () => pick(i, box.checked));
    dot.addEventListener("change", () => say({ reference: read.ids[i] }));
    cells.ranks(node, Object.keys(read.figures).map((key) => read.ranks[i][key]));
    const earlier = read.history(i).length;
    if (earlier) cells.unfolder(node, earlier).addEventListener("click", ({ target }) => {
      if (!state.open.delete(i)) state.open.add(i);
      target.setAttribute("aria-expanded", String(state.open.has(i)));
      draw(asked());
    });
    return node;
  }

  /** Take a run into the comparison, or out of it. */
  function pick(i, taken) {
    const others = asked().picked.filter((one) => one !== i);
    say({ run: (taken ? [...others, i] : others).map((one) => read.ids[one]) });
  }

  /** A row's ratios: the overall one and those by exercise. */
  function means(i) {
    const { against, shown } = state.held;
    return [against.mean(i, workload()), ...shown.map((one) => against.single(i, one))];
  }

  /** Put as many of the rows that are asked for into the table as are to be seen. */
  function draw(wanted) {
    const order = sorted(chosen(wanted), wanted);
    const open = (i) => !wanted.flags.all && (state.limit === Infinity || state.open.has(i));
    const visible = order.slice(0, state.limit).flatMap((i) => [i, ...open(i) ? read.history(i) : []]);
    const focused = document.activeElement;
    table.tBodies[0].replaceChildren(...visible.map((i) => {
      const node = dressed(i);
      cells.against(node, heads, state.held, i, means);
      const [box, dot] = node.cells[0].children;
      box.checked = wanted.picked.includes(i);
      dot.checked = wanted.reference === i;
      return node;
    }));
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    tell(order.length, Math.min(order.length, state.limit), wanted);
  }

  /** Say how many rows there are, and against what they are held. */
  function tell(count, seen, { flags, reference }) {
    const runs = units.counted(count, flags.all ? "run" : "machine");
    const text = count === 0 ? "No run is like that." : `${runs}${seen < count ? `, the first ${seen} of them shown` : ""}.`;
    if (get("status").textContent !== text) get("status").textContent = text;
    get("more").hidden = seen === count;
    get("against").hidden = reference === null;
    if (reference !== null) get("against-text").textContent =
      `Held against ${read.texts.machine[reference]}, ${read.texts.when[reference]}; intervals are approximate.`;
  }

  /** What else a comparison says of a run. */
  function describe(i, reference) {
    const [device, count, watts, watts_source, memory_bytes] = data.hardware.values[data.hardware.of[i]];
    const [price, currency, price_date, price_kind, price_source] =
      data.prices.values[data.prices.of[i]] ?? Array(5).fill(null);
    const lent = data.rents.values[data.rents.of[i]];
    const [rent, rent_currency, date, kind, source] = lent ?? [];
    return {
      run: read.ids[i], title: read.texts.machine[i], href: read.addresses[i],
      device, count, watts, watts_source, memory_bytes,
      price, currency, price_date, price_kind, price_source,
      rent: lent ? { price: rent, currency: rent_currency, date, kind, source } : null, measured: data.measured[i],
      rates: data.rates[i].map(([product, low, high]) => {
        const [column, precision] = data.products[product], value = data.figures[column][i];
        return { precision, value, low: low && low * value, high: high && high * value };
      }),
      axes: [], load: null, energy: null, missing: [], differs: rows.differs(data, reference, i),
    };
  }

  /** Draw the runs that were picked side by side, the reference first. */
  function compare({ picked, reference }) {
    const runs = [...new Set([...reference === null ? [] : [reference], ...picked])];
    const shown = picked.length > 0 && runs.length > 1;
    get("comparison").hidden = get("to-comparison").hidden = !shown;
    get("one-more").textContent = picked.length > 0 && !shown ? "Pick one more to lay side by side." : "";
    if (!shown) return;
    const key = runs.join();
    if (state.laid?.key !== key) state.laid = { key, held: beside(runs) };
    purchase.show(get("comparison"), state.laid.held, state.laid.held.slice(0, 1));
  }

  /** Runs beside the first of them, and the scores of all beside each other. */
  const beside = ([first, ...others]) => [
    ratios.comparison(data, reader, [first, ...others], describe),
    ...others.map((one) => ratios.scores(data, reader, [one, first, ...others.filter((run) => run !== one)], (run) => read.ids[run]))];

  /** Draw what the fragment asks for. */
  function apply() {
    const wanted = asked();
    const said = JSON.stringify(wanted);
    if (state.said !== said) {
      if (state.said !== "") state.limit = CHUNK;
      state.said = said;
      show(wanted);
      hold(wanted.reference);
      tellSort(wanted);
      draw(wanted);
    }
    compare(wanted);
  }

  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.elements.q.addEventListener("input", ({ target }) => say({ q: target.value.trim() }, true));
  for (const key of CHOICES) {
    controls.elements[key].addEventListener("change", ({ target }) => say({ [key]: target.value }));
  }
  for (const key of FLAGS) {
    controls.elements[key].addEventListener("change", ({ target }) => say({ [key]: target.checked ? "1" : null }));
  }
  get("clear-reference").addEventListener("click", () => say({ reference: null }));
  get("more").addEventListener("click", () => {
    state.limit += CHUNK;
    draw(asked());
  });
  // Paper has all rows, with those that are folded away.
  let before = CHUNK;
  addEventListener("beforeprint", () => {
    [before, state.limit] = [state.limit, Infinity];
    draw(asked());
  });
  addEventListener("afterprint", () => {
    state.limit = before;
    draw(asked());
  });
  addEventListener("hashchange", apply);
  setting.keep();
  [...heads.cells].slice(1).forEach((head) => sortable(head, head.textContent));
  apply();
  for (const i of read.nodes.keys()) requestIdleCallback(() => reader.times(i));
})();
