// SPDX-License-Identifier: MIT
"use strict";
/**
 * Machines side by side: which to choose, what each does and costs, and what the score is made of. What a reader sets is
 * read from the address, and all that depends on it is drawn anew. A page calls `compare.show`; the build calls
 * `compare.view` and `compare.parts`, with nothing set. `root` holds an element for each of `data-part`.
 */
const compare = (() => {
  const { element, shape, figure, number, table } = drawing;
  const { listed } = units;
  const { isAbove, percent, under, per, exact, GB } = model;
  const { linked, spelled: ranks } = charts;
  const VENDOR = /(NVIDIA|AMD|Intel\(R\)) (GeForce |Radeon |Arc\(TM\) )?(?=.)/;
  /** Characters of a name in a chart; its margins have room for them. */
  const LONGEST = 20;
  const MOST_NAMES = 4;
  /** A speedup below which a conclusive difference is called slight. */
  const SLIGHT = 1.02;
  const MONEY = { most: 1e12, clears: true };
  const KWH = { key: "kwh", label: "Electricity", per: " per kWh", most: 1e6, usual: 0.3 };
  const USES = [
    { key: "hours", label: "Hours a day at work", most: 24, usual: 8 },
    { key: "years", label: "Years", most: 100, usual: 3 },
    { key: "share", label: "Power drawn at work, in percent of that in the table", most: 100, usual: 100 },
  ];
  const BUDGET = { ...MONEY, key: "budget", label: "Budget", usual: null, placeholder: "any" };
  const LEAST = { ...BUDGET, key: "memory", label: "Least memory, GB", most: 1e6 };
  /** The workload whose weights the reader sets. */
  const OWN = "own";
  /** What in the address the page rests on. */
  const KEYS = /^(reference|workload|budget|memory|kwh|hours|years|share|(price|rent|weight)\..*)$/s;
  const FAST = ["bfloat16", "float16", "float32"];
  /** Memory that is kept free, and below which it is tight. */
  const FREE = 2 * GB, TIGHT = 4 * GB;
  /** Bytes of a weight in bfloat16. */
  const BF16 = 2;
  const STEPS = [1.5, 1.15];
  const COLOURS = "Blue: faster. Orange: slower. Hatched: not conclusive.";

  const either = (rows) => rows.map(({ name }) => name).join(" or ");
  const spelled = (amount, unit) => units.parts(amount, unit).filter(Boolean).join(" ");

  // What is shown of machines.

  /** What a machine is called in marks: A, B, ..., Z, 27, ... */
  const letter = (place) => (place < 26 ? String.fromCharCode(65 + place) : String(place + 1));

  /** What machines are called: by their devices, with their letters where others have the same. */
  function names(machines) {
    const plain = machines.map(({ device, count }) => (count > 1 ? `${count}× ${device}` : device));
    const shared = (name) => plain.filter((other) => other === name).length > 1;
    return plain.map((name, place) => (shared(name) ? `${name} (${letter(place)})` : name));
  }

  /** Names without their vendors and not longer than charts have room for; with their letters where that makes two alike. */
  function shortened(called) {
    const short = called.map((name) => {
      const letters = [...name.replace(VENDOR, "")];
      return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}\u2026` : letters.join("");
    });
    return short.map((name, place) => (short.indexOf(name) === short.lastIndexOf(name) ? name : `${name} (${letter(place)})`));
  }

  /** What it costs to buy a machine and to run it; null where that is not known. @returns {?Amount} */
  function owned(price, power, settings) {
    if (price === null || !power) return null;
    const [value, low, high] = [power.value, power.low, power.high].map((watts) => (watts === null ? null : model.ownership(price, watts, settings)));
    return { value, low, high };
  }

  /** What a machine costs and draws; null where that is not known. */
  function amounts(machine, settings) {
    const known = machine.currency === settings.currency ? machine.price : null;
    const price = Object.hasOwn(settings.prices, machine.run) ? settings.prices[machine.run] : known;
    return { price, ownership: owned(price, machine.power, settings)?.value ?? null, watts: machine.power?.value ?? null };
  }

  /** What keeps machines from what the reader asked, and what is said of one of them and of several. */
  const OUT = {
    "over the budget": ["costs more", "cost more"], "price unknown": ["has no known price", "have no known price"],
    "too little memory": ["has less", "have less"], "capacity unknown": ["has an unknown capacity", "have an unknown capacity"],
  };

  /** Why a machine does not fit what the reader asked, or "". */
  function out(machine, price, { budget, memory }) {
    if (budget !== null && !(price <= budget && price !== null)) return price === null ? "price unknown" : "over the budget";
    if (memory !== null && !(machine.memory_bytes >= memory * GB)) return machine.memory_bytes ? "too little memory" : "capacity unknown";
    return "";
  }

  /** Why no machine fits what the reader asked, or "". */
  function unfit({ rows, settings: { budget, memory, currency } }) {
    if (rows.some((row) => !row.out)) return "";
    const asked = [...(budget === null ? [] : [`costs ${units.value(budget, currency)} or less`]), ...(memory === null ? [] : [`has ${units.value(memory, "GB")} or more`])];
    const counts = Object.entries(OUT).map(([why, words]) => [rows.filter((row) => row.out === why).length, words]).filter(([count]) => count);
    return `No machine ${asked.join(" and ")} (${counts.map(([count, [one, several]]) => `${count} ${count === 1 ? one : several}`).join(", ")})`;
  }

  /**
   * Machines under a workload, fastest first, those without a speed last. `ranked` are those that verdicts are about: they
   * fit what the reader asked, and their runs are not doubtful; each has the ranks that it may have.
   */
  function standing(workload, machines, reference) {
    const compared = model.comparing(workload), beside = (one, other) => compared(one.machine, other.machine).speed;
    const rows = machines.map((row) => {
      const score = model.beside(compared, row.machine, reference);
      return { ...row, score, speed: score.speed, ratio: score.speed && model.ratio(score.speed), ranks: null };
    });
    const faster = (one, other) => isAbove(beside(one, other));
    const known = rows.filter(({ speed }) => speed !== null).sort((a, b) => b.speed.log - a.speed.log || a.place - b.place);
    const ranked = model.ordered(model.trusted(known.filter((row) => !row.out)), faster);
    model.places(ranked, faster).forEach((ranks, i) => (ranked[i].ranks = ranks));
    return { workload, rows: [...model.ordered(known, faster), ...rows.filter(({ speed }) => speed === null)], ranked, beside, faster };
  }

  /** Everything that is shown of machines for what a reader has set; rows are fastest first. */
  function view(data, machines, reference, params) {
    const settings = settingsOf(data, machines, reference, params);
    const called = names(machines), short = shortened(called);
    const rows = machines.map((machine, place) => {
      const all = amounts(machine, settings);
      const unlike = machine.accelerated && !reference.accelerated;
      const each = Object.fromEntries(Object.entries(all).map(([key, one]) => [key, one === null || unlike ? null : one / machine.count]));
      return {
        machine, place, letter: letter(place), name: called[place], short: short[place], isReference: machine === reference,
        cpuAlone: !reference.accelerated, amounts: all, each, out: out(machine, all.price, settings),
      };
    });
    const standings = data.workloads.map(({ name }) => standing(model.workload(data, name), rows, reference));
    const shown = standings.find(({ workload }) => workload.name === settings.workload.name) ?? standing(settings.workload, rows, reference);
    const work = model.comparing(settings.workload, "joules"), joules = (one, other) => work(one.machine, other.machine).speed;
    return { data, settings, ...shown, standings, joules, reference: shown.rows.find(({ isReference }) => isReference) };
  }

  const capital = (text) => text.replace(/^./, (first) => first.toUpperCase());

  // What the reader sets.


  /** The workload that holds unless the reader says otherwise: the first that the reference measured. */
  const usualWorkload = (data, reference) =>
    (data.workloads.find(({ name }) => model.score(reference, reference, model.workload(data, name)).speed) ?? data.workloads[0]).name;

  /** The parts that a reader may weigh: of accelerators, or of the CPU where there is no other. */
  const partsOf = (data, { accelerated }) => data.parts.filter(({ cpu }) => cpu === !accelerated);

  /** How much a part counts where the reader weighs them. */
  const weight = (data, reference, { name, title, weights }) =>
    ({ key: `weight.${name}`, label: title, most: 1000, usual: weights[usualWorkload(data, reference)] ?? 0 });

  /** The workload that the reader chose, or the usual one. */
  function workloadOf(data, reference, params) {
    const asked = params.get("workload"), usual = () => model.workload(data, usualWorkload(data, reference));
    if (asked === OWN) return model.weighed(data, Object.fromEntries(partsOf(data, reference).map((part) => [part.name, setting.number(params, weight(data, reference, part))])));
    return data.workloads.some(({ name }) => name === asked) ? model.workload(data, asked) : usual();
  }

  /** What the reader has set, or what holds without it. */
  function settingsOf(data, machines, reference, params) {
    const number = (wanted) => setting.number(params, wanted);
    const { currency } = data;
    const use = Object.fromEntries([KWH, ...USES].map((wanted) => [wanted.key, number(wanted)]));
    const given = (kind) => Object.fromEntries(machines
      .map(({ run }) => [run, number({ ...MONEY, key: `${kind}.${run}` })])
      .filter(([, one]) => one !== undefined));
    const told = machines.filter((one) => one.rent?.currency === currency).map((one) => [one.run, one.rent.price]);
    return {
      ...use, share: use.share / 100, currency, prices: given("price"),
      rents: Object.fromEntries(Object.entries({ ...Object.fromEntries(told), ...given("rent") }).filter(([, one]) => one !== null)),
      workload: workloadOf(data, reference, params),
      budget: number(BUDGET), memory: number(LEAST),
    };
  }

  /** The use that is assumed, in words. */
  function assumed(currency) {
    const { kwh, hours, years, share } = Object.fromEntries([KWH, ...USES].map(({ key, usual }) => [key, usual]));
    return `${units.value(kwh, currency)} a kWh and ${units.value(hours, "")} hours a day at ${units.value(share, "")}% `
      + `of that power for ${units.value(years, "")} years`;
  }

  // Tables and their cells.

  const note = (inside) => element("span", { class: "note" }, ...[inside].flat());
  
  /** What to doubt of a machine's run, with a link to it. */
  const marks = ({ machine: { href, invalid, doubt } }) => [...(invalid ? [["mark bad", "invalid run"]] : doubt ? [["mark", "doubtful run"]] : [])]
    .flatMap(([kind, text]) => [" ", element("a", { class: kind, href: `${href}#doubts` }, text)]);

  // Which machine to choose.

  /** The machine that does most work for a cost, and those that may be as good. */
  function best({ ranked, beside }, cost = (_row) => 1) {
    const work = (row) => row.speed.log - Math.log(cost(row));
    return model.best(ranked.filter((row) => cost(row) !== null).sort((a, b) => work(b) - work(a)), (one, other) => isAbove(beside(one, other), cost(one) / cost(other)));
  }

  /** The fastest machine, unless it is the only one of several that fit which can be judged. */
  function fastestOf(view) {
    const found = best(view);
    return found?.others.length || view.rows.filter((row) => !row.out).length < 2 ? found : null;
  }

  /** Why nothing is the fastest, in a word and a sentence. */
  function unknown(view) {
    const none = unfit(view), fit = view.rows.filter((row) => !row.out);
    if (none) return ["none", none];
    if (fit.filter(({ speed }) => speed).length > 1) return ["not judged", view.ranked.length ? `Only the run of ${view.ranked[0].name} is not doubtful` : "All runs are doubtful"];
    return ["not measured", capital(fit.map(({ score }) => score.why).find(Boolean) ?? "no machine that fits has a result")];
  }

  /** A verdict: its title, the machine, its margin, and notes such as under how many workloads it holds. */
  const verdict = (title, who, margin, ...notes) => element("div", { class: "verdict" },
    element("h2", { class: "topic" }, title), element("p", { class: "who" }, who),
    element("p", {}, margin), ...notes.filter(Boolean).map((text) => element("p", { class: "note" }, text)));

  /** Under how many workloads a machine that is the best is so, alone or with others. */
  function holds(view, { first: row, near, others }, word, cost) {
    if (near.length || !others.length) return "";
    const found = view.standings.map((one) => best(one, cost)).filter((one) => one !== null && one.others.length);
    const isIt = ({ place }) => place === row.place;
    const [alone, tied] = [true, false].map((sole) => found.filter(({ near, chosen }) => (near.length === 0) === sole && chosen.some(isIt)).length);
    return `${word} under ${alone} of ${units.counted(found.length, "workload")}${tied ? `, tied under ${tied}` : ""}`;
  }

  /** How far a machine is ahead of the next. */
  function margin(view, { first, near, next }) {
    const other = near[0] ?? next;
    if (!other) return "The only one with a result that fits.";
    const speed = view.beside(first, other);
    if (!speed) return `Not compared with ${other.name}.`;
    const ratio = model.ratio(speed), text = `${spelled(ratio, "×")} the speed of ${other.name}`;
    if (ratio.low === null) return `${text}: too few launches to be conclusive`;
    if (near.length) return `${text}: not conclusive`;
    return ratio.high < SLIGHT ? `${text}: less than ${units.value(100 * (SLIGHT - 1), "")}% apart` : text;
  }

  /** Which processors are beside the machines, where most of a workload is theirs. */
  function hosts({ rows, workload }) {
    const those = model.isHosts(workload) ? rows.filter(({ machine, out: why }) => machine.accelerated && !why) : [];
    const [first, ...others] = new Set(those.map(({ machine: { cpu } }) => cpu));
    if (!first) return "";
    return `Mostly the host's: ${those.length > 1 && !others.length ? `all are beside ${first}` : listed(those.map(({ name, machine: { cpu } }) => `${name} is beside ${cpu}`))}.`;
  }

  function fastest(view) {
    const found = fastestOf(view), title = `Fastest ${under(view)}`;
    if (!found) return verdict(title, unknown(view)[0], `${unknown(view)[1]}.`);
    return verdict(title, either(found.chosen), margin(view, found), holds(view, found, "Fastest"), hosts(view));
  }

  const PRICE = ({ each }) => each.price || null;

  function value(view) {
    const { currency } = view.settings, found = best(view, PRICE), title = "Best value by purchase price";
    if (!found) return verdict(title, "unknown", `${unfit(view) || `No price in ${currency} is known for a machine that can be judged. Enter one below`}.`);
    const { first, near, next, others, chosen } = found, speed = next && near.length === 0 ? view.beside(first, next) : null;
    const per = chosen.map((row) => spelled(model.workPer(row.speed, PRICE(row) / 1000), "×")).join(" and ");
    const ahead = speed ? `; ${spelled(model.workPer(speed, PRICE(first) / PRICE(next)), "×")} the value of ${next.name}` : "";
    const sure = near.length ? ": not conclusive" : others.length ? "" : "; the only one with a price and a result";
    return verdict(title, either(chosen), `${per} per 1,000 ${currency}${ahead}${sure}`, holds(view, found, "Best", PRICE), byOwnership(view, chosen));
  }

  /** Which machine is the best value by cost of ownership, where that is another than by price. */
  function byOwnership(view, chosen) {
    const found = best(view, ({ each }) => each.ownership || null), places = (rows) => rows.map(({ place }) => place).sort().join();
    return !found?.others.length || places(found.chosen) === places(chosen) ? ""
      : `By cost of ${units.counted(view.settings.years, "year")} of use, energy included: ${either(found.chosen)}`;
  }

  /** The most work for a joule under the workload. A power limit says nothing of it, since that depends on the time too. */
  function energy(view) {
    const fit = view.rows.filter((row) => !row.out), counted = model.trusted(fit.filter((row) => view.joules(row, row)));
    const known = counted.filter((row) => view.joules(row, counted[0]));
    const title = `Least energy per work ${under(view)}`;
    if (known.length && fit.length === 1) return verdict(title, known[0].name, "The only one that fits.");
    if (known.length < 2) return verdict(title, "not measured", `${unfit(view) || "Energy was measured on fewer than two of these machines; a power limit is no measure of it"}.`);
    const work = (row) => view.joules(row, counted[0]).log;
    const { first, near, next, chosen } = model.best(known.sort((a, b) => work(b) - work(a)), (one, other) => isAbove(view.joules(one, other), model.SENSORS));
    const other = near[0] ?? next, ratio = view.joules(first, other);
    const text = ratio ? `${spelled(model.ratio(ratio), "×")} the work per joule of ${other.name}, measured` : `Not compared with ${other.name}.`;
    const open = Math.exp(ratio?.log ?? 1) < model.SENSORS ? ": no difference, since sensors are no better than 3%" : ": not conclusive";
    return verdict(title, either(chosen), `${text}${ratio && near.length ? open : ""}`);
  }

  const verdicts = (view) => [element("div", { class: "verdicts" }, fastest(view), value(view), energy(view))];

  /** What intervals cover, and what they do not. */
  function specimens({ rows }) {
    const several = rows.filter(({ machine }) => machine.specimens.length).map(({ name }) => name);
    const some = several.length ? `, and the range of the specimens of ${listed(several)}` : "";
    const few = rows.some(({ ratio, machine: { axes } }) => ratio?.low === null || axes.some(({ low }) => low === null));
    return `Intervals, in brackets, cover launches${some}. ${few ? "Below six launches there is no interval. " : ""}${several.length === rows.length ? "" : several.length ? "Of the others there is one specimen." : "Of each device there is one specimen."}`;
  }

  /** Which machine is the fastest, in a line. */
  function headline(view) {
    const found = fastestOf(view), all = found?.near.length && found.near.length === found.others.length;
    return unfit(view) || `${all ? "no measurable difference" : found ? `${either(found.chosen)} is fastest` : unknown(view)[0]} ${under(view)}`;
  }

  /** The machines and the verdict in a line, for the page's title. */
  function heading(view) {
    const called = view.rows.filter((row) => !row.out).sort((a, b) => a.place - b.place).map(({ name }) => name);
    const who = called.length > MOST_NAMES ? `${called.length} machines` : listed(called);
    return who ? `${who}: ${headline(view)}` : unfit(view);
  }

  /** The verdicts in sentences, for the preview of a link. */
  function description(view) {
    const found = fastestOf(view), worth = best(view, PRICE);
    return [`${heading(view)}.`, ...(found ? [`${found.first.name}: ${margin(view, found)}.`] : []),
      ...(worth?.others.length ? [`Best value by purchase price: ${either(worth.chosen)}${worth.near.length ? " (not conclusive)" : ""}.`] : [])]
      .join(" ").replaceAll("..", ".");
  }

  /** What a reader must know before the verdicts: what is not in them, and why. */
  function summary(view) {
    const { reference, rows, ranked } = view;
    const invalid = rows.filter(({ machine }) => machine.invalid).map(({ name, machine }) => `${name} is not ranked: its run is invalid: ${machine.invalid}.`);
    const without = rows.filter(({ speed, machine }) => speed === null && !machine.invalid && reference.speed !== null)
      .map(({ name, score }) => `${capital(under(view))}, ${name} is not compared with ${reference.name}: ${score.why}.`);
    const cpu = rows.filter(({ machine, cpuAlone }) => cpuAlone && machine.accelerated).map(({ name }) => name);
    const doubted = rows.filter((row) => row.speed && row.machine.doubt && !ranked.includes(row)).map(({ name, machine }) => `${name} is not ranked, because its run is doubtful: ${machine.doubt}.`);
    const counts = rows.filter(({ speed }) => speed).map(({ machine }) => machine.count), [least, most] = [Math.min(...counts), Math.max(...counts)];
    const unpriced = rows.filter(({ amounts: { price } }) => price === null).map(({ name }) => name);
    return [
      ...(reference.speed === null && !reference.machine.invalid ? [`${capital(under(view))} nothing can be compared with ${reference.name}: ${reference.score.why}.`] : []),
      ...invalid, ...doubted, ...without,
      ...(cpu.length ? [`${reference.name} measured no accelerator: the ratios of ${listed(cpu)} are those of the processors beside them.`] : []),
      ...(least < most && reference.machine.accelerated ? [`Machines here have ${least} to ${most} devices; a ratio is that of equally many on either side, and not of all together.`] : []),
      ...(unpriced.length ? [`No price in ${view.settings.currency} is known for ${unpriced.length === rows.length ? "any of them" : listed(unpriced)}.`] : []),
    ].map((text) => element("p", { class: "answer" }, text));
  }

  // The machines with all that a buyer weighs, a column each, with bars in the cells.

  const axis = (name, precision) => ({ machine: { axes } }) =>
    axes.find((one) => one.name === name && (!precision || one.precision === precision)) ?? null;

  /** What a score rests on: its rank, and the share of the workload's weight that both measured. */
  const rests = ({ isReference, ranks: known, score }) => `${isReference ? "baseline, " : ""}${known ? `rank ${ranks(known)}, ` : ""}covers ${percent(score.coverage)}`;

  /** How many whole years old a price was when the machine was measured. */
  const yearsOld = (date, measured) => Math.max(0, Number(measured.slice(0, 4)) - Number(date.slice(0, 4)) - Number(measured.slice(5) < date.slice(5)));

  /** Where a price is from: the reader, or how old it was on the day of the run. */
  function priced({ settings }, { machine: { run, price, currency, measured, price_date: day } }) {
    if (Object.hasOwn(settings.prices, run)) return settings.prices[run] === null ? "" : "your figure";
    if (price === null || currency !== settings.currency) return "";
    const years = yearsOld(day, measured);
    return years >= 1 ? `▲ ${units.counted(years, "year")} old` : day.slice(0, 7);
  }

  /**
   * The columns: title, unit, amount, whether less is better, a note below, and where intervals do not
   * tell it which rows are the best, or whether amounts can be compared.
   */
  function columns(view) {
    const { settings, reference, rows } = view;
    const having = FAST.map((one) => rows.filter(axis("compute", one)).length);
    const precision = FAST[having.indexOf(Math.max(...having))];
    const found = best(view, PRICE), tied = found?.near.length ? found.chosen.map(({ place }) => place) : [];
    const energies = (row) => view.joules(row, reference);
    const worth = ({ each, speed }) => (each.price && speed ? model.workPer(speed, each.price / 1000) : null);
    return [
      { title: "Speed", unit: "×", small: `× ${reference.name}`, of: ({ ratio }) => ratio, note: rests,
        best: (told) => told.filter((one) => told.every((other) => other === one || view.faster(one, other))),
        absent: ({ score }) => ["not measured", note(score.why)] },
      { title: "Compute", unit: "FLOP/s", small: precision, of: axis("compute", precision) },
      { title: "Memory", unit: "B/s", of: axis("memory") },
      { title: "Capacity", unit: "B", of: ({ machine }) => exact(machine.memory_bytes) },
      { title: "Overhead", unit: "s", small: "per operation, mostly the host's", less: true, of: axis("overhead") },
      { title: "Link", unit: "B/s", of: axis("link_to_device") },
      { title: "Power", unit: "W", less: true, apart: model.SENSORS, of: ({ machine }) => machine.power,
        alike: (told) => new Set(told.map(({ machine }) => machine.power.source === model.MEASURED)).size < 2, note: ({ machine }) => machine.power.source },
      { title: "Work per joule", unit: "×", small: `× ${reference.name}`, apart: model.SENSORS, absent: () => ["not measured"],
        of: (row) => (energies(row) ? model.ratio(energies(row)) : null), note: ({ isReference }) => (isReference ? "baseline" : "") },
      { title: "Price", unit: settings.currency, less: true, of: ({ amounts: { price } }) => exact(price), note: (row) => priced(view, row) },
      { title: "Value", unit: "×", small: `× per 1,000 ${settings.currency}`,
        of: worth,
        best: () => (found?.others.length && !tied.length ? [found.first] : []), note: (row) => (tied.includes(row.place) ? "not conclusive" : "") },
      { title: `Cost of ${units.counted(settings.years, "year")}`, unit: settings.currency, less: true, of: ({ machine, amounts: { price } }) => owned(price, machine.power, settings), note: ({ machine }) => `power: ${machine.power.source}` },
    ];
  }

  /** The rows whose interval is beyond those of all others; equal exact amounts share that, unless all are equal. */
  function beyond({ of, less, apart = 1 }, rows) {
    const better = (one, other) => (less ? one.high !== null && one.high * apart < other.low : one.low !== null && one.low > other.high * apart);
    const equal = (one, other) => one.low !== null && one.low === one.high && other.low === one.low && other.high === one.low;
    return rows.filter((row) => rows.every((other) => better(of(row), of(other)) || equal(of(row), of(other)) || other === row)
      && rows.some((other) => better(of(row), of(other))));
  }

  /** What a column shares: its unit, its largest number, and its best rows, unless an amount of a machine is unknown that fits and counts. */
  function shared(column, rows) {
    const known = rows.filter((row) => column.of(row)), largest = Math.max(...known.map((row) => column.of(row).value), 0);
    const [factor, symbol] = column.unit === "×" || largest === 0 ? [1, ""] : units.axis(largest, column.unit);
    const able = model.trusted(rows.filter((row) => !row.machine.invalid && row.machine.seconds && !row.out)), told = able.filter((row) => column.of(row));
    const whole = told.length === able.length && (column.alike?.(told) ?? true);
    const first = told.length < 2 ? [] : column.best?.(told) ?? (whole ? beyond(column, told) : []);
    return { column, factor, symbol, largest, first, count: known.length };
  }

  /** A cell: the number, a bar of its share of the largest, its interval, and a note. */
  function card({ column, factor, symbol, largest, first }, row) {
    const amount = column.of(row), label = { "data-l": [column.title, symbol || column.small].filter(Boolean).join(", ") };
    if (!amount) return element("td", { ...label, class: "none" }, ...(column.absent?.(row) ?? ["unknown"]));
    const chosen = first.includes(row), [text, interval] = units.parts(per(amount, factor), column.unit === "×" ? "×" : "");
    const ends = interval ? element("span", { class: "interval" }, interval) : amount.low === null ? "no interval" : "";
    const told = column.note?.(row), below = [ends, told].filter(Boolean), width = `${drawing.round((100 * amount.value) / largest)}%`;
    return element("td", { ...label, class: chosen ? "best" : null },
      element("span", { class: "num" }, text),
      shape("svg", { class: "share", "aria-hidden": "true" }, shape("rect", { class: chosen ? "f1" : "f0", width, height: 6 })),
      ...(below.length ? [note(below.length > 1 ? [ends, ", ", told] : below)] : []));
  }

  /** Which machines lead in the columns of the axes. */
  function leaders(used) {
    const found = new Map();
    for (const { column, first } of used.filter((one) => ["Compute", "Memory", "Capacity", "Overhead", "Link"].includes(one.column.title))) {
      if (first.length === 1) found.set(first[0].name, [...found.get(first[0].name) ?? [], column.title.toLowerCase()]);
    }
    return [...found].map(([name, titles], i) => `${name}${i ? "" : " leads"} in ${listed(titles)}`).join("; ") || "The machines";
  }

  /** What stands below a machine's name: what keeps it out, its host, and what its specimens differ in. */
  function described({ data, reference, rows }, { machine, out: why }) {
    const hosts = new Set(rows.map(({ machine: { cpu } }) => cpu)), { specimens } = machine, apart = model.apart(data, machine);
    return [machine.invalid ? `Not ranked: ${machine.invalid}` : "", why, hosts.size > 1 && machine.accelerated ? `beside ${machine.cpu}` : "",
      specimens.length ? `${specimens.length + 1} specimens${apart.length ? `, which differ in ${listed(apart)}` : ""}` : ""].filter(Boolean);
  }

  /** The table of all machines, fastest first. */
  function cards(view) {
    const used = columns(view).map((column) => shared(column, view.rows)).filter(({ count, column }) => count > 0 || column.title === "Speed");
    const heads = used.map(({ column, symbol }) => element("th", { scope: "col", "aria-sort": column.title === "Speed" ? "descending" : null }, column.title,
      element("small", {}, [symbol, column.small ?? ""].filter(Boolean).join(", "))));
    const rows = view.rows.map((row) => element("tr", { class: row.out || row.machine.invalid ? "out" : null },
      element("th", { scope: "row" }, linked(row), ...marks(row), ...described(view, row).map(note)),
      ...used.map((one) => card(one, row))));
    const caption = `Baseline, 1×: ${view.reference.name}. Sorted by speed ${under(view)}. Bold: conclusively the best. Covers: share of the weight that both measured.`;
    return [element("h2", { id: "cards-title" }, leaders(used)), table(caption, ["Machine", ...heads], rows, { kind: "stack", label: "Machines, table" })];
  }

  // What the score is made of.

  /** How a ratio is coloured: by its size, hatched where it is not conclusive. */
  function shade({ value: times, low, high }) {
    if (low === null || (low <= 1 && high >= 1)) return "hatch";
    const size = Math.max(times, 1 / times);
    return `${times > 1 ? "u" : "d"}${size >= STEPS[0] ? 3 : size >= STEPS[1] ? 2 : 1}`;
  }

  /** A speed with its interval, hatched where it is not conclusive, and how much of a part it is of where that is not all. */
  function speedCell(speed, share = 1) {
    if (!speed) return element("td", { class: "none" }, "not measured");
    const ratio = model.ratio(speed), kind = shade(ratio);
    const [text, interval] = units.parts(ratio, "×");
    return element("td", { class: kind }, element("span", {}, text), note(interval || "no interval"), ...(share < 1 ? [note(`covers ${percent(share)}`)] : []), ...(kind === "hatch" ? [" ", element("small", {}, "not conclusive")] : []));
  }

  /** In how many parts the faster one of a machine and the reference is conclusively faster, in a sentence. */
  function wins(speeds, row, reference) {
    const slower = row.speed !== null && row.speed.log < 0;
    const found = slower ? speeds.map((speed) => speed && model.inverse(speed)) : speeds;
    const [one, other] = slower ? [reference, row] : [row, reference];
    return `${one.name} is faster than ${other.name} in ${found.filter((speed) => isAbove(speed)).length} of ${units.counted(speeds.length, "part")} of the score`;
  }

  /** The parts of the workload with their weights, and how fast each machine is in them. */
  function weighs(view) {
    const { reference } = view, others = view.rows.filter((row) => row !== reference && row.score.parts.some(({ share }) => share > 0));
    const headed = (text, ...inside) => [element("h3", {}, text), ...inside];
    if (others.length === 0) return headed("What the score is made of", element("p", {}, "No two machines measured a part of this workload."));
    const parts = others[0].score.parts, every = parts.reduce((sum, { weight: one }) => sum + one, 0);
    const speedOf = (row, { part }) => {
      const found = row.score.parts.find((one) => one.part === part);
      return [found && model.inOne(row.machine, reference.machine, found), found?.share];
    };
    const rows = parts.map((one) => [one.part.title, `${units.value((100 * one.weight) / every, "")}%`, ...others.map((row) => speedCell(...speedOf(row, one)))]);
    const foot = [["Score", "", ...others.map(({ speed }) => speedCell(speed))],
      ["Covered", "", ...others.map(({ score }) => percent(score.coverage))]];
    const caption = `Score ${under(view)}, × ${reference.name}: multiply the speeds of the parts, each to the power of its weight; where a part was not measured, the weights of the others grow in proportion. Below two thirds of the weight there is no score. ${COLOURS}`;
    const [first] = others.filter((row) => view.ranked.includes(row)), judged = first && view.ranked.includes(reference);
    return headed(judged ? wins(parts.map((one) => speedOf(first, one)[0]), first, reference) : "What the score is made of",
      table(caption, ["Part", "Weight", ...others.map(({ name }) => name)], rows, { kind: "grid-table heat score", foot }));
  }

  // Which models fit.

  /** Whether a model fits in bfloat16, with its computed tokens per second, or in int4 alone, and by how much. */
  function fit({ small: { int4 } }, row, [, parameters, bytes]) {
    const { memory_bytes: memory, count } = row.machine;
    const left = (each, all = memory) => all - FREE - each * parameters, by = (room) => `${units.value(Math.abs(room), "B")} ${room < 0 ? "short" : "left"}`;
    if (left(BF16) < 0) return element("td", { class: left(int4) < 0 ? "nofit" : "tight" }, left(int4) < 0 ? "no" : "int4 only", note(by(left(int4))));
    const rate = left(BF16, memory / count) < 0 ? null : axis("decode")(row);
    const [text, interval] = rate ? units.parts(per(rate, bytes), "tokens/s") : ["fits"];
    return element("td", { class: left(BF16) < TIGHT ? "tight" : "fit" }, text, note([interval, by(left(BF16))].filter(Boolean).join("; ")));
  }

  /** Language models by machine: which fit, and their tokens per second. */
  function fits(view) {
    const rows = view.rows.filter(({ machine, out: why }) => machine.memory_bytes && !why);
    if (rows.length === 0) return [element("p", { class: "note" }, `${unfit(view) || "No capacity is known, so what fits is unknown"}.`)];
    const known = rows.map((row) => [row.name, axis("decode")(row)]).filter(([, one]) => one);
    const rates = [...new Set(known.map(([, one]) => one.precision))]
      .map((basis) => `${known.filter(([, one]) => one.precision === basis).map(([name, one]) => `${name} ${spelled(one, "B/s")}`).join(", ")} in ${basis}`).join("; ");
    const subtitle = `Tokens per second are computed for batch 1, bf16 and a context of 2,048 tokens${rates ? `: ${rates}, over the bytes that a token reads` : ""}. 2 GB are kept free; int4: 4.5 bits a weight.`;
    const heads = rows.map(({ name, machine }) => [name, element("small", {}, units.value(machine.memory_bytes, "B"))]);
    const body = view.data.models.map((model) => [[model[0], note(units.value(BF16 * model[1], "B"))], ...rows.map((row) => fit(view.data, row, model))]);
    const prompts = view.data.models.map(([model, parameters, , operations]) => [model, ...rows.map((row) => tokens(row, axis("prefill")(row), BF16 * parameters, operations))]);
    const types = Object.entries(view.data.small).filter(([type]) => rows.some(axis("small", type)));
    const decoded = view.data.models.flatMap(([model, parameters, bytes]) => types.map(([type, each]) =>
      [`${model}, ${type}`, ...rows.map((row) => tokens(row, axis("small", type)(row), each * parameters, bytes + (each - BF16) * parameters))]));
    return [figure("fits", holding(rows, view.data.models), subtitle, table("Models that fit", ["Model, bf16", ...heads], body, { kind: "grid-table" }),
      ...(rows.some(axis("prefill")) ? [element("details", {}, element("summary", {}, "Tokens of a prompt per second"),
        table("Computed from the operations a second of the measured prefill", ["Model, bf16", ...rows.map(({ name }) => name)], prompts))] : []),
      ...(types.length ? [element("details", {}, element("summary", {}, "Tokens per second with small weights"),
        table("Computed from the bytes a second of the measured decoding with such weights", ["Model, weights", ...rows.map(({ name }) => name)], decoded))] : []))];
  }

  /** The tokens of a model in a second, at a rate and an amount for each, where its weights fit into a device. */
  function tokens({ machine: { memory_bytes: memory, count } }, rate, weights, each) {
    return rate && memory / count - FREE >= weights ? spelled(per(rate, each), "tokens/s") : "not known";
  }

  /** Which machines hold the largest model that any of them holds in bfloat16. */
  function holding(rows, models) {
    const holds = ([, parameters]) => rows.filter(({ machine }) => machine.memory_bytes - FREE >= BF16 * parameters);
    const found = models.filter((model) => holds(model).length).at(-1);
    if (!found) return "None of these models fits in bf16";
    const having = holds(found).map(({ name }) => name);
    return `${having.length === 1 && rows.length > 1 ? "Only " : ""}${listed(having)} ${having.length > 1 ? "hold" : "holds"} ${found[0]} in bf16`;
  }

  // Where numbers are from.

  /** The source of a price, the reader or a table, and what renting costs. */
  function price({ settings }, { machine: { run, price: told, currency, price_kind, price_date, price_source, rent } }) {
    const known = told === null ? "not known"
      : `${units.value(told, currency)}: ${price_kind}, ${price_date}, says ${price_source}`;
    const rented = rent
      ? [`${units.value(rent.price, rent.currency)} an hour: ${rent.kind}, ${rent.date}, says ${rent.source}`] : [];
    if (!Object.hasOwn(settings.prices, run)) return [known, ...rented];
    const own = settings.prices[run];
    return [`${own === null ? "not known" : units.value(own, settings.currency)}, as you set it`, `else ${known}`, ...rented];
  }

  /** Where numbers of a machine are from, what else is not alike, and what its score lacks. */
  function notes(view, row) {
    const { machine, isReference, score } = row, { machine: base, name } = view.reference;
    /** @type {[string, string[]][]} */
    const facts = [["Run", [machine, ...machine.specimens].map((one) => `${one.run}, ${one.title}, measured on ${one.measured}${one.doubt ? `: ${one.doubt}` : ""}`)], ["Price", price(view, row)]];
    if (machine.watts !== null) facts.push(["May draw", [units.value(machine.watts, "W")]]);
    const differs = isReference ? [] : model.differs(view.data, base, machine);
    if (!isReference) facts.push(["Differs from the baseline beyond the devices", differs.length ? differs : ["nothing that is known"]]);
    const side = { new: "on it", base: `on ${name}`, both: "on both" };
    const missing = isReference ? [] : model.missing(machine, base, score).map((one) => `${one.title}: missing ${side[one.side]}, ${one.reason}`);
    if (missing.length) facts.push([`What the score ${under(view)} lacks`, missing]);
    const rows = facts.map(([title, lines]) => element("div", {}, element("dt", {}, title), ...lines.map((text) => element("dd", {}, text))));
    return element("div", {}, element("h3", {}, linked(row)), element("dl", { class: "facts" }, ...rows));
  }

  // The page at work.

  /** What makes the elements of each part of the page that depends on settings. */
  const parts = (view) => ({
    heading: () => [heading(view)],
    summary: () => summary(view),
    verdicts: () => verdicts(view),
    cards: () => cards(view),
    weighs: () => weighs(view),
    front: () => charts.front(view),
    ranks: () => charts.ranks(view),
    holding: () => [charts.renting(view).length ? "What fits, and whether to rent" : "What fits"],
    fits: () => fits(view),
    rent: () => charts.rent(view),
    specimens: () => [specimens(view)],
    usual: () => [assumed(view.settings.currency)],
    notes: () => view.rows.map((row) => notes(view, row)),
  });

  /** The weights that a reader may set of a workload: those of all parts, or none. */
  const weighable = (data, reference, { name }) => (name === OWN ? partsOf(data, reference).map((part) => weight(data, reference, part)) : []);

  /** The fields of weights. */
  const weights = (own) => (own.length ? [setting.group("How much each part counts", own)] : []);

  /** A choice among all workloads and the reader's own weights. */
  const workloads = (data, reference) => setting.buttons({ key: "workload", label: "Workload", usual: usualWorkload(data, reference),
    options: [...data.workloads.map(({ name, title }) => [name, title]), [OWN, "Own weights"]] });

  /** Make the fields that are not there yet, and let all show what is set. */
  function controls(root, data, machines, { rows, reference, settings }, offered) {
    const make = (part, things, build) => setting.make(root.querySelector(`[data-part="${part}"]`), things, build);
    const inOrder = [...rows].sort((a, b) => a.place - b.place), runs = machines.map(({ run }) => run);
    const { currency } = settings, called = ({ machine, name }) => `${name}${machine.count > 1 ? ", together" : ""}`;
    const priced = (wanted) => ({ ...MONEY, ...wanted, label: `${wanted.label}, ${currency}${wanted.per ?? ""}` });
    make("costs", runs, () => [setting.group("Prices and use", [
      ...inOrder.map((row) => priced({ key: `price.${row.machine.run}`, label: called(row), usual: row.machine.currency === currency ? row.machine.price : null })),
      ...inOrder.map((row) => priced({ key: `rent.${row.machine.run}`, label: called(row), per: " an hour",
        usual: row.machine.rent?.currency === currency ? row.machine.rent.price : null })),
      ...USES])]);
    make("workload", [], () => [workloads(data, reference.machine), ...[priced(BUDGET), LEAST, priced({ ...KWH, clears: false })].map(setting.field)]);
    const own = weighable(data, reference.machine, settings.workload);
    make("weights", own.map(({ key }) => key), () => weights(own));
    make("reference", [runs, offered.length], () => (offered.length < 2 ? [] : [setting.choice({ key: "reference", label: "Compared with",
      usual: offered[0].run, options: inOrder.filter(({ machine }) => offered.includes(machine)).map(({ machine, name }) => [machine.run, name]) })]));
    setting.refresh(root);
  }

  /** By the root of what is shown: the machines and settings, and what draws the parts that wait. */
  const latest = new WeakMap();

  /**
   * Show machines, or show them anew. What is folded away is drawn when it is opened, all of it before it is printed.
   * @param {Machine[]} offered those that a reader may choose as the reference; the first is the usual one
   */
  function show(root, data, machines, offered) {
    const params = setting.read(), before = latest.get(root);
    const asked = JSON.stringify([machines.map(({ run }) => run), [...params].filter(([key]) => KEYS.test(key))]);
    if (before?.asked === asked) return;
    const shown = view(data, machines, offered.find(({ run }) => run === params.get("reference")) ?? offered[0], params);
    const waiting = new Map(Object.entries(parts(shown)));
    const draw = (all) => waiting.forEach((build, part) => {
      const node = root.querySelector(`[data-part="${part}"]`);
      if (!all && node.closest("details:not([open])")) return;
      node.replaceChildren(...build());
      waiting.delete(part);
    });
    latest.set(root, { asked, draw });
    if (!before) {
      root.addEventListener("toggle", () => latest.get(root).draw(false), true);
      addEventListener("beforeprint", () => latest.get(root).draw(true));
    }
    draw(false);
    controls(root, data, machines, shown, offered);
    const title = root.querySelector("h1");
    if (title) document.title = root.querySelector("[aria-invalid]") ? "Frobench" : title.textContent;
  }

  return { BUDGET, LEAST, view, parts, show, best, heading, headline, description, out, workloadOf, weighable, weights, workloads };
})();

/** The page whose machines never change. */
(() => {
  const held = document.getElementById?.("machines");
  if (!held) return;
  const data = JSON.parse(held.textContent), machines = model.devices(data);
  const isBase = ({ at }) => at === data.base, offered = [...machines.filter(isBase), ...machines.filter((one) => !isBase(one))];
  const others = elsewhere.read(data.published);
  const show = () => {
    compare.show(document.querySelector(".purchase"), data, machines, offered);
    elsewhere.show(document.getElementById("published"), others, machines);
  };
  addEventListener("hashchange", show);
  setting.keep();
  show();
})();
