// SPDX-License-Identifier: MIT
"use strict";
/** The runs of the index by their dates: each change of the address draws the rows that it asks for. */
const indexRuns = (() => {
  const CHUNK = 25;
  const USUAL = "-when";
  const FLAGS = ["complete", "slower", "all"];
  const CHOICES = ["kind", "device", "backend", "profile"];
  const NUMBERS = ["launches", "cases"];
  const { element } = drawing;

  /**
   * @param {object} read from `rows.read`
   * @param {function(object, boolean=): void} say changes the address
   */
  function of(table, data, reader, read, say) {
    const get = (id) => document.getElementById(id);
    const controls = get("controls");
    const heads = table.tHead.rows[0];
    const state = { limit: CHUNK, open: new Set(), held: null, wanted: null };

    /** What the fragment asks for; what is not offered is passed over. */
    function asked(params) {
      const offered = (key) => [...controls.elements[key].options].some(({ value }) => value === params.get(key));
      return {
        words: (params.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
        choices: Object.fromEntries(CHOICES.map((key) => [key, offered(key) ? params.get(key) : ""])),
        flags: Object.fromEntries(FLAGS.map((key) => [key, params.has(key)])),
        sort: params.get("sort") ?? USUAL,
      };
    }

    /** Let the controls say what the fragment says. */
    function show({ choices, flags }, typed) {
      if (controls.elements.q.value.trim() !== typed) controls.elements.q.value = typed;
      for (const key of CHOICES) controls.elements[key].value = choices[key];
      for (const key of FLAGS) controls.elements[key].checked = flags[key];
    }

    /** The places of the runs that are asked for. */
    function chosen({ words, choices, flags }) {
      const fits = (i) => {
        const [name, kind, backend] = data.devices.values[data.devices.of[i]];
        const has = { kind, backend, device: rows.plain(name), profile: read.texts.profile[i] };
        return (flags.all || read.newest[i]) && (!flags.complete || data.complete[i])
          && (!flags.slower || data.slower[i]) && CHOICES.every((key) => !choices[key] || choices[key] === has[key])
          && words.every((word) => read.hay[i].includes(word));
      };
      return read.nodes.map((_, i) => i).filter(fits);
    }

    /** What a column sorts by. */
    function values(key, workload) {
      if (key === "since") return data.slower.map((count) => count || null);
      if (NUMBERS.includes(key)) return read.texts[key].map(Number);
      if (Object.hasOwn(read.texts, key)) return read.texts[key];
      const [word, name] = key.split(/\.(.*)/);
      if (word !== "ratio" || !state.held) return null;
      const { mean, single } = state.held.against;
      if (name === undefined) return read.nodes.map((_, i) => mean(i, workload.name).log);
      const exercise = data.exercises.findIndex((one) => one.name === name);
      return exercise < 0 ? null : read.nodes.map((_, i) => single(i, exercise).log);
    }

    /** Put places in the order that is asked for, newest first where that is none. */
    function sorted(found, { sort, workload }) {
      const by = values(sort.replace("-", ""), workload);
      return by ? found.sort(rows.order(by, sort.startsWith("-"))) : found;
    }

    /** Hold all runs against the reference, unless they are. */
    function hold({ reference, workload }) {
      const key = reference === null ? null : `${reference} ${workload.name}`;
      if ((state.held?.key ?? null) === key) return;
      state.held = null;
      if (reference !== null) {
        const against = reader.against(reference);
        const shown = data.exercises.map((_, i) => i).filter((i) => against.totals[i] && against.weights[i]);
        state.held = { key, reference, against, shown };
      }
      headings(workload);
    }

    /** Add columns of ratios, or take them away. */
    function headings(workload) {
      heads.querySelectorAll(".ratio").forEach((head) => head.remove());
      table.classList.toggle("held", state.held !== null);
      if (!state.held) return;
      const titles = state.held.shown.map((i) => [`ratio.${data.exercises[i].name}`, data.exercises[i].title]);
      for (const [key, title] of [["ratio", `Speed, ${workload.title.toLowerCase()}`], ...titles]) {
        const head = element("th", { scope: "col", class: "ratio", "data-key": key });
        sortable(head, title);
        heads.lastElementChild.before(head);
      }
    }

    /** Make a heading sort by its column, numbers from the best, and again the other way. */
    function sortable(head, title) {
      const { key } = head.dataset;
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", () => {
        const least = key in read.texts && key !== "when" && !NUMBERS.includes(key);
        const [first, again] = least ? [key, `-${key}`] : [`-${key}`, key];
        const next = state.wanted.sort === first ? again : first;
        say({ sort: next === USUAL ? null : next });
      });
      head.replaceChildren(button);
    }

    /** Tell by which column the rows are sorted. */
    function tellSort({ sort }) {
      for (const head of heads.cells) {
        const { key } = head.dataset;
        if (key === sort.replace("-", "")) head.setAttribute("aria-sort", sort === key ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      }
    }

    /** A row with what only a script can give it, and what its controls do. */
    function dressed(i) {
      const node = read.nodes[i];
      if (node.cells[0].firstChild) return node;
      node.className = read.newest[i] ? "" : "old shown";
      const [box, dot] = cells.controls(node, `${read.texts.machine[i]}, ${read.texts.when[i]}`);
      box.addEventListener("change", () => state.wanted.pick(i, box.checked));
      dot.addEventListener("change", () => say({ reference: read.ids[i] }));
      const earlier = read.history(i).length;
      if (earlier) cells.unfolder(node, earlier).addEventListener("click", ({ target }) => {
        if (!state.open.delete(i)) state.open.add(i);
        target.setAttribute("aria-expanded", String(state.open.has(i)));
        draw(state.wanted);
      });
      return node;
    }

    /** A row's ratios: the overall one and those by exercise. */
    function means(i) {
      const { against, shown } = state.held;
      return [against.mean(i, state.wanted.workload.name), ...shown.map((one) => against.single(i, one))];
    }

    /** Put as many of the rows that are asked for into the table as are to be seen. */
    function draw(wanted) {
      const order = sorted(chosen(wanted), wanted);
      const open = (i) => !wanted.flags.all && (state.limit === Infinity || state.open.has(i));
      const visible = order.slice(0, state.limit).flatMap((i) => [i, ...open(i) ? read.history(i) : []]);
      const focused = document.activeElement;
      table.tBodies[0].replaceChildren(...visible.map((i) => {
        const node = dressed(i);
        cells.against(node, heads, state.held, i, means);
        const [box, dot] = cells.inputs(node);
        box.checked = wanted.picked.includes(i);
        dot.checked = wanted.reference === i;
        return node;
      }));
      if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
      tell(order.length, Math.min(order.length, state.limit), wanted);
    }

    /** Say how many rows there are, and against what they are held. */
    function tell(count, seen, { flags, reference }) {
      const runs = units.counted(count, flags.all ? "run" : "machine");
      const text = count === 0 ? "No run is like that." : `${runs}${seen < count ? `, the first ${seen} of them shown` : ""}.`;
      if (get("status").textContent !== text) get("status").textContent = text;
      get("more").hidden = seen === count;
      get("against").hidden = reference === null;
      if (reference !== null) get("against-text").textContent =
        `Compared with ${read.texts.machine[reference]}, ${read.texts.when[reference]}; intervals are approximate.`;
    }

    /** Draw what is asked for; other wishes begin with the first rows again. */
    function update(wanted, typed, isNew) {
      if (isNew) state.limit = CHUNK;
      state.wanted = wanted;
      show(wanted, typed);
      hold(wanted);
      tellSort(wanted);
      draw(wanted);
    }

    /** Show all rows, as on paper, or only as many as before. */
    function every(all) {
      state.limit = all ? Infinity : CHUNK;
      draw(state.wanted);
    }

    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.elements.q.addEventListener("input", ({ target }) => say({ q: target.value.trim() }, true));
    for (const key of CHOICES) controls.elements[key].addEventListener("change", ({ target }) => say({ [key]: target.value }));
    for (const key of FLAGS) {
      controls.elements[key].addEventListener("change", ({ target }) => say({ [key]: target.checked ? "1" : null }));
    }
    get("clear-reference").addEventListener("click", () => say({ reference: null }));
    get("more").addEventListener("click", () => {
      state.limit += CHUNK;
      draw(state.wanted);
    });
    [...heads.cells].slice(1).forEach((head) => sortable(head, head.textContent));
    return { asked, update, every };
  }

  return { of };
})();
