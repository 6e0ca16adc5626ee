// SPDX-License-Identifier: MIT
"use strict";
/**
 * Numbers for people, to the digit as units.py spells them.
 * @typedef {{value: number, low: ?number, high: ?number}} Estimate
 */
const units = (() => {
  const DIGITS = 3;
  const MOST_DIGITS = 4;
  const DECIMAL = [[1e-9, "n"], [1e-6, "\u00b5"], [1e-3, "m"], [1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"]];
  /** Factors with their prefixes, by unit; other units have none. Bytes are those of a capacity, which vendors print in GB. */
  const PREFIXES = {
    W: DECIMAL,
    "FLOP/s": DECIMAL,
    "B/s": DECIMAL,
    s: DECIMAL.slice(0, 4),
    B: DECIMAL.slice(3),
  };

  /** The power of ten of the first digit. */
  const magnitude = (value) => 10 ** Math.floor(Math.log10(Math.abs(value)) + 1e-9);

  /** What to divide by, and what to write behind the number. */
  function scale(size, unit) {
    if (Object.hasOwn(PREFIXES, unit)) {
      const fitting = PREFIXES[unit].filter(([factor]) => factor <= size);
      const [factor, prefix] = fitting.at(-1) ?? (size ? PREFIXES[unit][0] : [1, ""]);
      return [factor, ` ${prefix}${unit}`];
    }
    return [1, unit === "×" || unit === "" ? unit : ` ${unit}`];
  }

  /** What to divide an axis by, and the unit to name there. */
  function axis(largest, unit) {
    const [factor, symbol] = scale(largest, unit);
    return [factor, symbol.trim()];
  }

  /** Round halves to the even neighbour. */
  function even(number) {
    const rounded = Math.round(number);
    return number % 1 !== 0 && (number * 2) % 1 === 0 && rounded % 2 !== 0 ? rounded - 1 : rounded;
  }

  /** A number rounded to a power of ten, with commas between thousands. */
  function text(number, step) {
    const decimals = Math.max(0, even(-Math.log10(step)));
    const [whole, part] = (even(number / step) * step + 0).toFixed(decimals).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return part === undefined ? grouped : `${grouped}.${part}`;
  }

  /** A number that has no interval by nature. */
  function value(number, unit) {
    const [factor, symbol] = scale(Math.abs(number), unit);
    const shown = number / factor;
    const step = shown ? Math.min(1, magnitude(shown) / 10 ** (DIGITS - 1)) : 1;
    const spelled = text(shown, step);
    return (spelled.includes(".") ? spelled.replace(/\.?0+$/, "") : spelled) + symbol;
  }

  /** Numbers that have no interval by nature, with as many decimals as any of them needs. */
  function alike(numbers, unit) {
    const decimals = numbers.map((one) => value(one, "").split(".")[1]?.length ?? 0);
    return numbers.map((one) => text(one, 10 ** -Math.max(...decimals)) + unit);
  }

  /** The last decimal place that an interval supports. */
  function place(middle, low, high) {
    const half = (high - low) / 2;
    const largest = Math.max(Math.abs(middle), half);
    if (largest === 0) return 1;
    const finest = magnitude(largest) / 10 ** (MOST_DIGITS - 1);
    const step = half ? Math.max(finest, magnitude(half / 2)) : finest;
    if (low <= 0 && high >= 0) return Math.min(step, magnitude(largest) / 10);
    const nearest = Math.min(Math.abs(low), Math.abs(middle), Math.abs(high));
    return Math.min(step, Math.max(finest, Math.min(magnitude(nearest), magnitude(middle) / 10)));
  }

  /**
   * A measured number and its interval: ["2.10×", "[2.05, 2.15]"], or ["2×", ""] without or exact.
   * @param {Estimate} estimate
   * @param {string} unit
   */
  function parts(estimate, unit) {
    const { low: least, high: most } = estimate;
    if (least === null || most === null || least === most) return [value(estimate.value, unit), ""];
    const half = (estimate.high - estimate.low) / 2;
    const [factor, symbol] = scale(Math.max(Math.abs(estimate.value), half), unit);
    const [middle, low, high] = [estimate.value, estimate.low, estimate.high].map((x) => x / factor);
    const step = place(middle, low, high);
    return [`${text(middle, step)}${symbol}`, `[${text(low, step)}, ${text(high, step)}]`];
  }

  /** A number of things, such as "1 case" or "12 cases". */
  function counted(number, noun) {
    const plural = number === 1 ? "" : noun.endsWith("ch") ? "es" : "s";
    return `${text(number, 1)} ${noun}${plural}`;
  }

  /** Names in a row: "A, B and C". */
  const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0] ?? "");

  return { value, alike, parts, counted, axis, listed };
})();

/** Elements, tables and logarithmic axes. */
const drawing = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_TICKS = 5;
  /** First digits of ticks within a power of ten, the finest first. */
  const LADDERS = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3]];
  const ROOM = 1.15;

  /** Give an element its attributes, less those that are null, and what is inside it. */
  function filled(element, attributes, inside) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null) element.setAttribute(name, value);
    }
    element.append(...inside.flat());
    return element;
  }

  /** An HTML element: element("p", {class: "absent"}, "not known"). */
  const element = (tag, attributes = {}, ...inside) =>
    filled(document.createElement(tag), attributes, inside);

  /** An SVG element. */
  const shape = (tag, attributes = {}, ...inside) =>
    filled(document.createElementNS(SVG, tag), attributes, inside);

  const round = (number) => Math.round(number * 100) / 100;

  /** A logarithmic axis that has all values on it and spans a factor of 4 at least; places on it are in percent. */
  function spanning(values) {
    const [from, to] = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
    const [middle, half] = [Math.sqrt(from * to), Math.sqrt(Math.max(to / from, 4))], [low, high] = [middle / half, middle * half];
    const at = (value) => round((100 * Math.log(value / low)) / Math.log(high / low));
    const ticks = () => {
      const [first, last] = [low, high].map((end) => Math.floor(Math.log10(end)));
      const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
      const ladders = LADDERS.map((digits) => powers.flatMap((power) => digits.map((digit) => digit * power)));
      powers.forEach((_, skip) => ladders.push(powers.filter((__, i) => i % (skip + 1) === 0)));
      return ladders
        .map((ladder) => ladder.filter((tick) => low <= tick && tick <= high))
        .find((shown) => shown.length <= MOST_TICKS).map((tick) => [at(tick), units.value(tick, "")]);
    };
    return { at, ticks };
  }

  /** A number with its interval, or why there is none. */
  function number(estimate, unit, absent = "not known") {
    if (estimate === null) return [element("span", { class: "absent" }, absent)];
    const [value, interval] = units.parts(estimate, unit);
    return [element("span", { class: "value" }, value), ...(interval ? [" ", element("span", { class: "interval" }, interval)] : [])];
  }

  /**
   * A table in a region that the keyboard scrolls where it is too wide. The first cell of a row names it. A row, a cell or
   * a heading may be an element already.
   */
  function table(caption, heads, rows, { kind = null, foot = [], label = caption.split(/[.:,]/)[0] } = {}) {
    const made = (tag, scope, inside) => (typeof inside === "string" || Array.isArray(inside) ? element(tag, { scope }, ...[inside].flat()) : inside);
    const line = (row) => (Array.isArray(row) ? element("tr", {}, ...row.map((inside, i) => made(i ? "td" : "th", i ? null : "row", inside))) : row);
    const head = heads.map((inside) => made("th", "col", inside));
    return element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 },
      element("table", { class: kind }, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows.map(line)), ...(foot.length ? [element("tfoot", {}, ...foot.map(line))] : [])));
  }

  /** What a chart shows, folded away beneath it. */
  const folded = (inside) => element("details", {}, element("summary", {}, "The same as a table"), inside);

  /** A chart with the result as its title and a line below it. */
  const figure = (kind, title, subtitle, ...inside) => element("figure", { class: kind },
    element("figcaption", {}, element("h3", {}, title), element("p", { class: "note" }, subtitle)), ...inside);

  return { element, shape, round, spanning, number, table, folded, figure };
})();

/**
 * What a reader has set lives in the address's fragment and nowhere else, so that a view can be
 * sent and the back button works: #kwh=0.4&weight.matmul=2. Other keys there are left alone. What
 * is usual of numbers is not said.
 *
 * A field that holds no answer says why, and styles hide all results of the page until it does.
 *
 * @typedef {{key: string, label: string, most: number, usual: ?number, clears?: boolean,
 *   placeholder?: string}} Wanted a number from 0 to `most`; `clears`: said empty, it is unknown,
 *   whatever is usual
 */
const setting = (() => {
  const { element } = drawing;
  const NOTHING = 1e-6;
  /** What may be thousands or a fraction. */
  const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/;
  const UNTIL = "Results are hidden until then.";
  let fields = 0;

  /** What the fragment says, taken apart once. */
  let fragment = { hash: null, params: null };
  function read() {
    const { hash } = location;
    if (fragment.hash !== hash) fragment = { hash, params: new URLSearchParams(hash.slice(1)) };
    return fragment.params;
  }

  /** Say something else in the fragment, as a new place in the history or the same; null takes a key out, a list is several. */
  function write(changes, { replace = false } = {}) {
    const params = new URLSearchParams(read());
    for (const [key, value] of Object.entries(changes)) {
      const [first, ...others] = [value ?? []].flat();
      if (first === undefined) params.delete(key);
      else params.set(key, first);
      others.forEach((one) => params.append(key, one));
    }
    history[replace ? "replaceState" : "pushState"](null, "", `#${params}`);
    dispatchEvent(new Event("hashchange"));
  }

  const allowed = (value, most) => value >= 0 && value <= most;

  /** The number that a reader wrote: 0.40, 0,40, 8000 or 8.000,50; NaN where it is none, or may be two. */
  function parsed(text) {
    const written = text.trim().replace(/[\s_']/g, "");
    if (AMBIGUOUS.test(written)) return NaN;
    if (/^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(written)) return Number(written.replaceAll(",", ""));
    if (/^[1-9]\d{0,2}(\.\d{3})+,\d*$/.test(written)) return Number(written.replaceAll(".", "").replace(",", "."));
    return written === "" ? NaN : Number(/^[^.,]*,[^.,]*$/.test(written) ? written.replace(",", ".") : written);
  }

  /** A number as `parsed` reads it. */
  const spelled = (number) => (AMBIGUOUS.test(String(number)) ? `${number}0` : String(number));

  /** The number under a key, or what is usual where there is none that is allowed; almost 0 is 0. */
  function number(params, wanted) {
    const text = params.get(wanted.key) ?? "", value = parsed(text);
    if (text === "" && wanted.clears && params.has(wanted.key)) return null;
    if (!allowed(value, wanted.most)) return wanted.usual;
    return value < NOTHING ? 0 : value;
  }

  /** What is wrong with a text for a number, or "". */
  function fault(text, { most }) {
    const written = text.trim();
    if (written === "" || allowed(parsed(written), most)) return "";
    const range = most >= 1e6 ? "0 or more" : `a number from 0 to ${most}`;
    return AMBIGUOUS.test(written) ? `Write ${written.replace(/[.,]/, "")} or ${Number(written.replace(",", "."))}: ${written} may be either. ${UNTIL}`
      : `Enter ${range}, such as 0.25 or 0,25. ${UNTIL}`;
  }

  /** Room for what is wrong with a control, and what says it there. */
  function complaint(input, wrong) {
    const node = element("span", { class: "complaint", id: `complaint-${fields++}`, "aria-live": "polite" });
    input.setAttribute("aria-describedby", node.id);
    const tell = () => {
      node.textContent = wrong();
      if (!wrong()) input.removeAttribute("aria-invalid");
      else {
        input.setAttribute("aria-invalid", "true");
        input.closest("details")?.setAttribute("open", "");
      }
    };
    return { node, tell };
  }

  /** A control that shows what is set, now and when something else is set, and saves what the reader sets there. */
  function bound(input, show, save, event = "change") {
    input.addEventListener("setting", show);
    input.addEventListener(event, save);
    show();
    return input;
  }

  /** A box with words that is ticked or not. */
  function box(words, ticked, save, label = null) {
    const input = element("input", { type: "checkbox", "aria-label": label });
    bound(input, () => { input.checked = ticked(); }, () => save(input.checked));
    return element("label", { class: "check" }, input, element("span", {}, words));
  }

  /** Fill a place, unless it holds what was made of the same things already. */
  function make(place, things, build) {
    const made = JSON.stringify(things);
    if (place.dataset.made === made) return;
    place.dataset.made = made;
    const pressed = place.contains(document.activeElement) && document.activeElement.textContent;
    place.replaceChildren(...build());
    if (pressed) [...place.querySelectorAll("button")].find((one) => one.textContent === pressed)?.focus({ preventScroll: true });
  }

  /** A label and what is labelled. */
  function labelled(text, input, ...behind) {
    input.id = `setting-${fields++}`;
    return element("div", { class: "field" }, element("label", { for: input.id }, text), input, ...behind);
  }

  /** A field for a number; emptied, it is as usual or not known. What is wrong is told, in the address too, and changes nothing. */
  function field(wanted) {
    const { key, label, usual, clears, placeholder = "unknown" } = wanted;
    const input = element("input", { type: "text", autocomplete: "off", inputmode: "decimal", placeholder: clears ? placeholder : null });
    const { node, tell } = complaint(input, () => fault(input.value, wanted));
    const show = () => {
      const text = read().get(key) ?? "";
      input.value = fault(text, wanted) ? text : spelled(number(read(), wanted) ?? "");
      tell();
    };
    const save = () => {
      if (fault(input.value, wanted)) return;
      const value = input.value.trim() === "" ? null : parsed(input.value);
      write({ [key]: value === usual || (value === null && !clears) ? null : spelled(value ?? "") });
      show();
    };
    input.addEventListener("input", tell);
    return labelled(label, bound(input, show, save), node);
  }

  /** A choice of one, said even where it is the usual one; options are [value, text]. */
  function choice({ key, label, options, usual }) {
    const input = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
    const show = () => { input.value = options.map(([value]) => value).find((one) => one === read().get(key)) ?? usual; };
    return labelled(label, bound(input, show, () => write({ [key]: input.value })));
  }

  /** A choice of one of a few, all of them to be seen; options are [value, text]. It says so where the address asks for another. */
  function buttons({ key, label, options, usual }) {
    const name = `setting-${fields++}`, asked = () => read().get(key) || usual;
    const inputs = options.map(([value]) => element("input", { type: "radio", name, value }));
    const group = element("fieldset", { class: "seg", role: "radiogroup" }, element("legend", {}, label),
      element("div", {}, ...inputs.map((input, i) => element("label", {}, input, element("span", {}, options[i][1])))));
    const { node, tell } = complaint(group, () =>
      (inputs.some(({ checked }) => checked) ? "" : `There is no ${label.toLowerCase()} "${asked().slice(0, 40)}": choose one. ${UNTIL}`));
    const show = () => {
      inputs.forEach((input) => { input.checked = input.value === asked(); });
      tell();
    };
    inputs.forEach((input) => bound(input, show, () => write({ [key]: input.value === usual ? null : input.value })));
    group.append(node);
    return group;
  }

  /** Fields for numbers that belong together, and a button that forgets what was set in them. */
  function group(title, wanted) {
    const reset = element("button", { type: "button" }, "Reset");
    reset.addEventListener("click", () => {
      write(Object.fromEntries(wanted.map(({ key }) => [key, null])));
      refresh(reset.parentElement);
    });
    return element("fieldset", { class: "controls" }, element("legend", {}, title), ...wanted.map(field), reset);
  }

  /** Let all fields show what is set. */
  const refresh = (root) =>
    root.querySelectorAll("input, select").forEach((input) => input.dispatchEvent(new Event("setting")));

  /** Let links within the page go where they say, and leave in the address what was set. */
  function keep() {
    unfoldOnPaper();
    document.addEventListener("copy", copyPlainly);
    document.addEventListener("click", (event) => {
      const link = /** @type {Element} */ (event.target).closest('a[href^="#"]');
      const target = link && document.getElementById(link.getAttribute("href").slice(1));
      if (!target) return;
      event.preventDefault();
      target.scrollIntoView();
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    });
  }

  /** Let rows of a table that are copied paste as plain cells, without marks, notes and controls. */
  function copyPlainly(event) {
    const selected = getSelection(), range = selected.rangeCount ? selected.getRangeAt(0) : null;
    const within = /** @type {any} */ (range?.commonAncestorContainer), isTable = (within?.closest ? within : within?.parentElement)?.closest(".scroll");
    const part = isTable ? range.cloneContents() : null;
    const rows = part ? [...part.querySelectorAll("tr")] : [];
    if (rows.length < 2) return;
    part.querySelectorAll(".pick, svg, :is(td, [scope=row]) :is(.note, .mark, small), td:has(input)").forEach((one) => one.remove());
    part.querySelectorAll("small").forEach((one) => one.prepend(" "));
    const plain = (cell) => cell.textContent.trim().replace(/\s+/g, " ").replace(/^([\d.,]+)×$/, "$1");
    event.clipboardData.setData("text/plain", rows.map((row) => [...row.cells].map(plain).join("\t")).join("\n"));
    event.preventDefault();
  }

  /** Let paper have what is folded away. */
  function unfoldOnPaper() {
    /** @type {any[]} */
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll(".purchase details:not([open])")];
      opened.forEach((one) => { one.open = true; });
    });
    addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
  }

  return { read, write, number, parsed, spelled, bound, box, make, labelled, field, choice, buttons, group, refresh, keep };
})();
