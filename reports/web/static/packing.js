// SPDX-License-Identifier: MIT
"use strict";

/**
 * Reads what packing.py wrote: the times of many runs, two characters each.
 *
 * @typedef {{least: number[], widths: number[], runs: string[]}} Packed
 * @typedef {{cases: Int32Array, steps: Int32Array}} Times
 *   Of one run: the places of its cases in ascending order, and the natural logarithms of
 *   their seconds in steps of `STEP`.
 */
const packing = (() => {
  const STEP = 1e-3, LEAST_ERROR = 1e-5, ERROR_LEVELS = 7;
  const GAP = "~".charCodeAt(0), ONE_MISSING = " ".charCodeAt(0);
  const VALUES = new Int32Array(128);
  let base = 0;
  for (let code = 33; code < 126; code++) {
    if (!'"&<>\\'.includes(String.fromCharCode(code))) VALUES[code] = base++;
  }

  /** The number that `width` digits of `text` from `start` on spell. */
  function number(text, start, width) {
    let value = 0;
    for (let position = start; position < start + width; position++) {
      value = value * base + VALUES[text.charCodeAt(position)];
    }
    return value;
  }

  /**
   * @param {Packed} packed
   * @param {number} run its index
   * @returns {Times}
   */
  function unpack(packed, run) {
    const { least, widths, runs } = packed, text = runs[run], { length } = text;
    const cases = new Int32Array(length >> 1), steps = new Int32Array(length >> 1);
    let count = 0, one = 0;
    for (let position = 0; position < length;) {
      const code = text.charCodeAt(position);
      if (code === GAP) {
        one += number(text, position + 1, 2);
        position += 3;
      } else if (code === ONE_MISSING) {
        one += 1;
        position += 1;
      } else {
        const end = position + widths[one];
        let value = VALUES[code];
        while (++position < end) value = value * base + VALUES[text.charCodeAt(position)];
        cases[count] = one;
        steps[count++] = least[one++] + value;
      }
    }
    return { cases: cases.subarray(0, count), steps: steps.subarray(0, count) };
  }

  /** The standard error that the digit at `position` of `text` stands for; NaN is for none. */
  function error(text, position) {
    const level = VALUES[text.charCodeAt(position)];
    return level ? LEAST_ERROR * Math.exp((level - 1) / ERROR_LEVELS) : NaN;
  }

  /** The number from 0 to 1 that the digit at `position` of `text` stands for. */
  const share = (text, position) => VALUES[text.charCodeAt(position)] / (base - 1);

  return { STEP, unpack, error, share };
})();
