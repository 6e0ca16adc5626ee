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

  /** A logarithmic axis between two values; places on it are in percent. */
  function scale(low, high) {
    const at = (value) => round((100 * Math.log(value / low)) / Math.log(high / low));
    const steps = (most) => {
      const [first, last] = [low, high].map((end) => Math.floor(Math.log10(end)));
      const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
      const ladders = LADDERS.map((digits) => powers.flatMap((power) => digits.map((digit) => digit * power)));
      powers.forEach((_, skip) => ladders.push(powers.filter((__, i) => i % (skip + 1) === 0)));
      return ladders
        .map((ladder) => ladder.filter((tick) => low <= tick && tick <= high))
        .find((shown) => shown.length <= most);
    };
    const ticks = (most = MOST_TICKS) => steps(most).map((tick) => [at(tick), units.value(tick, "")]);
    return { low, high, at, steps, ticks };
  }

  /** An axis that has all values on it and spans a factor of `least`. */
  function spanning(values, least = 4) {
    const [low, high] = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
    const [middle, half] = [Math.sqrt(low * high), Math.sqrt(Math.max(high / low, least))];
    return scale(middle / half, middle * half);
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

  return { element, shape, round, scale, spanning, number, table, folded, figure };
})();

/**
 * What a reader has set lives in the address's fragment and nowhere else, so that a view can be
 * sent and the back button works: #kwh=0.4&weight.matmul=2. Other keys there are left alone. What
 * is usual of numbers is not said.
 *
 * A field that holds no answer says why, and styles hide all results of the page until it does.
 *
 * @typedef {{key: string, label: string, least: number, most: number, usual: ?number,
 *   clears?: boolean, currency?: string, placeholder?: string}} Wanted `clears`: said empty, the
 *   number is unknown, whatever is usual
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

  /** Say something else in the fragment, as a new place in the history; null takes a key out. */
  function write(changes) {
    const params = new URLSearchParams(read());
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) params.delete(key);
      else params.set(key, value);
    }
    location.hash = params.toString();
  }

  const allowed = (value, { least, most }) =>
    Number.isFinite(value) && value >= least && value <= most;

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

  /** What stands under a key: the text, and the currency behind it if it has one. */
  function given(params, key) {
    const [, text, currency = null] = (params.get(key) ?? "").match(/^(.*?)(?: ([A-Z]{3}))?$/s);
    return { text, currency };
  }

  /**
   * The number under a key, or what is usual where there is none that is allowed; almost 0 is 0.
   * A number that was given in another currency than `wanted.currency` counts for nothing.
   */
  function number(params, wanted) {
    const { text, currency } = given(params, wanted.key);
    if (currency && wanted.currency && currency !== wanted.currency) return wanted.usual;
    if (text === "" && wanted.clears && params.has(wanted.key)) return null;
    const value = parsed(text);
    if (!allowed(value, wanted)) return wanted.usual;
    return value < NOTHING ? 0 : value;
  }

  /** What is wrong with a text for a number, or "". */
  function fault(text, { least, most }) {
    const written = text.trim();
    if (written === "" || allowed(parsed(written), { least, most })) return "";
    const range = most >= 1e6 ? `${least} or more` : `a number from ${least} to ${most}`;
    return AMBIGUOUS.test(written) ? `Write ${written.replace(/[.,]/, "")} or ${Number(written.replace(",", "."))}: ${written} may be either. ${UNTIL}`
      : `Enter ${range}, such as 0.25 or 0,25. ${UNTIL}`;
  }

  /** Room for what is wrong with a field, and what says it there. */
  function complaint(input) {
    const node = element("span", { class: "complaint", id: `complaint-${fields++}`, "aria-live": "polite" });
    input.setAttribute("aria-describedby", node.id);
    const tell = (wrong) => {
      node.textContent = wrong;
      if (!wrong) input.removeAttribute("aria-invalid");
      else {
        input.setAttribute("aria-invalid", "true");
        input.closest("details")?.setAttribute("open", "");
      }
    };
    return { node, tell };
  }

  /** A label, what is labelled, and room for what is wrong with it. */
  function labelled(text, input) {
    const { node, tell } = complaint(input);
    input.id = `setting-${fields++}`;
    return { node: element("div", { class: "field" }, element("label", { for: input.id }, text), input, node), tell };
  }

  /** Let a field show what is set, now and when something else is set. */
  function follow(input, show) {
    input.addEventListener("setting", show);
    show();
  }

  /**
   * A field for a text. What is wrong is told, in the address too, and changes nothing.
   * @param {function(string): string} wrongIn says what is wrong with a text
   * @param {function(): string} set is the text that is set
   */
  function typed(label, attributes, wrongIn, set, save) {
    const input = element("input", { type: "text", autocomplete: "off", ...attributes });
    const { node, tell } = labelled(label(), input);
    input.addEventListener("input", () => tell(wrongIn(input.value)));
    input.addEventListener("change", () => {
      if (wrongIn(input.value)) return;
      save(input.value);
      input.dispatchEvent(new Event("setting"));
    });
    follow(input, () => {
      input.value = set();
      node.firstElementChild.textContent = label();
      tell(wrongIn(input.value));
    });
    return node;
  }

  /** A field for a number; emptied, it is as usual or not known. */
  function field(wanted) {
    const shown = () => {
      const { text, currency } = given(read(), wanted.key), counts = !(currency && wanted.currency && currency !== wanted.currency);
      const value = number(read(), wanted);
      return counts && fault(text, wanted) ? text : value === null || value === undefined ? "" : spelled(value);
    };
    const save = (text) => {
      const empty = text.trim() === "", value = parsed(text);
      const usual = empty && wanted.clears ? wanted.usual === null : empty || value === wanted.usual;
      const behind = wanted.currency && !empty ? ` ${wanted.currency}` : "";
      write({ [wanted.key]: usual ? null : `${empty ? "" : spelled(value)}${behind}` });
    };
    return typed(() => wanted.label, { inputmode: "decimal", placeholder: wanted.clears ? wanted.placeholder ?? "unknown" : null },
      (text) => fault(text, wanted), shown, save);
  }

  /** The code of a currency (ISO 4217) that a reader wrote, or "". */
  const code = (text) => (/^[A-Z]{3}$/i.test(text.trim()) ? text.trim().toUpperCase() : "");

  /** A field for the code of a currency. */
  const currency = ({ key, label, usual }) => typed(() => label, { maxlength: 8 },
    (text) => (text.trim() === "" || code(text) ? "" : `Enter three letters, such as USD or EUR. ${UNTIL}`),
    () => { const asked = read().get(key) ?? ""; return asked.trim() ? code(asked) || asked : usual; },
    (text) => write({ [key]: ["", usual].includes(code(text)) ? null : code(text) }));

  /** A choice of one, said even where it is the usual one; options are [value, text]. */
  function choice(wanted) {
    const { key, label, options } = wanted;
    const input = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
    input.addEventListener("change", () => write({ [key]: input.value }));
    const { node } = labelled(label, input);
    const known = (value) => options.some(([one]) => one === value);
    follow(input, () => (input.value = known(read().get(key)) ? read().get(key) : wanted.usual));
    return node;
  }

  /** A choice of one of a few, all of them to be seen; options are [value, text]. It says so where the address asks for another. */
  function buttons({ key, label, options, usual }) {
    const name = `setting-${fields++}`, asked = () => read().get(key) || usual;
    const group = element("fieldset", { class: "seg", role: "radiogroup" }, element("legend", {}, label)), { node, tell } = complaint(group);
    const inputs = options.map(([value, text]) => {
      const input = element("input", { type: "radio", name, value });
      input.addEventListener("change", () => write({ [key]: value === usual ? null : value }));
      follow(input, () => {
        input.checked = value === asked();
        tell(options.some(([one]) => one === asked()) ? "" : `There is no ${label.toLowerCase()} "${asked().slice(0, 40)}": choose one. ${UNTIL}`);
      });
      return element("label", {}, input, element("span", {}, text));
    });
    group.append(element("div", {}, ...inputs), node);
    return group;
  }

  /** Fields that belong together, and a button that forgets what was set in them. */
  function group(title, wanted, nodes) {
    const reset = element("button", { type: "button" }, "Reset");
    reset.addEventListener("click", () => {
      write(Object.fromEntries(wanted.map(({ key }) => [key, null])));
      refresh(reset.parentElement);
    });
    return element("fieldset", { class: "controls" }, element("legend", {}, title), ...nodes, reset);
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

  return { read, write, number, parsed, spelled, code, field, currency, choice, buttons, group, refresh, keep };
})();
