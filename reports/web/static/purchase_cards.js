// SPDX-License-Identifier: MIT
"use strict";
/** The machines with all that a buyer weighs, a column each, with bars in the cells. */
const purchaseCards = (() => {
  const { element, shape } = drawing;
  const FAST = ["bfloat16", "float16", "float32"];
  const axis = (row, name) => row.machine.axes.find((one) => one.name === name) ?? null;

  /** The rate in the precision that most machines have. */
  const compute = (precision) => (row) =>
    row.machine.axes.find((one) => one.name === "compute" && one.precision === precision) ?? null;

  function precisionOf(rows) {
    const having = FAST.map((precision) => rows.filter((row) => compute(precision)(row)).length);
    return FAST[having.indexOf(Math.max(...having))];
  }

  const exact = (value) => (value === null || value === undefined ? null : { value, low: value, high: value });
  const link = (row) => axis(row, "link_to_device");
  const power = ({ machine }) => machine.load ?? exact(machine.watts);
  /** Power under load is not compared with a limit. */
  const alike = (rows) => rows.every(({ machine }) => machine.load) || rows.every(({ machine }) => !machine.load);

  /**
   * What stands in the columns: title, unit, amount, whether less is better, a note below, and where
   * intervals do not tell it which rows are the best, or whether amounts are alike.
   */
  function columns(view) {
    const { settings, reference } = view, precision = precisionOf(view.rows);
    const years = units.counted(settings.years, "year");
    const work = ({ each, speed }) => (each.price && speed ? economics.workPer(speed, each.price / 1000) : null);
    const value = purchaseVerdicts.best(view, ({ each }) => each.price || null);
    const tied = value?.near.length ? [value.first, ...value.near].map(({ place }) => place) : [];
    const first = (rows) => rows.filter((one) => rows.every((other) => other === one || view.faster(one, other)));
    return [
      { title: "Speed", unit: "×", small: `× ${reference.name}`, of: ({ ratio }) => ratio, note: interval, best: first, absent: purchaseTables.without },
      { title: "Compute", unit: "FLOP/s", small: precision, of: compute(precision) },
      { title: "Memory", unit: "B/s", of: (row) => axis(row, "memory") },
      { title: "Capacity", unit: "B", of: ({ machine }) => exact(machine.memory_bytes) },
      { title: "Overhead", unit: "s", small: "per operation, low is good", less: true, of: (row) => axis(row, "overhead") },
      { title: "Link", unit: "B/s", of: link },
      { title: "Power", unit: "W", less: true, of: power, alike,
        note: ({ machine }) => (machine.load ? "under load" : machine.watts_source ?? "") },
      { title: "Price", unit: settings.currency, less: true, of: ({ amounts }) => exact(amounts.price), note: (row) => priced(view, row) },
      { title: "Value", unit: "×", small: `× per 1,000 ${settings.currency}`, of: work, best: () => (value?.others.length && !tied.length ? [value.first] : []),
        note: ({ place }) => (tied.includes(place) ? "not conclusive" : "") },
      { title: `Cost of ${years}`, unit: settings.currency, less: true, of: ({ amounts }) => exact(amounts.ownership) },
    ];
  }

  const interval = (row) => (row.isReference ? "baseline" : row.ratio ? units.parts(row.ratio, "×")[1] : "");

  /** How old a price was on the day of the run, where it is a year or more. */
  const age = ({ measured, price_date: day }) => {
    const years = purchaseTables.yearsOld(day, measured);
    return years >= 1 ? `▲ ${units.counted(years, "year")} old` : `of ${day.slice(0, 7)}`;
  };

  /** Where a price is from: the reader, or how old it is. */
  const priced = ({ settings }, { machine }) => {
    if (Object.hasOwn(settings.prices, machine.run)) return settings.prices[machine.run] === null ? "" : "your figure";
    return machine.price === null || machine.currency !== settings.currency ? "" : age(machine);
  };

  /** A cell: the number, a bar of its share of the largest, and a note. */
  function cell(column, row, { factor, symbol, largest, best }) {
    const amount = column.of(row);
    const label = { "data-l": [column.title, symbol || column.small].filter(Boolean).join(", ") };
    if (!amount) return element("td", { ...label, class: "none" }, column.absent?.(row) ?? "unknown");
    const chosen = best.includes(row);
    const text = units.parts({ value: amount.value / factor, low: amount.low && amount.low / factor, high: amount.high && amount.high / factor }, column.unit === "×" ? "×" : "")[0];
    const width = `${drawing.round((100 * amount.value) / largest.value)}%`;
    const note = column.note?.(row) ?? "";
    return element("td", { ...label, class: chosen ? "best" : null },
      element("span", { class: "num" }, text),
      shape("svg", { class: "share", "aria-hidden": "true" }, shape("rect", { class: chosen ? "f1" : "f0", width, height: 6 })),
      ...(note ? [element("span", { class: "note" }, note)] : []));
  }

  /** The rows whose interval lies beyond those of all others; equal exact amounts share that, unless all are equal. */
  function beyond(of, less, rows) {
    const better = (one, other) => (less ? one.high !== null && one.high < other.low : one.low !== null && one.low > other.high);
    const equal = (one, other) => one.low !== null && one.low === one.high && other.low === one.low && other.high === one.low;
    return rows.filter((row) => rows.every((other) => better(of(row), of(other)) || equal(of(row), of(other)) || other === row)
      && rows.some((other) => better(of(row), of(other))));
  }

  /** What a column shares: its unit, its largest number, and its best rows, unless an amount of a machine is unknown that fits and counts. */
  function shared(column, rows) {
    const values = rows.filter((row) => column.of(row)).map((row) => column.of(row).value);
    const value = Math.max(...values, 0);
    const [factor, symbol] = column.unit === "×" || value === 0 ? [1, ""] : units.axis(value, column.unit);
    const able = rows.filter((row) => purchaseView.counts(row) && !row.out);
    const told = able.filter((row) => column.of(row));
    const known = told.length === able.length && (column.alike?.(told) ?? true);
    const best = told.length < 2 ? [] : column.best?.(told) ?? (known ? beyond(column.of, column.less, told) : []);
    return { factor, symbol, best, largest: { value, count: values.length } };
  }

  /** The names of machines that lead in the columns of the axes, for the heading. */
  function leaders(view) {
    const found = new Map();
    for (const column of columns(view).slice(1, 6)) {
      const { best } = shared(column, view.rows);
      if (best.length !== 1) continue;
      const [{ name }] = best;
      found.set(name, [...found.get(name) ?? [], column.title.toLowerCase()]);
    }
    const parts = [...found].map(([name, titles], i) => `${name}${i ? "" : " leads"} in ${purchaseView.listed(titles)}`);
    return parts.length ? parts.join("; ") : "The machines";
  }

  /** The table of all machines, fastest first. */
  function table(view) {
    const used = columns(view).map((column) => ({ column, all: shared(column, view.rows) }))
      .filter(({ all }, i) => i === 0 || all.largest.count > 0);
    const heads = used.map(({ column, all }, i) => element("th", { scope: "col", "aria-sort": i ? null : "descending" }, column.title,
      element("small", {}, [all.symbol, column.small ?? ""].filter(Boolean).join(", "))));
    const rows = view.rows.map((row) => {
      const called = row.machine.href ? element("a", { href: row.machine.href }, row.name) : row.name;
      const { invalid } = row.machine;
      const notes = [...(invalid ? [`Not ranked: ${invalid}`] : []), ...(row.out ? [row.out] : [])];
      return element("tr", { class: row.out || invalid ? "out" : null },
        element("th", { scope: "row" }, called, ...purchaseTables.marks(row), ...notes.map((text) => element("span", { class: "note" }, text))),
        ...used.map(({ column, all }) => cell(column, row, all)));
    });
    const caption = `Baseline, 1×: ${view.reference.name}. Sorted by speed. Bold and blue: conclusively the best. Bars start at zero.`;
    return element("div", { class: "scroll", role: "region", "aria-labelledby": "table-cards", tabindex: 0 },
      element("table", { class: "stack" }, element("caption", { id: "table-cards" }, caption),
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Machine"), ...heads)),
        element("tbody", {}, ...rows)));
  }

  const cards = (view) => [element("h2", { id: "cards-title" }, leaders(view)), table(view)];

  return { cards };
})();
