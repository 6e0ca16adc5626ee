// SPDX-License-Identifier: MIT
"use strict";
/**
 * What a reader has set lives in the address's fragment and nowhere else, so that a view can be
 * sent and the back button works: #kwh=0.4&weight.matmul=2. Other keys there are left alone. What
 * is usual of numbers is not said.
 *
 * @typedef {{key: string, label: string, least: number, most: number, usual: ?number,
 *   clears?: boolean, currency?: string, parts?: string[], hides?: string}} Wanted `clears`: said
 *   empty, the number is unknown, whatever is usual; `parts` of the page rest on it, `hides` names them
 */
const setting = (() => {
  const { element } = drawing;
  const NOTHING = 1e-6;
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

  /** The number that a reader wrote: 0.40, 0,40, 8,000 or 8.000,50; NaN where it is none. */
  function parsed(text) {
    const written = text.trim().replace(/[\s_']/g, "");
    if (/^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(written)) return Number(written.replaceAll(",", ""));
    if (/^[1-9]\d{0,2}(\.\d{3})+,\d*$/.test(written)) return Number(written.replaceAll(".", "").replace(",", "."));
    return written === "" ? NaN : Number(/^[^.,]*,[^.,]*$/.test(written) ? written.replace(",", ".") : written);
  }

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

  /** What is wrong with what stands in a field for a number, or "". */
  function fault(input, { least, most, hides }) {
    if (input.value.trim() === "" || allowed(parsed(input.value), { least, most })) return "";
    const range = most >= 1e6 ? `${least} or more` : `a number from ${least} to ${most}`;
    return `Enter ${range}, such as ${hides ? "0.25 or 0,25" : "2"}.${hides ? ` ${hides} hidden until then.` : ""}`;
  }

  /** A label, what is labelled, and room for what is wrong with it. */
  function labelled(text, input) {
    const id = `setting-${fields++}`;
    const complaint = element("span", { class: "complaint", id: `${id}-complaint`, "aria-live": "polite" });
    input.id = id;
    input.setAttribute("aria-describedby", complaint.id);
    const node = element("div", { class: "field" }, element("label", { for: id }, text), input, complaint);
    const rename = (label) => { node.firstElementChild.textContent = label; };
    const tell = (wrong) => {
      complaint.textContent = wrong;
      input.toggleAttribute("aria-invalid", wrong !== "");
      if (wrong) input.setAttribute("aria-invalid", "true");
    };
    return { node, tell, rename };
  }

  /** Let a field show what is set, now and when something else is set. */
  function follow(input, show) {
    input.addEventListener("setting", show);
    show();
  }

  /** Hide the parts of the page that rest on a field while it holds no number. */
  function stale(input, parts, wrong) {
    parts.forEach((part) => input.closest(".purchase")?.querySelector(`[data-part="${part}"]`)
      ?.classList.toggle("stale", wrong));
  }

  /** A field for a number. What is wrong is told and changes nothing; emptied, it is as usual or not known. */
  function field(wanted) {
    const placeholder = wanted.clears ? wanted.placeholder ?? "unknown" : null;
    const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder });
    const { node, tell, rename } = labelled(wanted.label, input);
    const judge = () => {
      const wrong = fault(input, wanted);
      tell(wrong);
      stale(input, wanted.parts ?? [], wrong !== "");
      return wrong;
    };
    input.addEventListener("input", judge);
    input.addEventListener("change", () => {
      if (judge()) return;
      const empty = input.value.trim() === "";
      const usual = empty && wanted.clears ? wanted.usual === null : empty || parsed(input.value) === wanted.usual;
      const behind = wanted.currency && !empty ? ` ${wanted.currency}` : "";
      write({ [wanted.key]: usual ? null : `${empty ? "" : parsed(input.value)}${behind}` });
      if (usual) input.value = wanted.usual ?? "";
    });
    follow(input, () => {
      input.value = number(read(), wanted) ?? "";
      rename(wanted.label);
      tell("");
      stale(input, wanted.parts ?? [], false);
    });
    return node;
  }

  /** The code of a currency (ISO 4217) that a reader wrote, or "". */
  const code = (text) => (/^[A-Z]{3}$/i.test(text.trim()) ? text.trim().toUpperCase() : "");

  /** A field for the code of a currency. What is wrong is told and changes nothing. */
  function currency({ key, label, usual, parts, hides }) {
    const input = element("input", { type: "text", maxlength: 8, autocomplete: "off" });
    const { node, tell } = labelled(label, input);
    const judge = () => {
      const wrong = input.value.trim() === "" || code(input.value) ? ""
        : `Enter three letters, such as USD or EUR. ${hides} hidden until then.`;
      tell(wrong);
      stale(input, parts, wrong !== "");
      return wrong;
    };
    input.addEventListener("input", judge);
    input.addEventListener("change", () => {
      if (judge()) return;
      const given = code(input.value);
      write({ [key]: given === "" || given === usual ? null : given });
      input.value = given || usual;
    });
    follow(input, () => {
      input.value = code(read().get(key) ?? "") || usual;
      tell("");
      stale(input, parts, false);
    });
    return node;
  }

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

  /** A choice of one of a few, all of them to be seen; options are [value, text]. */
  function buttons({ key, label, options, usual }) {
    const name = `setting-${fields++}`;
    const known = () => options.map(([value]) => value).find((value) => value === read().get(key)) ?? usual;
    const inputs = options.map(([value, text]) => {
      const input = element("input", { type: "radio", name, value });
      input.addEventListener("change", () => write({ [key]: value === usual ? null : value }));
      follow(input, () => (input.checked = value === known()));
      return element("label", {}, input, element("span", {}, text));
    });
    return element("fieldset", { class: "seg" }, element("legend", {}, label), element("div", {}, ...inputs));
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
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      const target = link && document.getElementById(link.getAttribute("href").slice(1));
      if (!target) return;
      event.preventDefault();
      target.scrollIntoView();
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    });
  }

  /** Let paper have what is folded away. */
  function unfoldOnPaper() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll(".purchase details:not([open])")];
      opened.forEach((one) => { one.open = true; });
    });
    addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
  }

  return { read, number, parsed, code, field, currency, choice, buttons, group, refresh, keep };
})();
