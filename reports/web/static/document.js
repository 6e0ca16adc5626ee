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
  const numbers = (speed) => ({ log_ratio: speed.log, log_error: speed.error, ratio: model.ratio(speed).value, low: model.ratio(speed).low, high: model.ratio(speed).high });

  /** The rows of the table beside the page: each machine under each workload, and in each part. */
  function table(data, machines, reference) {
    const isNew = new Set();
    return machines.flatMap((machine) => data.workloads.flatMap(({ name }) => {
      const { speed, coverage, parts } = model.score(machine, reference, model.workload(data, name));
      const scored = { at: machine.at, workload: name, part: "", coverage, ...(speed ? numbers(speed) : {}) };
      const once = parts.filter(({ part }) => !isNew.has(`${machine.at} ${part.name}`) && isNew.add(`${machine.at} ${part.name}`));
      return [scored, ...once.filter(({ share }) => share > 0).map((part) => (
        { at: machine.at, workload: "", part: part.part.name, coverage: part.share, ...numbers(model.inOne(machine, reference, part)) }))];
    }));
  }

  /** Everything that the page of machines side by side holds before a reader sets anything. */
  function page(data) {
    const machines = model.devices(data), reference = machines.find(({ at }) => at === data.base);
    const view = compare.view(data, machines, reference, NOTHING);
    const most = Math.max(...view.rows.map(({ ratio }) => ratio?.value ?? 0), 1e-9);
    return {
      parts: Object.fromEntries(Object.entries(compare.parts(view, charts.usual(view))).map(([name, make]) => [name, make().join("")])),
      heading: compare.heading(view), headline: compare.headline(view), description: compare.description(view),
      reference: view.reference.name,
      ranked: view.rows.map(({ name, ratio }) => [`${name}: ${ratio ? units.parts(ratio, "×").filter(Boolean).join(" ") : "not measured"}`, (ratio?.value ?? 0) / most]),
      table: table(data, machines, reference),
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
