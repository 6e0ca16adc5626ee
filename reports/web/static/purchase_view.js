// SPDX-License-Identifier: MIT
"use strict";
/** Machines in order, with all that the page shows of each. */
const purchaseView = (() => {
  const GB = 1e9;
  const VENDOR = /(NVIDIA|AMD|Intel\(R\)) (GeForce |Radeon |Arc\(TM\) )?(?=.)/;
  /** Characters of a name in a chart; its margins have room for them. */
  const LONGEST = 20;

  /** What a machine is called in marks: A, B, ..., Z, 27, ... */
  const letter = (place) => (place < 26 ? String.fromCharCode(65 + place) : String(place + 1));

  /** What machines are called: by their devices, with their letters where others have the same. */
  function names(machines) {
    const plain = machines.map(({ device, count }) => (count > 1 ? `${count}× ${device}` : device));
    const shared = (name) => plain.filter((other) => other === name).length > 1;
    return plain.map((name, place) => (shared(name) ? `${name} (${letter(place)})` : name));
  }

  /** Names without their vendors and not longer than charts have room for; with their letters where that makes two alike. */
  function shortened(names) {
    const short = names.map((name) => {
      const letters = [...name.replace(VENDOR, "")];
      return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}\u2026` : letters.join("");
    });
    return short.map((name, place) => (short.indexOf(name) === short.lastIndexOf(name) ? name : `${name} (${letter(place)})`));
  }

  /** Whether any number of a machine counts: only such a one can be the best in anything. */
  const counts = ({ machine: { logs, invalid } }) => !invalid && Object.keys(logs).length > 0;

  /** What a machine costs, draws and holds; null where that is not known. */
  function amounts(machine, settings) {
    const known = machine.currency === settings.currency ? machine.price : null;
    const price = Object.hasOwn(settings.prices, machine.run) ? settings.prices[machine.run] : known;
    const { watts, memory_bytes: memory } = machine;
    const both = price !== null && watts !== null;
    return { price, ownership: both ? economics.ownership(price, watts, settings) : null, watts, memory };
  }

  const onCpu = (exercise) => exercise.endsWith(".cpu");

  /** Amounts of one device; null of accelerators whose processor alone is in the ratio. */
  function share({ logs, beyond, count }, cpuAlone, all) {
    const elsewhere = Object.keys({ ...logs, ...beyond }).some((name) => !onCpu(name));
    const one = (amount) => (amount === null || (cpuAlone && elsewhere) ? null : amount / count);
    return Object.fromEntries(Object.entries(all).map(([across, amount]) => [across, one(amount)]));
  }

  /** Why a machine does not fit what the reader asked, or "". */
  function out({ machine, amounts }, { budget, memory }) {
    if (budget !== null && amounts.price !== null && amounts.price > budget) return "over the budget";
    if (memory !== null && machine.memory_bytes !== null && machine.memory_bytes < memory * GB) return "too little memory";
    return "";
  }

  /** Machines under some weights, fastest first, those without a speed last, each with the ranks that it may have. */
  function standing(comparison, held, weights, machines) {
    const rows = machines.map((row) => {
      const score = economics.score(comparison, row.machine, weights);
      return { ...row, score, speed: score.speed, ratio: score.speed && economics.ratio(score.speed), ranks: null };
    });
    const { beside, faster } = pairs(weights, held);
    const known = rows.filter(({ speed }) => speed !== null).sort((a, b) => b.speed.log - a.speed.log || a.place - b.place);
    const ranked = economics.ordered(known, faster);
    economics.places(ranked, faster).forEach((ranks, i) => (ranked[i].ranks = ranks));
    return { rows: [...ranked, ...rows.filter(({ speed }) => speed === null)], ranked, beside, faster };
  }

  /**
   * Everything that the page shows: rows, fastest first, those without a speed last.
   * @param {Comparison[]} held the same machines beside each of them
   */
  function of(comparison, settings, held) {
    const called = names(comparison.machines), short = shortened(called);
    const cpuAlone = comparison.exercises.every(({ name }) => onCpu(name));
    const machines = comparison.machines.map((machine, place) => {
      const all = amounts(machine, settings);
      const row = {
        machine, place, cpuAlone,
        letter: letter(place),
        name: called[place],
        short: short[place],
        isReference: machine.run === comparison.reference,
        amounts: all,
        each: share(machine, cpuAlone, all),
      };
      return { ...row, out: out(row, settings) };
    });
    const every = { parts: economics.partsOf(held) };
    const standings = comparison.workloads.map(({ name, title }) => (
      { name, title, ...standing(comparison, held, economics.weightsOf(every, name), machines) }));
    const { name, title, ...shown } = standings.find((one) => one.name === settings.workload)
      ?? standing(comparison, held, settings.weights, machines);
    const reference = shown.rows.find(({ isReference }) => isReference);
    const joules = (one, other) => economics.joules(held, one.machine.run, other.machine.run);
    return { comparison, settings, ...shown, joules, reference, standings };
  }

  /** How machines stand to each other two by two, whatever the reference; each two are compared once. */
  function pairs(weights, held) {
    const found = new Map();
    const beside = (one, other) => {
      const key = `${one.place} ${other.place}`;
      if (!found.has(key)) found.set(key, economics.beside(held, one.machine.run, other.machine.run, weights));
      return found.get(key);
    };
    return { beside, faster: (one, other) => economics.isAbove(beside(one, other)) };
  }

  /** The exercises with a weight in which a machine has a ratio, each with it. */
  function singles({ comparison }, { machine }) {
    return comparison.exercises
      .filter(({ name, weight }) => weight > 0 && Object.hasOwn(machine.logs, name))
      .map((exercise) => [exercise, economics.ratio(economics.single(comparison, machine, exercise.name))]);
  }

  /** The workload in a sentence: "under training". */
  function under({ comparison: { workloads }, settings: { workload } }) {
    const title = workloads.find(({ name }) => name === workload)?.title;
    return `under ${title ? title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()) : "your own weights"}`;
  }

  /** Names in a row: "A, B and C". */
  const listed = (names) =>
    names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];

  return { of, singles, under, listed, onCpu, counts };
})();
