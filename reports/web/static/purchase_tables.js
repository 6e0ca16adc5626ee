// SPDX-License-Identifier: MIT
"use strict";
/** Machines side by side in tables. */
const purchaseTables = (() => {
  const { element, shape } = drawing;
  const YEAR = 365.25 * 24 * 60 * 60 * 1000;
  /** Of a bar, which is narrower than a chart. */
  const MOST_TICKS = 4;

  /** A machine's mark and name, with a link to its run. */
  function name(row) {
    const { href } = row.machine;
    const called = href ? element("a", { href }, row.name) : row.name;
    const note = [" ", element("span", { class: "reference" }, "(the reference)")];
    const mark = element("span", { class: "letter" }, row.letter);
    return [mark, " ", called, ...(row.isReference ? note : [])];
  }

  /** A number with its interval, or why there is none. */
  function number(estimate, unit, absent = "not known") {
    if (estimate === null) return [element("span", { class: "absent" }, absent)];
    const [value, interval] = units.parts(estimate, unit);
    const around = [" ", element("span", { class: "interval" }, interval)];
    return [element("span", { class: "value" }, value), ...(interval ? around : [])];
  }

  /** Links to what to doubt of a machine's run. */
  const marks = ({ machine: { href, invalid, doubts } }) =>
    [...(invalid ? [["mark bad", "invalid run"]] : []), ...doubts.map((text) => ["mark", text])]
      .flatMap(([kind, text]) => [" ", element("a", { class: kind, href: `${href}#doubts` }, text)]);

  /** Why a machine has no number beside the reference. */
  const without = ({ machine: { invalid } }) => (invalid ? "invalid run" : "no common case");

  /** What the letters in a chart stand for, where it has no room for names. */
  const legend = (rows) => element("p", { class: "legend" }, ...rows.flatMap((row, i) => [
    ...(i ? [" "] : []), element("span", {}, element("span", { class: "letter" }, row.letter), ` ${row.name}`)]));

  /** A number that has no interval by nature. */
  const plain = (value, unit) =>
    number(value === null ? null : { value, low: null, high: null }, unit);

  /** A line in percent across and in pixels down. */
  const line = (kind, x1, x2, y1, y2) =>
    shape("line", { class: kind, x1: `${x1}%`, x2: `${x2}%`, y1, y2 });

  /** The numbers of the axis that the bars below share. */
  function ruler(axis) {
    const texts = axis.ticks(MOST_TICKS).map(([at, text]) => shape("text", { x: `${at}%`, y: 12 }, `${text}×`));
    const drawn = shape("svg", { class: "ruler", "aria-hidden": "true" }, ...texts);
    return element("div", { class: "measured" }, drawn, element("span", { class: "number" }));
  }

  /** A bar from 1 to a ratio, and over it the ratio's interval. */
  function bar(axis, estimate) {
    const one = axis.at(1);
    const marks = axis.ticks(MOST_TICKS).map(([at]) => line("grid", at, at, 0, 24));
    marks.push(line("one", one, one, 0, 24));
    if (estimate !== null) {
      const end = axis.at(estimate.value);
      const x = `${Math.min(one, end)}%`;
      const width = `${drawing.round(Math.abs(end - one))}%`;
      marks.push(shape("rect", { class: "length", x, width, y: 6, height: 12 }));
      if (estimate.low !== null) marks.push(...whisker(axis.at(estimate.low), axis.at(estimate.high)));
    }
    return shape("svg", { class: "bar", "aria-hidden": "true" }, ...marks);
  }

  /** An interval with its ends, and around it what keeps it apart from the bar. */
  const whisker = (low, high) =>
    ["halo", "whisker"].flatMap((kind) => [
      line(kind, low, high, 12, 12),
      line(kind, low, low, 7, 17),
      line(kind, high, high, 7, 17),
    ]);

  /** A ratio as a bar and in digits. */
  const measured = (axis, estimate, row) =>
    element("div", { class: "measured" }, bar(axis, estimate),
      element("span", { class: "number" }, ...number(estimate, "×", without(row))));

  /** An axis with 1 on it and all ends of intervals. */
  function ratios(estimates) {
    const known = estimates.filter((one) => one !== null);
    const ends = known.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
    return drawing.spanning([1, ...ends]);
  }

  /** A table in a region that the keyboard scrolls where it is too wide. */
  function table(caption, heads, rows, key) {
    const head = heads.map((inside) => element("th", { scope: "col" }, ...inside));
    const body = rows.map(([first, ...cells]) =>
      element("tr", {}, element("th", { scope: "row" }, ...first),
        ...cells.map((inside) => element("td", {}, ...inside))));
    return element("div", { class: "scroll", role: "region", "aria-labelledby": key, tabindex: 0 },
      element("table", {}, element("caption", { id: key }, caption),
        element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
  }

  /** What a chart shows, folded away beneath it. */
  const folded = (inside) => element("details", {}, element("summary", {}, "The same as a table"), inside);

  /** The exercise with the highest (lowest) ratio. */
  function extreme(view, row, way) {
    const singles = purchaseView.singles(view, row);
    if (row.isReference || singles.length === 0) return ["-"];
    const [exercise, ratio] = singles.reduce((best, one) =>
      (one[1].value - best[1].value) * way > 0 ? one : best);
    return [`${exercise.title}: `, ...number(ratio, "×")];
  }

  /** "2", or "2 to 3" where it may be either. */
  const ranks = (row) =>
    row.ranks === null ? "-" : [...new Set(row.ranks)].join(" to ");

  /** "9 of 11", and what would be if the rest were like the worst and like the best of it. */
  function counted(part, whole, worst, best) {
    if (part >= whole || worst === null || best === null) return [`${part} of ${whole}`];
    const [low, high] = units.alike([worst, best], "×");
    if (low === high) return [`${part} of ${whole}`]; // a single ratio is the worst and the best of them
    const note = `${low} to ${high} if the missing were like the worst or the best`;
    return [`${part} of ${whole} `, element("span", { class: "what-if" }, note)];
  }

  /** Machines in order of their speed. */
  function speed(view) {
    const axis = ratios(view.ranked.map(({ ratio }) => ratio));
    const heads = [["Machine"], ["Place"], [`Times as fast as ${view.reference.name}`, ruler(axis)],
      ["Cases"], ["Highest exercise"], ["Lowest exercise"]];
    const rows = view.rows.map((row) => [
      name(row),
      [ranks(row)],
      [row.isReference && row.speed ? "1×" : measured(axis, row.ratio, row)],
      [`${row.score.cases} of ${row.score.every}`],
      extreme(view, row, 1),
      extreme(view, row, -1),
    ]);
    const caption = `Speed ${purchaseView.under(view)}: weighted geometric mean [95% interval]`;
    return table(caption, heads, rows, "table-speed");
  }

  /** The machines' ratios in one exercise. */
  const inAll = ({ comparison, rows }, { name: exercise }) =>
    rows.map(({ machine }) => {
      const one = economics.single(comparison, machine, exercise);
      return one && economics.ratio(one);
    });

  /** One exercise: all machines, their ratios, and on how many cases those rest. */
  function panel(view, exercise) {
    const found = inAll(view, exercise);
    const axis = ratios(view.comparison.exercises.flatMap((one) => inAll(view, one)));
    const heads = [["Machine"], [`Times as fast as ${view.reference.name}`, ruler(axis)], ["Cases"]];
    const exp = (log) => (log === null ? null : Math.exp(log));
    const rows = view.rows.map((row, place) => {
      const { counts, worst, best } = row.machine;
      return [
        name(row),
        [row.isReference ? "1×" : measured(axis, found[place], row)],
        counted(counts[exercise.name], exercise.total, exp(worst[exercise.name]), exp(best[exercise.name])),
      ];
    });
    const key = `table-${view.comparison.exercises.indexOf(exercise)}`;
    return table(element("h3", {}, exercise.title), heads, rows, key);
  }

  /** How many whole years old a price was when the machine was measured. */
  const yearsOld = (date, measured) => Math.floor((Date.parse(measured) - Date.parse(date)) / YEAR);

  /** A price's date, and how old it was when the machine was measured, from a year on. */
  function dated(date, measured) {
    const years = yearsOld(date, measured);
    return years > 0 ? `${date} (${units.counted(years, "year")} before this run)` : date;
  }

  /** Where a price is from: the reader, and whoever else told one; and what renting costs. */
  function price({ settings }, { machine: { run, price: told, currency, price_kind, price_date, price_source, rent, measured } }) {
    const known = told === null ? "not known"
      : `${units.value(told, currency)}: ${price_kind}, ${dated(price_date, measured)}, says ${price_source}`;
    const rented = rent
      ? [`${units.value(rent.price, rent.currency)} an hour: ${rent.kind}, ${dated(rent.date, measured)}, says ${rent.source}`] : [];
    if (!Object.hasOwn(settings.prices, run)) return [known, ...rented];
    const own = settings.prices[run];
    return [`${own === null ? "not known" : units.value(own, settings.currency)}, as you set it`, `else ${known}`, ...rented];
  }

  /** Where numbers of a machine are from, and what else is not alike. */
  function notes(view, row) {
    const { machine } = row;
    const facts = [["Run", [machine.run]], ["Price", price(view, row)]];
    if (machine.watts !== null) facts.push(["May draw", [`${units.value(machine.watts, "W")}, by its ${machine.watts_source}`]]);
    if (!row.isReference) {
      facts.push(["Differs from the reference beyond the devices", machine.differs.length ? machine.differs : ["nothing that is known"]]);
    }
    if (machine.missing.length) facts.push(["Cases of the reference without a ratio", machine.missing]);
    const texts = (lines) => lines.map((text) => element("dd", {}, text));
    const rows = facts.map(([title, lines]) => element("div", {}, element("dt", {}, title), ...texts(lines)));
    return element("div", {}, element("h3", {}, ...name(row)), element("dl", { class: "facts" }, ...rows));
  }

  return { notes, marks, without, legend, name, number, plain, line, table, folded, speed, panel, yearsOld };
})();
