// SPDX-License-Identifier: MIT
"use strict";
/** What the numbers say, in sentences. */
const purchaseWords = (() => {
  const { listed, onCpu, under } = purchaseView;

  /** "2.10× [2.05, 2.15] as fast" reads "2.10 [2.05, 2.15] times". */
  const times = (estimate) => {
    const [value, interval] = units.parts(estimate, "");
    return `${value}${interval ? ` ${interval}` : ""} times`;
  };

  const capital = (text) => text.replace(/^./, (letter) => letter.toUpperCase());

  /** One machine beside the reference. */
  function beside(view, row) {
    const { reference } = view;
    const { name, ratio, score } = row;
    const where = row.cpuAlone ? ", on the CPU alone" : "";
    const over = `(${score.cases} of ${units.counted(score.every, "case")}${where})`;
    const than = `${times(ratio)} as fast as ${reference.name} ${over}`;
    const first = capital(under(view));
    if (ratio.low === null && units.parts(ratio, "")[0] === "1") {
      return `${first}, ${name} is about as fast as ${reference.name} ${over}; too few launches to be conclusive.`;
    }
    if (ratio.low === null) return `${first}, ${name} is ${than}, with too few launches for an interval.`;
    return view.faster(row, reference) || view.faster(reference, row)
      ? `${first}, ${name} is ${than}.`
      : `${first}, ${name} is not conclusively faster or slower than ${reference.name}: it is ${than}.`;
  }

  /** Which machine is the fastest, or which may be as fast as it. */
  function leaders({ rows, ranked, reference, faster }) {
    const [first, ...others] = ranked;
    if (others.length > 1 && others.every((row) => faster(first, row))) {
      const every = ranked.length === rows.length;
      return [`${first.name} is the fastest${every ? "" : " that can be compared"} (95%).`];
    }
    if (first === reference || first.speed.error === null) return [];
    const tied = others.filter((row) =>
      row !== reference && row.speed.error !== null && row.ranks[0] === 1);
    if (tied.length === 0) return [];
    return [`No measurable difference between ${listed([first, ...tied].map(({ name }) => name))}.`];
  }

  /** Which machine gives most for its price. */
  function cheapest({ ranked, beside }) {
    const work = ({ each, speed }) => economics.perWork(each.price, speed).value;
    const priced = ranked.filter(({ each }) => each.price !== null);
    if (priced.length < 2) return [];
    const better = (one, other) => other.each.price > 0
      && (one.each.price === 0 || economics.isAbove(beside(one, other), one.each.price / other.each.price));
    const [first, ...others] = economics.ordered([...priced].sort((a, b) => work(a) - work(b)), better);
    const near = others.filter((row) => !priced.some((other) => better(other, row)));
    const best = [first, ...near].map(({ name }) => name).join(" or ");
    return [`Best value by purchase price: ${best}${near.length ? " (not conclusive)" : ""}.`];
  }

  /** Of which machines something is not known. */
  function unknown(view) {
    const without = view.rows.filter(({ amounts }) => amounts.price === null).map(({ name }) => name);
    if (without.length === 0) return [];
    return [`No price in ${view.settings.currency} is known for ${without.length === view.rows.length ? "any of them" : listed(without)}.`];
  }

  /** Where it is told why cases have no ratio: not where the index holds estimates together. */
  const why = ({ approximate }) =>
    (approximate ? "The pages of the runs tell why." : "The reasons are below.");

  /** Why nothing can be compared with the reference. */
  function nothing(view) {
    const { comparison, reference, settings } = view;
    if (comparison.exercises.length === 0) {
      const { invalid } = reference.machine;
      return `No case of ${reference.name} can be compared: choose another reference. ${invalid ? `Its run is invalid: ${invalid}.` : why(comparison)}`;
    }
    if (settings.workload === "own" && comparison.parts.length) return "No part counts: give one of them more than 0.";
    return `${capital(under(view))} nothing can be compared: ${reference.name} measured none of its cases.`;
  }

  /** Which machines have no ratio. */
  function lost(view) {
    const { comparison, rows, reference } = view;
    const named = (fits) => listed(rows.filter((row) => row.speed === null && fits(row)).map(({ name }) => name));
    const empty = ({ machine }) => Object.keys(machine.logs).length === 0;
    const valid = ({ machine }) => !machine.invalid;
    const [without, other] = [named((row) => valid(row) && empty(row)), named((row) => valid(row) && !empty(row))];
    return [
      ...rows.filter((row) => !valid(row)).map(({ name }) => `${name} is not ranked: its run is invalid.`),
      ...(without ? [`Nothing of ${without} can be compared with ${reference.name}. ${why(comparison)}`] : []),
      ...(other ? [`${capital(under(view))} nothing of ${other} can be compared with ${reference.name}; see it by exercise.`] : []),
    ];
  }

  /** Of which machines the accelerators are not in the ratio, as the reference has none. */
  function accelerators(view) {
    const { reference, rows } = view;
    if (!reference.cpuAlone) return [];
    const whose = rows.filter(({ machine }) => Object.keys(machine.beyond).some((name) => !onCpu(name)));
    if (whose.length === 0) return [];
    const names = listed(whose.map(({ name }) => name));
    return [`${reference.name} measured no accelerator: the ratios of ${names} are those of the processors beside them.`];
  }

  /** That a ratio is not that of all devices where machines have more or fewer. */
  function devices({ ranked, reference }) {
    const counts = ranked.map(({ machine }) => machine.count);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    if (least === most || reference.cpuAlone) return [];
    return [`Machines here have ${least} to ${most} devices; a ratio is that of equally many on either side, and not of all together.`];
  }

  /** Some sentences between the first and what is not known. */
  function around(view, most) {
    const { reference, ranked } = view;
    if (reference.speed === null) return [nothing(view), ...unknown(view)];
    const other = ranked.find((row) => row !== reference);
    return [...(other ? [beside(view, other)] : []), ...most.flatMap((told) => told(view)), ...unknown(view)];
  }

  /** The sentences, most telling first. */
  const sentences = (view) => around(view, [leaders, lost, accelerators, devices, cheapest]);

  /** The sentences above the verdicts, which name the fastest and the best value themselves. */
  const summary = (view) => around(view, [lost, accelerators, devices]);

  return { sentences, summary };
})();
