// SPDX-License-Identifier: MIT
"use strict";
/** Ranks by workload, and when buying costs less than renting. */
const purchaseRanks = (() => {
  const { element, shape } = drawing;
  const { folded, legend, table } = purchaseTables;
  const TOP = 40;
  const STEP = 44;
  const APART = 18;
  const MARKS = 4;
  /** Pixels of a row of hours, the least factor that they span, and their ticks. */
  const ROW = 34;
  const SPAN = 10;
  const MOST_HOURS = 4;

  /** A chart with the result as its title and a line below it. */
  const figure = (kind, title, subtitle, ...inside) => element("figure", { class: kind },
    element("figcaption", {}, element("h3", {}, title), element("p", { class: "note" }, subtitle)), ...inside);

  /** Where a machine's rank stands: in the middle of the ranks that it may have. */
  const middle = ([first, last]) => (first + last) / 2;

  /** Heights of names, so that none covers another. */
  function spread(heights) {
    const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
    const placed = [...heights];
    order.forEach((one, i) => {
      if (i) placed[one] = Math.max(placed[one], placed[order[i - 1]] + APART);
    });
    return placed;
  }

  const height = (ranks) => TOP + (middle(ranks) - 1) * STEP;

  /** The rank of a machine at one end of its line, with its name where there is room, else with its letter. */
  function ends(row, rank, x, y, side) {
    const label = (kind, text) => shape("text",
      { class: `named ${kind}`, x, y: drawing.round(y + 4), "text-anchor": side, dx: side === "end" ? -10 : 10 }, text);
    const both = (name) => (side === "start" ? `${rank}  ${name}` : `${name}  ${rank}`);
    return [label("full", both(row.short)), label("brief", both(row.letter))];
  }

  /** A machine's line through the workloads that rank it. */
  function line(row, points, i) {
    const kind = (i % MARKS) + 1;
    const lines = points.slice(1).map(([x, y], at) => shape("line",
      { class: `k${kind}`, x1: `${points[at][0]}%`, y1: points[at][1], x2: `${x}%`, y2: y }));
    const marks = points.map(([x, y]) => (i % 2
      ? shape("rect", { class: `f${kind}`, x: `${x}%`, y: y - 4.5, width: 9, height: 9, transform: "translate(-4.5 0)" })
      : shape("circle", { class: `f${kind}`, cx: `${x}%`, cy: y, r: 5 })));
    return [...lines, ...marks];
  }

  /** The slope chart of ranks, over the workloads that two machines or more have a result in. */
  function ranks(view) {
    const shown = view.standings.filter(({ rows }) => rows.filter(({ ranks }) => ranks).length > 1);
    if (shown.length < 2) return [element("p", { class: "note" }, "Ranks by workload need two workloads with results of two machines.")];
    const across = shown.map((_, i) => drawing.round((100 * i) / (shown.length - 1)));
    const machines = view.rows.filter(({ place }) => shown.some(({ rows }) => rows.find((row) => row.place === place)?.ranks));
    const of = ({ rows }, row) => rows.find(({ place }) => place === row.place).ranks;
    const bottom = TOP + (machines.length - 1) * STEP + 20;
    const columns = shown.map(({ title }, i) => [
      shape("line", { class: "grid", x1: `${across[i]}%`, x2: `${across[i]}%`, y1: TOP - 12, y2: bottom }),
      shape("text", { class: "tick", x: `${across[i]}%`, y: i % 2 ? 22 : 6, "text-anchor": i % 2 ? "end" : "middle" }, title)]);
    const drawn = machines.map((row, i) => {
      const known = shown.map((standing, at) => [standing, at]).filter(([standing]) => of(standing, row));
      return line(row, known.map(([standing, at]) => [across[at], height(of(standing, row))]), i);
    });
    const named = [[0, "0", "end"], [shown.length - 1, "100%", "start"]].map(([at, x, side]) => {
      const there = machines.filter((row) => of(shown[at], row));
      const heights = spread(there.map((row) => height(of(shown[at], row))));
      return there.map((row, i) => ends(row, [...new Set(of(shown[at], row))].join(" to "), x, heights[i], side));
    });
    const described = shown.map((standing) => `${standing.title}: ${standing.rows.filter(({ ranks }) => ranks)
      .map(({ name: called, ranks: [first, last] }) => `${called} ${first === last ? first : `${first} to ${last}`}`).join(", ")}`).join(". ");
    const firsts = shown.map(({ rows }) => rows.filter(({ ranks }) => ranks && ranks[0] === 1 && ranks[1] === 1)[0]?.name ?? null);
    const always = firsts[0] !== null && firsts.every((one) => one === firsts[0]);
    const leader = firsts.map((one) => [one, firsts.filter((other) => other !== null && other === one).length])
      .reduce((best, one) => (one[1] > best[1] ? one : best));
    const title = always ? `${firsts[0]} is first under every workload`
      : `The order depends on the workload${leader[1] ? `: ${leader[0]} is first under ${leader[1]} of ${shown.length}` : ""}`;
    return [figure("ranks", title, "Rank by workload; ranks join where a direct comparison is not conclusive",
      shape("svg", { class: "slopes", role: "img", height: bottom + 4, "aria-label": `Ranks by workload. ${described}.` },
        ...columns.flat(), ...drawn.flat(), ...named.flat(2)), legend(machines),
      folded(ranked(shown, machines, of)))];
  }

  /** The ranks as a table. */
  function ranked(shown, machines, of) {
    const rows = machines.map((row) => [[element("span", { class: "letter" }, row.letter), " ", row.name], ...shown.map((standing) => {
      const ranks = of(standing, row);
      return [ranks ? [...new Set(ranks)].join(" to ") : "not measured"];
    })]);
    return table("Rank by workload", [["Machine"], ...shown.map(({ title }) => [title])], rows, "table-ranks");
  }

  /** Hours of full use at which buying costs what renting costs. */
  const breakEven = ({ settings }, { amounts, machine }, rent) => {
    const energy = machine.watts === null ? 0 : (machine.watts / 1000) * settings.kwh;
    return rent > energy && amounts.price !== null ? amounts.price / (rent - energy) : null;
  };

  /** Machines with a price and a price per hour, each with the hours after which buying pays, the fewest first. */
  const renting = (view) => view.rows.filter(({ machine }) => Object.hasOwn(view.settings.rents, machine.run))
    .map((row) => [row, breakEven(view, row, view.settings.rents[row.machine.run])]).filter(([, hours]) => hours !== null)
    .sort((a, b) => a[1] - b[1]);

  /** A machine's hours as a line from the least that is shown. */
  function hoursOf([row, hours], at, y) {
    return [
      shape("line", { class: "k0", x1: 0, x2: `${at}%`, y1: y, y2: y }),
      shape("circle", { class: "f1", cx: `${at}%`, cy: y, r: 6 }),
      shape("text", { class: "named full", x: 0, y: y + 4, dx: -10, "text-anchor": "end" }, row.short),
      shape("text", { class: "named brief", x: 0, y: y + 4, dx: -10, "text-anchor": "end" }, row.letter),
      shape("text", { class: "named", x: `${at}%`, y: y + 4, dx: 11 }, units.value(hours, "h"))];
  }

  /** The chart of the hours until buying pays, from half of the fewest to twice the most. */
  function hoursChart(known) {
    const axis = drawing.spanning(known.map(([, hours]) => hours), SPAN);
    const bottom = known.length * ROW + 8;
    const ticks = axis.ticks(MOST_HOURS).map(([at, text]) => [
      shape("line", { class: "grid", x1: `${at}%`, x2: `${at}%`, y1: 0, y2: bottom }),
      shape("text", { class: "tick", x: `${at}%`, y: bottom + 16, "text-anchor": "middle" }, `${text} h`)]);
    const lines = known.map((one, i) => hoursOf(one, axis.at(one[1]), 16 + ROW * i));
    const words = known.map(([row, hours]) => `${row.name}: ${units.value(hours, "h")}`).join("; ");
    return shape("svg", { class: "hours", role: "img", height: bottom + 22, "aria-label": `Hours until buying pays. ${words}.` }, ...ticks.flat(), ...lines.flat());
  }

  /** When buying pays, for machines with a price and a price per hour. */
  function rent(view) {
    const known = renting(view);
    if (known.length === 0) return [];
    const [first, ...others] = known.map(([row, hours]) => `${row.name} after ${units.value(hours, "h")}`);
    const title = `Buying pays for ${first} of use${others.length ? `, for ${others.at(-1)}` : ""}`;
    const left = view.rows.filter((row) => !known.some(([one]) => one === row)).map(({ name }) => name);
    const why = left.length ? `. Not shown, because a price is unknown or the rent is less than the energy: ${purchaseView.listed(left)}` : "";
    const cells = known.map(([row, hours]) => [[row.name], [units.value(hours, "h")]]);
    return [figure("rent", title, `Hours of full use at which buying costs what renting costs (log scale)${why}`, hoursChart(known), legend(known.map(([row]) => row)),
      folded(table("Hours until buying pays", [["Machine"], ["Hours"]], cells, "table-rent")))];
  }

  /** What the section of models is about, and of rent where any is known. */
  const holding = (view) => [renting(view).length ? "What fits, and whether to rent" : "What fits"];

  return { ranks, rent, holding, figure, breakEven };
})();
