// SPDX-License-Identifier: MIT
"use strict";
/** A document outside a browser: elements that become markup; and what the build asks of the scripts. */
const document = (() => {
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;" };
  const escaped = (text) => String(text).replace(/[&<>"\u00a0]/g, (found) => ESCAPES[found]);

  class Element {
    constructor(tag) {
      this.tag = tag;
      this.attributes = new Map();
      this.inside = [];
    }

    setAttribute(name, value) {
      this.attributes.set(name, value);
    }

    append(...inside) {
      this.inside.push(...inside);
    }

    toString() {
      const given = [...this.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`);
      const inside = this.inside.map((one) => (one instanceof Element ? one : escaped(one)));
      return `<${this.tag}${given.join("")}>${inside.join("")}</${this.tag}>`;
    }
  }

  const createElement = (tag) => new Element(tag);
  return { createElement, createElementNS: (_, tag) => new Element(tag) };
})();

const built = (() => {
  const NOTHING = new Map();
  /** Everything that the page of machines side by side holds before a reader sets anything. */
  function page(data) {
    const machines = model.devices(data), reference = machines.find(({ at }) => at === data.base);
    const view = compare.view(data, machines, reference, NOTHING);
    const most = Math.max(...view.rows.map(({ ratio }) => ratio?.value ?? 0), 1e-9);
    return {
      parts: Object.fromEntries(Object.entries(compare.parts(view)).map(([name, make]) => [name, make().join("")])),
      heading: compare.heading(view), headline: compare.headline(view), description: compare.description(view),
      reference: view.reference.name,
      ranked: view.rows.map(({ name, ratio }) => [`${name}: ${ratio ? units.parts(ratio, "×").filter(Boolean).join(" ") : "not measured"}`, (ratio?.value ?? 0) / most]),
    };
  }

  /** How the second machine does under a workload beside the first: for the terminal. */
  function score(data, name) {
    const [base, one] = data.runs.map((_, i) => model.machine(data, i)), workload = model.workload(data, name);
    const found = model.score(one, base, workload), joules = model.score(one, base, workload, "joules");
    const ratio = (speed) => speed && model.ratio(speed);
    return {
      hosts: one.accelerated && base.accelerated && model.isHosts(workload), speed: ratio(found.speed), energy: ratio(joules.speed), coverage: found.coverage,
      reasons: { speed: found.why, energy: joules.why }, missing: model.missing(one, base, found),
      parts: found.parts.map((part, at) => ({ name: part.part.name, title: part.part.title, weight: part.weight, coverage: part.share,
        speed: ratio(model.inOne(one, base, part)), energy: ratio(model.inOne(one, base, joules.parts[at], "joules")) })),
    };
  }

  return { page, score };
})();
