// SPDX-License-Identifier: MIT
"use strict";
/**
 * The rows of the index as they were read, and what can be said of each without a reference.
 *
 * @typedef {{machines: number[], devices: {values: string[][], of: number[]}, complete: number[],
 *   slower: number[]}} Facts
 *   By run; `devices.values` are name, kind and backend.
 */
const rows = (() => {
  const natural = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const plain = (text) => text.trim().replace(/\s+/g, " ");

  /** @param {HTMLTableElement} table @param {Facts} facts */
  function read(table, facts) {
    const nodes = [...table.tBodies[0].rows];
    const links = nodes.map((node) => node.cells[1].querySelector("a"));
    const addresses = links.map((link) => link.getAttribute("href"));
    const ids = addresses.map((address) => address.replace(/\.html$/, ""));
    const cell = (index) => nodes.map((node) => plain(node.cells[index].textContent));
    const texts = { machine: links.map((link) => plain(link.textContent)) };
    ["when", "torch", "profile", "launches", "cases"].forEach((key, i) => { texts[key] = cell(i + 2); });
    const hay = nodes.map((_, i) => plain(
      [ids[i], facts.devices.values[facts.devices.of[i]][0], ...Object.values(texts).map((text) => text[i])].join(" ")).toLowerCase());
    const newest = nodes.map((node) => !node.classList.contains("old"));
    const older = new Map();
    nodes.forEach((_, i) => {
      if (!newest[i]) older.set(facts.machines[i], [...older.get(facts.machines[i]) ?? [], i]);
    });
    const history = (i) => (newest[i] ? older.get(facts.machines[i]) ?? [] : []);
    return { nodes, addresses, ids, texts, hay, newest, history };
  }

  /** Compare places by texts, numbers as numbers, or by numbers; what is missing comes last. */
  function order(values, descending) {
    const sign = descending ? -1 : 1;
    const missing = (value) => value === null || value === "" || Number.isNaN(value);
    const by = typeof values.find((value) => value !== null) === "string"
      ? natural.compare : (a, b) => a - b;
    return (a, b) => {
      const [one, other] = [values[a], values[b]];
      if (missing(one) || missing(other)) return missing(one) - missing(other) || a - b;
      return sign * by(one, other) || a - b;
    };
  }

  /** In what moves numbers two runs differ beyond their devices, the first one's value first. */
  function differs(data, one, other) {
    const of = (run) => new Map(data.has[run].map((value) => data.values[value]));
    const [base, mine] = [of(one), of(other)];
    const apart = [...new Set([...base.keys(), ...mine.keys()])].filter((fact) =>
      base.get(fact) !== mine.get(fact) && (data.facts[fact][1] || (base.has(fact) && mine.has(fact))));
    return apart
      .filter((fact) => !data.facts[fact][2].some((leader) => apart.includes(leader)))
      .map((fact) => `${data.facts[fact][0]} ${base.get(fact) ?? "none"} / ${mine.get(fact) ?? "none"}`);
  }

  return { read, order, plain, differs };
})();
