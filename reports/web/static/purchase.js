// SPDX-License-Identifier: MIT
"use strict";
/**
 * The purchase page at work: what a reader sets is read from the address, all that depends on it
 * is drawn anew. A page calls `purchase.show(root, comparisons)` with the same machines beside each of
 * them, and again when other machines are to be shown; `root` holds an element for each of `data-part`: workload, reference, summary, verdicts, cards, weighs, ranks, holding, fits, rent, heat, speed, costs, worth, usual, against, front, weights, exercises, notes.
 * What is folded away is drawn when it is opened. The build calls `purchase.parts` alone, with nothing set.
 */
const purchase = (() => {
  const { element } = drawing;
  const MOST_MONEY = 1e12;
  const COSTS = { parts: ["verdicts", "cards", "worth", "front", "rent"], hides: "Costs are" };
  const KWH = { key: "kwh", label: "Electricity", per: " per kWh", least: 0, most: 1e6, usual: 0.3, ...COSTS };
  const USES = [
    { key: "hours", label: "Hours a day at work", least: 0, most: 24, usual: 8, ...COSTS },
    { key: "years", label: "Years", least: 0, most: 100, usual: 3, ...COSTS },
    { key: "share", label: "Power drawn at work, in percent of what it may draw", least: 0, most: 100, usual: 100, ...COSTS },
  ];
  const BUDGET = { key: "budget", label: "Budget", least: 0, most: 1e12, usual: null, clears: true, placeholder: "any", parts: ["verdicts", "cards"], hides: "Verdicts are" };
  const LEAST = { key: "memory", label: "Least memory, GB", least: 0, most: 1e6, usual: null, clears: true, placeholder: "any", parts: ["verdicts", "cards"], hides: "Verdicts are" };
  const CURRENCY = "USD";
  /** The workload whose weights the reader sets. */
  const OWN = "own";

  let usualNow = "price";
  /** By the root of what is shown: draws what waits, with what is folded away or without. */
  const drawers = new WeakMap();
  /** By the same: the machines and settings that are shown. */
  const latest = new WeakMap();
  /** What in the address the page rests on. */
  const KEYS = /^(reference|workload|against|currency|budget|memory|kwh|hours|years|share|(price|rent|weight)\..*)$/s;

  /** The currency of the prices that are known, unless the reader has another. */
  const usualCurrency = ({ machines }) =>
    machines.map(({ currency }) => currency).find((one) => one !== null) ?? CURRENCY;

  /** The currency that prices are in now. */
  const currencyOf = (comparison, params) => setting.code(params.get("currency") ?? "") || usualCurrency(comparison);

  /** The workload that holds unless the reader says otherwise: the first of which a case was measured. */
  const usualWorkload = ({ workloads, parts }) =>
    (workloads.find(({ name }) => parts.some(({ weights }) => Object.hasOwn(weights, name))) ?? workloads[0]).name;

  /** The workload that the reader chose. */
  function workloadOf(comparison, params) {
    const asked = params.get("workload");
    const known = asked === OWN || comparison.workloads.some(({ name }) => name === asked);
    return known ? asked : usualWorkload(comparison);
  }

  /** How much a part counts where the reader weighs them. */
  const weight = (comparison, { name, title, weights }) =>
    ({ key: `weight.${name}`, label: title, least: 0, most: 1000, usual: weights[usualWorkload(comparison)] ?? 0,
      parts: ["summary", "verdicts", "cards", "worth", "front"], hides: "Scores are" });

  const called = ({ machine, name }) => `${name}${machine.count > 1 ? ", together" : ""}`;

  /** A field for an amount in the currency of now, which its label names. */
  const inCurrency = (comparison, wanted) => {
    const currency = () => currencyOf(comparison, setting.read());
    const label = () => `${wanted.label}, ${currency()}${wanted.per ?? ""}`;
    return Object.defineProperties({ ...wanted }, { currency: { get: currency }, label: { get: label } });
  };

  /** What a machine costs to buy, or an hour of it to rent, in the currency of now. */
  const money = (comparison, key, label, usual, per = "") => Object.defineProperty(
    inCurrency(comparison, { key, label, per, least: 0, most: MOST_MONEY, clears: true, ...COSTS }),
    "usual", { get() { return usual(this.currency); } });

  const price = (comparison, row) => money(comparison, `price.${row.machine.run}`, called(row),
    (currency) => (row.machine.currency === currency ? row.machine.price : null));
  const rent = (comparison, row) => money(comparison, `rent.${row.machine.run}`, called(row),
    (currency) => (row.machine.rent?.currency === currency ? row.machine.rent.price : null), " an hour");

  /**
   * What the reader has set, or what holds without it.
   * @param {Comparison[]} held the same machines beside each of them
   */
  function settings(comparison, params, held) {
    const number = (wanted) => setting.number(params, wanted);
    const currency = currencyOf(comparison, params);
    const use = Object.fromEntries([{ ...KWH, currency }, ...USES].map((wanted) => [wanted.key, number(wanted)]));
    const workload = workloadOf(comparison, params);
    const parts = economics.partsOf(held);
    const own = parts.map((part) => [part.name, number(weight(comparison, part))]);
    const weights = workload === OWN ? Object.fromEntries(own) : economics.weightsOf({ parts }, workload);
    const priced = { least: 0, most: MOST_MONEY, usual: undefined, clears: true, currency };
    const given = (kind) => Object.fromEntries(comparison.machines
      .map(({ run }) => [run, number({ ...priced, key: `${kind}.${run}` })])
      .filter(([, known]) => known !== undefined));
    const listed = comparison.machines.filter((one) => one.rent?.currency === currency).map((one) => [one.run, one.rent.price]);
    const rents = Object.fromEntries(Object.entries({ ...Object.fromEntries(listed), ...given("rent") })
      .filter(([, known]) => known !== null));
    return {
      ...use, share: use.share / 100,
      currency, workload, weights, rents,
      prices: given("price"),
      budget: number({ ...BUDGET, currency }), memory: number(LEAST),
    };
  }

  /** The comparison with the reference that the reader chose. */
  const chosen = (comparisons) =>
    comparisons.find(({ reference }) => reference === setting.read().get("reference")) ?? comparisons[0];

  /** Exercises, those without a usual weight last. */
  const weightiest = ({ exercises }) => [...exercises].sort((a, b) => b.weight - a.weight);

  /** What speed is held against. */
  function against(view) {
    const across = setting.read().get("against");
    return Object.keys(purchaseFront.ACROSS).includes(across) ? across : purchaseFront.usual(view);
  }

  /** The use that is assumed, in words. */
  function assumed(currency) {
    const { kwh, hours, years, share } = Object.fromEntries([KWH, ...USES].map(({ key, usual }) => [key, usual]));
    return `${units.value(kwh, currency)} a kWh and ${units.value(hours, "")} hours a day at ${units.value(share, "")}% `
      + `of that power for ${units.value(years, "")} years`;
  }

  /**
   * Everything that is shown for what a reader has set.
   * @param {{get: function(string): ?string, has: function(string): boolean}} params
   */
  const view = (comparison, held, params) => purchaseView.of(comparison, settings(comparison, params, held), held);

  /** Every exercise with its cases. */
  function panels(view) {
    const found = weightiest(view.comparison).map((one) => purchaseTables.panel(view, one));
    return found.length ? found : [element("p", { class: "absent" }, "No exercise can be compared.")];
  }

  /** What makes the elements of each part of the page that depends on settings. */
  const parts = (view, across) => ({
    summary: () => purchaseWords.summary(view).map((text) => element("p", { class: "answer" }, text)),
    verdicts: () => purchaseVerdicts.verdicts(view),
    cards: () => purchaseCards.cards(view),
    ranks: () => purchaseRanks.ranks(view),
    holding: () => purchaseRanks.holding(view),
    fits: () => purchaseGrids.fits(view),
    rent: () => purchaseRanks.rent(view),
    heat: () => purchaseGrids.heat(view),
    weighs: () => purchaseGrids.weighs(view),
    speed: () => [purchaseTables.speed(view)],
    worth: () => purchaseWorth.worth(view),
    usual: () => [assumed(usualCurrency(view.comparison))],
    front: () => purchaseFront.draw(view, across),
    exercises: () => panels(view),
    notes: () => view.rows.map((row) => purchaseTables.notes(view, row)),
  });

  /** Make the fields of a part, unless they are there for the same things already. */
  function make(root, part, things, build) {
    const place = root.querySelector(`[data-part="${part}"]`);
    const made = JSON.stringify(things);
    if (place.dataset.made === made) return;
    place.dataset.made = made;
    place.replaceChildren(...build());
  }

  /** The fields for prices and use. */
  function costs({ comparison }, inOrder) {
    const prices = inOrder.map((row) => price(comparison, row));
    const currency = { key: "currency", label: "Currency of prices", usual: usualCurrency(comparison), ...COSTS };
    const rents = inOrder.map((row) => rent(comparison, row));
    const fields = [...prices, ...rents].map(setting.field);
    const all = [...prices, ...rents, currency, ...USES];
    return [setting.group("Prices and use", all, [...fields, setting.currency(currency), ...USES.map(setting.field)])];
  }

  /** The fields for weights of one's own. */
  function weights(comparison, { workload }, parts) {
    if (workload !== OWN) return [];
    const wanted = parts.map((part) => weight(comparison, part));
    return [setting.group("How much each part counts", wanted, wanted.map(setting.field))];
  }

  /** The choice of a workload. */
  function workload(comparison) {
    const options = [...comparison.workloads.map(({ name, title }) => [name, title]), [OWN, "Own weights"]];
    const wanted = [inCurrency(comparison, BUDGET), LEAST, inCurrency(comparison, KWH)];
    const buttons = setting.buttons({ key: "workload", label: "Workload", usual: usualWorkload(comparison), options });
    return [buttons, ...wanted.map(setting.field)];
  }

  /** The choice of a reference, where there is one. */
  function reference(comparisons, inOrder) {
    const offered = inOrder.filter(({ machine: { run } }) => comparisons.some((one) => one.reference === run));
    if (offered.length < 2) return [];
    const options = offered.map(({ machine, name }) => [machine.run, name]);
    return [setting.choice({ key: "reference", label: "Compared with", usual: comparisons[0].reference, options })];
  }

  /** Make the fields that are not there yet, and let all show what is set. */
  function controls(root, comparisons, view, parts) {
    const { comparison } = view;
    const inOrder = [...view.rows].sort((a, b) => a.place - b.place);
    const runs = comparison.machines.map(({ run }) => run);
    const across = Object.entries(purchaseFront.ACROSS).map(([key, { title }]) => [key, title]);
    make(root, "reference", runs, () => reference(comparisons, inOrder));
    make(root, "costs", runs, () => costs(view, inOrder));
    make(root, "workload", comparison.workloads, () => workload(comparison));
    make(root, "weights", [parts.map(({ name }) => name), view.settings.workload === OWN], () => weights(comparison, view.settings, parts));
    const choice = { key: "against", label: "Speed against", options: across, get usual() { return usualNow; } };
    usualNow = purchaseFront.usual(view);
    make(root, "against", runs, () => [setting.choice(choice)]);
    setting.refresh(root);
  }

  /**
   * Show machines, or show them anew.
   * @param {Comparison[]} held the same machines beside each of them
   * @param {Comparison[]} offered those with whose references a reader may choose to compare
   */
  function show(root, held, offered = held) {
    if (!isNew(root, held)) return;
    const shown = view(chosen(offered), held, setting.read());
    const waiting = new Map(Object.entries(parts(shown, against(shown))));
    if (!drawers.has(root)) waitFor(root);
    drawers.set(root, (folded) => waiting.forEach((make, part) => {
      const node = root.querySelector(`[data-part="${part}"]`);
      if (!folded && node.closest("details:not([open])")) return;
      node.replaceChildren(...make());
      waiting.delete(part);
    }));
    drawers.get(root)(false);
    controls(root, offered, shown, economics.partsOf(held));
  }

  /** Whether other machines are to be shown, or the same with other settings than last time. */
  function isNew(root, held) {
    const fragment = [...setting.read()].filter(([key]) => KEYS.test(key)).join();
    const before = latest.get(root);
    latest.set(root, { held, fragment });
    return before?.held !== held || before.fragment !== fragment;
  }

  /** Draw what is folded away when it is opened, and all of it before it is printed. */
  function waitFor(root) {
    root.addEventListener("toggle", () => drawers.get(root)(false), true);
    addEventListener("beforeprint", () => drawers.get(root)(true));
  }

  return { view, parts, show };
})();
