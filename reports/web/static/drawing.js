// SPDX-License-Identifier: MIT
"use strict";
/** Elements, logarithmic axes, and labels that do not collide. */
const drawing = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_TICKS = 5;
  /** First digits of ticks within a power of ten, the finest first. */
  const LADDERS = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3]];
  const ROOM = 1.15;
  const NARROWEST = 240;
  const BOX = [11, 14];
  const NEAR = 17;
  const FURTHER = 14;

  /** Give an element its attributes, less those that are null, and what is inside it. */
  function filled(element, attributes, inside) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null) element.setAttribute(name, value);
    }
    element.append(...inside.flat());
    return element;
  }

  /** An HTML element: element("p", {class: "absent"}, "not known"). */
  const element = (tag, attributes = {}, ...inside) =>
    filled(document.createElement(tag), attributes, inside);

  /** An SVG element. */
  const shape = (tag, attributes = {}, ...inside) =>
    filled(document.createElementNS(SVG, tag), attributes, inside);

  const round = (number) => Math.round(number * 100) / 100;

  /** A logarithmic axis between two values; places on it are in percent. */
  function scale(low, high) {
    const at = (value) => round((100 * Math.log(value / low)) / Math.log(high / low));
    const steps = (most) => {
      const [first, last] = [low, high].map((end) => Math.floor(Math.log10(end)));
      const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
      const ladders = LADDERS.map((digits) => powers.flatMap((power) => digits.map((digit) => digit * power)));
      powers.forEach((_, skip) => ladders.push(powers.filter((__, i) => i % (skip + 1) === 0)));
      return ladders
        .map((ladder) => ladder.filter((tick) => low <= tick && tick <= high))
        .find((shown) => shown.length <= most);
    };
    const ticks = (most = MOST_TICKS) => steps(most).map((tick) => [at(tick), units.value(tick, "")]);
    return { low, high, at, steps, ticks };
  }

  /** An axis that has all values on it and spans a factor of `least`. */
  function spanning(values, least = 4) {
    const [low, high] = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
    const [middle, half] = [Math.sqrt(low * high), Math.sqrt(Math.max(high / low, least))];
    return scale(middle / half, middle * half);
  }

  /** How far below its point each label stands, so that none covers a label or a point. */
  function labels(points) {
    const marks = points.map(([x, y]) => [(x / 100) * NARROWEST, y]);
    const taken = [...marks];
    const crowded = (x, y) =>
      taken.some((other) => Math.abs(x - other[0]) < BOX[0] && Math.abs(y - other[1]) < BOX[1]);
    return marks.map(([x, y]) => {
      const steps = taken.flatMap((_, i) => [-1, 1].map((way) => way * (NEAR + FURTHER * i)));
      const chosen = steps.find((step) => !crowded(x, y + step));
      taken.push([x, y + chosen]);
      return chosen;
    });
  }

  return { element, shape, round, scale, spanning, labels };
})();
