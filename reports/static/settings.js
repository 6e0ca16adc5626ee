// SPDX-License-Identifier: MIT
"use strict";
/**
 * What a reader has changed lives in the address's fragment and nowhere else, so that a view can
 * be sent and the back button works: #kwh=0.4&weight.matmul=2. A fragment may hold more than that.
 */
const settings = (() => {
  const { element } = drawing;
  let fields = 0;

  /** What the fragment says. */
  const read = () => new URLSearchParams(location.hash.slice(1));

  /** Say something else in the fragment, as a new place in the history; null takes it out. */
  function write(changes) {
    const said = read();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) said.delete(key);
      else said.set(key, value);
    }
    location.hash = said.toString();
  }

  /** The number under a key, or what holds where there is none that is allowed. */
  function number(said, { key, least, most, usual }) {
    const given = said.get(key);
    const value = given === null || given.trim() === "" ? NaN : Number(given);
    return value >= least && value <= most && Number.isFinite(value) ? value : usual;
  }

  /** What is wrong with what stands in a field, or "". */
  function fault(input, { least, most, usual }) {
    if (input.value === "" && !input.validity.badInput) {
      return usual === null ? "" : "Give a number.";
    }
    const value = input.validity.badInput ? NaN : Number(input.value);
    if (value >= least && value <= most && Number.isFinite(value)) return "";
    return most === Infinity ? `Give a number from ${least} up.` : `Give a number from ${least} to ${most}.`;
  }

  /** Tell beside a field what is wrong with it. */
  function tell(input, complaint, text) {
    complaint.textContent = text;
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    return text === "";
  }

  /** A field for a number; what is wrong changes nothing, what is usual is left unsaid. */
  function field(wanted) {
    const id = `setting-${fields++}`;
    const complaint = element("span", { class: "complaint", id: `${id}-complaint`, role: "status" });
    const input = element("input", {
      id, type: "number", step: "any", inputmode: "decimal", "data-key": wanted.key,
      "aria-describedby": `${id}-complaint`, autocomplete: "off",
    });
    const good = () => tell(input, complaint, fault(input, wanted));
    input.addEventListener("input", good);
    input.addEventListener("change", () => {
      const same = input.value === "" || Number(input.value) === wanted.usual;
      if (good()) write({ [wanted.key]: same ? null : input.value });
    });
    const show = () => {
      input.value = number(read(), wanted) ?? "";
      good();
    };
    show();
    const label = element("label", { for: id }, wanted.label);
    return { node: element("div", { class: "field" }, label, input, complaint), show };
  }

  return { read, write, number, field };
})();
