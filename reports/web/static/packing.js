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
  const STEP = 1e-3, LEAST_ERROR = 1e-5, ERROR_LEVELS = 7, GAP = "~", ONE_MISSING = " ";
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
    const text = packed.runs[run], room = text.length >> 1;
    const cases = new Int32Array(room), steps = new Int32Array(room);
    let count = 0, one = 0;
    for (let position = 0; position < text.length;) {
      if (text[position] === GAP) {
        one += number(text, position + 1, 2);
        position += 3;
        continue;
      }
      if (text[position] === ONE_MISSING) {
        one += 1;
        position += 1;
        continue;
      }
      cases[count] = one;
      steps[count++] = packed.least[one] + number(text, position, packed.widths[one]);
      position += packed.widths[one++];
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
