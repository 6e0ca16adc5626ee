// SPDX-License-Identifier: MIT
"use strict";
/**
 * What machines are worth beside each other. Speed is relative: the work of a machine in a time, in
 * units of what the reference does in it. No currency is converted.
 *
 * @typedef {{name: string, title: string, total: number, weight: number}} Exercise
 * @typedef {{name: string, title: string, total: number, weights: Object<string, number>}} Part
 * @typedef {{run: string, title: string, href: string, device: string, count: number,
 *   watts: ?number, watts_source: ?string, memory_bytes: ?number, price: ?number,
 *   currency: ?string, price_date: ?string, price_kind: ?string, price_source: ?string,
 *   rent: ?{price: number, currency: string, date: string, kind: string, source: string}, measured: string,
 *   logs: Object<string, number>, covariance: ?number[][], quantile: ?number,
 *   counts: Object<string, number>, beyond: Object<string, number>,
 *   best: Object<string, ?number>, worst: Object<string, ?number>, parts: {logs: Object<string, number>,
 *   covariance: ?number[][], quantile: ?number, counts: Object<string, number>}, energy: ?object,
 *   rates: object[], differs: string[], missing: string[]}} Machine
 * @typedef {{approximate: boolean, reference: string, exercises: Exercise[],
 *   workloads: {name: string, title: string, what: string}[], parts: Part[],
 *   machines: Machine[]}} Comparison
 * @typedef {{log: number, error: ?number, quantile: ?number}} Speed
 * @typedef {{value: number, low: ?number, high: ?number}} Amount
 * @typedef {{hours: number, years: number, kwh: number, share: number}} Use
 */
const economics = (() => {
  const DAYS_A_YEAR = 365;
  const WATT_HOURS_A_KWH = 1000;
  /** What a record has under a name, which may be one that every object has, such as "constructor". */
  const given = (record, name, otherwise) => (Object.hasOwn(record, name) ? record[name] : otherwise);
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);

  /** How many times as fast as the reference, with its interval. @returns {Amount} */
  function ratio({ log, error, quantile }) {
    const end = (way) =>
      error === null || quantile === null ? null : Math.exp(log + way * quantile * error);
    return { value: Math.exp(log), low: end(-1), high: end(1) };
  }

  /**
   * The weighted geometric mean over things that have a log; of a covariance the columns up to each row will do.
   * @returns {?Speed}
   */
  function speed(things, { logs, covariance, quantile }, weights) {
    const every = sum(Object.values(weights));
    if (every === 0) return null;
    const log = sum(Object.entries(weights).map(([name, weight]) => (weight / every) * logs[name]));
    if (covariance === null) return { log, error: null, quantile: null };
    const shares = things.map(({ name }) => given(weights, name, 0) / every);
    const variance = sum(shares.map((one, i) => one * sum(shares.map((other, j) =>
      other * covariance[Math.max(i, j)][Math.min(i, j)]))));
    return { log, error: Math.sqrt(Math.max(variance, 0)), quantile };
  }

  /** The speed in one exercise, or null without a common case. */
  const single = ({ exercises }, machine, name) =>
    speed(exercises, machine, Object.hasOwn(machine.logs, name) ? { [name]: 1 } : {});

  /** The parts that any of the machines measured, each once: no two of them are compared by what a third one measured. */
  const partsOf = (held) => [...new Map(held.flatMap(({ parts }) => parts).map((part) => [part.name, part])).values()];

  /** How much each part counts under a workload. */
  const weightsOf = ({ parts }, workload) =>
    Object.fromEntries(parts.map(({ name, weights }) => [name, given(weights, workload, 0)]));

  /**
   * The score: the speed over the parts that have a weight, as far as both machines measured them.
   * @param {Object<string, number>} weights by part
   */
  function score({ parts }, machine, weights) {
    const asked = parts.filter(({ name }) => given(weights, name, 0) > 0);
    const there = asked.filter(({ name }) => Object.hasOwn(machine.parts.logs, name));
    const used = Object.fromEntries(there.map(({ name }) => [name, weights[name]]));
    return {
      speed: speed(parts, machine.parts, used),
      parts: there.length,
      of: asked.length,
      cases: sum(there.map(({ name }) => machine.parts.counts[name])),
      every: sum(asked.map(({ total }) => total)),
    };
  }

  /** What a unit of work takes of an amount: what the reference does in the time. */
  function perWork(amount, speed) {
    const { value, low, high } = ratio(speed);
    return { value: amount / value, low: high && amount / high, high: low && amount / low };
  }

  /** The work for each unit of an amount. */
  function workPer(speed, amount) {
    const { value, low, high } = ratio(speed);
    return { value: value / amount, low: low && low / amount, high: high && high / amount };
  }

  /** The price of a FLOP/s at a rate that was measured of one of so many devices. @returns {Amount} */
  function pricePerRate(price, { value, low, high }, count) {
    const [least, most] = [high && price / high, low && price / low].map((end) => end && end / count);
    return { value: price / value / count, low: least, high: most };
  }

  /** What it costs to buy a machine and to run it: price and energy, nothing else. */
  function ownership(price, watts, { hours, years, kwh, share }) {
    const busyHours = hours * DAYS_A_YEAR * years * share;
    return price + ((watts * busyHours) / WATT_HOURS_A_KWH) * kwh;
  }

  /**
   * How fast a machine is beside another, by the comparison of these two: with the parts that the other
   * measured, or where these are of accelerators that the first lacks, with the first's.
   * @param {Comparison[]} held the same machines beside each of them
   * @returns {?Speed}
   */
  function beside(held, one, other, weights) {
    const speedOf = (run, reference) => {
      const comparison = held.find((each) => each.reference === reference);
      return score(comparison, comparison.machines.find((machine) => machine.run === run), weights).speed;
    };
    const turned = () => {
      const speed = speedOf(other, one);
      return speed && { ...speed, log: -speed.log };
    };
    return speedOf(one, other) ?? turned();
  }

  /** How many times the work a machine does for a joule beside another, where both counted; as `beside`. @returns {?Speed} */
  function joules(held, one, other) {
    const comparison = held.find(({ reference }) => reference === other);
    const { energy } = comparison.machines.find(({ run }) => run === one);
    return energy ? { log: energy.log, error: energy.variance === null ? null : Math.sqrt(energy.variance), quantile: energy.quantile } : null;
  }

  /** Whether a machine is conclusively more than so many times as fast as the reference. */
  const isAbove = (speed, than = 1) => speed !== null && speed.error !== null && speed.quantile !== null
    && speed.log - Math.log(than) > speed.quantile * speed.error;

  /** Machines in their order, but none below one that it is conclusively better than. */
  function ordered(machines, better) {
    const left = [...machines], found = [];
    while (left.length) {
      const free = left.findIndex((one) => !left.some((other) => other !== one && better(other, one)));
      found.push(...left.splice(Math.max(free, 0), 1));
    }
    return found;
  }

  /** Ranks by speed, each from the best place it may have to the worst, one of them shared by two that do not separate. */
  function places(machines, faster) {
    const firsts = machines.map((one) => 1 + machines.filter((other) => faster(other, one)).length);
    return machines.map((one, i) => {
      const before = machines.filter((other) => faster(one, other)).length;
      const level = firsts.filter((_, j) => !faster(one, machines[j]));
      return [firsts[i], Math.max(machines.length - before, ...level)];
    });
  }

  /** Those that cost no more than each and are conclusively faster; options are [cost, machine]. */
  const beaters = (options, faster) => options.map(([cost, one]) =>
    options.filter(([its, other]) => its <= cost && faster(other, one)).map(([, other]) => other));

  return { ratio, speed, single, partsOf, weightsOf, score, perWork, workPer, pricePerRate, ownership, beside, joules, isAbove, ordered, places, beaters };
})();
