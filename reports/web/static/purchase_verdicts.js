// SPDX-License-Identifier: MIT
"use strict";
/** Which machine to choose: the fastest, the best value, the least energy, each with its margin. */
const purchaseVerdicts = (() => {
  const { element } = drawing;
  const { under } = purchaseView;

  const either = (rows) => rows.map(({ name }) => name).join(" or ");
  const spelled = (amount, unit) => units.parts(amount, unit).filter(Boolean).join(" ");

  /** A verdict: its title, the machine, its margin, and under how many workloads it holds. */
  const shown = (title, who, margin, note) => element("div", { class: "verdict" },
    element("h2", { class: "topic" }, title), element("p", { class: "who" }, who),
    element("p", {}, margin), ...(note ? [element("p", { class: "note" }, note)] : []));

  /**
   * The best of some rows, and those that no other is conclusively better than either.
   * @param {object} standing of one workload
   * @param {function(object): number} cost of a unit of work at the machine's speed
   */
  function best({ rows, beside }, cost) {
    const known = rows.filter((row) => row.speed !== null && cost(row) !== null && !row.out);
    const work = (row) => Math.log(cost(row)) - row.speed.log;
    const better = (one, other) => economics.surely(beside(one, other), cost(one) / cost(other));
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
    return near.length ? `${text}: not conclusive` : text;
  }

  const ONE = () => 1;

  function fastest(view) {
    const found = best(view, ONE);
    const title = `Fastest ${under(view)}`;
    if (!found) return shown(title, "not measured", "No machine that fits has a result under this workload.");
    const who = either([found.first, ...found.near]);
    return shown(title, who, margin(view, found), holds(view, found.first, ONE, "Fastest"));
  }

  function value(view) {
    const { currency } = view.said;
    const cost = ({ each }) => each.price || null;
    const found = best(view, cost);
    const title = "Best value";
    if (!found) return shown(title, "unknown", `No price in ${currency} is known for a machine that fits. Enter one below.`);
    const chosen = [found.first, ...found.near];
    const per = chosen.map((row) => spelled(economics.workPer(row.speed, cost(row) / 1000), "×")).join(" and ");
    const sure = found.near.length ? ": not conclusive" : "";
    const only = found.others.length ? "" : "; no other price is known";
    return shown(title, either(chosen), `${per} per 1,000 ${currency}${sure}${only}`,
      found.others.length ? holds(view, found.first, cost, "Best") : null);
  }

  /** The work for a joule as measured, and the next machine that counted it. */
  function joules(view, title, counted) {
    const better = (one, other) => economics.surely(view.joules(one, other));
    const byWork = counted.sort((a, b) => b.machine.energy.log - a.machine.energy.log);
    const [first, ...others] = economics.ordered(byWork, better);
    const near = others.filter((row) => !counted.some((other) => better(other, row)));
    const other = near[0] ?? others[0];
    const ratio = view.joules(first, other);
    const text = ratio ? `${spelled(economics.ratio(ratio), "×")} the work per joule of ${other.name}, measured` : `Not compared with ${other.name}.`;
    return shown(title, either([first, ...near]), `${text}${ratio && near.length ? ": not conclusive" : ""}`);
  }

  /** The work for a joule: as measured, else by what devices may draw. */
  function energy(view) {
    const title = "Least energy per work";
    const counted = view.rows.filter(({ machine, out }) => machine.energy && !out);
    if (counted.length > 1) return joules(view, title, counted);
    const cost = ({ each }) => each.watts || null;
    const found = best(view, cost);
    if (!found) return shown(title, "unknown", "Neither energy nor a power limit is known of a machine that fits.");
    const other = found.near[0] ?? found.next;
    const chosen = either([found.first, ...found.near]);
    if (!other) return shown(title, chosen, "No other power is known.");
    const speed = view.beside(found.first, other);
    const ratio = speed && economics.workPer(speed, cost(found.first) / cost(other));
    const text = ratio ? `${spelled(ratio, "×")} the work per watt of ${other.name}` : "";
    return shown(title, chosen, `${text}, by power limits${found.near.length ? ": not conclusive" : ""}`,
      holds(view, found.first, cost, "Least"));
  }

  const verdicts = (view) => [element("div", { class: "verdicts" }, fastest(view), value(view), energy(view))];

  return { verdicts, best };
})();
