// SPDX-License-Identifier: MIT
"use strict";
/**
 * Numbers for people, to the digit as units.py spells them.
 * @typedef {{value: number, low: ?number, high: ?number}} Estimate
 */
const units = (() => {
  const DIGITS = 3;
  const MOST_DIGITS = 4;
  const DECIMAL = [[1e-9, "n"], [1e-6, "\u00b5"], [1e-3, "m"], [1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"]];
  /** Factors and what stands for them, by unit; other units have none. Bytes are those of a capacity, which vendors print in GB. */
  const PREFIXES = {
    W: DECIMAL,
    "FLOP/s": DECIMAL,
    "B/s": DECIMAL,
    s: DECIMAL.slice(0, 4),
    B: DECIMAL.slice(3),
  };

  /** The power of ten of the first digit. */
  const magnitude = (value) => 10 ** Math.floor(Math.log10(Math.abs(value)) + 1e-9);

  /** What to divide by, and what to write behind the number. */
  function scale(size, unit) {
    if (Object.hasOwn(PREFIXES, unit)) {
      const fitting = PREFIXES[unit].filter(([factor]) => factor <= size);
      const [factor, prefix] = fitting.at(-1) ?? (size ? PREFIXES[unit][0] : [1, ""]);
      return [factor, ` ${prefix}${unit}`];
    }
    return [1, unit === "×" || unit === "" ? unit : ` ${unit}`];
  }

  /** What to divide an axis by, and the unit to name there. */
  function axis(largest, unit) {
    const [factor, symbol] = scale(largest, unit);
    return [factor, symbol.trim()];
  }

  /** Round halves to the even neighbour. */
  function even(number) {
    const rounded = Math.round(number);
    return number % 1 !== 0 && (number * 2) % 1 === 0 && rounded % 2 !== 0 ? rounded - 1 : rounded;
  }

  /** A number rounded to a power of ten, with commas between thousands. */
  function text(number, step) {
    const decimals = Math.max(0, even(-Math.log10(step)));
    const [whole, part] = (even(number / step) * step + 0).toFixed(decimals).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return part === undefined ? grouped : `${grouped}.${part}`;
  }

  /** A number that has no interval by nature. */
  function value(number, unit) {
    const [factor, symbol] = scale(Math.abs(number), unit);
    const shown = number / factor;
    const step = shown ? Math.min(1, magnitude(shown) / 10 ** (DIGITS - 1)) : 1;
    const spelled = text(shown, step);
    return (spelled.includes(".") ? spelled.replace(/\.?0+$/, "") : spelled) + symbol;
  }

  /** Numbers that have no interval by nature, with as many decimals as any of them needs. */
  function alike(numbers, unit) {
    const decimals = numbers.map((one) => value(one, "").split(".")[1]?.length ?? 0);
    return numbers.map((one) => text(one, 10 ** -Math.max(...decimals)) + unit);
  }

  /** The last decimal place that an interval supports. */
  function place(middle, low, high) {
    const half = (high - low) / 2;
    const largest = Math.max(Math.abs(middle), half);
    if (largest === 0) return 1;
    const finest = magnitude(largest) / 10 ** (MOST_DIGITS - 1);
    const step = half ? Math.max(finest, magnitude(half / 2)) : finest;
    if (low <= 0 && high >= 0) return step;
    const nearest = Math.min(Math.abs(low), Math.abs(middle), Math.abs(high));
    return Math.min(step, Math.max(finest, magnitude(nearest)));
  }

  /**
   * A measured number and its interval: ["2.10×", "[2.05, 2.15]"], or ["2×", ""] without or exact.
   * @param {Estimate} estimate
   * @param {string} unit
   */
  function parts(estimate, unit) {
    const { low: least, high: most } = estimate;
    if (least === null || most === null || least === most) return [value(estimate.value, unit), ""];
    const half = (estimate.high - estimate.low) / 2;
    const [factor, symbol] = scale(Math.max(Math.abs(estimate.value), half), unit);
    const [middle, low, high] = [estimate.value, estimate.low, estimate.high].map((x) => x / factor);
    const step = place(middle, low, high);
    return [`${text(middle, step)}${symbol}`, `[${text(low, step)}, ${text(high, step)}]`];
  }

  /** A number of things, such as "1 case" or "12 cases". */
  function counted(number, noun) {
    const plural = number === 1 ? "" : noun.endsWith("ch") ? "es" : "s";
    return `${text(number, 1)} ${noun}${plural}`;
  }

  return { value, alike, parts, counted, axis };
})();
