// SPDX-License-Identifier: MIT
"use strict";
/** What a script adds to a row of the index. */
const cells = (() => {
  const FIRST_RATIO = 7;
  const { element } = drawing;

  /** A box to pick a run, and a button to compare all runs with it. */
  function controls(node, what) {
    const box = element("input", { type: "checkbox", "aria-label": `Compare ${what}` });
    const dot = element("input", { type: "radio", name: "reference", "aria-label": `Base: ${what}` });
    const labelled = (input, word) => element("label", { class: "check" }, input, element("span", {}, word));
    node.cells[0].append(labelled(box, "Compare"), labelled(dot, "Base"));
    return [box, dot];
  }

  /** The box and the button of a row. */
  const inputs = (node) => node.cells[0].querySelectorAll("input");

  /** A button that shows the earlier runs of a machine beneath its newest. */
  function unfolder(node, earlier) {
    const button = element("button", { type: "button", "aria-expanded": "false" }, `and ${earlier} earlier`);
    node.cells[1].lastElementChild.replaceWith(button);
    return button;
  }

  /** Ratios in place of those against another reference, under their headings. */
  function against(node, heads, held, i, means) {
    const key = held?.key ?? "";
    if ((node.dataset.held ?? "") === key) return;
    node.dataset.held = key;
    node.querySelectorAll(".ratio").forEach((cell) => cell.remove());
    if (held) node.lastElementChild.before(...means(i).map((mean, place) =>
      ratio(mean, heads.cells[FIRST_RATIO + place].textContent, i === held.reference)));
  }

  /** A ratio with its interval, and n of N. */
  function ratio(mean, label, same) {
    const attributes = { class: "ratio", "data-label": label };
    const counted = element("small", {}, `${mean.count} of ${mean.total}`);
    if (!mean.count) return element("td", attributes, counted);
    const [value, interval] = same ? ["1×", ""] : units.parts(ratios.estimate(mean), "×");
    return element("td", attributes, value, element("small", {}, interval), counted);
  }

  return { controls, inputs, unfolder, against };
})();
