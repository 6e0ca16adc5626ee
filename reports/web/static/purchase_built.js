// SPDX-License-Identifier: MIT
"use strict";
/** The purchase page before a reader sets anything, as text for the build. */
const purchaseBuilt = (() => {
  const NOTHING = new Map();
  const spelled = (inside) => inside.join("");

  /** A machine as the picture of the page shows it. */
  function line({ name, isReference, ratio }) {
    const [value, interval] = ratio ? units.parts(ratio, "×") : [null, ""];
    return { name, is_reference: isReference, value, interval };
  }

  /** The rows of the table beside the page: each machine in each exercise. */
  const table = (comparison) => comparison.machines.flatMap((machine) =>
    comparison.exercises.map(({ name, total }) => {
      const speed = economics.single(comparison, machine, name);
      const { value = null, low = null, high = null } = speed ? economics.ratio(speed) : {};
      const log = { log_ratio: speed?.log ?? null, log_error: speed?.error ?? null };
      return { run: machine.run, exercise: name, ...log, ratio: value, low, high, cases: machine.counts[name], every: total };
    }));

  /**
   * Everything that the page holds of its machines.
   * @param {Comparison[]} comparisons of the same machines beside each of them; the first is shown
   */
  function page(comparisons) {
    const view = purchase.view(comparisons[0], comparisons, NOTHING);
    const parts = Object.entries(purchase.parts(view, purchaseFront.usual(view)));
    const inOrder = [...view.rows].sort((a, b) => a.place - b.place);
    return {
      parts: Object.fromEntries(parts.map(([name, make]) => [name, spelled(make())])),
      sentences: purchaseWords.sentences(view),
      names: inOrder.map(({ name }) => name),
      reference: view.reference.name,
      under: purchaseView.under(view),
      ranked: view.rows.map(line),
      table: table(comparisons[0]),
    };
  }

  /**
   * A machine's score, and its speed in each exercise.
   * @param {Comparison} comparison
   * @param {string} run the machine's
   * @param {string} workload
   * @returns {{speed: ?Amount, cases: number, every: number, exercises: object[]}} `every` is what the reference measured
   */
  function score(comparison, run, workload) {
    const machine = comparison.machines.find((one) => one.run === run);
    const ratio = (speed) => speed && economics.ratio(speed);
    const { speed, cases, every } = economics.score(comparison, machine, economics.weightsOf(comparison, workload));
    const exercises = comparison.exercises.map(({ name, total }) => (
      { name, speed: ratio(economics.single(comparison, machine, name)), cases: machine.counts[name], every: total }));
    return { speed: ratio(speed), cases, every, exercises };
  }

  return { page, score };
})();
