// SPDX-License-Identifier: MIT
"use strict";
/** Grids of words and numbers: which models fit, and the speed in each exercise. */
const purchaseGrids = (() => {
  const { element } = drawing;
  const { figure } = purchaseRanks;
  const GB = 1e9;
  const FREE = 2 * GB;
  const TIGHT = 4 * GB;
  /** Parameters in billions, and bits for each: int4 with a scale of 16 bits for every 32 weights. */
  const MODELS = [["8 B, int4", 8, 4.5], ["8 B, bf16", 8, 16], ["32 B, int4", 32, 4.5], ["14 B, bf16", 14, 16], ["70 B, int4", 70, 4.5], ["70 B, bf16", 70, 16]];
  const STEPS = [1.5, 1.15];

  const scroll = (label, inside) => element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, inside);
  const head = (text, below) => element("th", { scope: "col" }, text, ...(below ? [element("small", {}, below)] : []));

  /** Whether a model's weights fit, in a word and by how much. */
  function fit(memory, needed) {
    const left = memory - FREE - needed;
    const [kind, word] = left < 0 ? ["nofit", "no"] : left < TIGHT ? ["tight", "tight"] : ["fit", "fits"];
    const note = `${units.value(Math.abs(left), "B")} ${left < 0 ? "short" : "left"}`;
    return element("td", { class: kind }, word, element("span", { class: "note" }, note));
  }

  const needed = MODELS.map(([name, billions, bits]) => [name, (billions * 1e9 * bits) / 8]);
  const MOST = Math.max(...needed.map(([, bytes]) => bytes));

  /** Machines by their capacity. */
  function byCapacity(rows) {
    const found = new Map();
    rows.forEach((row) => found.set(row.machine.memory_bytes, [...found.get(row.machine.memory_bytes) ?? [], row]));
    return [...found].map(([memory, its]) => [purchaseView.listed(its.map(({ name }) => name)), memory]);
  }

  /** Model sizes by machine, from their capacity; machines on which all of them fit stand in the title alone. */
  function fits(view) {
    const rows = view.rows.filter(({ machine }) => machine.memory_bytes);
    if (rows.length === 0) return [element("p", { class: "note" }, "No capacity is known, so what fits is unknown.")];
    const subtitle = "Weights against capacity, 2 GB kept free; the cache of a long context takes more. int4: 4.5 bits a weight, with its scales.";
    const all = rows.filter(({ machine }) => machine.memory_bytes - FREE - MOST >= TIGHT);
    const rest = rows.filter((row) => !all.includes(row));
    const every = all.length ? `All ${MODELS.length} models, up to ${MODELS.at(-1)[0]} (${units.value(MOST, "B")}), fit on ${purchaseView.listed(all.map(({ name }) => name))}` : "";
    if (rest.length === 0) return [figure("fits", every, subtitle)];
    return [figure("fits", every || largest(rows), subtitle, grid(byCapacity(rest)))];
  }

  /** Which machines hold the largest model that any of them holds. */
  function largest(rows) {
    const most = Math.max(...rows.map(({ machine }) => machine.memory_bytes));
    const model = needed.filter(([, bytes]) => bytes + FREE <= most).at(-1);
    if (!model) return "None of these models fits";
    const holding = rows.filter(({ machine }) => machine.memory_bytes - FREE >= model[1]);
    const only = holding.length === 1 && rows.length > 1 ? "Only " : "";
    return `${only}${purchaseView.listed(holding.map(({ name }) => name))} ${holding.length > 1 ? "hold" : "holds"} ${model[0]}`;
  }

  /** Models by capacities. */
  function grid(capacities) {
    const body = needed.map(([name, bytes]) => element("tr", {},
      element("th", { scope: "row" }, name, element("span", { class: "note" }, units.value(bytes, "B"))),
      ...capacities.map(([, memory]) => fit(memory, bytes))));
    return scroll("Models that fit", element("table", { class: "grid-table" },
      element("thead", {}, element("tr", {}, head("Model"), ...capacities.map(([names, memory]) => head(names, units.value(memory, "B"))))),
      element("tbody", {}, ...body)));
  }

  /** How a ratio is coloured: by its size, hatched where it is not conclusive. */
  function shade({ value, low, high }) {
    if (low === null || (low <= 1 && high >= 1)) return "hatch";
    const size = Math.max(value, 1 / value);
    return `${value > 1 ? "u" : "d"}${size >= STEPS[0] ? 3 : size >= STEPS[1] ? 2 : 1}`;
  }

  /** A speed, hatched where it is not conclusive. */
  function cell(speed) {
    if (speed === null) return element("td", { class: "none" }, "not measured");
    const ratio = economics.ratio(speed);
    const kind = shade(ratio);
    return element("td", { class: kind }, element("span", {}, units.parts(ratio, "×")[0]),
      ...(kind === "hatch" ? [" ", element("small", {}, "not conclusive")] : []));
  }

  const COLOURS = "Blue: faster. Orange: slower. Hatched: not conclusive.";

  /** In how many of some things the faster one of a machine and the reference is conclusively faster, in a sentence. */
  function wins(speeds, what, row, reference) {
    const slower = row.speed !== null && row.speed.log < 0;
    const found = slower ? speeds.map((speed) => speed && { ...speed, log: -speed.log }) : speeds;
    const [one, other] = slower ? [reference, row] : [row, reference];
    return `${one.name} is faster than ${other.name} in ${found.filter((speed) => economics.isAbove(speed)).length} of ${units.counted(speeds.length, what)}`;
  }

  /** Which machines a grid leaves out, and why. */
  function missing(view, shown) {
    const left = view.rows.filter((row) => row !== view.reference && !shown.includes(row));
    return left.length ? [element("p", { class: "note" }, `Not shown: ${purchaseView.listed(left.map((row) => `${row.name} (${purchaseTables.without(row)})`))}.`)] : [];
  }

  /** The speed of each machine in each exercise, beside the reference. */
  function heat(view) {
    const { comparison, reference } = view;
    const exercises = comparison.exercises.filter(({ weight }) => weight > 0);
    const others = view.rows.filter((row) => row !== reference && exercises.some(({ name }) => Object.hasOwn(row.machine.logs, name)));
    if (exercises.length === 0 || others.length === 0) return [element("h2", { id: "exercises-title" }, "By exercise"), element("p", { class: "absent" }, "No exercise can be compared.")];
    const [first] = others;
    const of = ({ machine }, { name }) => economics.single(comparison, machine, name);
    const title = wins(exercises.map((one) => of(first, one)), "exercise", first, reference);
    const body = exercises.map((one) => element("tr", {}, element("th", { scope: "row" }, one.title), ...others.map((row) => cell(of(row, one)))));
    const caption = `Speed, × ${reference.name}, over all cases of an exercise, small and large: not what the score is made of. ${COLOURS}`;
    return [element("h2", { id: "exercises-title" }, title), scroll("Speed by exercise", element("table", { class: "grid-table heat" },
      element("caption", {}, caption), element("thead", {}, element("tr", {}, head("Exercise"), ...others.map(({ name }) => head(name)))),
      element("tbody", {}, ...body))), ...missing(view, others)];
  }

  /** What the score of the workload is made of: its parts with their weights, and how fast each machine is in them. */
  function weighs(view) {
    const { comparison, settings, reference } = view;
    const parts = comparison.parts.filter(({ name }) => settings.weights[name] > 0);
    const headed = (text, ...inside) => [element("h2", { id: "score-title" }, text), ...inside];
    if (parts.length === 0) return headed("What the score is made of", element("p", {}, `${reference.name} measured no case of this workload.`));
    const others = view.rows.filter((row) => row !== reference && row.speed !== null);
    const of = ({ machine }, { name }) => economics.speed(comparison.parts, machine.parts, Object.hasOwn(machine.parts.logs, name) ? { [name]: 1 } : {});
    const title = others.length ? wins(parts.map((part) => of(others[0], part)), "part", others[0], reference) : "The score";
    const lacking = others.some((row) => parts.some((part) => of(row, part) === null))
      ? " Where a part was not measured, the weights of the others grow in proportion." : "";
    const caption = `Score ${purchaseView.under(view)}, × ${reference.name}: multiply the speeds of the parts, each to the power of its weight.${lacking} ${COLOURS}`;
    return headed(others.length ? `${title} of the score` : title,
      scroll("What the score is made of", element("table", { class: "grid-table heat score" }, element("caption", {}, caption),
        element("thead", {}, element("tr", {}, head("Part"), head("Weight"), head("Cases"), ...others.map(({ name }) => head(name)))),
        element("tbody", {}, ...weighed(parts, settings.weights, (part) => others.map((row) => cell(of(row, part))))),
        element("tfoot", {}, scores(parts, others)))), ...missing(view, others));
  }

  /** A row for each part: its weight, its cases, and cells of machines. */
  function weighed(parts, weights, cells) {
    const all = parts.reduce((sum, { name }) => sum + weights[name], 0);
    return parts.map((part) => element("tr", {}, element("th", { scope: "row" }, part.title),
      element("td", {}, `${units.value((100 * weights[part.name]) / all, "")}%`), element("td", {}, String(part.total)), ...cells(part)));
  }

  /** What the rows above come to. */
  const scores = (parts, others) => element("tr", {},
    element("th", { scope: "row" }, element("strong", {}, "Score")), element("td", {}, "100%"),
    element("td", {}, String(parts.reduce((sum, { total }) => sum + total, 0))), ...others.map(({ speed }) => cell(speed)));

  return { fits, heat, weighs };
})();
