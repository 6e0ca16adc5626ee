// SPDX-License-Identifier: MIT
"use strict";
/** Which machine to choose: the fastest, the best value, the least energy, each with its margin. */
const purchaseVerdicts = (() => {
  const { element } = drawing;
  const { under } = purchaseView;

  /** A speedup below which a conclusive difference is called slight. */
  const SLIGHT = 1.02;

  const either = (rows) => rows.map(({ name }) => name).join(" or ");
  const spelled = (amount, unit) => units.parts(amount, unit).filter(Boolean).join(" ");

  /** A verdict: its title, the machine, its margin, and notes such as under how many workloads it holds. */
  const shown = (title, who, margin, ...notes) => element("div", { class: "verdict" },
    element("h2", { class: "topic" }, title), element("p", { class: "who" }, who),
    element("p", {}, margin), ...notes.filter(Boolean).map((note) => element("p", { class: "note" }, note)));

  /**
   * The best of some rows, and those that no other is conclusively better than either.
   * @param {object} standing of one workload
   * @param {function(object): number} cost of a unit of work at the machine's speed
   */
  function best({ rows, beside }, cost) {
    const known = rows.filter((row) => row.speed !== null && cost(row) !== null && !row.out);
    const work = (row) => Math.log(cost(row)) - row.speed.log;
    const better = (one, other) => economics.isAbove(beside(one, other), cost(one) / cost(other));
    const [first, ...others] = economics.ordered(known.sort((a, b) => work(a) - work(b)), better);
    if (!first) return null;
    const near = others.filter((row) => !known.some((other) => better(other, row)));
    const next = others.find((row) => !near.includes(row)) ?? null;
    return { first, near, others, next };
  }

  /** Under how many workloads a machine is the best, alone or with others. */
  function holds(view, row, cost, word) {
    const found = view.standings.map((standing) => best(standing, cost)).filter((one) => one !== null && one.others.length);
    const [alone, tied] = [0, 1].map((most) => found.filter(({ first, near }) => (most === 0
      ? near.length === 0 && first.place === row.place
      : near.length > 0 && [first, ...near].some(({ place }) => place === row.place))).length);
    return `${word} under ${alone} of ${units.counted(found.length, "workload")}${tied ? `, tied under ${tied}` : ""}`;
  }

  /** How far a machine is ahead of the next. */
  function margin(view, { first, near, next }) {
    const other = near[0] ?? next;
    if (!other) return "The only one with a result that fits.";
    const speed = view.beside(first, other);
    const ratio = speed && economics.ratio(speed);
    if (!ratio) return `Not compared with ${other.name}.`;
    if (ratio.low === null) return `${units.value(ratio.value, "×")} the speed of ${other.name}: too few launches to be conclusive`;
    const text = `${spelled(ratio, "×")} the speed of ${other.name}`;
    if (near.length) return `${text}: not conclusive`;
    return ratio.high < SLIGHT ? `${text}: less than ${units.value(100 * (SLIGHT - 1), "")}% apart` : text;
  }

  const ONE = () => 1;

  function fastest(view) {
    const found = best(view, ONE);
    const title = `Fastest ${under(view)}`;
    if (!found) return shown(title, "not measured", "No machine that fits has a result under this workload.");
    const who = either([found.first, ...found.near]);
    return shown(title, who, margin(view, found), holds(view, found.first, ONE, "Fastest"));
  }

  /** How much more work for its price a machine does than the next. */
  function valueMargin(view, { first, near, next }, cost) {
    const speed = next && near.length === 0 ? view.beside(first, next) : null;
    return speed ? `; ${spelled(economics.workPer(speed, cost(first) / cost(next)), "×")} the value of ${next.name}` : "";
  }

  function value(view) {
    const { currency } = view.settings;
    const cost = ({ each }) => each.price || null;
    const found = best(view, cost);
    const title = "Best value by purchase price";
    if (!found) return shown(title, "unknown", `No price in ${currency} is known for a machine that fits. Enter one below.`);
    const chosen = [found.first, ...found.near];
    const per = chosen.map((row) => spelled(economics.workPer(row.speed, cost(row) / 1000), "×")).join(" and ");
    const sure = found.near.length ? ": not conclusive" : "";
    const only = found.others.length ? "" : "; no other price is known";
    return shown(title, either(chosen), `${per} per 1,000 ${currency}${valueMargin(view, found, cost)}${sure}${only}`,
      found.others.length ? holds(view, found.first, cost, "Best") : "", byOwnership(view, chosen));
  }

  /** Which machine is the best value by cost of ownership, where that is another than by price. */
  function byOwnership(view, chosen) {
    const found = best(view, ({ each }) => each.ownership || null);
    if (!found || found.others.length === 0) return "";
    const owned = [found.first, ...found.near];
    const same = owned.length === chosen.length && owned.every(({ place }) => chosen.some((row) => row.place === place));
    return same ? "" : `By cost of ${units.counted(view.settings.years, "year")} of use, energy included: ${either(owned)}`;
  }

  /** The work for a joule as measured, and the next machine that counted it. */
  function joules(view, title, counted) {
    const better = (one, other) => economics.isAbove(view.joules(one, other));
    const byWork = counted.sort((a, b) => b.machine.energy.log - a.machine.energy.log);
    const [first, ...others] = economics.ordered(byWork, better);
    const near = others.filter((row) => !counted.some((other) => better(other, row)));
    const other = near[0] ?? others[0];
    const ratio = view.joules(first, other);
    const text = ratio ? `${spelled(economics.ratio(ratio), "×")} the work per joule of ${other.name}, measured` : `Not compared with ${other.name}.`;
    return shown(title, either([first, ...near]), `${text}${ratio && near.length ? ": not conclusive" : ""}`);
  }

  /** The device that may draw the least. It says nothing of energy, which also depends on the time. */
  function limits(view) {
    const known = view.rows.filter((row) => row.each.watts && !row.out && purchaseView.counts(row)).sort((a, b) => a.each.watts - b.each.watts);
    const title = "Lowest power limit";
    if (known.length === 0) return shown(title, "unknown", "Neither energy nor a power limit is known of a machine that fits.");
    const [{ each: { watts } }] = known;
    const least = known.filter(({ each }) => each.watts === watts), [next] = known.slice(least.length);
    const then = next ? `; ${next.name} ${units.value(next.each.watts, "W")}` : "";
    return shown(title, either(least), `${units.value(watts, "W")} a device${then}`, "Energy was measured on fewer than two of these machines.");
  }

  /** The work for a joule where it was measured, else what devices may draw. */
  function energy(view) {
    const counted = view.rows.filter(({ machine, out }) => machine.energy && !out);
    return counted.length > 1 ? joules(view, "Least energy per work", counted) : limits(view);
  }

  const verdicts = (view) => [element("div", { class: "verdicts" }, fastest(view), value(view), energy(view))];

  return { verdicts, best };
})();
