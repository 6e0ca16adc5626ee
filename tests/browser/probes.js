// SPDX-License-Identifier: MIT
// What the tests ask of a page. Each function returns plain data: faults as sentences, or facts.

/** Name an element so that a person finds it. */
function named(element) {
  const words = (element.getAttribute("aria-label") ?? element.textContent).trim();
  const id = element.id ? `#${element.id}` : "";
  const near = id ? null : element.parentElement?.closest("[id]");
  return `${near ? `#${near.id} ` : ""}${element.localName}${id} "${words.replace(/\s+/g, " ").slice(0, 40)}"`;
}

/** Whether a reader can see an element, in the window or by scrolling. */
function isVisible(element) {
  const box = element.getBoundingClientRect();
  const shown = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  return shown && box.width > 0 && box.height > 0;
}

/** Open everything that is folded. */
function unfold() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

/** Elements that take part in the keyboard's round, as a reader expects it. */
function controls() {
  const chosen = "a[href], button, input, select, textarea, summary, [tabindex]";
  return [...document.querySelectorAll(chosen)].filter(
    (one) => one.tabIndex >= 0 && !one.disabled && one.type !== "hidden" && isVisible(one),
  );
}

/** What is wider than its place: the page itself, and boxes that hide or scroll unannounced. */
function sideways() {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const out = [...document.body.querySelectorAll("*")].filter(
      (one) => isVisible(one) && !one.closest(".scroll") && one.getBoundingClientRect().right > root.clientWidth + 1,
    );
    faults.push(`the page is ${root.scrollWidth} px wide: ${out.slice(-3).map(named).join("; ")}`);
  }
  for (const one of document.body.querySelectorAll("*")) {
    const flow = getComputedStyle(one).overflowX;
    if (flow === "visible" || one.scrollWidth <= one.clientWidth + 1 || !isVisible(one)) continue;
    if (one.closest("svg") || one.clientWidth <= 1) continue; // drawn, or for the ear alone
    const announced = one.tabIndex >= 0 && (one.ariaLabel || one.hasAttribute("aria-labelledby"));
    if (one.matches("input, select, textarea")) continue;
    if (flow === "hidden" || flow === "clip") faults.push(`cut off: ${named(one)}`);
    else if (!announced) faults.push(`scrolls without a name or the keyboard: ${named(one)}`);
  }
  return faults;
}

/** What paper loses: rows that are not there, and rows that something cuts. */
function lostOnPaper() {
  const faults = [];
  const width = document.documentElement.clientWidth;
  for (const row of document.querySelectorAll("tr")) {
    const box = row.getBoundingClientRect();
    if (!isVisible(row)) faults.push(`not printed: ${named(row)}`);
    else if (box.right > width + 1) faults.push(`wider than the paper: ${named(row)}`);
    else if (cutter(row, box)) faults.push(`cut by ${named(cutter(row, box))}: ${named(row)}`);
  }
  return faults;
}

/** The element around a row that cuts it, if one does. */
function cutter(row, box) {
  for (let around = row.parentElement; around !== document.body; around = around.parentElement) {
    const style = getComputedStyle(around);
    const edge = around.getBoundingClientRect();
    if (style.overflowX !== "visible" && (box.right > edge.right + 1 || box.left < edge.left - 1)) return around;
    if (style.overflowY !== "visible" && (box.bottom > edge.bottom + 1 || box.top < edge.top - 1)) return around;
  }
  return null;
}

/** What a reader without JavaScript would miss or press in vain. */
function deadWithoutScript() {
  const dead = [...document.querySelectorAll("button, input, select, textarea, output")].filter(isVisible);
  const tables = [...document.querySelectorAll("table")].filter((one) => !isVisible(one));
  return [
    ...dead.map((one) => `does nothing: ${named(one)}`),
    ...tables.map((one) => `not to be seen: ${named(one)}`),
  ];
}
