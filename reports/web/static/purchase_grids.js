// SPDX-License-Identifier: MIT
"use strict";
/** Grids of words and numbers: which models fit, and the speed in each exercise. */
const purchaseGrids = (() => {
  const { element } = drawing;
  const { figure } = purchaseRanks;
  const GIB = 2 ** 30;
  const FREE = 2 * GIB;
  const TIGHT = 4 * GIB;
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

  /** Model sizes by machine, from their capacity. */
  function fits(view) {
    const rows = view.rows.filter(({ machine }) => machine.memory_bytes);
    if (rows.length === 0) return [element("p", { class: "note" }, "No capacity is known, so what fits is unknown.")];
    const needed = MODELS.map(([name, billions, bits]) => [name, (billions * 1e9 * bits) / 8]);
    const most = Math.max(...rows.map(({ machine }) => machine.memory_bytes));
    const largest = needed.filter(([, bytes]) => bytes + FREE <= most).at(-1);
    const holding = largest ? rows.filter(({ machine }) => machine.memory_bytes - FREE >= largest[1]) : [];
    const only = holding.length === 1 && rows.length > 1 ? "Only " : "";
    const title = largest ? `${only}${purchaseView.listed(holding.map(({ name }) => name))} ${holding.length > 1 ? "hold" : "holds"} ${largest[0]}`
      : "None of these models fits";
    const body = needed.map(([name, bytes]) => element("tr", {},
      element("th", { scope: "row" }, name, element("span", { class: "note" }, units.value(bytes, "B"))),
      ...rows.map(({ machine }) => fit(machine.memory_bytes, bytes))));
    const subtitle = "Weights against capacity, 2 GiB kept free; the cache of a long context takes more. int4: 4.5 bits a weight, with its scales.";
    return [figure("fits", title, subtitle, scroll("What fits", element("table", { class: "grid-table" },
      element("thead", {}, element("tr", {}, head("Model"), ...rows.map(({ name, machine }) => head(name, units.value(machine.memory_bytes, "B"))))),
      element("tbody", {}, ...body))))];
  }

  /** How a ratio is coloured: by its size, hatched where it is not conclusive. */
  function shade({ value, low, high }) {
    if (low === null || (low <= 1 && high >= 1)) return "hatch";
    const size = Math.max(value, 1 / value);
    return `${value > 1 ? "u" : "d"}${size >= STEPS[0] ? 3 : size >= STEPS[1] ? 2 : 1}`;
  }

  function cell(comparison, { machine }, name) {
    const speed = economics.single(comparison, machine, name);
    if (speed === null) return element("td", { class: "none" }, "not measured");
    const ratio = economics.ratio(speed);
    const kind = shade(ratio);
    return element("td", { class: kind }, element("span", {}, units.parts(ratio, "×")[0]),
      ...(kind === "hatch" ? [" ", element("small", {}, "not conclusive")] : []));
  }

  /** How many exercises a machine is conclusively faster in. */
  const wins = (comparison, exercises, { machine }) => exercises.filter(({ name }) => economics.surely(economics.single(comparison, machine, name))).length;

  /** The speed of each machine in each exercise, beside the reference. */
  function heat(view) {
    const { comparison, reference } = view;
    const exercises = comparison.exercises.filter(({ weight }) => weight > 0);
    const others = view.rows.filter((row) => row !== reference && exercises.some(({ name }) => Object.hasOwn(row.machine.logs, name)));
    if (exercises.length === 0 || others.length === 0) return [element("h2", { id: "exercises-title" }, "By exercise"), element("p", { class: "absent" }, "No exercise can be compared.")];
    const [first] = others;
    const title = `${first.name} is faster than ${reference.name} in ${wins(comparison, exercises, first)} of ${units.counted(exercises.length, "exercise")}`;
    const body = exercises.map(({ name, title: exercise }) => element("tr", {},
      element("th", { scope: "row" }, exercise), ...others.map((row) => cell(comparison, row, name))));
    const caption = `Speed, × ${reference.name}. Blue: faster. Orange: slower. Hatched: not conclusive.`;
    return [element("h2", { id: "exercises-title" }, title), scroll("Speed by exercise", element("table", { class: "grid-table heat" },
      element("caption", {}, caption), element("thead", {}, element("tr", {}, head("Exercise"), ...others.map(({ name }) => head(name)))),
      element("tbody", {}, ...body)))];
  }

  /** What the score of the workload is made of. */
  function weighs({ comparison, said, reference }) {
    const parts = comparison.parts.filter(({ name }) => said.weights[name] > 0);
    const all = parts.reduce((sum, { name }) => sum + said.weights[name], 0);
    if (parts.length === 0) return [element("p", {}, `${reference.name} measured no case of this workload.`)];
    const rows = parts.map(({ name, title, total }) => element("tr", {}, element("th", { scope: "row" }, title),
      element("td", {}, `${units.value((100 * said.weights[name]) / all, "")}%`), element("td", {}, String(total))));
    return [element("table", {}, element("thead", {}, element("tr", {}, head("Part"), head("Weight"), head("Cases"))), element("tbody", {}, ...rows))];
  }

  return { fits, heat, weighs };
})();
