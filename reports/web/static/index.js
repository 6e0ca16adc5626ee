// SPDX-License-Identifier: MIT
"use strict";
/**
 * The index: a table of devices by their scores, a table of runs by date, and runs side by side. What the reader asks
 * lives in the address's fragment and nowhere else (#view=runs&q=h200&workload=decode&run=...). The build draws the
 * same table of devices without a browser.
 *
 * @typedef {{run: number, runs: number, machine: Machine, name: string, words: string}} Device
 *   `run` is the place of its newest run that counts, `runs` how many there are
 */
const index = (() => {
  const { element, shape } = drawing;
  const { GB, isAbove, per, exact } = model;
  const FASTEST = "-speed";
  const PER = 1000, MOST_DOTS = 6, TICKS = 5, MOST_LETTERS = 120;
  /** Devices that are compared one by one with the first, at most, and names in a sentence. */
  const MOST_NEAR = 20, MOST_NAMES = 3;
  const brief = (name) => (name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}\u2026` : name);

  /** The data of the page as the build has them: with the address and the title of each run, and logarithms as numbers. */
  function unpacked(packed, named) {
    const digits = Array.from({ length: 92 }, (_, i) => String.fromCharCode(35 + i)).filter((one) => !"\\<>&".includes(one));
    const places = new Map(digits.map((digit, i) => [digit, i]));
    const numbers = (text) => Array.from({ length: text.length / 2 }, (_, i) =>
      (text[2 * i] === " " ? null : digits.length * places.get(text[2 * i]) + places.get(text[2 * i + 1])));
    packed.runs.forEach((run, i) => {
      [run.href, run.title] = named[i];
      for (const one of [run.seconds, run.joules]) if (typeof one?.logs === "string") one.logs = numbers(one.logs);
    });
    return packed;
  }

  /** What puts an unknown value behind a known one. */
  const last = (one, other) => Number(one === undefined) - Number(other === undefined);

  /** All devices with what is known of one of each, that of a run, and the currency of prices. */
  function read(data) {
    const { currency } = data, machines = model.devices(data);
    const devices = data.groups.map(([run, , runs], place) => {
      const machine = machines[place], { count, price, backend } = machine, name = brief(machine.device);
      return {
        run, runs, machine, name, words: `${backend} ${name}`.toLowerCase(),
        price: price === null || machine.currency !== currency ? null : price / count,
        memory_bytes: machine.memory_bytes && machine.memory_bytes / count, watts: machine.power && per(machine.power, count),
      };
    });
    const others = elsewhere.read(data.published).map((one) => ({ ...one, words: one.name.toLowerCase() }));
    return { data, devices, deviceOf: (run) => devices[data.device[run]], currency, published: others, under: "", compared: null };
  }

  /** Those that have the words, of their name or their backend, that the reader asked for. */
  function called(all, { name }) {
    const asked = name.toLowerCase().split(/\s+/);
    return all.filter(({ words }) => asked.every((word) => words.includes(word)));
  }

  /** Devices of which others published figures. Capacity and price are not among these. */
  const published = (all, asked) => (asked.hidden || asked.memory !== null || asked.budget !== null ? [] : called(all.published, asked));

  /** Scores under a workload, which are kept until the reader asks for another one. */
  function comparing(all, workload) {
    const under = JSON.stringify([workload.name, workload.weights]);
    if (all.under !== under) Object.assign(all, { under, compared: model.comparing(workload) });
    return all.compared;
  }

  /**
   * The devices that were asked for, fastest first, those without a score last.
   * @param {{reference: number, workload: Workload, name: string, memory: ?number, budget: ?number, order: string}} asked
   */
  function view(all, asked) {
    const { workload, order } = asked, base = all.deviceOf(asked.reference), compared = comparing(all, workload);
    const found = called(all.devices, asked).map((one) => [one, compare.out(one, one.price, asked)]);
    const rows = found.filter(([, out]) => !out).map(([one]) => {
      const score = model.beside(compared, one.machine, base.machine), { speed } = score;
      return { ...one, score, speed, worth: speed && one.price ? model.workPer(speed, one.price / PER) : null };
    });
    const beside = (one, other) => compared(one.machine, other.machine).speed;
    const shown = {
      rows, order, apart: differing(all.data), base, beside, compared, workload, unpriced: found.filter(([, out]) => out === "price unknown").length,
      currency: all.currency, called: base.name,
      fastest: first(rows.filter(({ speed }) => speed), beside, () => 1),
      best: first(rows.filter(({ worth }) => worth), beside, ({ price }) => price),
    };
    const by = columns(all).find(({ title }) => title.toLowerCase() === order.replace("-", ""));
    const amounts = new Map(rows.map((row) => [row.run, by ? by.of(row)?.value : row.speed?.log])), amount = ({ run }) => amounts.get(run);
    const sign = (by || order === "speed") && !order.startsWith("-") ? 1 : -1;
    rows.sort((a, b) => last(amount(a), amount(b)) || sign * (amount(a) - amount(b)) || a.run - b.run);
    return shown;
  }

  /** The devices that nothing is conclusively better than, the first of them first; none of a doubtful run among others. */
  function first(rows, beside, cost) {
    const gain = (row, end = row.speed.log) => end - Math.log(cost(row)), end = (speed, which, none) => speed[which] ?? none;
    const known = model.trusted(rows).sort((a, b) => gain(b) - gain(a));
    const close = known.filter((row) => gain(row, end(row.speed, "high", Infinity)) >= gain(known[0], end(known[0].speed, "low", -Infinity)));
    if (close.length > MOST_NEAR) return close;
    return model.best(close, (one, other) => isAbove(beside(one, other), cost(one) / cost(other)))?.chosen ?? [];
  }

  /** Devices that share the first place, in words. */
  function shared(devices) {
    const names = devices.slice(0, MOST_NAMES).map(({ name }) => name).join(" or "), more = devices.length - MOST_NAMES;
    return devices.length < 2 ? names : `${names}${more > 0 ? ` or ${units.counted(more, "other")}` : ""} (not conclusive)`;
  }

  /** What the list says, in a sentence or two. */
  function lead(shown) {
    const known = shown.rows.filter(({ speed }) => speed).sort((a, b) => b.speed.log - a.speed.log || a.run - b.run), [one, next] = model.trusted(known);
    if (!next) return "";
    const without = known.length - model.trusted(known).length;
    const times = shown.fastest.length === 1 ? `, ${units.parts(model.ratio(shown.beside(one, next)), "×").join(" ")} the speed of ${next.name}` : "";
    const worth = shown.best.length ? ` Most speed for its price: ${shared(shown.best)}.` : "";
    const left = without ? ` Left out: ${units.counted(without, "device")} whose run is doubtful.` : "";
    return `Fastest ${model.under(shown)}: ${shared(shown.fastest)}${times}.${worth}${left}`;
  }

  /** In what the specimens of a device differ, in words. */
  const differing = (data) => ({ machine }) => {
    const found = model.apart(data, machine);
    return found.length ? [`which differ in ${units.listed(found)}`] : [];
  };

  /** The speeds of a device's other specimens, each a dot. */
  const dots = ({ base, compared }, { specimens }) =>
    specimens.slice(0, MOST_DOTS).map((one) => compared(one, base.machine).speed).filter(Boolean).map(({ log }) => Math.exp(log));

  /** The axis of all bars and dots: from zero to the largest, in percent. */
  function axis(shown) {
    const most = Math.max(0, ...shown.rows.filter(({ speed }) => speed).flatMap(({ speed, machine }) => [Math.exp(speed.log), ...dots(shown, machine)])) * 1.04 || 1;
    const rough = most / TICKS, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough);
    const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
    return { at: (value) => drawing.round((100 * value) / most), ticks };
  }

  /** A score as a bar from zero, with dots for other specimens. */
  function speedOf(shown, { at }, { run, machine, score: { speed, coverage, why } }) {
    const { invalid, doubt } = machine;
    if (!speed) return [element("span", { class: "absent" }, invalid ? "invalid run, not ranked" : "not measured"), element("small", {}, invalid || why)];
    const [text, interval] = units.parts(model.ratio(speed), "×");
    return [element("div", {}, element("strong", {}, text),
      shape("svg", { class: "score", "aria-hidden": "true" }, shape("rect", { class: "f1", width: `${at(Math.exp(speed.log))}%`, y: 2, height: 9 }),
        ...dots(shown, machine).map((one) => shape("circle", { class: "spec", cx: `${at(one)}%`, cy: 17, r: 3 }))),
      element("small", {}, [run === shown.base.run ? "baseline" : "", interval || (speed.low === null ? "no interval" : ""), `covers ${model.percent(coverage)}`].filter(Boolean).join(", ")),
      ...(doubt ? [element("span", { class: "mark" }, doubt)] : []))];
  }

  const axisOf = (name) => ({ machine }) => machine.axes.find((one) => one.name === name) ?? null;

  /** The other columns: title, unit, amount, and a note. */
  const columns = ({ currency }) => [
    ["Compute", "FLOP/s", axisOf("compute"), (row) => axisOf("compute")(row).precision],
    ["Memory", "B/s", axisOf("memory")],
    ["Capacity", "GB", ({ memory_bytes }) => exact(memory_bytes && memory_bytes / GB)],
    ["Power", "W", ({ watts }) => watts, ({ machine }) => machine.power.source],
    ["Price", currency, ({ price }) => exact(price), ({ machine }) => machine.price_date.slice(0, 7)],
    ["Value", `× per ${units.value(PER, "")} ${currency}`, ({ worth }) => worth],
  ].map(([title, unit, of, note = () => ""]) => ({ title, unit, of, note }));

  /** A column with its unit, and of values the one that is conclusively the best. */
  function fitted(column, { rows, best }) {
    const most = Math.max(0, ...rows.map((row) => column.of(row)?.value ?? 0));
    const [factor, symbol] = ["FLOP/s", "B/s"].includes(column.unit) && most ? units.axis(most, column.unit) : [1, column.unit];
    return { ...column, factor, symbol, best: column.title === "Value" && best.length === 1 && rows.filter(({ worth }) => worth).length > 1 ? best[0] : null };
  }

  /** A cell of such a column. */
  function cell({ title, symbol, factor, best, of, note }, row) {
    const amount = of(row), label = { "data-l": `${title}, ${symbol}` };
    if (!amount) return element("td", { ...label, class: "none" }, "unknown");
    const [value, interval] = units.parts(per(amount, factor), ""), below = [amount.low === null ? "no interval" : interval, note(row)].filter(Boolean);
    return element("td", { ...label, class: row === best ? "best" : null }, value, ...below.map((text) => element("small", {}, text)));
  }

  /**
   * The table of devices.
   * @param {?function(Device): HTMLElement} pick makes the control that takes a device into a comparison
   * @param {function(string, string): (string | HTMLElement)} sorter makes the heading that sorts by a column
   */
  function table(shown, pick, limit = Infinity, sorter = (title, _key) => title) {
    const { rows, called, order } = shown, common = axis(shown), used = columns(shown).map((one) => fitted(one, shown));
    const title = `Speed ${model.under(shown)}, × ${called}`;
    const ruler = shape("svg", { class: "ruler", "aria-hidden": "true" },
      ...common.ticks.map((tick) => shape("text", { x: `${common.at(tick)}%`, y: 12 }, tick ? units.value(tick, "×") : "0")));
    const head = (text, key, ...inside) => element("th", { scope: "col", class: key === "speed" ? key : null,
      "aria-sort": order.replace("-", "") === key ? (order === key ? "ascending" : "descending") : null }, sorter(text, key), ...inside);
    const heads = [element("th", { scope: "col", class: "pick" }, pick ? "Compare" : ""), "Device", head(title, "speed", ruler), ...used.map(({ title: text, symbol }) => head(text, text.toLowerCase(), element("small", {}, symbol)))];
    const body = rows.slice(0, limit).map((row) => [
      element("td", { class: "pick" }, ...(pick ? [pick(row)] : [])),
      element("th", { scope: "row" }, element("a", { href: row.machine.href }, row.name),
        ...(row.runs > 1 ? [`${units.counted(row.runs, "run")}, ${units.counted(row.machine.specimens.length + 1, "specimen")}`] : []).concat(shown.apart(row)).map((text) => element("small", {}, text))),
      element("td", { class: "speed", "data-l": title }, ...speedOf(shown, common, row)),
      ...used.map((column) => cell(column, row))]);
    const caption = `Baseline, 1×: ${called}. A device has one run, and there is one specimen of it, unless more are counted. Below each speed: its interval, which the range of specimens widens (a dot for each), and the share of the workload's weight that both machines measured.`;
    return drawing.table(caption, heads, body, { kind: "stack devices", label: "Devices, table" });
  }

  /** The table and its sentence before a reader asks anything, as text for the build. */
  function built(data) {
    const all = read(data), workload = compare.workloadOf(data, all.deviceOf(data.base).machine, new Map());
    const shown = view(all, { reference: data.base, workload, name: "", memory: null, budget: null, order: FASTEST });
    return { lead: lead(shown), table: String(table(shown, null)), published: String(elsewhere.table(all.published)) };
  }

  return { unpacked, read, view, published, table, lead, built, FASTEST };
})();

/** The index at work: each change of the address draws what it asks for. */
(() => {
  /** @type {any} */
  const runs = document.getElementById?.("runs");
  if (!runs) return;
  const { element } = drawing;
  const CHUNK = 20, LEAST_FIRST = ["power", "price"];
  const VIEWS = { devices: "devices", runs: "by-date", compare: "comparison" };
  /** @type {function(string): any} */
  const get = (id) => document.getElementById(id);
  /** @type {any[]} */
  const tabs = [...document.querySelectorAll(".tabs a")];
  const plain = (text) => text.trim().replace(/\s+/g, " ");
  const nodes = [...runs.tBodies[0].rows], links = nodes.map((node) => node.cells[0].firstElementChild);
  const data = index.unpacked(JSON.parse(get("data").textContent), links.map((link) => [link.getAttribute("href"), link.textContent]));
  const all = index.read(data);
  const ids = data.runs.map(({ href }) => href.replace(/\.html$/, "")), places = new Map(ids.map((id, place) => [id, place]));
  const base = all.deviceOf(data.base).machine;
  const MEMORY = { ...compare.LEAST, label: "Capacity, GB, at least" };
  const BUDGET = { ...compare.BUDGET, label: `Price, at most (${all.currency})` };
  const state = { limit: CHUNK, asked: "", wanted: null };

  // The table of runs as it was read.
  const controls = get("controls");
  const hay = nodes.map((node, i) => [ids[i], ...data.devices.values[data.devices.of[i]], ...[...node.cells].map((cell) => plain(cell.textContent))].join(" ").toLowerCase());
  const newest = nodes.map((node) => !node.classList.contains("old"));

  /** What the fragment asks for; what names no run or nothing to choose is passed over. */
  function asked() {
    const params = setting.read(), text = (key) => params.get(key)?.trim() ?? "";
    return {
      words: text("q").toLowerCase().split(/\s+/).filter(Boolean),
      earlier: params.has("all"),
      picked: picks(), reference: all.deviceOf(places.get(params.get("reference")) ?? data.base).run,
      view: Object.hasOwn(VIEWS, params.get("view")) ? params.get("view") : "devices",
      workload: compare.workloadOf(data, base, params), order: params.get("order") ?? index.FASTEST,
      name: text("name"), memory: setting.number(params, MEMORY), budget: setting.number(params, BUDGET),
      hidden: params.has("elsewhere"), chosen: elsewhere.picked(all.published).map((one) => one.name),
    };
  }

  /** The runs of the devices that are picked, by any of their runs, and the box that takes one in or out. */
  const picks = () => [...new Set(setting.read().getAll("run").map((id) => places.get(id)).filter((one) => one !== undefined).map((one) => all.deviceOf(one).run))];
  const picker = (i, name) => setting.box("Compare", () => picks().includes(i),
    (taken) => setting.write({ run: [...picks().filter((one) => one !== i), ...(taken ? [i] : [])].map((one) => ids[one]) }), `Compare ${name}`);
  const told = (id, text) => { if (get(id).textContent !== text) get(id).textContent = text; };

  /** How many things there are, and how many of them are seen. */
  function counted(found, noun, none) {
    const seen = Math.min(state.limit, found);
    return found === 0 ? none : `${units.counted(found, noun)}${seen < found ? `, the first ${seen} of them shown` : ""}.`;
  }

  /** Draw the devices that are asked for, unless they are there. */
  function devices({ reference, workload, name, memory, budget, order }) {
    setting.make(get("devices-table"), [reference, workload.name, workload.weights, name, memory, budget, order, state.limit], () => {
      const shown = index.view(all, { reference, workload, name, memory, budget, order });
      get("lead").textContent = index.lead(shown);
      const left = shown.unpriced ? ` ${units.counted(shown.unpriced, "device")} without a known price left out.` : "";
      told("devices-status", counted(shown.rows.length, "device", "No device is like that.") + left);
      get("more-devices").hidden = state.limit >= shown.rows.length;
      return [index.table(shown, ({ run, name: called }) => picker(run, called), state.limit, sorter)];
    });
  }

  /** Draw the published figures that are asked for, unless they are there. */
  function hollow({ name, memory, budget, hidden }) {
    setting.make(get("elsewhere-table"), [name, memory, budget, hidden, state.limit], () => {
      const found = index.published(all, { name, memory, budget, hidden });
      get("elsewhere").hidden = found.length === 0;
      get("more-published").hidden = state.limit >= found.length;
      return [elsewhere.table(found.slice(0, state.limit), true)];
    });
  }

  /** The places of the runs that are asked for, the newest first. */
  function chosen({ words, earlier }) {
    const fits = (i) => (earlier || newest[i] || state.limit === Infinity) && words.every((word) => hay[i].includes(word));
    return nodes.map((_, i) => i).filter(fits);
  }

  /** Put as many of the runs that are asked for into the table as are to be seen. */
  function draw(wanted) {
    setting.make(runs.tBodies[0], [wanted.words, wanted.earlier, state.limit], () => {
      const found = chosen(wanted);
      told("status", counted(found.length, wanted.earlier ? "run" : "machine", "No run is like that."));
      get("more").hidden = state.limit >= found.length;
      return found.slice(0, state.limit).map((i) => nodes[i]);
    });
  }

  /** Draw the devices that were picked side by side, the reference first if it is among them. */
  function side({ view, picked, chosen, reference }) {
    const machines = [...new Set(picked.includes(reference) ? [reference, ...picked] : picked)].map((run) => all.deviceOf(run).machine);
    get("one-more").hidden = machines.length + chosen.length > 1;
    get("laid").hidden = machines.length < 2;
    if (view !== "compare") return;
    elsewhere.show(get("published"), all.published, machines);
    if (machines.length > 1) compare.show(get("laid"), data, machines, machines.slice(0, 1));
  }

  /** Say what was picked, where it is not shown. */
  function basket({ view, picked, chosen }) {
    const names = [...picked.map((run) => all.deviceOf(run).name), ...chosen];
    get("basket").hidden = names.length === 0 || view === "compare";
    get("basket-names").textContent = `${names.length} picked: ${names.join(", ")}`;
    get("to-comparison").textContent = names.length > 1 ? `Compare ${names.length}` : "Compare: pick one more";
  }

  /** Show one of the views. */
  function turn({ view }) {
    document.body.dataset.view = view;
    for (const link of tabs) {
      if (link.hash === `#${VIEWS[view]}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** Draw what the fragment asks for. */
  function apply() {
    const wanted = asked(), now = JSON.stringify(wanted);
    if (state.asked !== now) {
      if (state.asked !== "") state.limit = CHUNK;
      Object.assign(state, { asked: now, wanted });
      turn(wanted);
      draw(wanted);
      devices(wanted);
      hollow(wanted);
      basket(wanted);
      const own = compare.weighable(data, base, wanted.workload);
      setting.make(get("weights"), own, () => compare.weights(own));
      setting.refresh(document.body);
    }
    side(wanted);
  }

  /** Show more or fewer rows. */
  function limit(most) {
    state.limit = most;
    devices(state.wanted);
    hollow(state.wanted);
    draw(state.wanted);
  }

  /** Let a link turn to a view, and leave in the address what was set. */
  function turning(link, view) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      setting.write({ view: view === "devices" ? null : view });
      if (view === "compare") get("comparison-title").focus();
    });
  }

  /** The heading that sorts devices by a column, from the best, and again the other way. */
  function sorter(title, key) {
    const button = element("button", { type: "button" }, title), [best, worst] = LEAST_FIRST.includes(key) ? [key, `-${key}`] : [`-${key}`, key];
    button.addEventListener("click", () => {
      const next = state.wanted.order === best ? worst : best;
      setting.write({ order: next === index.FASTEST ? null : next });
    });
    return button;
  }

  /** A field for the words that are searched for. */
  const searching = (input, key) => setting.bound(input, () => {
    const typed = setting.read().get(key) ?? "";
    if (input.value.trim() !== typed) input.value = typed;
  }, () => setting.write({ [key]: input.value.trim() || null }, { replace: true }), "input");

  /** The controls of the devices. */
  function finder() {
    const workload = compare.workloads(data, base);
    const reference = setting.choice({ key: "reference", label: "Compared with", usual: ids[data.base],
      options: all.devices.map(({ run, name }) => [ids[run], name]) });
    const name = setting.labelled("Name", searching(element("input", { type: "search" }), "name"));
    const box = setting.box(`Published figures of ${units.counted(all.published.length, "other device")}`, () => !asked().hidden,
      (shown) => setting.write({ elsewhere: shown ? null : "hidden" }));
    get("finder").append(workload, ...[MEMORY, BUDGET].map(setting.field), name, reference, box);
  }

  tabs.forEach((link) => turning(link, Object.keys(VIEWS).find((view) => link.hash === `#${VIEWS[view]}`)));
  turning(get("to-comparison"), "compare");
  get("clear-basket").addEventListener("click", () => setting.write({ run: null, published: null }));
  for (const id of ["more", "more-devices", "more-published"]) get(id).addEventListener("click", () => limit(state.limit + CHUNK));
  controls.addEventListener("submit", (event) => event.preventDefault());
  searching(controls.elements.q, "q");
  const box = controls.elements.all;
  setting.bound(box, () => { box.checked = setting.read().has("all"); }, () => setting.write({ all: box.checked ? "1" : null }));
  // Paper has all rows, with those that are folded away.
  addEventListener("beforeprint", () => limit(Infinity));
  addEventListener("afterprint", () => limit(CHUNK));
  addEventListener("hashchange", apply);
  setting.keep();
  finder();
  apply();
})();
