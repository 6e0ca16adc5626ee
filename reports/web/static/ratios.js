// SPDX-License-Identifier: MIT
"use strict";
/**
 * Runs held against a reference run, from packed estimates.
 *
 * A ratio depends on the two runs alone: it is the geometric mean over the cases that both
 * measured, exercise by exercise, nothing added and nothing filled in. Its interval is
 * approximate: it is made of the errors that spread.py found for all of a run's cases, of
 * which some may have no ratio, and of how far exercises err together.
 *
 * @typedef {{name: string, title: string, cpu: boolean, cases: number}} Exercise
 * @typedef {{exercises: Exercise[], parts: Part[], times: Packed, errors: string[]}} Estimated
 *   By run, `errors` has a digit for each exercise, one for how far they err together, and one for
 *   each part of the workloads.
 * @typedef {{name: string, title: string, weights: Object<string, number>, cpu: boolean,
 *   kinds: number[][]}} Part `kinds` are the places of cases
 * @typedef {{log: number, error: number, count: number, total: number}} Mean
 *   Logarithm of how many times as fast as the reference (NaN without a common case), its
 *   standard error (NaN: not known), and the common cases of all that the reference has.
 */
const ratios = (() => {
  const QUANTILE = 1.96;

  /** The place of each case's exercise. */
  function owners(exercises) {
    return Int32Array.from(exercises.flatMap(({ cases }, place) => Array(cases).fill(place)));
  }

  /** The kind of each case that scores are made of, -1 of others; and the first and last kind of each part. */
  function kindsOf(parts, cases) {
    const kind = new Int32Array(cases).fill(-1);
    let next = 0;
    const ranges = parts.map(({ kinds }) => {
      const first = next;
      kinds.forEach((places) => {
        places.forEach((place) => { kind[place] = next; });
        next += 1;
      });
      return [first, next];
    });
    return { kind, ranges, count: next };
  }

  /** @param {Estimated} data */
  function reader(data) {
    const owner = owners(data.exercises);
    const scored = kindsOf(data.parts, owner.length);
    const unpacked = [], held = [];
    const times = (run) => unpacked[run] ??= packing.unpack(data.times, run);
    return { against: (reference) => held[reference] ??= against(data, owner, scored, times, reference), times };
  }

  /** All runs held against a reference. */
  function against(data, owner, scored, times, reference) {
    const width = data.exercises.length, size = width * data.errors.length;
    const base = new Int32Array(owner.length), has = new Uint8Array(owner.length);
    const sums = new Float64Array(size), counts = new Int32Array(size);
    const kinds = {
      sums: new Float64Array(scored.count * data.errors.length),
      counts: new Int32Array(scored.count * data.errors.length),
    };
    const added = new Uint8Array(data.errors.length), addedKinds = new Uint8Array(data.errors.length);
    const own = times(reference);
    own.cases.forEach((one, place) => {
      base[one] = own.steps[place];
      has[one] = 1;
    });
    /** The place of a run's first exercise, once its cases are added up. */
    function first(run) {
      if (!added[run]) add(owner, base, has, times(run), sums, counts, run * width);
      added[run] = 1;
      return run * width;
    }
    /** The place of a run's first kind of case, once its cases are added up. */
    function firstKind(run) {
      if (!addedKinds[run]) add(scored.kind, base, has, times(run), kinds.sums, kinds.counts, run * scored.count);
      addedKinds[run] = 1;
      return run * scored.count;
    }
    const totals = counts.subarray(first(reference), (reference + 1) * width);
    const other = data.exercises.some(({ cpu }, place) => !cpu && totals[place]);
    const weights = data.exercises.map(({ cpu }) => (cpu && other ? 0 : 1));

    /** @returns {Mean} */
    function single(run, place) {
      const at = first(run) + place;
      const error = run === reference ? 0 : Math.hypot(
        packing.error(data.errors[reference], place), packing.error(data.errors[run], place));
      const log = counts[at] ? (sums[at] / counts[at]) * packing.STEP : NaN;
      return { log, error, count: counts[at], total: totals[place] };
    }

    /** The parts of the workloads that the reference measured, each with its place. */
    const parts = data.parts.map((part, place) => ({ ...part, place, total: cases(reference, place) }))
      .filter(({ cpu, total }) => total && cpu === !other);

    function cases(run, place) {
      const start = firstKind(run), [from, to] = scored.ranges[place];
      let count = 0;
      for (let at = start + from; at < start + to; at++) count += kinds.counts[at];
      return count;
    }

    /** The log of a run in a part: every kind counts the same. */
    function partLog(run, place) {
      const start = firstKind(run), [from, to] = scored.ranges[place];
      let log = 0, found = 0;
      for (let at = start + from; at < start + to; at++) {
        if (!kinds.counts[at]) continue;
        log += kinds.sums[at] / kinds.counts[at];
        found += 1;
      }
      return (log / found) * packing.STEP;
    }

    /** What a machine's entry says of the parts of the workloads. */
    function speeds(run) {
      const counts = parts.map(({ place }) => cases(run, place));
      const there = parts.map((part, i) => ({ ...part, i })).filter(({ i }) => counts[i]);
      const errors = [reference, run].map((side) =>
        parts.map(({ place }) => packing.error(data.errors[side], width + 1 + place)));
      const certain = there.length > 0 && there.every(({ i }) => errors.every((each) => !Number.isNaN(each[i])));
      const common = (i, j) => (run === reference || !counts[i] || !counts[j] ? 0 : [reference, run]
        .map((side, at) => errors[at][i] * errors[at][j] * (i === j ? 1 : packing.share(data.errors[side], width)))
        .reduce((sum, part) => sum + part));
      return {
        logs: Object.fromEntries(there.map(({ name, place }) => [name, partLog(run, place)])),
        covariance: certain ? parts.map((_, i) => parts.slice(0, i + 1).map((__, j) => common(i, j))) : null,
        quantile: certain ? QUANTILE : null,
        counts: Object.fromEntries(parts.map(({ name }, i) => [name, counts[i]])),
      };
    }

    /** The score under a workload. @returns {Mean} */
    function mean(run, workload) {
      const asked = { parts }, weights = economics.weightsOf(asked, workload);
      const { speed, cases: count, every } = economics.score(asked, { parts: speeds(run) }, weights);
      return { log: speed?.log ?? NaN, error: speed?.error ?? NaN, count, total: every };
    }

    /** What two exercises of a run have in common beside the reference, or one with itself. */
    const covariance = (run, one, other) => (run === reference ? 0 : [reference, run].map((side) => {
      const [mine, its] = [one, other].map((place) => packing.error(data.errors[side], place));
      return mine * its * (one === other ? 1 : packing.share(data.errors[side], width));
    }).reduce((sum, part) => sum + part));

    const ends = (run) => extremes(owner, base, has, times(run), width);
    return { totals, weights, parts, single, speeds, mean, covariance, ends };
  }

  /** Add up a run's logs and count its common cases, by exercise. */
  function add(owner, base, has, { cases, steps }, sums, counts, first) {
    for (let place = 0; place < cases.length; place++) {
      const one = cases[place];
      if (has[one] && owner[one] >= 0) {
        const at = first + owner[one];
        sums[at] += base[one] - steps[place];
        counts[at] += 1;
      }
    }
  }

  /** The best and the worst of a run's logs, and how many of its cases the reference lacks. */
  function extremes(owner, base, has, { cases, steps }, width) {
    const found = Array.from({ length: width }, () => ({ best: -Infinity, worst: Infinity, beyond: 0 }));
    cases.forEach((one, place) => {
      const mine = found[owner[one]], log = (base[one] - steps[place]) * packing.STEP;
      if (!has[one]) mine.beyond += 1;
      else Object.assign(mine, { best: Math.max(mine.best, log), worst: Math.min(mine.worst, log) });
    });
    return found;
  }

  /** A ratio with its interval, as numbers. @param {Mean} mean */
  function estimate({ log, error }) {
    const [low, high] = Number.isNaN(error) ? [null, null] : [-1, 1].map(
      (side) => Math.exp(log + side * QUANTILE * error));
    return { value: Math.exp(log), low, high };
  }

  /**
   * Runs side by side, as comparison.py has it.
   * @param {Estimated} data
   * @param {{against: function(number): object}} read from `reader`
   * @param {number[]} runs the reference first
   * @param {function(number, number): object} describe what else is known of a run beside the first
   */
  function comparison(data, read, runs, describe) {
    const held = read.against(runs[0]);
    const names = data.exercises.map(({ name }) => name);
    const exercises = data.exercises
      .map(({ name, title }, place) => (
        { name, title, total: held.totals[place], weight: held.weights[place], place }))
      .filter(({ total }) => total);
    const machines = runs.map((run) => ({ ...describe(run, runs[0]), ...machine(held, run, exercises, names) }));
    return {
      approximate: true, reference: machines[0].run, machines,
      exercises: exercises.map(({ place, ...exercise }) => exercise),
      workloads: data.workloads,
      parts: scored(held),
    };
  }

  /**
   * The scores of runs beside the first of them, and nothing else of a comparison: all that ranks need.
   * @param {function(number): string} name of a run
   */
  function scores(data, read, runs, name) {
    const held = read.against(runs[0]);
    return {
      reference: name(runs[0]), parts: scored(held),
      machines: runs.map((run) => ({ run: name(run), energy: null, parts: held.speeds(run) })),
    };
  }

  const scored = ({ parts }) => parts.map(({ name, title, weights, total }) => ({ name, title, weights, total }));

  /** What a machine's entry says of its speed. */
  function machine(held, run, exercises, names) {
    const ends = held.ends(run);
    const mine = exercises.map(({ place }) => ({ ...held.single(run, place), ...ends[place] }));
    const by = (value) => Object.fromEntries(exercises.map(({ name }, i) => [name, value(mine[i], i)]));
    const known = mine.filter(({ count }) => count);
    const certain = known.length > 0 && known.every(({ error }) => !Number.isNaN(error));
    const common = (i, j) =>
      (mine[i].count && mine[j].count ? held.covariance(run, exercises[i].place, exercises[j].place) : 0);
    const beyond = names.flatMap((name, i) => (ends[i].beyond ? [[name, ends[i].beyond]] : []));
    return {
      logs: Object.fromEntries(exercises.flatMap(({ name }, i) => (mine[i].count ? [[name, mine[i].log]] : []))),
      covariance: certain ? mine.map((_, i) => mine.map((__, j) => common(i, j))) : null,
      quantile: certain ? QUANTILE : null,
      parts: held.speeds(run),
      counts: by(({ count }) => count), beyond: Object.fromEntries(beyond),
      best: by((one, i) => filled(mine, exercises, i, "best", Math.max)),
      worst: by((one, i) => filled(mine, exercises, i, "worst", Math.min)),
    };
  }

  /**
   * What an exercise's log would be if each missing case were like its best (worst) common one,
   * or all of an exercise without any like the best (worst) exercise on that kind of device.
   */
  function filled(mine, exercises, i, end, most) {
    const { log, count, total } = mine[i];
    if (count) return (log * count + (total - count) * mine[i][end]) / total;
    const kind = (one) => one.name.endsWith(".cpu");
    const others = mine.filter((one, j) => one.count && kind(exercises[j]) === kind(exercises[i]));
    return others.length ? most(...others.map((one) => one.log)) : null;
  }

  return { reader, estimate, comparison, scores, QUANTILE };
})();
