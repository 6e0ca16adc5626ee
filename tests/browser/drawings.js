// SPDX-License-Identifier: MIT
// What the tests ask of the drawings in a page: their names, their tables, and the room of their labels.

/** Drawings that can be seen now. */
function drawings() {
  return [...document.querySelectorAll("svg")].filter((svg) => !svg.matches("svg svg") && isVisible(svg));
}

/** The table beside a chart: in its figure, or else in its section. */
function tableOf(svg) {
  const inside = svg.closest("figure")?.querySelector("table");
  return inside ?? svg.closest("section")?.querySelector("table") ?? null;
}

/**
 * Charts that cannot be heard or read: without a name, or without a table that is no other chart's. The numbers of
 * a small chart stand in the text beside it, and in the row that it opens to; those of sensors share one table.
 */
function unread() {
  const owners = new Map();
  return [...document.querySelectorAll("svg")].flatMap((svg) => {
    if (svg.matches("svg svg") || svg.closest("[aria-hidden=true]")) return [];
    if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")?.trim()) return [`neither named nor hidden: ${named(svg)}`];
    const [table, figure] = [tableOf(svg), svg.closest("figure")];
    if (svg.matches(".fluid") && !figure?.id) return [];
    if (!table) return [`no table beside it: ${named(svg)}`];
    const shared = figure && owners.has(table) && owners.get(table) !== figure;
    if (figure) owners.set(table, figure);
    return shared ? [`has its table from another chart: ${named(svg)}`] : [];
  });
}

/** Labels of a small chart or of ranks that lie on another one, or beyond the page or their figure. */
function crowded() {
  const faults = [];
  for (const svg of drawings().filter((one) => one.matches(".fluid, .slopes"))) {
    const room = (svg.closest("figure.ranks") ?? document.documentElement).getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(isVisible);
    const boxes = texts.map((one) => one.getBoundingClientRect());
    boxes.forEach((box, at) => {
      if (box.right > room.right || box.left < room.left) faults.push(`beyond its room: ${named(svg)}: ${texts[at].textContent}`);
      boxes.slice(0, at).forEach((other, before) => {
        const apart = box.left >= other.right || other.left >= box.right || box.top + 3 >= other.bottom || other.top + 3 >= box.bottom;
        if (!apart) faults.push(`on each other: ${named(svg)}: ${texts[before].textContent}, ${texts[at].textContent}`);
      });
    });
  }
  return faults;
}
