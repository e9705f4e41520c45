"use strict";
// The interactive figure of gains. Without JavaScript the picture below it is seen instead.
for (const figure of document.querySelectorAll(".gain")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const state = { stream: 0, noise: data.noise, level: -1, scale: 0, round: Infinity };
  const hidden = new Set(); // labels of lines
  let panels = []; // what moves with the round: where it is, its cursor and dots
  let cells = []; // of the table, each with what it shows

  function set(it, attributes) {
    for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, value);
    return it;
  }
  function make(tag, attributes = {}, ...children) {
    const space = /^(svg|path|line|text|circle)$/.test(tag) ? "2000/svg" : "1999/xhtml";
    const it = document.createElementNS(`http://www.w3.org/${space}`, tag);
    it.append(...children);
    return set(it, attributes);
  }
  const stream = () => data.streams[state.stream];
  const minus = (text) => text.replace(/^-(?=[0.]*%?$)/, "").replace("-", "−");
  const values = (steps) => ((sum) => steps.map((it) => (sum += it) * data.unit))(0);
  function number(value) {
    if (state.scale === 2) return minus(`${(100 * value).toFixed(1)}%`);
    return minus(value.toFixed(Math.max(0, Math.round(-Math.log10(data.unit)))));
  }

  // Gains as the scale has them: less chance, and over what is possible.
  function scaled(gains, isWidth) {
    const [chance, foresight] = ["chance", "foresight"].map((it) => values(stream().bounds[it]));
    return gains.map((gain, at) => (gain - (state.scale && !isWidth ? chance[at] : 0))
      / (state.scale === 2 ? Math.max(foresight[at] - chance[at], data.unit) : 1));
  }
  // Mean and half width of a line in every round, or the range of several; empty: not played.
  function curve(line, level) {
    if (line.bound) return { mean: scaled(values(stream().bounds[line.label])) };
    const found = stream().curves[`${line.label}, ${line.noises[state.noise]}, ${level}`];
    if (!found) return {};
    if (line.range) return { range: found.map((it) => scaled(values(it))) };
    return { mean: scaled(values(found[0])), half: found[1] && scaled(values(found[1]), true), exact: found[1] === 0 };
  }
  const band = ({ mean, half, range }) =>
    range ?? [-1, 1].map((sign) => mean.map((it, at) => it + sign * (half?.[at] ?? 0)));

  function look(line) {
    if (line.range) return `--line: ${line.colour}; fill-opacity: 0.3`;
    const dashes = line.dashes.map((it) => it * line.width * 1.33).join(" ") || "none";
    return `--line: ${line.colour}; stroke-width: ${line.width * 1.33}; stroke-dasharray: ${dashes}`;
  }
  function ticks(low, high) { // at most seven round numbers
    const power = 10 ** Math.floor(Math.log10((high - low) / 6));
    const step = [1, 2, 5, 10].map((it) => it * power).find((it) => 6 * it >= high - low);
    const all = Array.from({ length: 13 }, (_, it) => (it - 6) * step);
    return all.filter((it) => it >= low && it <= high).map((it) => Number(it.toPrecision(6)));
  }
  function times() { // new years, or the first and the last round
    const { dates, rounds } = stream();
    const year = (at) => dates[at]?.slice(0, 4);
    const years = [...rounds.keys()].filter((at) => at && year(at) !== year(at - 1));
    if (years.length > 1) return years.map((at) => [at, year(at), "middle"]);
    return [[0, "start"], [rounds.length - 1, "end"]].map(([at, side]) => [at, dates[at] ?? `${rounds[at]}`, side]);
  }

  function drawPanel(level, lines, [low, high], [width, height], margin) {
    const [left, right, top, bottom] = [margin + 8, width - 8, 24, height - 22];
    const { rounds } = stream();
    const x = (at) => left + ((rounds[at] - rounds[0]) / (rounds.at(-1) - rounds[0] || 1)) * (right - left);
    const y = (value) => bottom - ((Math.min(Math.max(value, low), high) - low) / (high - low)) * (bottom - top);
    const points = (list) => list.map((it, at) => `${x(at).toFixed(1)} ${y(it).toFixed(1)}`);
    const svg = make("svg", { width, height, "aria-hidden": "true" });
    svg.append(make("text", { x: (left + right) / 2, y: 14, class: "level" }, data.levels[level]));
    for (const tick of ticks(low, high)) {
      svg.append(make("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: tick ? "grid" : "axis" }));
      const text = state.scale === 2 ? `${Math.round(100 * tick)}%` : `${tick}`;
      if (margin) svg.append(make("text", { x: left - 5, y: y(tick) + 4, class: "y" }, minus(text)));
    }
    for (const [at, text, side] of times()) {
      svg.append(make("line", { x1: x(at), x2: x(at), y1: bottom, y2: bottom + 4, class: "axis" }));
      svg.append(make("text", { x: x(at), y: bottom + 17, style: `text-anchor: ${side}` }, text));
    }
    for (const it of lines.filter((it) => it.range || it.half)) {
      const [under, over] = band(it).map(points);
      const style = it.range ? look(it.line) : `--line: ${it.line.colour}`;
      svg.append(make("path", { d: `M${under.join("L")}L${over.reverse().join("L")}Z`, class: "band", style }));
    }
    const cursor = make("line", { y1: top, y2: bottom, class: "cursor" });
    const dots = [];
    for (const { line, mean } of lines.filter((it) => it.mean)) {
      svg.append(make("path", { d: `M${points(mean).join("L")}`, class: "line", style: look(line), "data-line": line.label }));
      dots.push([make("circle", { r: 2.6, class: "dot", style: `--line: ${line.colour}` }), mean]);
    }
    svg.append(cursor, ...dots.map(([dot]) => dot));
    plot.append(svg);
    panels.push({ svg, x, y, cursor, dots });
  }

  // A row for each line, a column for each panel: legend, switches and numbers in one.
  function drawTable(levels, rows) {
    cells = [];
    const heads = levels.map((it) => make("th", { scope: "col" }, data.levels[it]));
    const body = rows.map(({ line, found }) => {
      const box = make("input", { type: "checkbox" });
      box.checked = !hidden.has(line.label);
      box.addEventListener("change", () => {
        hidden[box.checked ? "delete" : "add"](line.label);
        draw();
        table.querySelector(`[data-row="${CSS.escape(line.label)}"] input`).focus();
      });
      const shape = line.range ? { d: "M0 1H30V11H0Z", class: "band" } : { d: "M0 6H30", class: "line" };
      const sample = make("svg", { width: 30, height: 12, "aria-hidden": "true" });
      sample.append(make("path", { ...shape, style: look(line) }));
      const label = make("label", {}, box, sample, line.names[state.noise]);
      const row = make("tr", { "data-row": line.label }, make("th", { scope: "row" }, label));
      for (const one of found) {
        row.append(make("td"));
        if (box.checked) cells.push({ cell: row.lastChild, ...one });
      }
      return row;
    });
    heads.unshift(make("th", { scope: "col", class: "when" }));
    table.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
  }

  function draw() {
    const levels = [...data.levels.keys()].filter((it) => [-1, it].includes(state.level));
    const rows = data.lines.map((line) => ({ line, found: levels.map((it) => curve(line, it)) }));
    const seen = rows.filter((it) => !hidden.has(it.line.label));
    // Shares of the first gains may be any number: they do not set the scale.
    const late = Math.floor(stream().rounds.length / 8);
    const played = seen.flatMap((it) => it.found).filter((it) => it.mean || it.range);
    const all = played.flatMap((it) => band(it).flatMap((list) => list.slice(late)));
    const limits = [Math.min(0, ...all), Math.max(data.unit, ...all)];
    const columns = Math.max(1, Math.min(levels.length, Math.floor(plot.clientWidth / 165)));
    const [width, height] = [Math.floor((plot.clientWidth - 30) / columns), levels.length > columns ? 190 : 270];
    panels = [];
    plot.replaceChildren();
    levels.forEach((level, place) => {
      const lines = seen.map(({ line, found }) => ({ line, ...found[place] }));
      const margin = place % columns ? 0 : 30;
      drawPanel(level, lines, limits, [width + margin, height], margin);
    });
    drawTable(levels, rows);
    move(state.round);
  }

  function move(wanted) {
    const { rounds, dates } = stream();
    const at = (state.round = Math.min(Math.max(wanted, 0), rounds.length - 1));
    const when = `round ${rounds[at]}${dates[at] ? `, ${dates[at]}` : ""}`;
    for (const { x, y, cursor, dots } of panels) {
      set(cursor, { x1: x(at), x2: x(at) });
      for (const [dot, mean] of dots) set(dot, { cx: x(at), cy: y(mean[at]) });
    }
    for (const { cell, mean, half, exact, range } of cells) {
      const [low, high] = range?.map((it) => number(it[at])) ?? [];
      const more = half ? ` ± ${number(half[at])}` : exact ? " exact" : range ? ` to ${high}` : "";
      cell.replaceChildren(mean ? number(mean[at]) : low ?? "—", make("span", {}, more));
    }
    table.querySelector(".when").textContent = `Up to ${when}`;
    set(plot, { "aria-valuemin": rounds[0], "aria-valuemax": rounds.at(-1) });
    set(plot, { "aria-valuenow": rounds[at], "aria-valuetext": when });
  }
  function point(event) {
    const panel = panels.find((it) => it.svg.contains(event.target));
    const place = event.clientX - panel?.svg.getBoundingClientRect().left;
    const away = stream().rounds.map((_, at) => Math.abs(panel?.x(at) - place));
    if (panel) move(away.indexOf(Math.min(...away)));
  }

  function chooser(name, texts, key, start = 0) {
    const select = make("select", {}, ...texts.map((it, place) => make("option", { value: place + start }, it)));
    select.value = state[key];
    select.addEventListener("change", () => draw((state[key] = Number(select.value))));
    return make("label", {}, `${name} `, select);
  }
  const plot = make("div", { class: "plot", role: "slider", tabindex: 0, "aria-label": "Up to which round" });
  const table = make("table", { class: "readout" });
  figure.append(make("p", { class: "controls" },
    chooser("Stream", data.streams.map((it) => it.title), "stream"),
    chooser("Noise", data.noises, "noise"),
    chooser("Privacy", ["all levels", ...data.levels], "level", -1),
    chooser("Show", ["total gain", "gain above chance", "share of the possible gain"], "scale")), plot, make("div", { class: "scroll" }, table));
  for (const kind of ["pointermove", "pointerdown"]) plot.addEventListener(kind, point);
  const keys = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9 };
  plot.addEventListener("keydown", (event) => {
    if (event.key in keys) event.preventDefault();
    move(state.round + (keys[event.key] ?? 0));
  });
  figure.hidden = false;
  figure.parentElement.querySelector(".still").open = false;
  let width = 0;
  new ResizeObserver(() => {
    if (width !== plot.clientWidth) draw((width = plot.clientWidth));
  }).observe(plot);
}
