// SPDX-License-Identifier: MIT
"use strict";

/**
 * Reads what reports/packing.py wrote: the estimates of many runs, three characters each.
 *
 * @typedef {{least: number[], widths: number[], runs: string[]}} Packed
 * @typedef {{cases: Int32Array, logs: Int32Array, errors: Float64Array}} Estimates
 *   Of one run: places of its cases in ascending order, the natural logarithms of their
 *   seconds in steps of a thousandth, and the logarithms' standard errors (NaN: not known).
 */
const packing = (() => {
  const STEP = 1e-3, LEAST_ERROR = 1e-5, ERROR_LEVELS = 7, GAP = "~";
  const DIGITS = Array.from({ length: 93 }, (_, index) => String.fromCharCode(33 + index))
    .filter((character) => !'"&<>\\'.includes(character));
  const VALUES = new Int32Array(128);
  DIGITS.forEach((digit, value) => { VALUES[digit.charCodeAt(0)] = value; });
  const ERRORS = DIGITS.map((_, level) =>
    level ? LEAST_ERROR * Math.exp((level - 1) / ERROR_LEVELS) : NaN);

  /** The number that `width` digits of `text` from `start` on spell. */
  function number(text, start, width) {
    let value = 0;
    for (let place = start; place < start + width; place++) {
      value = value * DIGITS.length + VALUES[text.charCodeAt(place)];
    }
    return value;
  }

  /**
   * @param {Packed} packed
   * @param {number} run its place
   * @returns {Estimates}
   */
  function unpack(packed, run) {
    const text = packed.runs[run], room = Math.floor(text.length / 3);
    const cases = new Int32Array(room), logs = new Int32Array(room), errors = new Float64Array(room);
    let count = 0, one = 0;
    for (let place = 0; place < text.length;) {
      if (text[place] === GAP) {
        one += number(text, place + 1, 2);
        place += 3;
        continue;
      }
      const width = packed.widths[one];
      cases[count] = one;
      logs[count] = packed.least[one] + number(text, place, width);
      errors[count] = ERRORS[VALUES[text.charCodeAt(place + width)]];
      place += width + 1;
      one += 1;
      count += 1;
    }
    return {
      cases: cases.subarray(0, count), logs: logs.subarray(0, count), errors: errors.subarray(0, count),
    };
  }

  return { STEP, unpack };
})();
