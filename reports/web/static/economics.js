// SPDX-License-Identifier: MIT
"use strict";
/**
 * What machines are worth beside each other. Speed is relative: the work of a machine in a time, in
 * units of what the reference does in it. No currency is converted.
 *
 * @typedef {{name: string, title: string, total: number, weight: number}} Exercise
 * @typedef {{run: string, title: string, href: string, device: string, count: number,
 *   watts: ?number, watts_source: ?string, memory_bytes: ?number, price: ?number,
 *   currency: ?string, price_date: ?string, price_kind: ?string, price_source: ?string,
 *   logs: Object<string, number>, covariance: ?number[][], quantile: ?number,
 *   counts: Object<string, number>, beyond: Object<string, number>,
 *   best: Object<string, ?number>, worst: Object<string, ?number>, energy: ?object,
 *   rates: object[], differs: string[], missing: string[]}} Machine
 * @typedef {{approximate: boolean, reference: string, exercises: Exercise[],
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

  /** The speed over exercises, each with its weight. @returns {?Speed} */
  function speed(exercises, machine, weights) {
    const every = sum(Object.values(weights));
    if (every === 0) return null;
    const log = sum(Object.entries(weights).map(([name, weight]) => (weight / every) * machine.logs[name]));
    if (machine.covariance === null) return { log, error: null, quantile: null };
    const shares = exercises.map(({ name }) => given(weights, name, 0) / every);
    const variance = sum(machine.covariance.map((row, i) =>
      shares[i] * sum(row.map((value, j) => shares[j] * value))));
    return { log, error: Math.sqrt(Math.max(variance, 0)), quantile: machine.quantile };
  }

  /** The speed in one exercise, or null without a common case. */
  const single = ({ exercises }, machine, name) =>
    speed(exercises, machine, Object.hasOwn(machine.logs, name) ? { [name]: 1 } : {});

  /** The speed over all exercises that have a weight, as far as both machines have them. */
  function overall({ exercises }, machine, weights) {
    const wanted = Object.fromEntries(exercises.map(({ name, weight }) => [name, given(weights, name, weight)]));
    const asked = exercises.filter(({ name }) => wanted[name] > 0);
    const there = asked.filter(({ name }) => Object.hasOwn(machine.logs, name));
    const used = Object.fromEntries(there.map(({ name }) => [name, wanted[name]]));
    return {
      speed: speed(exercises, machine, used),
      exercises: there.length,
      of: asked.length,
      cases: sum(there.map(({ name }) => machine.counts[name])),
      every: sum(asked.map(({ total }) => total)),
      best: whatIf(asked, machine.best, wanted),
      worst: whatIf(asked, machine.worst, wanted),
    };
  }

  /** The ratio if all that is missing were like the best or the worst. */
  function whatIf(asked, logs, wanted) {
    if (asked.length === 0 || asked.some(({ name }) => logs[name] === null)) return null;
    const weighted = asked.map(({ name }) => wanted[name] * logs[name]);
    return Math.exp(sum(weighted) / sum(asked.map(({ name }) => wanted[name])));
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
   * How fast a machine is beside another, by the comparison of these two.
   * @param {Comparison[]} held the same machines beside each of them
   * @returns {?Speed}
   */
  function beside(held, one, other, weights) {
    const comparison = held.find(({ reference }) => reference === other);
    const machine = comparison.machines.find(({ run }) => run === one);
    const every = comparison.exercises.map(({ name }) => [name, given(weights, name, 0)]);
    return overall(comparison, machine, Object.fromEntries(every)).speed;
  }

  /** Whether a machine is surely more than so many times as fast as the reference. */
  const surely = (speed, than = 1) => speed !== null && speed.error !== null && speed.quantile !== null
    && speed.log - Math.log(than) > speed.quantile * speed.error;

  /** Ranks by speed, each from the best place it may have to the worst, one of them shared by two that do not separate. */
  function places(machines, faster) {
    const firsts = machines.map((one) => 1 + machines.filter((other) => faster(other, one)).length);
    return machines.map((one, i) => {
      const before = machines.filter((other) => faster(one, other)).length;
      const level = firsts.filter((_, j) => !faster(one, machines[j]));
      return [firsts[i], Math.max(machines.length - before, ...level)];
    });
  }

  /** Those that cost no more than each and are surely faster; options are [cost, machine]. */
  const beaters = (options, faster) => options.map(([cost, one]) =>
    options.filter(([its, other]) => its <= cost && faster(other, one)).map(([, other]) => other));

  return { ratio, single, overall, perWork, workPer, pricePerRate, ownership, beside, surely, places, beaters };
})();
