// SPDX-License-Identifier: MIT
"use strict";
/** A document outside a browser: elements that become markup. */
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
