// SPDX-License-Identifier: MIT
"use strict";
/** Charts of machines side by side: speed against what it takes, ranks by workload, and when buying pays. */
const charts = (() => {
  const { element, shape, figure, folded, number, table } = drawing;
  const { listed } = units;
  const { under } = model;
  const line = (kind, x1, x2, y1, y2) => shape("line", { class: kind, x1: `${x1}%`, x2: `${x2}%`, y1, y2 });
  /** A machine's name, with a link to its run. */
  const linked = ({ machine: { href }, name }) => (href ? element("a", { href }, name) : name);

  /** What the letters in a chart stand for, where it has no room for names. */
  const legend = (rows) => element("p", { class: "legend" }, ...rows.flatMap((row, i) => [
    ...(i ? [" "] : []), element("span", {}, element("span", { class: "letter" }, row.letter), ` ${row.name}`)]));

  /** "2", or "2 to 3" where it may be either. */
  const spelled = (known) => (known === null ? "not measured" : [...new Set(known)].join(" to "));

  const HEIGHT = 280;
  /** Pixels of a percent of the width, at least, where names are shown and where letters are; of a letter, and of a line. */
  const WIDE = 4, NARROW = 2.4;
  const LETTER = 7.6;
  const LINE = 14;
  const BESIDE = 13;
  /** What speed is held against: the price of a device, or its power where fewer than two prices are known. */
  const TITLES = { price: "Price of a device", watts: "Power of a device" };
  const unit = (across, settings) => (across === "watts" ? "W" : settings.currency);

  /**
   * Machines with a known speed and amount, and whether they are on the front: conclusively faster than all that
   * take less. 0 has no place on a logarithmic axis.
   */
  function points(view, across) {
    const known = view.ranked.filter(({ each }) => each[across]);
    const cost = (row) => row.each[across], beaten = model.beaters(known.map((row) => [cost(row), row]), view.faster);
    return known.map((row, place) => {
      const near = known.filter((other) => cost(other) < cost(row) && !view.faster(row, other));
      return { row, within: beaten[place].length === 0 && near.length === 0, beaters: beaten[place], near };
    });
  }

  /** A machine's place beside the front, in words. */
  function word({ within, beaters, near }) {
    const named = (rows) => listed(rows.map(({ name }) => name));
    if (within) return "on the front";
    return beaters.length ? `beaten by ${named(beaters)}` : `not conclusively faster than ${named(near)}`;
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
    const [anchor, dx] = at > 50 ? ["end", -BESIDE] : ["start", BESIDE];
    const text = (kind, shown, step) => shape("text", { class: kind, x, y: drawing.round(y + step), dx, "text-anchor": anchor }, shown);
    return shape("g", {}, shape("title", {}, row.name), ...marks, text("label", row.letter, below), text("named", row.short, called));
  }

  /** The distance of each label below its point, so that no label covers another or a point; points are [x, y, letters]. */
  function placed(points, wide) {
    const taken = points.map(([x, y]) => [x * wide - BESIDE, x * wide + BESIDE, y + 4]);
    return points.map(([x, y, letters]) => {
      const [near, far] = [BESIDE + 1, BESIDE + letters * LETTER];
      const [from, to] = x > 50 ? [x * wide - far, x * wide - near] : [x * wide + near, x * wide + far];
      const free = (step) => taken.every(([start, end, height]) => to < start || from > end || Math.abs(y + step - height) >= LINE);
      const step = taken.flatMap((_, i) => [4 + LINE * (i + 1), 4 - LINE * (i + 1)]).find(free);
      taken.push([from, to, y + step]);
      return step;
    });
  }

  /** The front as a line from point to point: what more speed costs. */
  function steps(points, ats, up) {
    const front = points.map((one, i) => [ats[i], up(one.row.ratio.value), one.within])
      .filter(([, , within]) => within).sort((a, b) => a[0] - b[0]);
    return front.slice(1).flatMap(([x, y], i) => [
      line("step", front[i][0], x, front[i][1], front[i][1]), line("step", x, x, front[i][1], y)]);
  }

  /** The grid and its labels. */
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

  /** The chart of all machines with both amounts known. */
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
    const labels = (lettersOf, wide) => placed(points.map(({ row }, i) => [ats[i], up(row.ratio.value), lettersOf(row)]), wide);
    const below = labels(() => 1, NARROW), called = labels(({ short }) => short.length, WIDE);
    const described = points.map((one) => `${one.row.name}: ${word(one)}`).join("; ");
    return shape("svg",
      { class: "points", role: "img", "aria-label": `Speed against ${TITLES[across].toLowerCase()}. ${described}.` },
      ...grid(xs, ys, up),
      ...steps(points, ats, up),
      ...points.map((one, i) => point(one, ats[i], up, below[i], called[i])),
      shape("text", { class: "title across", x: "50%", y: HEIGHT + 40 }, `${TITLES[across]}, ${symbol}`));
  }

  /** What the chart says: the last step of the front, or the machines on it. */
  function heading(view, across, points) {
    const front = points.filter(({ within }) => within).map(({ row }) => row);
    if (points.length === 1) return `${front[0].name} alone`;
    const [last, before] = [...front].sort((a, b) => b.each[across] - a.each[across]);
    if (across !== "price" || !before || last.each.price === before.each.price) return `On the front: ${listed(front.map(({ name }) => name))}`;
    const cost = units.value(last.each.price - before.each.price, view.settings.currency);
    const speed = units.parts(model.ratio(view.beside(last, before)), "×").filter(Boolean).join(" ");
    return `From ${before.name} to ${last.name}: ${speed} the speed for ${cost} more`;
  }

  /** Speed against what it takes, and the same as a table. */
  function front(view) {
    const across = Object.keys(TITLES).find((one) => points(view, one).length > 1) ?? "price";
    const found = points(view, across), title = TITLES[across];
    const unknown = view.rows.filter((row) => !found.some((one) => one.row === row));
    const why = ({ machine: { invalid, doubt }, out }) => (invalid ? "invalid run" : out || (doubt && "doubtful run") || `${title.toLowerCase()} or speed unknown or 0`);
    const left = unknown.length ? [element("p", { class: "meta" }, `Not shown: ${listed(unknown.map((row) => `${row.name} (${why(row)})`))}.`)] : [];
    if (found.length === 0) return left;
    const symbol = unit(across, view.settings), amount = ({ machine, each }) => (across === "watts" ? number(machine.power, symbol) : units.value(each[across], symbol));
    const rows = found.map((one) => [[linked(one.row)], number(one.row.ratio, "×"), amount(one.row), word(one)]);
    const subtitle = `Speed ${under(view)}, × ${view.reference.name}; a ring: conclusively faster than all that ${across === "watts" ? "draw" : "cost"} less`;
    return [figure("pareto", heading(view, across, found), subtitle, chart(view, across, found), legend(found.map(({ row }) => row)),
      folded(table(`Speed against ${title.toLowerCase()}`, ["Machine", "Speed", title, "Where it stands"], rows))), ...left];
  }

  const TOP = 40;
  const STEP = 44;
  const APART = 18;
  const MARKS = 4;

  /** Heights of names, so that none covers another. */
  function spread(heights) {
    const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
    const placed = [...heights];
    order.forEach((one, i) => {
      if (i) placed[one] = Math.max(placed[one], placed[order[i - 1]] + APART);
    });
    return placed;
  }

  /** The height of a machine: that of the middle of the ranks that it may have. */
  const height = ([first, last]) => TOP + ((first + last) / 2 - 1) * STEP;

  /** The rank of a machine at one end of its line, with its name where there is room, else with its letter. */
  function ends(row, rank, x, y, side) {
    const label = (kind, text) => shape("text",
      { class: `named ${kind} l${colour(row)}`, x, y: drawing.round(y + 4), "text-anchor": side, dx: side === "end" ? -10 : 10 }, text);
    const both = (name) => (side === "start" ? `${rank}  ${name}` : `${name}  ${rank}`);
    return [label("full", both(row.short)), label("brief", both(row.letter))];
  }

  /** Which of the colours is a machine's. */
  const colour = ({ place }) => (place % MARKS) + 1;

  /** A machine's line through the workloads that rank it. */
  function slope(points, row) {
    const kind = colour(row);
    const lines = points.slice(1).map(([x, y], at) => shape("line",
      { class: `k${kind}`, x1: `${points[at][0]}%`, y1: points[at][1], x2: `${x}%`, y2: y }));
    const marks = points.map(([x, y]) => (kind % 2 === 0
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
    const columns = shown.map(({ workload: { title } }, i) => [
      shape("line", { class: "grid", x1: `${across[i]}%`, x2: `${across[i]}%`, y1: TOP - 12, y2: bottom }),
      shape("text", { class: "tick", x: `${across[i]}%`, y: i % 2 ? 22 : 6, "text-anchor": i % 2 ? "end" : "middle" }, title)]);
    const drawn = machines.map((row) => {
      const known = shown.map((standing, at) => [standing, at]).filter(([standing]) => of(standing, row));
      return slope(known.map(([standing, at]) => [across[at], height(of(standing, row))]), row);
    });
    const named = [[0, "0", "end"], [shown.length - 1, "100%", "start"]].map(([at, x, side]) => {
      const there = machines.filter((row) => of(shown[at], row));
      const heights = spread(there.map((row) => height(of(shown[at], row))));
      return there.map((row, i) => ends(row, spelled(of(shown[at], row)), x, heights[i], side));
    });
    const described = shown.map(({ workload, rows }) => `${workload.title}: ${rows.filter(({ ranks }) => ranks).map((row) => `${row.name} ${spelled(row.ranks)}`).join(", ")}`).join(". ");
    const firsts = shown.map(({ rows }) => rows.find(({ ranks }) => ranks?.[1] === 1)?.name);
    const [leader, times] = firsts.filter(Boolean).map((one) => [one, firsts.filter((other) => other === one).length]).sort((a, b) => b[1] - a[1])[0] ?? [];
    const title = times === shown.length ? `${leader} is first under every workload`
      : `The order depends on the workload${leader ? `: ${leader} is first under ${times} of ${shown.length}` : ""}`;
    return [figure("ranks", title, "Rank by workload; joined where a direct comparison is not conclusive",
      shape("svg", { class: "slopes", role: "img", height: bottom + 4, "aria-label": `Ranks by workload. ${described}.` },
        ...columns.flat(), ...drawn.flat(), ...named.flat(2)), legend(machines),
      folded(table("Rank by workload", ["Machine", ...shown.map(({ workload }) => workload.title)],
        machines.map((row) => [row.name, ...shown.map((standing) => spelled(of(standing, row)))]))))];
  }

  /** Machines with a price and a price per hour, each with the hours of full use after which buying pays, the fewest first. */
  const renting = ({ rows, settings }) => rows.filter(({ machine, out }) => !out && Object.hasOwn(settings.rents, machine.run)).map((row) => {
    const { price, watts } = row.amounts, energy = ((watts ?? 0) / 1000) * settings.kwh, rent = settings.rents[row.machine.run];
    return [row, rent > energy && price !== null ? price / (rent - energy) : null];
  }).filter(([, hours]) => hours !== null).sort((a, b) => a[1] - b[1]);

  /** When buying pays, for machines with a price and a price per hour. */
  function rent(view) {
    const known = renting(view);
    if (known.length === 0) return [];
    const [first, ...others] = known.map(([row, hours]) => `${row.name} after ${units.value(hours, "h")}`);
    const title = `Buying pays for ${first} of use${others.length ? `, for ${others.at(-1)}` : ""}`;
    const left = view.rows.filter((row) => !known.some(([one]) => one === row)).map(({ name }) => name);
    const why = left.length ? `. Not shown, because a price is unknown or the rent is less than the energy: ${listed(left)}` : "";
    return [figure("rent", title, `Hours of full use at which buying costs what renting costs; prices have no interval${why}`,
      table("Hours until buying pays", ["Machine", "Hours"], known.map(([row, hours]) => [[linked(row)], units.value(hours, "h")])))];
  }

  return { linked, spelled, front, ranks, rent, renting };
})();

/**
 * What others measured and published of devices that no stored run has. It is drawn hollow, as a range with the number
 * of its sources: it has no interval, is never scored, and is part of no verdict.
 *
 * @typedef {{low: number, high: number, note: string, sources: number}} Figures
 * @typedef {{name: string, figures: object[], ranges: (?Figures)[]}} Published `ranges` are by `AXES`
 */
const elsewhere = (() => {
  const { element, shape } = drawing;
  const { counted, alike } = units;
  const PRODUCTS = ["bfloat16", "float16", "float32"];
  /** @type {[string, string, number][]} */
  const AXES = [["Compute", "TFLOP/s", 1e12], ["Memory", "TB/s", 1e12], ["Link to the device", "GB/s", 1e9]];
  const WHAT = { matmul: "products", copy_within: "copies in its memory", read_within: "reads of its memory", copy_to_device_pinned: "copies to the device",
    copy_to_host_pinned: "copies to the host" };
  const KEY = "published", BETWEEN = "|";
  /** Percent of the axis below which a range is drawn as a point. */
  const NARROW = 4;

  function range(figures, note) {
    if (figures.length === 0) return null;
    const values = figures.map(({ value }) => value), sources = new Set(figures.map(({ address }) => address)).size;
    return { low: Math.min(...values), high: Math.max(...values), note, sources };
  }

  /** A device with its ranges: of compute in the precision with the largest figure, of memory by copies where there are any. */
  function device(words, [name, ...known]) {
    const figures = known.map(([value, ...places]) => {
      const [quantity, precision, method, software, address, day] = places.map((place) => words[place]);
      return { value: value * model.GB, quantity, precision, method, software, address, day };
    });
    const of = (quantity, note, precision = "") => range(figures.filter((one) => one.quantity === quantity && one.precision === precision), note);
    const products = PRODUCTS.map((precision) => of("matmul", precision, precision)).filter(Boolean);
    const compute = products.length ? products.reduce((best, one) => (one.high > best.high ? one : best)) : null;
    const ranges = [compute, of("copy_within", "copies") ?? of("read_within", "reads"), of("copy_to_device_pinned", "pinned")];
    return { name, figures, ranges };
  }

  /** All devices, the largest compute first. @returns {Published[]} */
  const read = ({ devices, words }) => sorted(devices.map((one) => device(words, one)));

  /** Devices and stored runs, the largest compute first. */
  function sorted(rows) {
    const largest = ({ ranges: [one] }) => one?.value ?? one?.high ?? 0;
    return rows.sort((a, b) => largest(b) - largest(a));
  }

  /** The names that the reader picked, and the devices that have them. */
  const names = () => (setting.read().get(KEY) ?? "").split(BETWEEN).filter(Boolean);
  const picked = (all) => all.filter(({ name }) => names().includes(name));

  /** Take a device into the comparison, or out of it. */
  const pick = (name, taken) => setting.write({ [KEY]: [...names().filter((one) => one !== name), ...(taken ? [name] : [])].join(BETWEEN) || null });
  const picker = (name) => setting.box("Compare", () => names().includes(name), (taken) => pick(name, taken), `Compare ${name}, published figures`);

  /** A mark on the axis of compute: filled with its interval where it was measured, else hollow. */
  function mark({ value, low, high }, at) {
    const place = (one) => `${at(one)}%`, [from, to] = [low ?? value, high ?? value];
    if (value) return [shape("line", { class: "ci", x1: place(from), x2: place(to), y1: 6.5, y2: 6.5 }), shape("circle", { class: "f1", cx: place(value), cy: 6.5, r: 4.5 })];
    const width = drawing.round(at(high) - at(low));
    return [width < NARROW ? shape("circle", { class: "spec", cx: `${drawing.round(at(low) + width / 2)}%`, cy: 6.5, r: 4.5 })
      : shape("rect", { class: "spec", x: place(low), width: `${width}%`, y: 2, height: 9, rx: 4.5 })];
  }

  /** A cell: a range with the number of its sources, or a measured number with its interval. */
  function cell(amount, place, at) {
    const [title, unit, factor] = AXES[place], label = { "data-l": `${title}, ${unit}` };
    if (!amount) return element("td", { ...label, class: place ? "none" : "none speed" }, "unknown");
    const [value, low, high] = [amount.value, amount.low, amount.high].map((one) => one && one / factor);
    const [text, below] = amount.value ? units.parts({ value, low, high }, "")
      : [[...new Set(alike([low, high], ""))].join(" to "), counted(amount.sources, "source")];
    const note = element("small", {}, [amount.value && low === null ? "no interval" : below, amount.note].filter(Boolean).join(", "));
    if (place) return element("td", label, text, note);
    return element("td", { ...label, class: "speed" }, element("div", {}, element("strong", {}, text),
      shape("svg", { class: "score", "aria-hidden": "true" }, ...mark({ value, low, high }, at)), note));
  }

  /**
   * Devices and their ranges.
   * @param {boolean} pickable whether there are boxes that pick them
   * @param {object[]} measured rows of stored runs among them
   */
  function table(devices, pickable = false, measured = []) {
    const rows = sorted([...measured, ...devices]), [, , factor] = AXES[0];
    const ends = rows.flatMap(({ ranges: [one] }) => (one ? [one.low ?? one.value, one.high ?? one.value] : [])).map((one) => one / factor);
    const axis = ends.length ? drawing.spanning(ends) : null;
    const ruler = shape("svg", { class: "ruler", "aria-hidden": "true" }, ...(axis?.ticks() ?? []).map(([at, text]) => shape("text", { x: `${at}%`, y: 12 }, text)));
    const heads = [element("th", { scope: "col", class: "pick" }, pickable ? "Compare" : ""), "Device",
      ...AXES.map(([title, unit], i) => element("th", i ? { scope: "col" } : { scope: "col", class: "speed", "aria-sort": "descending" },
        title, element("small", {}, unit), ...(i ? [] : [ruler])))];
    const body = rows.map(({ name, href, ranges }) => [
      element("td", { class: "pick" }, ...(pickable && !href ? [picker(name)] : [])),
      element("th", { scope: "row" }, href ? element("a", { href }, name) : name),
      ...ranges.map((one, i) => cell(one, i, axis?.at))]);
    const caption = `Sorted by compute in the precision with the largest figure; logarithmic. Hollow: published, the range and the number of sources.${measured.length ? " Filled: measured here, with the interval." : ""}`;
    return drawing.table(caption, heads, body, { kind: "stack devices published", label: "Published figures, table" });
  }

  /** Where each figure of some devices is found, how it was measured, and when. */
  function sources(devices) {
    const line = ({ value, quantity, precision, method, software, address, day }) => element("li", {},
      `${[WHAT[quantity], precision].filter(Boolean).join(", ")}: ${units.value(value, quantity === "matmul" ? "FLOP/s" : "B/s")}, ${[method, software, day].filter(Boolean).join(", ")}: `,
      element("a", { href: address, rel: "external noopener noreferrer" }, address.replace("https://", "")));
    return element("details", { class: "fold" }, element("summary", {}, `Method, source and date of ${counted(devices.reduce((sum, { figures }) => sum + figures.length, 0), "figure")}`),
      ...devices.flatMap(({ name, figures }) => [element("h3", {}, name), element("ul", { class: "doubt" }, ...figures.map(line))]));
  }

  /** A stored run as a row. */
  const measured = ({ device: name, href, axes }) => ({ name, href,
    ranges: ["compute", "memory", "link_to_device"].map((axis) => axes.find((one) => one.name === axis) ?? null)
      .map((one) => one && { ...one, note: one.precision }) });

  /** The devices that the reader picked, among the machines, and a field that adds one. */
  function show(root, all, machines) {
    const [added, drawn] = root.children, chosen = picked(all);
    if (!added.firstChild) {
      const input = element("select", { id: "add-published" }, element("option", { value: "" }, "none"), ...all.map(({ name }) => element("option", { value: name, label: name })));
      input.addEventListener("change", () => { if (input.value) pick(input.value, true); input.value = ""; });
      added.append(element("label", { for: "add-published" }, "Add published figures of"), input);
    }
    drawn.replaceChildren(...(chosen.length ? [table(chosen, true, machines.map(measured)), sources(chosen)] : []));
  }

  return { read, table, picked, show };
})();
