// SPDX-License-Identifier: MIT
"use strict";
/**
 * The devices of the index, a row each, by their scores. The build draws the same table without a browser.
 *
 * @typedef {{run: number, others: number[], runs: number, name: string, vendor: string, axes: Object<string, Amount>,
 *   precision: string, memory: ?number, watts: ?Amount, limit: boolean, price: ?number, currency: ?string, date: ?string}} Device
 *   Amounts are of one device. `run` is the place of its newest run that counts, `others` are those of the newest
 *   runs of its other specimens.
 * @typedef {{reference: ?number, workload: ?string, name: string, memory: ?number, budget: ?number, vendor: string}} Asked
 */
const indexDevices = (() => {
  const { element, shape } = drawing;
  const VENDORS = { CUDA: "NVIDIA", ROCm: "AMD", XPU: "Intel", MPS: "Apple" };
  const GB = 1e9, PER = 1000, MOST_DOTS = 6, TICKS = 5;
  const { QUANTILE } = ratios;
  /** Devices that are compared one by one with the first, at most, and names in a sentence. */
  const MOST_NEAR = 20, MOST_NAMES = 3;
  const MOST_LETTERS = 120;
  const brief = (name) => (name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}\u2026` : name);
  const exact = (value) => (value === null ? null : { value, low: null, high: null });

  /** A run's axes, of compute the leading precision first. */
  const axesOf = (data, run) => data.axes[run].map(([kind, value]) => {
    const [name, precision, unit] = data.axis_kinds[kind];
    return { name, precision, unit, ...exact(value) };
  });

  /** @returns {Device} */
  function device(data, [run, others, runs]) {
    const [name, , backend] = data.devices.values[data.devices.of[run]];
    const [count, watts, , memory] = data.hardware.values[data.hardware.of[run]];
    const [price = null, currency = null, date = null] = data.prices.values[data.prices.of[run]] ?? [];
    const axes = Object.fromEntries(axesOf(data, run).reverse().map((axis) => [axis.name, axis]));
    return {
      run, others, runs, name: brief(name), vendor: VENDORS[backend] ?? backend, axes, precision: axes.compute?.precision ?? "",
      memory: memory && memory / count, watts: axes.load ?? exact(watts && watts / count), limit: !axes.load,
      price: price === null ? null : price / count, currency, date, invalid: data.invalid[run] ?? "", doubt: data.doubts[run] ?? "",
    };
  }

  /** All devices, with the currency of most prices. */
  function read(data) {
    const devices = data.groups.map((group) => device(data, group));
    const counts = new Map();
    devices.forEach(({ currency }) => currency && counts.set(currency, (counts.get(currency) ?? 0) + 1));
    const currency = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "USD";
    return { devices, currency, vendors: [...new Set(devices.map(({ vendor }) => vendor))].sort() };
  }

  /** The workload that is asked for, or the first of which the reference measured a case. */
  function workloadOf(data, held, asked) {
    const measured = ({ name }) => held.parts.some(({ weights }) => Object.hasOwn(weights, name));
    return data.workloads.find(({ name }) => name === asked) ?? data.workloads.find(measured) ?? data.workloads[0];
  }

  /** Why a device is not what the reader asked for, or "". */
  function out({ name, vendor, memory, price, currency }, asked, all) {
    if (asked.vendor && asked.vendor !== vendor) return "vendor";
    if (!asked.name.toLowerCase().split(/\s+/).every((word) => name.toLowerCase().includes(word))) return "name";
    if (asked.memory !== null && !(memory >= asked.memory * GB)) return "memory";
    if (asked.budget === null) return "";
    return price === null || currency !== all.currency ? "unknown price" : price > asked.budget ? "price" : "";
  }

  /**
   * The devices that were asked for, fastest first, those without a common case last.
   * @param {Asked} asked
   */
  function view(data, reader, all, asked) {
    const reference = asked.reference ?? data.base;
    const held = reader.against(reference), workload = workloadOf(data, held, asked.workload);
    const rows = [];
    let unpriced = 0;
    for (const one of all.devices) {
      const why = out(one, asked, all);
      unpriced += why === "unknown price";
      if (why) continue;
      const mean = held.mean(one.run, workload.name);
      const value = mean.count && one.price && one.currency === all.currency ? Math.exp(mean.log) / (one.price / PER) : null;
      rows.push({ ...one, mean, value });
    }
    const key = ({ mean }) => (mean.count ? mean.log : -Infinity);
    rows.sort((a, b) => (key(b) === key(a) ? a.run - b.run : key(b) - key(a)));
    const leaders = [speedOf, valueOf].map((gain) => first(reader, workload, rows, gain));
    const base = all.devices.find(({ run, others }) => run === reference || others.includes(reference));
    const called = base?.name ?? brief(data.devices.values[data.devices.of[reference]][0]);
    return { data, held, reference, called, workload, rows, unpriced, currency: all.currency, fastest: leaders[0], best: leaders[1] };
  }

  /** Rows without those of doubtful runs, unless one is alone. */
  const trusted = (rows) => rows.filter(({ doubt }) => rows.length < 2 || !doubt);

  /** Logarithms of what devices are compared by, null where it is not known: speed, and speed for the price. */
  const speedOf = ({ mean }) => (mean.count ? mean.log : null);
  const valueOf = ({ value }) => (value ? Math.log(value) : null);

  /**
   * The devices that nothing is conclusively better than, the first of them first; none of a doubtful run among others.
   * @param {function(Device): ?number} gain
   */
  function first(reader, workload, rows, gain) {
    const known = trusted(rows.filter((row) => gain(row) !== null)).sort((a, b) => gain(b) - gain(a));
    const [best, ...others] = known;
    if (!best) return [];
    const room = ({ mean }) => (Number.isNaN(mean.error) ? Infinity : QUANTILE * mean.error);
    const near = others.filter((row) => gain(row) + room(row) >= gain(best) - room(best));
    if (near.length > MOST_NEAR) return [best, ...near];
    const held = reader.against(best.run);
    const behind = (row) => {
      const { log, error, count } = held.mean(row.run, workload.name);
      const price = gain(row) - speedOf(row) - gain(best) + speedOf(best);
      return count > 0 && log + price < -QUANTILE * error;
    };
    return [best, ...near.filter((row) => !behind(row))];
  }

  /** Devices that share the first place, in words. */
  function shared(devices) {
    const names = devices.slice(0, MOST_NAMES).map(({ name }) => name).join(" or ");
    const more = devices.length - MOST_NAMES;
    return devices.length < 2 ? names : `${names}${more > 0 ? ` or ${units.counted(more, "other")}` : ""} (not conclusive)`;
  }

  const under = ({ workload }) => `under ${workload.name === "decode" ? workload.title : workload.title.toLowerCase()}`;

  /** What the list says, in a sentence or two. */
  function lead(shown) {
    const known = shown.rows.filter(({ mean }) => mean.count), [first, second] = trusted(known);
    if (!second) return "";
    const without = known.length - trusted(known).length;
    const alone = shown.fastest.length === 1;
    const times = alone ? `, ${units.value(Math.exp(first.mean.log - second.mean.log), "×")} ${second.name}` : "";
    const value = shown.best.length ? ` Most speed for its price: ${shared(shown.best)}.` : "";
    const left = without ? ` Left out: ${units.counted(without, "device")} whose run is doubtful.` : "";
    return `Fastest ${under(shown)}: ${shared(shown.fastest)}${times}.${value}${left}`;
  }

  /** The axis of all bars: from zero to the largest, in percent. */
  function axis(rows) {
    const most = Math.max(0, ...rows.map(({ mean }) => (mean.count ? Math.exp(mean.log) : 0))) * 1.04 || 1;
    const rough = most / TICKS, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough);
    const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
    return { at: (value) => drawing.round((100 * value) / most), ticks };
  }

  /** The numbers of the axis. */
  const ruler = ({ at, ticks }) => shape("svg", { class: "ruler", "aria-hidden": "true" },
    ...ticks.map((tick) => shape("text", { x: `${at(tick)}%`, y: 12 }, tick ? units.value(tick, "×") : "0")));

  /** A score as a bar from zero, with dots for other specimens. */
  function speed({ held, workload, reference }, { at }, { run, others, mean, invalid, doubt }) {
    if (invalid) return [element("span", { class: "absent" }, "invalid run, not ranked"), element("small", {}, invalid)];
    if (!mean.count) return [element("span", { class: "absent" }, "no common case")];
    const logs = others.map((one) => held.mean(one, workload.name)).filter(({ count }) => count).map(({ log }) => Math.exp(log));
    const [value, interval] = run === reference ? ["1×", ""] : units.parts(ratios.estimate(mean), "×");
    const values = [...logs, Math.exp(mean.log)];
    const range = logs.length ? `${units.alike([Math.min(...values), Math.max(...values)], "").join(" to ")}×` : run === reference ? "baseline" : interval;
    const dots = logs.slice(0, MOST_DOTS).map((one) => shape("circle", { class: "spec", cx: `${at(one)}%`, cy: 17, r: 3 }));
    return [element("div", {}, element("strong", {}, value),
      shape("svg", { class: "score", "aria-hidden": "true" },
        shape("rect", { class: "f1", width: `${at(Math.exp(mean.log))}%`, y: 2, height: 9 }), ...dots),
      ...(range ? [element("small", {}, range)] : []),
      ...(doubt ? [element("span", { class: "mark" }, doubt)] : []))];
  }

  /** What stands in the other columns: title, unit, amount, and a note. */
  const columns = ({ currency }) => [
    ["Compute", "FLOP/s", ({ axes }) => axes.compute ?? null, ({ precision }) => precision],
    ["Memory", "B/s", ({ axes }) => axes.memory ?? null, () => ""],
    ["Capacity", "GB", ({ memory }) => exact(memory && memory / GB), () => ""],
    ["Power", "W", ({ watts }) => watts, ({ limit }) => (limit ? "limit" : "load")],
    ["Price", currency, ({ price, currency: its }) => exact(its === currency ? price : null), ({ date }) => date?.slice(0, 7) ?? ""],
    ["Value", `× per ${units.value(PER, "")} ${currency}`, ({ value }) => exact(value), () => ""],
  ].map(([title, unit, of, note]) => ({ title, unit, of, note }));

  /** A column with its unit, and of values the one that is conclusively the best. */
  function fitted(column, { rows, best }) {
    const values = rows.map((row) => column.of(row)?.value ?? 0), most = Math.max(0, ...values);
    const [factor, symbol] = ["FLOP/s", "B/s"].includes(column.unit) && most ? units.axis(most, column.unit) : [1, column.unit];
    return { ...column, factor, symbol, best: column.title === "Value" && best.length === 1 && rows.filter(({ value }) => value).length > 1 ? best[0] : null };
  }

  /** A cell of such a column. */
  function cell({ title, symbol, factor, best, of, note }, row) {
    const amount = of(row), label = { "data-l": `${title}, ${symbol}` };
    if (!amount) return element("td", { ...label, class: "none" }, "unknown");
    const { value } = amount, text = units.value(value / factor, "");
    const remark = note(row);
    return element("td", { ...label, class: row === best ? "best" : null }, text, ...(remark ? [element("small", {}, remark)] : []));
  }

  /**
   * The table of devices.
   * @param {function(number): string} hrefs the page of a run
   * @param {?function(Device): HTMLElement} pick makes the control that takes a device into a comparison
   */
  function table(shown, hrefs, pick, limit = Infinity) {
    const { rows, called } = shown, shared = axis(rows), used = columns(shown).map((one) => fitted(one, shown));
    const title = `Speed ${under(shown)}, × ${called}`;
    const heads = [element("th", { scope: "col", class: "pick" }, pick ? "Compare" : ""), element("th", { scope: "col" }, "Device"),
      element("th", { scope: "col", "aria-sort": "descending", class: "speed" }, title, ruler(shared)),
      ...used.map(({ title: head, symbol }) => element("th", { scope: "col" }, head, element("small", {}, symbol)))];
    const body = rows.slice(0, limit).map((row) => element("tr", {},
      element("td", { class: "pick" }, ...(pick ? [pick(row)] : [])),
      element("th", { scope: "row" }, element("a", { href: hrefs(row.run) }, row.name),
        ...(row.runs > 1 ? [element("small", {}, `${units.counted(row.runs, "run")}, ${units.counted(row.others.length + 1, "specimen")}`)] : [])),
      element("td", { class: "speed", "data-l": title }, ...speed(shown, shared, row)),
      ...used.map((column) => cell(column, row))));
    const caption = `Baseline, 1×: ${called}. Sorted by speed ${under(shown)}. A device has one run unless more are counted. Below each speed: its approximate interval or, if several machines have the device, their range, a dot for each machine.`;
    return element("div", { class: "scroll", role: "region", "aria-labelledby": "devices-caption", tabindex: 0 },
      element("table", { class: "stack devices" }, element("caption", { id: "devices-caption" }, caption),
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body)));
  }

  /** The table and its sentence before a reader asks anything, as text for the build. */
  function built(data, hrefs) {
    const asked = { reference: null, workload: null, name: "", memory: null, budget: null, vendor: "" };
    const shown = view(data, ratios.reader(data), read(data), asked);
    return { lead: lead(shown), table: String(table(shown, (run) => hrefs[run], null)) };
  }

  return { read, view, table, lead, workloadOf, axesOf, built };
})();
