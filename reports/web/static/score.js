// SPDX-License-Identifier: MIT
"use strict";
/**
 * Machines beside each other, as numbers. A ratio depends on the two machines alone: of each part of a workload it is
 * the geometric mean over the cases that both measured, nothing added and nothing filled in. Its interval is made of the
 * errors of the parts in either run, and of how far these err together (reports/table/launches.py).
 *
 * @typedef {{logs: (?number)[], errors: (?number)[], shared: number}} Quantity seconds or joules: by place of a case,
 *   logarithms in steps of `STEP`; by place of a part, standard errors in steps of `ERROR_STEP`
 * @typedef {{value: number, low: ?number, high: ?number}} Amount
 * @typedef {{at: number, run: string, title: string, href: string, device: string, backend: string, cpu: string, count: number,
 *   watts: ?number, power: ?Amount & {source: string}, memory_bytes: ?number, price: ?number, currency: ?string,
 *   price_date: ?string, price_kind: ?string, price_source: ?string, rent: ?object, measured: string, invalid: string,
 *   doubt: string, axes: object[], facts: number[], accelerated: boolean, seconds: ?Quantity, joules: ?Quantity,
 *   left: Object<number, string>, specimens: Machine[]}} Machine `at` is the place of its run;
 *   `watts` is the limit and `specimens` are other machines with the device. Watts, power, memory, price and rent are those
 *   of all its devices, axes those of one.
 * @typedef {{name: string, title: string, weights: Object<string, number>, cpu: boolean, host: boolean, kinds: number[][]}} Part
 *   `kinds` are the places of cases; `host` says that the host launches what limits them
 * @typedef {{name: string, title: string, weights: Object<string, number>, needs: string[],
 *   parts: {cpu: object[], accelerator: object[]}}} Workload `parts` are those with a weight, by the kind of device
 * @typedef {{log: number, error: ?number, low: ?number, high: ?number}} Speed
 *   Logarithm of how many times as fast as another machine, its standard error over launches, and the ends of its
 *   interval, which the range of specimens widens; null below six launches.
 */
const model = (() => {
  const STEP = 1e-3, ERROR_STEP = 1e-5, GB = 1e9;
  /** Standard errors to the end of an interval. */
  const QUANTILE = 1.96;
  /** Share of a workload's weight that two machines must have measured. */
  const LEAST_COVERAGE = 2 / 3;
  /** Differences of measured energy and power that sensors leave open. */
  const SENSORS = 1.03;
  const DAYS_A_YEAR = 365, WATT_HOURS_A_KWH = 1000;
  const MEASURED = "measured";
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const listed = ({ values, of }, i) => values[of[i]] ?? [];
  /** An amount that has no interval by nature. @returns {?Amount} */
  const exact = (value) => (value === null || value === undefined ? null : { value, low: value, high: value });

  /** An amount for each of so many. @returns {Amount} */
  const per = ({ value, low, high }, of) => ({ value: value / of, low: low && low / of, high: high && high / of });

  /** The machine of a run; the range of its specimens widens the intervals of its axes. @returns {Machine} */
  function machine(data, i, specimens = []) {
    const { href, axes, left, ...told } = { invalid: "", doubt: "", seconds: null, joules: null, left: {}, ...data.runs[i] };
    const [device, , backend] = listed(data.devices, i);
    const [count, watts, watts_source, memory_bytes, cpu] = listed(data.hardware, i);
    const [price = null, currency = null, price_date = null, price_kind = null, price_source = null] = listed(data.prices, i);
    const [hourly, its, date, kind, source] = listed(data.rents, i);
    const known = axes.map(([axis, ...ends]) => {
      const [name, precision, unit] = data.axis_kinds[axis], [value, low, high] = ends.map((one) => one && one * (unit.endsWith("/s") ? GB : 1));
      const others = specimens.flatMap((one) => one.axes.filter((other) => other.axis === axis)).map((one) => one.value);
      return { axis, name, precision, unit, value, low: low && Math.min(low, ...others), high: high && Math.max(high, ...others) };
    });
    const load = known.find(({ name }) => name === "load"), limit = watts && { value: watts, low: watts, high: watts, source: watts_source };
    const measured = ({ cpu, kinds }) => !cpu && kinds.some((places) => places.some((place) => (told.seconds?.logs[place] ?? null) !== null));
    return {
      ...told, at: i, href, run: href.replace(/\.html$/, ""), device, backend, cpu: cpu.replace(/ \d+-Core Processor$/, ""), count, watts, memory_bytes,
      power: load ? { ...per(load, 1 / count), source: MEASURED } : limit,
      price, currency, price_date, price_kind, price_source,
      rent: hourly === undefined ? null : { price: hourly, currency: its, date, kind, source },
      axes: known, facts: data.has[i], specimens,
      accelerated: data.parts.some(measured),
      left: Object.fromEntries(Object.entries(left).map(([place, reason]) => [place, data.reasons[reason]])),
    };
  }

  /** The devices of a page: the machine of each with those of its other specimens. @returns {Machine[]} */
  const devices = (data) => data.groups.map(([run, others]) => machine(data, run, others.map((other) => machine(data, other))));

  /** The rows that lead a sentence: those whose run is not doubtful, or the only one. */
  const trusted = (rows) => (rows.length > 1 ? rows.filter(({ machine: { doubt } }) => !doubt) : rows);

  /** In what moves numbers two machines differ beyond their devices, the first one's value first. */
  function differs(data, one, other) {
    const [mine, its] = [one, other].map(({ facts }) => new Map(facts.map((value) => data.values[value])));
    const apart = [...new Set([...mine.keys(), ...its.keys()])].filter((fact) =>
      mine.get(fact) !== its.get(fact) && (data.facts[fact][1] || (mine.has(fact) && its.has(fact))));
    return apart
      .filter((fact) => !data.facts[fact][2].some((leader) => apart.includes(leader)))
      .map((fact) => `${data.facts[fact][0]} ${mine.get(fact) ?? "none"} / ${its.get(fact) ?? "none"}`);
  }

  /** In what the specimens of a device differ, by name. */
  const apart = (data, { facts, specimens }) => [...new Set(specimens.flatMap((other) => [...facts, ...other.facts]
    .filter((value) => facts.includes(value) !== other.facts.includes(value)).map((value) => data.facts[data.values[value][0]][0])))];

  /** A workload of a reader's own, by the weights of parts. @returns {Workload} */
  function weighed(data, weights, told = { name: "own", title: "Own weights", needs: [] }) {
    const parts = data.parts.map((part, at) => ({ part, at, weight: weights[part.name] ?? 0 })).filter(({ weight }) => weight > 0);
    return { ...told, weights, parts: { cpu: parts.filter(({ part }) => part.cpu), accelerator: parts.filter(({ part }) => !part.cpu) } };
  }

  /** A workload, by default the first. @returns {Workload} */
  function workload(data, wanted) {
    const found = data.workloads.find(({ name }) => name === wanted) ?? data.workloads[0];
    return weighed(data, Object.fromEntries(data.parts.map(({ name, weights }) => [name, weights[found.name] ?? 0])), found);
  }

  /** How much of a part both measured, from 0 to 1, and the log of how many times as fast the first is in it. */
  function inPart({ kinds }, one, other, quantity) {
    const mine = one[quantity]?.logs ?? [], its = other[quantity]?.logs ?? [];
    let log = 0, share = 0, found = 0, all = 0;
    for (const places of kinds) {
      let steps = 0, both = 0, lost = 0, alone = 0;
      for (const place of places) {
        const has = (mine[place] ?? null) !== null, had = (its[place] ?? null) !== null;
        if (has && had) {
          steps += its[place] - mine[place];
          both += 1;
        } else if (has || had) {
          alone += 1;
          lost += Number(place in (has ? other : one).left);
        }
      }
      all += Number(both + alone > 0);
      if (both) {
        log += (steps / both) * STEP;
        share += both / (both + lost);
        found += 1;
      }
    }
    return { log: log / found, share: all && share / all };
  }

  /** What a run adds to the variance of a weighted mean of parts. */
  function variance({ errors, shared }, parts, every) {
    const each = parts.map(({ at, weight }) => (errors[at] === null ? NaN : (weight / every) * errors[at] * ERROR_STEP));
    return (1 - shared) * sum(each.map((one) => one ** 2)) + shared * sum(each) ** 2;
  }

  /** The logarithm over some parts. */
  const mean = (parts) => sum(parts.map(({ weight, log }) => weight * log)) / sum(parts.map(({ weight }) => weight));

  /** How far from a machine its specimens lie in some parts, as logarithms: the least and the most, itself among them. */
  function range(one, parts, quantity) {
    const measured = one.specimens.map((other) => parts.map((part) => ({ ...part, ...inPart(part.part, other, one, quantity) })).filter(({ share }) => share > 0));
    const logs = measured.filter((found) => found.length).map(mean);
    return [Math.min(0, ...logs), Math.max(0, ...logs)];
  }

  /** The speed over some parts; the range of specimens on either side widens its interval. @returns {Speed} */
  function speedOver(one, other, parts, quantity) {
    const every = sum(parts.map(({ weight }) => weight)), log = mean(parts), isSelf = one === other;
    const error = isSelf ? 0 : Math.sqrt(sum([one, other].map((side) => variance(side[quantity], parts, every))));
    if (Number.isNaN(error)) return { log, error: null, low: null, high: null };
    const mine = range(one, parts, quantity), its = isSelf ? [0, 0] : range(other, parts, quantity);
    return { log, error, low: log - QUANTILE * error + mine[0] - its[1], high: log + QUANTILE * error + mine[1] - its[0] };
  }

  /**
   * How many times as fast a machine is as another under a workload, or how much work it does for a joule.
   * @param {"seconds" | "joules"} quantity
   * @returns {{speed: ?Speed, coverage: number, parts: object[], why: string}} `coverage` is the share of the workload's
   *   weight that both measured; `why` says why there is no speed
   */
  function score(one, other, { needs, parts: asked }, quantity = "seconds") {
    const parts = asked[one.accelerated && other.accelerated ? "accelerator" : "cpu"]
      .map(({ part, at, weight }) => ({ part, at, weight, ...inPart(part, one, other, quantity) }));
    const every = sum(parts.map(({ weight }) => weight));
    const coverage = every && sum(parts.map(({ weight, share }) => weight * share)) / every;
    const found = parts.filter(({ share }) => share > 0);
    const invalid = one.invalid || other.invalid;
    const needed = parts.filter(({ part }) => needs.includes(part.name)).map(({ part }) => part.title);
    const named = needs.length === 0 || found.some(({ part }) => needs.includes(part.name));
    const [none, of] = quantity === "joules" ? ["energy", "the energy of "] : ["case", ""];
    const why = invalid ? `a run is invalid: ${invalid}`
      : !found.length ? `no ${none} of this workload was measured on both machines`
        : !named ? `${of}"${needed.join(" or ")}" was not measured on both machines`
          : coverage < LEAST_COVERAGE - 1e-9 ? `${of}only ${percent(coverage)} of its weight was measured on both machines` : "";
    return { speed: why ? null : speedOver(one, other, found, quantity), coverage, parts, why };
  }

  /**
   * Scores of machines under a workload; each two are compared once.
   * @param {Workload} workload
   * @param {"seconds" | "joules"} quantity
   */
  function comparing(workload, quantity = "seconds") {
    const found = new Map();
    return (one, other) => {
      const key = `${one.at} ${other.at}`;
      if (!found.has(key)) found.set(key, score(one, other, workload, quantity));
      return found.get(key);
    };
  }

  const UNLIKE = { speed: null, coverage: 0, parts: [], why: "no accelerator was measured" };
  /** The score of a machine beside the reference, which has none of its accelerator beside a processor alone. */
  const beside = (compared, one, reference) => (reference.accelerated && !one.accelerated ? UNLIKE : compared(one, reference));

  /** A share in percent; only the whole is 100%. */
  const percent = (share) => `${Math.min(Math.round(100 * share), share < 1 - 1e-9 ? 99 : 100)}%`;

  /** The speed in one part of a score. @returns {?Speed} */
  const inOne = (one, other, part, quantity = "seconds") => (part.share > 0 ? speedOver(one, other, [part], quantity) : null);

  /** Whether most of a workload's weight is in parts that the host of an accelerator launches. */
  const isHosts = ({ parts: { accelerator } }) =>
    2 * sum(accelerator.map(({ part, weight }) => (part.host ? weight : 0))) > sum(accelerator.map(({ weight }) => weight));

  /** The incomplete parts of a score: on which of the two machines something is missing, and why. */
  const missing = (one, other, { parts }) => parts.filter(({ share }) => share < 1 - 1e-9).map(({ part, share }) => {
    const places = part.kinds.flat();
    const lacks = ({ seconds }, its) => places.filter((place) => (seconds?.logs[place] ?? null) === null && (its.seconds?.logs[place] ?? null) !== null);
    const sides = [lacks(one, other), lacks(other, one)];
    const lost = sides.flatMap((found, i) => found.map((place) => [one, other][i].left[place])).find(Boolean);
    const whose = [["new", sides[0]], ["base", sides[1]]].filter(([, found]) => found.length).map(([side]) => side);
    return { part: part.name, title: part.title, share, side: whose.length === 1 ? whose[0] : "both", reason: lost ?? "not selected" };
  });

  /** The workload in a sentence: "under training". */
  const under = ({ workload: { name, title } }) =>
    `under ${name === "own" ? "your own weights" : title.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}`;

  /** How many times as fast, with its interval. @returns {Amount} */
  const ratio = ({ log, low, high }) => ({ value: Math.exp(log), low: low === null ? null : Math.exp(low), high: high === null ? null : Math.exp(high) });

  /** The work for each unit of an amount. @returns {Amount} */
  const workPer = (speed, of) => per(ratio(speed), of);

  /** How many times as fast the other one is. @returns {Speed} */
  const inverse = ({ log, error, low, high }) => ({ log: -log, error, low: high === null ? null : -high, high: low === null ? null : -low });

  /** Whether a machine is conclusively more than so many times as fast as another. */
  const isAbove = (speed, than = 1) => speed !== null && speed.low !== null && speed.low > Math.log(than);

  /** Machines in their order, but none below one that it is conclusively better than. */
  function ordered(machines, better) {
    const left = [...machines], found = [];
    while (left.length) {
      const free = left.findIndex((one) => !left.some((other) => better(other, one)));
      found.push(...left.splice(Math.max(free, 0), 1));
    }
    return found;
  }

  /** The first of rows in their order, and those that no other is conclusively better than either. */
  function best(rows, better) {
    const [first, ...others] = ordered(rows, better);
    if (!first) return null;
    const near = others.filter((row) => !rows.some((other) => better(other, row)));
    return { first, near, others, chosen: [first, ...near], next: others.find((row) => !near.includes(row)) ?? null };
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

  /** What it costs to buy a machine and to run it: price and energy, nothing else. */
  function ownership(price, watts, { hours, years, kwh, share }) {
    const busyHours = hours * DAYS_A_YEAR * years * share;
    return price + ((watts * busyHours) / WATT_HOURS_A_KWH) * kwh;
  }

  return {
    GB, MEASURED, SENSORS, machine, devices, trusted, differs, apart, weighed, workload, score, comparing, beside, percent, inOne, missing, under, isHosts, ratio, exact, per, workPer,
    inverse, isAbove, ordered, best, places, beaters, ownership,
  };
})();
