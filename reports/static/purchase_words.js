// SPDX-License-Identifier: MIT
"use strict";
/** What the numbers say, in sentences, as reports/purchase_words.py has them. */
const purchaseWords = (() => {
  const { listed } = purchaseView;

  /** "2.10× [2.05, 2.15] as fast" reads "2.10 [2.05, 2.15] times". */
  const times = (estimate) => {
    const [value, interval] = units.parts(estimate, "");
    return `${value}${interval ? ` ${interval}` : ""} times`;
  };

  /** One machine beside the reference. */
  function beside({ name, speed, ratio, overall }, reference) {
    const over = `over ${overall.exercises} of ${units.counted(overall.of, "exercise")}`;
    const than = `${times(ratio)} as fast as ${reference.name} ${over}`;
    if (ratio.low === null) return `${name} is ${than}, with too few launches for an interval.`;
    const apart = economics.faster(speed, reference.speed) || economics.faster(reference.speed, speed);
    return apart
      ? `${name} is ${than}.`
      : `${name} cannot be told apart from ${reference.name}: it is ${than}.`;
  }

  /** Which machines may be as fast as the fastest one. */
  function leaders(ranked, reference) {
    const [first, ...others] = ranked;
    if (!first || first === reference || first.speed.error === null) return [];
    const tied = others.filter((row) =>
      row !== reference && row.speed.error !== null && !economics.faster(first.speed, row.speed));
    if (tied.length === 0) return [];
    return [`${listed(tied.map(({ name }) => name))} cannot be told apart from ${first.name}.`];
  }

  /** Which machine gives most for its price. */
  function cheapest(ranked) {
    const work = ({ amounts, speed }) => economics.perWork(amounts.price, speed);
    const priced = ranked.filter(({ amounts }) => amounts.price !== null);
    if (priced.length < 2) return [];
    const [first, ...others] = [...priced].sort((a, b) => work(a).value - work(b).value);
    const { high } = work(first);
    const near = others.filter((row) => high === null || work(row).low === null || work(row).low <= high);
    const best = listed([first, ...near].map(({ name }) => name));
    const sure = near.length ? "give most for their prices, and do not separate" : "gives most for its price";
    return [`Of those with a known price, ${best} ${sure}.`];
  }

  /** Of which machines something is not known. */
  function unknown(view) {
    const without = view.rows.filter(({ amounts }) => amounts.price === null).map(({ name }) => name);
    if (without.length === 0) return [];
    return [`No price is known for ${without.length === view.rows.length ? "any of them" : listed(without)}.`];
  }

  /** The sentences, most telling first. */
  function sentences(view) {
    const { reference, rows, ranked } = view;
    const other = ranked.find((row) => row !== reference);
    const lost = rows.filter(({ speed }) => speed === null).map(({ name }) => name);
    return [
      ...(other ? [beside(other, reference)] : []),
      ...leaders(ranked, reference),
      ...(lost.length && reference.speed ? [`${listed(lost)} and ${reference.name} have no common case that can be compared; the reasons are below.`] : []),
      ...cheapest(ranked),
      ...unknown(view),
    ];
  }

  return { sentences };
})();
