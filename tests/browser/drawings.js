// SPDX-License-Identifier: MIT
// What the tests ask of the drawings in a page: the colours that are rendered, and what lies behind.

const SERIES = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];
const SHAPES = "path, use, rect, circle, ellipse, line, polyline, polygon";

/** Read a colour as red, green, blue (0 to 255) and opacity (0 to 1). */
const rgba = (() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  return (colour) => {
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue, opacity] = pen.getImageData(0, 0, 1, 1).data;
      known.set(colour, [red, green, blue, opacity / 255]);
    }
    return known.get(colour);
  };
})();

/** Lay a colour over another one. */
function over([red, green, blue, opacity], below) {
  return [red, green, blue].map((part, index) => opacity * part + (1 - opacity) * below[index]);
}

/** The opacity that an element and those around it have together. */
function veil(element) {
  let opacity = 1;
  for (let one = element; one; one = one.parentElement) opacity *= getComputedStyle(one).opacity;
  return opacity;
}

/** Whether a shape is a line, of which nothing is filled. */
function isLine(element) {
  return element.localName === "line" || getComputedStyle(element).fill === "none";
}

/** The colour that a shape is drawn in: its fill, or the line's where it has none. */
function paint(element) {
  const style = getComputedStyle(element);
  const name = isLine(element) ? "stroke" : "fill";
  if (style[name] === "none" || style[name].startsWith("url")) return null;
  const [red, green, blue, opacity] = rgba(style[name]);
  return [red, green, blue, opacity * style[`${name}Opacity`] * veil(element)];
}

/** Points of a shape, in the window: along a line, or the middle of what is filled. */
function points(element) {
  const box = element.getBoundingClientRect();
  if (!isLine(element) || !element.getTotalLength) return [[box.left + box.width / 2, box.top + box.height / 2]];
  const [length, place] = [element.getTotalLength(), element.getScreenCTM()];
  return [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => {
    const { x, y } = element.getPointAtLength(part * length).matrixTransform(place);
    return [x, y];
  });
}

/** The colour behind a point of an element: of pages, boxes and shapes that were drawn before it. */
function behind(element, point, isPassed) {
  const below = document
    .elementsFromPoint(...point)
    .filter((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING && !isPassed(one));
  const page = rgba(getComputedStyle(document.documentElement).backgroundColor);
  let colour = over(page, rgba("Canvas"));
  for (const one of below.reverse()) {
    const shape = one.closest("svg") && one.localName !== "svg";
    const ground = one.localName !== "text" && !isLine(one);
    const layer = shape ? ground && paint(one) : rgba(getComputedStyle(one).backgroundColor);
    if (layer) colour = over(layer, colour);
  }
  return colour;
}

/** Whether a shape is drawn; a straight line has no height or no width. */
function isDrawn(shape) {
  const box = shape.getBoundingClientRect();
  return box.width + box.height > 0 && shape.checkVisibility() && !shape.closest("defs");
}

/** The marks of a drawing: shapes in a series' colour or with a hover text, and not mere veils. */
function marks(svg) {
  const root = getComputedStyle(document.documentElement);
  const series = SERIES.map((name) => rgba(root.getPropertyValue(name)).slice(0, 3).join());
  return [...svg.querySelectorAll(SHAPES)].filter((one) => {
    if (!isDrawn(one)) return false;
    const colour = paint(one);
    const titled = one.querySelector(":scope > title") !== null;
    return colour && colour[3] >= 0.5 && (titled || series.includes(colour.slice(0, 3).join()));
  });
}

/** What tells a mark apart besides its colour: its outline, or the dashes of a line. */
function form(mark) {
  return isLine(mark) ? `line ${getComputedStyle(mark).strokeDasharray}` : (mark.getAttribute("d") ?? mark.localName);
}

/** The colour around an element that parts it from what lies behind, if it has one. */
function outline(element) {
  const { fill, stroke, strokeWidth, paintOrder } = getComputedStyle(element);
  if (isLine(element)) return casing(element, parseFloat(strokeWidth));
  if (stroke === "none" || stroke === fill) return null;
  const least = element.localName === "text" ? 3 : 1;
  const under = element.localName !== "text" || paintOrder.startsWith("stroke");
  return under && parseFloat(strokeWidth) >= least ? rgba(stroke) : null;
}

/** Drawings that can be seen now. */
function drawings() {
  return [...document.querySelectorAll("svg")].filter((svg) => !svg.matches("svg svg") && isVisible(svg));
}

/** The colour of a wider line that was drawn under a line, along the same path. */
function casing(line, width) {
  const path = line.getAttribute("d");
  const under = [...line.parentElement.children].find((one) => path && one !== line && one.getAttribute("d") === path);
  const style = under && getComputedStyle(under);
  return style && parseFloat(style.strokeWidth) >= width + 2 ? rgba(style.stroke) : null;
}

/** Every text and every mark of all drawings, with its colour and those behind it. */
function painted() {
  const all = [];
  for (const svg of drawings()) {
    const found = marks(svg);
    const passed = new Set(found);
    const texts = [...svg.querySelectorAll("text")].filter(isVisible);
    svg.scrollIntoView({ block: "center", behavior: "instant" });
    for (const one of [...found, ...texts]) {
      const kind = one.localName === "text" ? "text" : "mark";
      const edge = outline(one);
      const grounds = points(one).map((point) => {
        const ground = behind(one, point, (other) => kind === "mark" && passed.has(other));
        return edge ? over(edge, ground) : ground;
      });
      const pairs = grounds.map((ground) => [over(paint(one), ground), ground]);
      all.push({ kind, name: `${named(svg)}: ${named(one)}`, pairs });
    }
  }
  return all;
}

/** For each drawing and each legend the colours of its series, and the forms that bear them. */
function palettes() {
  const groups = drawings()
    .filter((svg) => !svg.closest(".legend"))
    .map((svg) => [svg, marks(svg)]);
  for (const legend of document.querySelectorAll(".legend")) {
    if (isVisible(legend)) groups.push([legend, [...legend.querySelectorAll("svg")].flatMap(marks)]);
  }
  return groups.map(([place, found]) => ({
    name: named(place),
    marks: found.map((one) => ({ colour: paint(one).slice(0, 3), form: form(one) })),
    legend: place.matches(".legend"),
  }));
}

/** The table beside a chart: in its figure, or else in its section. */
function tableOf(svg) {
  const inside = svg.closest("figure")?.querySelector("table");
  return inside ?? svg.closest("section")?.querySelector("table") ?? null;
}

/**
 * Charts that cannot be heard or read: without a name, or without a table that is no other chart's. The numbers of
 * a small chart stand in the text beside it, and in the row that it opens to; those of sensors share one table.
 */
function unread() {
  const owners = new Map();
  return [...document.querySelectorAll("svg")].flatMap((svg) => {
    if (svg.matches("svg svg") || svg.closest("[aria-hidden=true]")) return [];
    if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")?.trim()) return [`neither named nor hidden: ${named(svg)}`];
    const [table, figure] = [tableOf(svg), svg.closest("figure")];
    if (svg.matches(".fluid") && !figure?.id) return [];
    if (!table) return [`no table beside it: ${named(svg)}`];
    const shared = figure && owners.has(table) && owners.get(table) !== figure;
    if (figure) owners.set(table, figure);
    return shared ? [`has its table from another chart: ${named(svg)}`] : [];
  });
}

/** For each chart its hover texts, and the cells of its table, row by row. */
function told() {
  const spelled = (one) => one.textContent.replace(/\s+/g, " ").trim();
  return drawings().filter((svg) => svg.getAttribute("role") === "img" && svg.querySelector("title")).map((svg) => ({
    name: named(svg),
    hover: [...svg.querySelectorAll("title")].map(spelled),
    rows: [...(tableOf(svg)?.rows ?? [])].map((row) => [...row.querySelectorAll("td")].map(spelled)),
  }));
}

/** Labels of a small chart or of ranks that lie on another one, or beyond the page or their figure. */
function crowded() {
  const faults = [];
  for (const svg of drawings().filter((one) => one.matches(".fluid, .slopes"))) {
    const room = (svg.closest("figure.ranks") ?? document.documentElement).getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(isVisible);
    const boxes = texts.map((one) => one.getBoundingClientRect());
    boxes.forEach((box, at) => {
      if (box.right > room.right || box.left < room.left) faults.push(`beyond its room: ${named(svg)}: ${texts[at].textContent}`);
      boxes.slice(0, at).forEach((other, before) => {
        const apart = box.left >= other.right || other.left >= box.right || box.top + 3 >= other.bottom || other.top + 3 >= box.bottom;
        if (!apart) faults.push(`on each other: ${named(svg)}: ${texts[before].textContent}, ${texts[at].textContent}`);
      });
    });
  }
  return faults;
}
