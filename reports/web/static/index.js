// SPDX-License-Identifier: MIT
"use strict";
/**
 * The index: what the reader asks of it lives in the address's fragment and nowhere else
 * (#view=runs&q=h200&workload=decode&run=...), and each change draws what it asks for.
 */
(() => {
  const table = document.getElementById("runs");
  if (!table) return;
  const CHUNK = 25;
  const VIEWS = { devices: "devices", runs: "by-date", compare: "comparison" };
  const get = (id) => document.getElementById(id);
  const { element } = drawing;
  const data = JSON.parse(get("data").textContent);
  const read = rows.read(table, data);
  const places = new Map(read.ids.map((id, place) => [id, place]));
  const reader = ratios.reader(data);
  const all = indexDevices.read(data);
  const MEMORY = { key: "memory", label: "Capacity, GB, at least", least: 0, most: 1e6, usual: null, clears: true, placeholder: "any" };
  const BUDGET = { key: "budget", label: `Price, at most (${all.currency})`, least: 0, most: 1e12, usual: null, clears: true,
    placeholder: "any", currency: all.currency };
  const state = { limit: CHUNK, asked: "", drawn: "", laid: null };
  const runs = indexRuns.of(table, data, reader, read, say);

  /** Say something else in the fragment; what is null or usual is left out. */
  function say(changes, replace = false) {
    const params = setting.read();
    for (const [key, value] of Object.entries(changes)) {
      params.delete(key);
      for (const one of [value ?? []].flat()) if (one !== "") params.append(key, one);
    }
    history[replace ? "replaceState" : "pushState"](null, "", `#${params}`);
    apply();
  }

  /** What the fragment asks for; what names no run or nothing to choose is passed over. */
  function asked() {
    const params = setting.read();
    const place = (id) => places.get(id) ?? null;
    const picked = [...new Set(params.getAll("run").map(place).filter((one) => one !== null))];
    const reference = place(params.get("reference"));
    const vendor = all.vendors.includes(params.get("vendor")) ? params.get("vendor") : "";
    return {
      ...runs.asked(params), reference, picked, vendor,
      view: Object.hasOwn(VIEWS, params.get("view")) ? params.get("view") : "devices",
      workload: indexDevices.workloadOf(data, reader.against(reference ?? data.base), params.get("workload")),
      name: params.get("name")?.trim() ?? "", memory: setting.number(params, MEMORY), budget: setting.number(params, BUDGET),
    };
  }

  /** Take a run into the comparison, or out of it. */
  function pick(i, taken) {
    const others = asked().picked.filter((one) => one !== i);
    say({ run: (taken ? [...others, i] : others).map((one) => read.ids[one]) });
  }

  /** The control that takes a device into the comparison. */
  function picker({ run, name }) {
    const box = element("input", { type: "checkbox", "aria-label": `Compare ${name}`, "data-place": run });
    box.addEventListener("change", () => pick(run, box.checked));
    return element("label", { class: "check" }, box, element("span", {}, "Compare"));
  }

  /** Draw the devices that are asked for, unless they are there. */
  function devices(wanted) {
    const { reference, workload, name, memory, budget, vendor, picked } = wanted;
    const key = JSON.stringify([reference, workload.name, name, memory, budget, vendor, state.limit]);
    if (state.drawn !== key) {
      state.drawn = key;
      const shown = indexDevices.view(data, reader, all, { reference, workload: workload.name, name, memory, budget, vendor });
      get("devices-table").replaceChildren(indexDevices.table(shown, (run) => read.addresses[run], picker, state.limit));
      get("lead").textContent = indexDevices.lead(shown);
      tell(shown, Math.min(state.limit, shown.rows.length));
    }
    get("devices-table").querySelectorAll("input").forEach((box) => { box.checked = picked.includes(Number(box.dataset.place)); });
  }

  /** Say how many devices there are. */
  function tell({ rows: found, unpriced }, seen) {
    const count = units.counted(found.length, "device");
    const text = found.length === 0 ? "No device is like that." : `${count}${seen < found.length ? `, the first ${seen} of them shown` : ""}.`;
    const left = unpriced ? ` ${units.counted(unpriced, "device")} without a known price left out.` : "";
    if (get("devices-status").textContent !== text + left) get("devices-status").textContent = text + left;
    get("more-devices").hidden = seen === found.length;
  }

  /** What else a comparison says of a run. */
  function describe(i, reference) {
    const [device] = data.devices.values[data.devices.of[i]];
    const [count, watts, watts_source, memory_bytes] = data.hardware.values[data.hardware.of[i]];
    const [price, currency, price_date, price_kind, price_source] =
      data.prices.values[data.prices.of[i]] ?? Array(5).fill(null);
    const lent = data.rents.values[data.rents.of[i]];
    const [rent, rent_currency, date, kind, source] = lent ?? [];
    const axes = indexDevices.axesOf(data, i);
    return {
      run: read.ids[i], title: read.texts.machine[i], href: read.addresses[i],
      device, count, watts, watts_source, memory_bytes,
      price, currency, price_date, price_kind, price_source,
      rent: lent ? { price: rent, currency: rent_currency, date, kind, source } : null, measured: data.measured[i],
      rates: [], axes: axes.filter(({ name }) => name !== "load"), load: axes.find(({ name }) => name === "load") ?? null,
      invalid: data.invalid[i] ?? "", doubts: [],
      energy: null, missing: [], differs: rows.differs(data, reference, i),
    };
  }

  /** Runs beside the first of them, and the scores of all beside each other. */
  const beside = ([first, ...others]) => [
    ratios.comparison(data, reader, [first, ...others], describe),
    ...others.map((one) => ratios.scores(data, reader, [one, first, ...others.filter((run) => run !== one)], (run) => read.ids[run]))];

  /** Draw the runs that were picked side by side, the reference first if it is among them. */
  function compare({ view, picked, reference }) {
    const isReference = (run) => run === (reference ?? data.base);
    const order = [...picked.filter(isReference), ...picked.filter((run) => !isReference(run))];
    get("one-more").hidden = picked.length > 1;
    get("laid").hidden = picked.length < 2;
    if (view !== "compare" || picked.length < 2) return;
    const key = order.join();
    if (state.laid?.key !== key) state.laid = { key, held: beside(order) };
    purchase.show(get("laid"), state.laid.held, state.laid.held.slice(0, 1));
  }

  /** Say what was picked, where it is not shown. */
  function basket({ view, picked }) {
    get("basket").hidden = picked.length === 0 || view === "compare";
    const names = picked.map((run) => data.devices.values[data.devices.of[run]][0]);
    get("basket-names").textContent = `${picked.length} picked: ${names.join(", ")}`;
    get("to-comparison").textContent = picked.length > 1 ? `Compare ${picked.length}` : "Compare: pick one more";
  }

  /** Show one of the views. */
  function turn({ view }) {
    document.body.dataset.view = view;
    for (const link of document.querySelectorAll(".tabs a")) {
      if (link.hash === `#${VIEWS[view]}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** Draw what the fragment asks for. */
  function apply() {
    const wanted = asked();
    const now = JSON.stringify(wanted);
    if (state.asked !== now) {
      const isNew = state.asked !== "";
      state.asked = now;
      if (isNew) state.limit = CHUNK;
      turn(wanted);
      runs.update({ ...wanted, pick }, setting.read().get("q") ?? "", isNew);
      devices(wanted);
      basket(wanted);
      setting.refresh(get("finder"));
    }
    compare(wanted);
  }

  /** The controls of the devices. */
  function finder() {
    const held = reader.against(data.base);
    const workload = setting.buttons({ key: "workload", label: "Workload", usual: indexDevices.workloadOf(data, held, null).name,
      options: data.workloads.map(({ name, title }) => [name, title]) });
    const vendor = setting.choice({ key: "vendor", label: "Vendor", usual: "", options: [["", "all"], ...all.vendors.map((one) => [one, one])] });
    const reference = setting.choice({ key: "reference", label: "Compared with", usual: read.ids[data.base],
      options: all.devices.map(({ run, name }) => [read.ids[run], name]) });
    const name = element("input", { type: "search", id: "name" });
    name.addEventListener("input", () => say({ name: name.value.trim() }, true));
    name.addEventListener("setting", () => {
      const typed = setting.read().get("name") ?? "";
      if (name.value.trim() !== typed) name.value = typed;
    });
    const labelled = element("div", { class: "field" }, element("label", { for: "name" }, "Name"), name);
    get("finder").append(workload, ...[MEMORY, BUDGET].map(setting.field), vendor, labelled, reference);
  }

  /** Let a link turn to a view, and leave in the address what was set. */
  function turning(link, view) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      say({ view: view === "devices" ? null : view });
      if (view === "compare") get("comparison-title").focus();
    });
  }

  for (const link of document.querySelectorAll(".tabs a")) {
    turning(link, Object.keys(VIEWS).find((view) => link.hash === `#${VIEWS[view]}`));
  }
  turning(get("to-comparison"), "compare");
  get("clear-basket").addEventListener("click", () => say({ run: null }));
  get("more-devices").addEventListener("click", () => {
    state.limit += CHUNK;
    devices(asked());
  });
  // Paper has all rows, with those that are folded away.
  for (const [moment, every] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(moment, () => {
      state.limit = every ? Infinity : CHUNK;
      devices(asked());
      runs.every(every);
    });
  }
  addEventListener("hashchange", apply);
  setting.keep();
  finder();
  apply();
  for (const i of read.nodes.keys()) requestIdleCallback(() => reader.times(i));
})();
