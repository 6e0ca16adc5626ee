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

/** How an element is made, whatever it says: names and looks of itself and of what is in it. */
function make(element) {
  const looks = element.getAttributeNames().map((name) => (/^(class|fill|stroke)$/.test(name) ? `${name}=${element.getAttribute(name)}` : name));
  return `${element.localName} ${looks.join()} (${[...element.children].map(make).join()})`;
}

/** Take away rows, list items, charts and their parts that are made like two others in such a place. */
function thin() {
  const met = new Map();
  for (const one of document.querySelectorAll("tbody > tr, li, figure, svg g, svg text")) {
    if (!one.isConnected) continue;
    let key = make(one);
    for (let around = one.parentElement; around; around = around.parentElement) key += ` ${around.localName}.${around.getAttribute("class")}`;
    met.set(key, (met.get(key) ?? 0) + 1);
    if (met.get(key) > 2) one.remove();
  }
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
    faults.push(`the page is ${root.scrollWidth} px wide: ${out.slice(0, 3).map(named).join("; ")}`);
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

/** What a reader without JavaScript would miss or press in vain; boxes of kinds work by the style sheet alone. */
function deadWithoutScript() {
  const dead = [...document.querySelectorAll("button, input:not(.chip input), select, textarea, output")].filter(isVisible);
  const tables = [...document.querySelectorAll("table")].filter((one) => !isVisible(one));
  return [
    ...dead.map((one) => `does nothing: ${named(one)}`),
    ...tables.map((one) => `not to be seen: ${named(one)}`),
  ];
}

/** Send every element the events that an injected handler would wait for. */
function rouse() {
  for (const element of document.querySelectorAll("*")) {
    for (const kind of ["mouseover", "focus", "load", "error"]) element.dispatchEvent(new Event(kind));
  }
}

/** Where a focus ring shows: what surrounds an element, as computed. */
function ring(element) {
  const style = getComputedStyle(element);
  return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.backgroundColor, style.borderColor].join();
}

/** Begin a round by Tab; return how many stops it should have. */
function begin() {
  const stops = controls();
  window.__rest = new Map(stops.map((one) => [one, ring(one)]));
  window.__seen = new Set();
  document.activeElement?.blur();
  return stops.length;
}

/** Say what is wrong with the stop that Tab came to; null where it left the page. */
function arrive() {
  const one = document.activeElement;
  if (!one || one === document.body || one === document.documentElement) return null;
  const faults = [];
  window.__seen.add(one);
  if (!isVisible(one)) faults.push(`focused and not to be seen: ${named(one)}`);
  if (ring(one) === window.__rest.get(one)) faults.push(`focused and looks as before: ${named(one)}`);
  if (isCovered(one)) faults.push(`focused behind something else: ${named(one)}`);
  return faults;
}

/** Whether nothing of a focused element is on top, as behind a header that sticks. */
function isCovered(one) {
  const parts = [0.1, 0.5, 0.9];
  const inWindow = [...one.getClientRects()].filter(({ top, bottom }) => bottom > 0 && top < innerHeight);
  return !inWindow.slice(0, 9).some((box) => {
    const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
    const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
    const points = parts.flatMap((x) => parts.map((y) => [left + x * (right - left), top + y * (bottom - top)]));
    return points.some(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit && (one.contains(hit) || hit.contains(one) || one.labels?.[0]?.contains(hit));
    });
  });
}

/** Which stops a round did not reach; of the buttons of a radio group one is enough. */
function missed() {
  const groups = new Set([...window.__seen].filter((one) => one.type === "radio").map((one) => one.name));
  return [...window.__rest.keys()]
    .filter((one) => one.isConnected && isVisible(one) && !window.__seen.has(one))
    .filter((one) => !(one.type === "radio" && groups.has(one.name)))
    .map((one) => `not reached by Tab: ${named(one)}`);
}

/** What looks as if it could be pressed, and is no control that the keyboard knows. */
function pressedOnlyByPointer() {
  const known = "a[href], button, input, select, textarea, summary, label, option";
  return [...document.body.querySelectorAll("*")]
    .filter((one) => getComputedStyle(one).cursor === "pointer" && !one.closest(known) && isVisible(one))
    .map((one) => `only for a pointer: ${named(one)}`);
}

/**
 * What a reader has before them, by names: what the address says, what controls hold, which devices are picked, single
 * texts, and of tables the first column and how they are sorted.
 */
function state() {
  const plain = (one) => one.textContent.replace(/\s+/g, " ").trim();
  const seen = (chosen) => [...document.querySelectorAll(chosen)].filter((one) => isVisible(one.closest("label") ?? one));
  const short = (names) => (names.length > 6 ? `${names[0]} to ${names.at(-1)}: ${names.length}` : names.join("; "));
  const found = { address: decodeURIComponent(location.hash.slice(1)), title: document.title };
  found.picked = seen(".pick :checked").map((one) => one.ariaLabel).join("; ");
  for (const one of seen("[type=radio]:checked")) found[plain(one.closest("fieldset").firstChild)] = plain(one.labels[0]);
  for (const one of seen("[type=checkbox]:not(.pick *)")) found[plain(one.labels[0])] = one.checked;
  for (const one of seen(":is(input:not([type=checkbox], [type=radio]), select)")) {
    found[plain(one.labels[0])] = [one.value || one.placeholder, ...(one.ariaInvalid ? ["wrong"] : [])].join(", ");
  }
  found.wrong = seen(".complaint").map(plain).join(" ");
  for (const one of seen("[id]:not(input, select, caption, .complaint):not(:has(*))")) found[one.id] = plain(one);
  for (const one of seen(".scroll")) {
    found[one.ariaLabel ?? plain(one.querySelector("caption"))] = short([...one.querySelectorAll("tbody th > :first-child, tbody th:not(:has(*))")].map((name) => (name.closest("#runs") ? name.getAttribute("href") : plain(name))));
  }
  found.view = seen(".tabs [aria-current]").map((one) => one.hash).join("; ");
  found.sorted = seen("#devices-table [aria-sort]").map((one) => `${plain(one.firstChild)} ${one.ariaSort}`).join("; ");
  return found;
}
