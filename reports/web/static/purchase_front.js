// SPDX-License-Identifier: MIT
"use strict";
/** Speed against what it takes, with the Pareto front. */
const purchaseFront = (() => {
  const { element, shape } = drawing;
  const { name, number, plain, line, table } = purchaseTables;
  const HEIGHT = 280;
  /** Pixels of a percent of the width from which on names are shown, of a letter, and of a line. */
  const WIDE = 4;
  const LETTER = 7.6;
  const LINE = 14;
  const BESIDE = 13;
  const MOST_VALUES = 3;
  /** What is on the axis across: whether more of it is better, and of how much of it value is the speed. */
  const ACROSS = {
    price: { title: "Price of a device", more: false, per: 1000 },
    ownership: { title: "Cost of ownership of a device", more: false, per: 1000 },
    watts: { title: "Power limit of a device", more: false, per: 100 },
    memory: { title: "Memory of a device", more: true },
  };
  const unit = (across, settings) => ({ watts: "W", memory: "B" })[across] ?? settings.currency;

  /** Machines of which speed and amount are known, whether they are on the front, and who is near. 0 has no place on a logarithmic axis. */
  function front(view, across) {
    const known = view.ranked.filter(({ each }) => each[across]);
    const cost = (row) => row.each[across] * (ACROSS[across].more ? -1 : 1);
    const beaten = economics.beaters(known.map((row) => [cost(row), row]), view.faster);
    return known.map((row, place) => ({
      row,
      within: beaten[place].length === 0,
      beaters: beaten[place],
      near: known.filter((other) => cost(other) < cost(row) && !view.faster(row, other)),
    }));
  }

  /** What speed is held against unless a reader says: the first that is known of two machines. */
  const usual = (view) =>
    Object.keys(ACROSS).find((across) => front(view, across).length > 1) ?? "price";

  /** Where a machine stands, in words. */
  function word({ within, beaters, near }) {
    const named = (rows) => purchaseView.listed(rows.map(({ name }) => name));
    if (!within) return `beaten by ${named(beaters)}`;
    return near.length ? `on the front; not conclusively faster than ${named(near)}` : "on the front";
  }

  /** One machine: its interval, its point, a ring around it on the front, its letter and, where there is room, its name. */
  function point({ row, within }, at, up, below, called) {
    const [x, y] = [`${at}%`, up(row.ratio.value)];
    const marks = [];
    if (row.ratio.low !== null) {
      marks.push(line("whisker", at, at, up(row.ratio.low), up(row.ratio.high)));
    }
    marks.push(shape("circle", { class: "dot", cx: x, cy: y, r: 5 }));
    if (within) marks.push(shape("circle", { class: "ring", cx: x, cy: y, r: 9 }));
    const label = shape("text", { class: "label", x, y: drawing.round(y + below), dy: 4 }, row.letter);
    const [anchor, dx] = at > 50 ? ["end", -BESIDE] : ["start", BESIDE];
    const name = shape("text", { class: "named", x, y: drawing.round(y + called), dx, "text-anchor": anchor }, row.short);
    return shape("g", {}, shape("title", {}, row.name), ...marks, label, name);
  }

  /** How far below its point each name stands, so that none covers another or a point. */
  function names(points) {
    const taken = points.map(([x, y]) => [x * WIDE - BESIDE, x * WIDE + BESIDE, y + 4]);
    return points.map(([x, y, length]) => {
      const [near, far] = [BESIDE + 1, BESIDE + length];
      const [from, to] = x > 50 ? [x * WIDE - far, x * WIDE - near] : [x * WIDE + near, x * WIDE + far];
      const free = (step) => taken.every(([start, end, height]) => to < start || from > end || Math.abs(y + step - height) >= LINE);
      const step = [18, -10, 32, -24, 46, -38, 60, -52].find(free) ?? 18;
      taken.push([from, to, y + step]);
      return step;
    });
  }

  /** Dashed lines on which a unit of money or power buys as much speed, each with that number at its upper end. */
  function values(xs, ys, up, per) {
    const [least, most] = [ys.low / xs.high, ys.high / xs.low].map((one) => one * per);
    return drawing.scale(least, most).steps(MOST_VALUES).flatMap((worth) => {
      const [from, to] = [Math.max(xs.low, (ys.low / worth) * per), Math.min(xs.high, (ys.high / worth) * per)];
      const [x, y] = [xs.at(to), up((to * worth) / per)];
      const aside = to === xs.high ? { "text-anchor": "start", dx: 6, dy: 4 } : { "text-anchor": "middle", dy: -6 };
      return [line("value", xs.at(from), x, up((from * worth) / per), y),
        shape("text", { class: "tick worth", x: `${x}%`, y, ...aside }, `${units.value(worth, "×")}`)];
    });
  }

  /** What the lines of equal value stand for. */
  const worth = (across, { currency }) =>
    `speed per ${units.value(ACROSS[across].per, across === "watts" ? "W" : currency)}`;

  /** The front as a line from point to point: what more speed costs. */
  function steps(points, ats, up) {
    const front = points.map((one, i) => [ats[i], up(one.row.ratio.value), one.within])
      .filter(([, , within]) => within).sort((a, b) => a[0] - b[0]);
    return front.slice(1).flatMap(([x, y], i) => [
      line("step", front[i][0], x, front[i][1], front[i][1]), line("step", x, x, front[i][1], y)]);
  }

  /** The grid and what stands at it. */
  function grid(xs, ys, up) {
    const across = xs.ticks().map(([at, text]) => [
      line("grid", at, at, 0, HEIGHT),
      shape("text", { class: "tick across", x: `${at}%`, y: HEIGHT + 18 }, text),
    ]);
    const upwards = ys.ticks().map(([at, text]) => [
      line("grid", 0, 100, up.at(at), up.at(at)),
      shape("text", { class: "tick up", x: -8, y: drawing.round(up.at(at) + 4) }, `${text}×`),
    ]);
    return [...across, ...upwards].flat();
  }

  /** The chart of all machines of which both are known. */
  function chart(view, across, points) {
    const largest = Math.max(...points.map(({ row }) => row.each[across]));
    const [factor, symbol] = units.axis(largest, unit(across, view.settings));
    const amounts = points.map(({ row }) => row.each[across] / factor);
    const speeds = points.flatMap(({ row: { ratio } }) => [ratio.value, ratio.low, ratio.high]);
    const xs = drawing.spanning(amounts);
    const ys = drawing.spanning(speeds.filter((one) => one !== null));
    const place = (percent) => drawing.round(HEIGHT * (1 - percent / 100));
    const up = Object.assign((value) => place(ys.at(value)), { at: place });
    const ats = amounts.map((amount) => xs.at(amount));
    const below = drawing.labels(points.map(({ row }, i) => [ats[i], up(row.ratio.value)]));
    const called = names(points.map(({ row }, i) => [ats[i], up(row.ratio.value), row.short.length * LETTER]));
    const described = points.map((one) => `${one.row.name}: ${word(one)}`).join("; ");
    const title = `${ACROSS[across].title}, ${symbol}`;
    return shape("svg",
      { class: "points", role: "img", "aria-label": `Speed against ${ACROSS[across].title.toLowerCase()}. ${described}.` },
      ...grid(xs, ys, up),
      ...(ACROSS[across].more ? [] : [...values(xs, ys, up, ACROSS[across].per / factor), ...steps(points, ats, up)]),
      ...points.map((one, i) => point(one, ats[i], up, below[i], called[i])),
      shape("text", { class: "title across", x: "50%", y: HEIGHT + 40 }, title));
  }

  /** What would keep a machine from the front. */
  const beaten = (across) =>
    ({ watts: "nothing that draws the same or less", memory: "nothing with as much or more" })[across] ?? "nothing that costs the same or less";

  /** What the chart says: the last step of the front, or who is on it. */
  function heading(view, across, points) {
    const front = points.filter(({ within }) => within).map(({ row }) => row);
    if (points.length === 1) return `${front[0].name} alone`;
    const [last, before] = [...front].sort((a, b) => b.each[across] - a.each[across]);
    if (across !== "price" || !before || last.each.price === before.each.price) return `On the front: ${purchaseView.listed(front.map(({ name }) => name))}`;
    const speed = view.beside(last, before);
    const cost = units.value(last.each.price - before.each.price, view.settings.currency);
    return view.faster(last, before)
      ? `From ${before.name} to ${last.name}: ${units.parts(economics.ratio(speed), "×")[0]} the speed for ${cost} more`
      : `${last.name} costs ${cost} more than ${before.name} and is not conclusively faster`;
  }

  /** The chart, and the same as a table. */
  function draw(view, across) {
    const points = front(view, across);
    const { title } = ACROSS[across];
    const unknown = view.rows.filter((row) => !points.some((one) => one.row === row));
    const named = unknown.map(({ name, machine }) => (machine.invalid ? `${name} (invalid run)` : name));
    const left = unknown.length
      ? [element("p", { class: "meta" }, `Not shown: ${purchaseView.listed(named)}. ${title} or speed is unknown or 0.`)]
      : [];
    if (points.length === 0) return left;
    const rows = points.map((one) => [
      name(one.row), number(one.row.ratio, "×"), plain(one.row.each[across], unit(across, view.settings)), [word(one)],
    ]);
    const heads = [["Machine"], ["Speed"], [title], ["Where it stands"]];
    const dashes = ACROSS[across].more ? "" : `; dashed: ${worth(across, view.settings)}`;
    const subtitle = `Speed ${purchaseView.under(view)} (× ${view.reference.name}) against ${title.toLowerCase()}, both logarithmic; a ring: ${beaten(across)} is faster (95%)${dashes}`;
    return [
      element("figure", { class: "pareto" },
        element("figcaption", {}, element("h3", {}, heading(view, across, points)), element("p", { class: "note" }, subtitle)), chart(view, across, points),
        purchaseTables.legend(points.map(({ row }) => row)),
        purchaseTables.folded(table(`Speed against ${title.toLowerCase()}`, heads, rows, "table-front"))),
      ...left,
    ];
  }

  return { ACROSS, front, word, usual, draw };
})();
