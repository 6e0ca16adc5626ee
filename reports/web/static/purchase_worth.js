// SPDX-License-Identifier: MIT
"use strict";
/** What machines cost and draw, and what that buys. */
const purchaseWorth = (() => {
  const { element } = drawing;
  const { name, number, plain, table } = purchaseTables;
  const RATE = "FLOP/s";
  const texts = (heads) => heads.map((text) => [text]);

  /** What a machine costs and holds, and what that buys. */
  function moneyOf({ settings: { currency } }, row) {
    const { price, ownership, memory } = row.amounts;
    const work = (amount) =>
      row.speed === null || amount === null ? null : economics.perWork(amount, row.speed);
    return [
      name(row),
      plain(price, currency),
      number(work(row.each.price), currency),
      plain(memory, "B"),
      plain(memory && price ? (1000 * memory) / price : null, "B"),
      plain(ownership, currency),
      number(work(row.each.ownership), currency),
    ];
  }

  /** What all machines cost and hold, and what that buys. */
  function money(view) {
    const heads = ["Machine", "Price", "Price per unit of work", "Memory",
      `Memory per 1,000 ${view.settings.currency}`, "Cost of ownership", "Cost per unit of work"];
    const rows = view.rows.map((row) => moneyOf(view, row));
    return table("Price and memory, and what each buys [95% interval]", texts(heads), rows, "table-worth");
  }

  /** What devices may draw, and the energy that was measured where it was. */
  function power(view) {
    const told = view.rows.some(({ machine }) => machine.energy);
    const heads = ["Machine", "May draw", "Speed per 100 W of a device",
      ...(told ? [`Work per joule, measured, × ${view.reference.name}`] : [])];
    const rows = view.rows.map((row) => [...limit(row), ...(told ? [joules(row)] : [])]);
    return table("Power, and what it does [95% interval]", texts(heads), rows, "table-power");
  }

  function limit(row) {
    const { watts } = row.each;
    return [name(row), plain(row.machine.watts, "W"),
      number(row.speed && watts ? economics.workPer(row.speed, watts / 100) : null, "×")];
  }

  function joules({ machine: { energy } }) {
    if (energy === null) return number(null, "×", "not measured");
    const { log, variance, quantile } = energy;
    const less = economics.ratio({ log, error: variance === null ? null : Math.sqrt(variance), quantile });
    const cases = element("span", { class: "interval" }, units.counted(energy.cases, "case"));
    return [...number(less, "×"), " ", cases];
  }

  /** The best rates of square products, and what they cost, where any was measured. */
  function rates(view) {
    const every = view.rows.flatMap(({ machine }) => machine.rates);
    if (every.length === 0) return [];
    const precisions = [...new Set(every.map(({ precision }) => precision))];
    const [factor, unit] = units.axis(Math.max(...every.map(({ value }) => value)), RATE);
    const each = [factor, `${view.settings.currency} per ${unit}`];
    const rows = view.rows.map((row) => [name(row), ...precisions.map((precision) =>
      rate(row, row.machine.rates.find((one) => one.precision === precision), each))]);
    const caption = "Best rate of a square product on one device, and its price [95% interval]";
    return [table(caption, texts(["Machine", ...precisions]), rows, "table-rates")];
  }

  /** A rate, and the price of as much of it as `factor`. */
  function rate(row, found, [factor, unit]) {
    if (!found) return number(null, RATE, "not measured");
    const shown = number(found, RATE);
    const { price } = row.amounts;
    if (price === null) return shown;
    const dear = economics.pricePerRate(price * factor, found, row.machine.count);
    return [...shown, element("span", { class: "each" }, ...number(dear, unit))];
  }

  /** What machines cost and draw, and what was measured beside their time. */
  const worth = (view) => [money(view), power(view), ...rates(view)];

  return { worth };
})();
