// SPDX-License-Identifier: MIT
"use strict";
/**
 * What a reader has set lives in the address's fragment and nowhere else, so that a view can be
 * sent and the back button works: #kwh=0.4&weight.matmul=2. Other keys there are left alone. What
 * is usual of numbers is not said.
 *
 * @typedef {{key: string, label: string, least: number, most: number, usual: ?number,
 *   clears?: boolean}} Wanted `clears`: said empty, nobody knows the number, whatever is usual
 */
const setting = (() => {
  const { element } = drawing;
  const NOTHING = 1e-6;
  let fields = 0;

  /** What the fragment says. */
  const read = () => new URLSearchParams(location.hash.slice(1));

  /** Say something else in the fragment, as a new place in the history; null takes a key out. */
  function write(changes) {
    const said = read();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) said.delete(key);
      else said.set(key, value);
    }
    location.hash = said.toString();
  }

  const allowed = (value, { least, most }) =>
    Number.isFinite(value) && value >= least && value <= most;

  /** The number under a key, or what is usual where there is none that is allowed; almost 0 is 0. */
  function number(said, wanted) {
    const given = said.get(wanted.key) ?? "";
    if (given === "" && wanted.clears && said.has(wanted.key)) return null;
    if (given.trim() === "" || !allowed(Number(given), wanted)) return wanted.usual;
    return Number(given) < NOTHING ? 0 : Number(given);
  }

  /** What is wrong with what stands in a field for a number, or "". */
  function fault(input, wanted) {
    const empty = input.value === "" && !input.validity.badInput;
    if (empty || (!input.validity.badInput && allowed(Number(input.value), wanted))) return "";
    return `Give a number from ${wanted.least} to ${wanted.most.toLocaleString("en")}.`;
  }

  /** A label, what is labelled, and room for what is wrong with it. */
  function labelled(text, input) {
    const id = `setting-${fields++}`;
    const complaint = element("span", { class: "complaint", id: `${id}-complaint`, "aria-live": "polite" });
    input.id = id;
    input.setAttribute("aria-describedby", complaint.id);
    const node = element("div", { class: "field" }, element("label", { for: id }, text), input, complaint);
    const tell = (wrong) => {
      complaint.textContent = wrong;
      input.toggleAttribute("aria-invalid", wrong !== "");
      if (wrong) input.setAttribute("aria-invalid", "true");
    };
    return { node, tell };
  }

  /** Let a field show what is set, now and when something else is set. */
  function follow(input, show) {
    input.addEventListener("setting", show);
    show();
  }

  /** A field for a number. What is wrong is told and changes nothing; emptied, it is as usual or not known. */
  function field(wanted) {
    const placeholder = wanted.clears ? "not known" : null;
    const input = element("input", { type: "number", step: "any", min: wanted.least, autocomplete: "off", placeholder });
    const { node, tell } = labelled(wanted.label, input);
    input.addEventListener("input", () => tell(fault(input, wanted)));
    input.addEventListener("change", () => {
      if (fault(input, wanted)) return;
      const empty = input.value === "";
      const usual = empty && wanted.clears ? wanted.usual === null : empty || Number(input.value) === wanted.usual;
      write({ [wanted.key]: usual ? null : input.value });
      if (usual) input.value = wanted.usual ?? "";
    });
    follow(input, () => {
      input.value = number(read(), wanted) ?? "";
      tell("");
    });
    return node;
  }

  /** A field for a few letters. */
  function words({ key, label, usual }) {
    const input = element("input", { type: "text", maxlength: 8, autocomplete: "off" });
    input.addEventListener("change", () => {
      const given = input.value.trim();
      write({ [key]: given === "" || given === usual ? null : given });
    });
    const { node } = labelled(label, input);
    follow(input, () => (input.value = read().get(key) ?? usual));
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

  return { read, number, field, words, choice, buttons, group, refresh, keep };
})();
