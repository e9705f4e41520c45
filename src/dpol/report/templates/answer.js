"use strict";
// Draws what each system keeps. A slider chooses the level that the lead and the numbers tell of.
{
  const root = document.getElementById("answer-widget");
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = read("answer-data");
  const leads = read("leads");
  const { levels, panels } = data;
  const find = (selector) => root.querySelector(selector);
  const [slider, output, choice] = ["input", "output", "select"].map(find);
  const [svg, tip] = ["svg", ".tip"].map(find);
  const said = document.querySelectorAll(".lead, .rest");
  // `over`: the name of the line under the pointer.
  const state = { level: data.start, panel: panels[0], over: null };
  const ROOM = 600; // width from which numbers have room beside the lines
  const EDGE = { left: 44, right: 0, top: 12, bottom: 26 };
  const [GAP, LETTER] = [14, 7]; // between names of lines; the width of a letter of theirs

  const percent = (share) => `${(100 * share).toFixed(1).replace("-0.0", "0.0")}%`;
  const nameOf = (line, k) => line.name + (line.points[k]?.[3] ? `: ${line.points[k][3]}` : "");

  function add(parent, name, facts, text) {
    const it = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(facts)) it.setAttribute(key, value);
    if (text !== undefined) it.textContent = text;
    return parent.appendChild(it);
  }

  const stroke = ({ colour, dashes, width }) => ({ stroke: colour, "stroke-width": 1.6 * width, "stroke-dasharray": dashes });

  // The lines of the panel; the best fixed expert is one too.
  function lines() {
    const { lines: own, fixed, share } = state.panel;
    if (share === null) return own;
    const point = [share, 0, percent(share), fixed && `always ${fixed}`];
    return [...own, { name: "best fixed expert", colour: "#56606a", dashes: "1.5 3", width: 1, flat: true, points: levels.map(() => point) }];
  }

  // Places of levels and shares in the drawing, whose shares end at whole tens.
  function scales() {
    const { width, height } = svg.getBoundingClientRect();
    const known = lines().flatMap((it) => it.points).filter(Boolean);
    const low = Math.floor(10 * Math.min(0, ...known.map(([share, half]) => share - (half ?? 0)))) / 10;
    const high = Math.ceil(10 * Math.max(...known.map(([share, half]) => share + (half ?? 0)))) / 10;
    EDGE.right = Math.min(12 + LETTER * Math.max(...lines().map(({ name }) => name.length)), width / 3);
    const wide = width - EDGE.left - EDGE.right;
    const x = (k) => EDGE.left + (wide * (k + 0.5)) / levels.length;
    const y = (share) => EDGE.top + ((height - EDGE.top - EDGE.bottom) * (high - share)) / (high - low || 1);
    return { x, y, low, high, width, height };
  }

  function draw() {
    svg.replaceChildren();
    const { x, y, low, high, width, height } = scales();
    const told = lines().map((it) => [nameOf(it, state.level), it.points[state.level]?.[2] ?? "—"].join(" ")).join("; ");
    svg.setAttribute("aria-label", `Share of the possible gain at each privacy level. ${levels[state.level].title}: ${told}`);
    for (let tenth = Math.round(10 * low); tenth <= Math.round(10 * high); tenth++) {
      const at = y(tenth / 10);
      add(svg, "line", { x1: EDGE.left, x2: width - EDGE.right, y1: at, y2: at, class: "grid" });
      add(svg, "text", { x: EDGE.left - 6, y: at + 4, "text-anchor": "end" }, `${10 * tenth}%`);
    }
    add(svg, "line", { x1: x(state.level), x2: x(state.level), y1: EDGE.top, y2: height - EDGE.bottom, class: "level" });
    levels.forEach(({ title, guesses }, k) => {
      const tick = title.includes("∞") ? "none" : `${guesses}%`;
      add(svg, "text", { x: x(k), y: height - EDGE.bottom + 18, "text-anchor": "middle" }, tick);
    });
    const beside = (point) => places(lines().map((it) => y(point(it)?.[0] ?? 0)), height - EDGE.bottom);
    const ends = beside((it) => it.points.findLast(Boolean));
    for (const [i, line] of lines().entries()) {
      const known = line.points.map((point, k) => point && [k, ...point]).filter(Boolean);
      if (!known.length) continue;
      const group = add(svg, "g", { class: state.over && state.over !== line.name ? "dim" : "" });
      const [[end, share], edge] = [known.at(-1), width - EDGE.right];
      add(group, "line", { x1: x(end) + 4, y1: y(share), x2: edge, y2: ends[i], stroke: line.colour, "stroke-width": 0.5 });
      const most = Math.floor(EDGE.right / LETTER);
      const whole = line.name.replace(/^(the|a) /, "");
      const name = whole.length < most ? whole : whole.split(",")[0];
      add(group, "text", { x: edge + 4, y: ends[i] + 4, style: `fill: ${line.colour}` }, name.length > most ? `${name.slice(0, most - 1)}…` : name);
      add(group, "polyline", { ...stroke(line), points: known.map(([k, share]) => `${x(k)},${y(share)}`).join(" ") });
      for (const [k, share, half] of known) {
        if (half) add(group, "line", { stroke: line.colour, x1: x(k), x2: x(k), y1: y(share - half), y2: y(share + half) });
        if (!line.flat) add(group, "circle", { cx: x(k), cy: y(share), r: 3, fill: line.colour });
      }
    }
    if (width < ROOM) return;
    // Numbers stand beside the level, over all lines; of the last level to its left.
    const [side, anchor] = state.level < levels.length - 1 ? [14, "start"] : [-14, "end"];
    const numbers = beside((it) => it.points[state.level]);
    for (const [i, { colour, points }] of lines().entries()) {
      const it = { x: x(state.level) + side, y: numbers[i] + 4, "text-anchor": anchor, class: "number", style: `fill: ${colour}` };
      if (points[state.level]) add(svg, "text", it, points[state.level][2]);
    }
  }

  // Places of names as near as possible to the ends of their lines, none over another.
  function places(wanted, lowest) {
    const order = wanted.map((_, i) => i).sort((one, two) => wanted[one] - wanted[two]);
    const found = [...wanted];
    order.forEach((i, k) => { if (k) found[i] = Math.max(found[i], found[order[k - 1]] + GAP); });
    order.reverse().forEach((i, k) => { found[i] = Math.min(found[i], k ? found[order[k - 1]] - GAP : lowest); });
    return found;
  }

  function light(name) {
    if (state.over === name) return;
    state.over = name;
    draw();
  }

  // The address keeps what was chosen, such as #answer?mu=0.5&stream=Ohio.
  function write() {
    const { level, panel } = state;
    const chosen = { mu: levels[level].mu, ...(panels.length > 1 && { stream: panel.title }) };
    history.replaceState(null, "", `#answer?${new URLSearchParams(chosen)}`);
  }

  function follow() {
    if (!location.hash.startsWith("#answer?")) return;
    const asked = new URLSearchParams(location.hash.slice(8));
    const level = levels.findIndex(({ mu }) => mu === asked.get("mu"));
    if (level >= 0) state.level = level;
    state.panel = panels.find(({ title }) => title === asked.get("stream")) ?? state.panel;
    show();
    root.closest("section").scrollIntoView();
  }

  function show() {
    const level = levels[state.level];
    slider.value = state.level;
    choice.value = panels.indexOf(state.panel);
    output.textContent = level.title;
    slider.setAttribute("aria-valuetext", output.textContent);
    leads[state.level]?.forEach((text, k) => { said[k].textContent = text; });
    draw();
  }

  // The level and the line that are nearest to the pointer.
  function near(event) {
    const { x, y } = scales();
    const box = svg.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const nearest = (all, far) => all.reduce((one, two) => (far(two) < far(one) ? two : one));
    const k = nearest(levels.map((_, i) => i), (i) => Math.abs(x(i) - left));
    const line = nearest(lines(), (it) => (it.points[k] ? Math.abs(y(it.points[k][0]) - top) : Infinity));
    return { k, line, left: x(k), top: line.points[k] ? y(line.points[k][0]) : top };
  }

  svg.addEventListener("pointermove", (event) => {
    const { k, line, left, top } = near(event);
    light(line.name);
    tip.hidden = !line.points[k];
    if (tip.hidden) return;
    tip.textContent = `${nameOf(line, k)}, ${levels[k].title}: ${line.points[k][2]}`;
    tip.style.top = `${top + 10}px`;
    const right = left > svg.clientWidth / 2;
    tip.style.left = right ? "auto" : `${left + 10}px`;
    tip.style.right = right ? `${svg.clientWidth - left + 10}px` : "auto";
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; light(null); });
  const change = (changes) => { Object.assign(state, changes); write(); show(); };
  svg.addEventListener("click", (event) => change({ level: near(event).k }));
  slider.addEventListener("input", () => change({ level: +slider.value }));
  choice.addEventListener("change", () => change({ panel: panels[choice.value] }));

  slider.max = levels.length - 1;
  slider.parentElement.hidden = levels.length < 2;
  choice.replaceChildren(...panels.map(({ title }, k) => new Option(title, k)));
  choice.parentElement.hidden = panels.length < 2;
  if (panels.length) {
    const figure = root.parentElement.querySelector("figure");
    figure?.classList.add("asked");
    figure?.prepend(root);
    root.hidden = false;
    new ResizeObserver(draw).observe(svg);
    show();
    addEventListener("hashchange", follow);
    follow();
  }
}
