"use strict";
{
  const data = JSON.parse(document.getElementById("replay-data").textContent);
  const root = document.getElementById("replay-widget");
  const find = (selector) => root.querySelector(selector);
  const [slider, said, score, list] = ["input", ".said", ".score", "ol"].map(find);
  const control = (name) => find(`[data-control=${name}]`);
  const { words, shown, truth, algorithms, settings } = data;
  const unseen = new Map(); // gains of chosen experts that have no row
  for (let at = 0; at < data.unseen.length; at += 3) {
    unseen.set(`${data.unseen[at]} ${data.unseen[at + 1]}`, data.unseen[at + 2]);
  }
  const last = data.rounds.length - 1;
  const PAST = 4; // earlier weeks that are seen before a choice
  // `picks`: the choices of the reader, from round `from` on; the first of them says which.
  const state = { t: 0, setting: settings[0], algorithm: 0, mode: "watch", from: 0, picks: [] };
  let timer = null;

  const gain = (t, i) => (i < shown ? truth[t * shown + i] : unseen.get(`${t} ${i}`));
  const signed = (text) => text.replace(/^-/, "−").replace(/^−0$/, "0");
  const number = (value) => signed(words.capacity
    ? ((100 * value) / data.one).toFixed(0) : String(+(value / data.one).toPrecision(2)));
  const actions = () => state.setting.actions[state.algorithm];
  const named = () => algorithms[state.algorithm][0];
  const upper = (text) => text[0].toUpperCase() + text.slice(1);
  const frontier = () => (state.picks.length ? Math.min(state.from + state.picks.length, last) : last);
  const open = (t) => state.mode === "watch" || (state.mode === "open" && picked(t) !== undefined);
  const picked = (t) => state.picks[t - state.from];
  const where = (value) => {
    const [low, high] = state.setting.edges;
    return (98 * (value - low)) / (high - low) + 1;
  };

  function draw(svg, kind, attributes, text = "") {
    const it = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, value);
    it.textContent = text;
    svg.append(it);
  }

  function write(parent, kind, name, text) {
    const it = document.createElement(kind);
    it.className = name;
    it.textContent = text;
    parent.append(it);
    return it;
  }

  // A noisy gain, with the whisker of its noise if it is wanted.
  function dot(svg, t, i, faded, whisker) {
    const value = (state.setting.noisy ?? truth)[t * shown + i];
    if (whisker && state.setting.noisy) {
      const halves = data.halves[state.setting.half];
      const half = state.setting.factor * (halves.length > last + 1 ? halves[t * shown + i] : halves[t]);
      const [x1, x2] = [where(value - half), where(value + half)];
      draw(svg, "line", { x1: `${x1}%`, x2: `${x2}%`, y1: "50%", y2: "50%", class: "whisker" });
    }
    const x = Math.max(1, Math.min(99, where(value)));
    const off = x === where(value) ? "" : "off";
    draw(svg, "circle", { cx: `${x}%`, cy: "50%", r: 3.5 - faded / 2, class: off, opacity: 1 - faded / 5 });
  }

  // A line for an expert: its name, which is a button before a choice, its gains, its marks.
  function line(i) {
    const [t, mine] = [state.t, picked(state.t)];
    const [seen, waits] = [open(t), state.mode !== "watch" && mine === undefined];
    const it = write(list, "li", "line", "");
    const who = write(it, waits && i < shown ? "button" : "span", "who", data.names[i]);
    who.title = data.names[i];
    if (who.type) who.type = "button";
    who.addEventListener("click", () => waits && choose(i));
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("aria-hidden", "true");
    it.append(svg);
    const marks = [];
    if (mine === i) marks.push(["you", "you"]);
    if (seen && actions()[t] === i) marks.push(["algorithm", named()]);
    if (seen && data.best[t] === i) marks.push(["best", "best"]);
    if (seen) {
      const kind = `truth ${actions()[t] === i ? "chosen" : ""} ${data.best[t] === i ? "best" : ""}`;
      const width = `${where(gain(t, i)) - where(0)}%`;
      draw(svg, "rect", { x: `${where(0)}%`, width, y: "18%", height: "64%", class: kind });
      if (i < shown && state.setting.noisy) dot(svg, t, i, 0, true);
    } else if (i < shown) {
      for (let s = Math.max(0, t - PAST); s < t; s++) dot(svg, s, i, t - 1 - s, s === t - 1);
    }
    draw(svg, "line", { x1: `${where(0)}%`, x2: `${where(0)}%`, y1: 0, y2: "100%", class: "zero" });
    write(it, "span", "value", seen ? number(gain(t, i)) : "");
    const tags = write(it, "span", "tags", "");
    for (const [kind, text] of marks) write(tags, "span", kind, `${tags.childElementCount ? ", " : ""}${text}`);
  }

  function axis() {
    const svg = find(".axis svg");
    svg.replaceChildren();
    const unit = words.capacity ? data.one / 100 : data.one;
    const [low, high] = state.setting.edges.map((it) => it / unit);
    const power = 10 ** Math.floor(Math.log10((high - low) / 4));
    const step = power * [1, 2, 5, 10].find((it) => it * power >= (high - low) / 6);
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      const value = k * step * unit;
      draw(svg, "text", { x: `${where(value)}%`, y: "80%", "text-anchor": "middle" }, number(value));
    }
  }

  // What was chosen in a round, in words.
  function tell() {
    const { t } = state;
    const mine = picked(t);
    const when = data.rounds[t] ? `${upper(words.period)} of ${data.rounds[t]}` : `Round ${t + 1}`;
    const gained = open(t) && mine !== undefined ? ` (${number(gain(t, mine))})` : "";
    const you = mine === undefined ? "" : ` You chose ${data.names[mine]}${gained}.`;
    if (!open(t)) {
      const kind = state.setting.noisy ? "with noise" : "without noise";
      const see = t ? `Large dot: last ${words.period}, ${kind}. Small dots: before.` : "Nothing is known yet.";
      return `${when}.${you || ` Which ${words.entity} will be best? Click its name. ${see}`}`;
    }
    const [own, best] = [actions()[t], data.best[t]];
    const of = (i, unit) => `${data.names[i]} (${words.capacity ? "" : "gain "}${number(gain(t, i))}${unit})`;
    const start = `${when}.${you} ${named()} chose `
      + of(own, words.capacity && ` of 100 ${words.capacity}`);
    const lost = (i) => {
      const loss = gain(t, best) - gain(t, i);
      return loss && number(loss) === "0" ? "less than 1" : number(loss);
    };
    if (own === best && !you) return `${start}: there was no better choice.`;
    const losses = you ? `you ${lost(mine)}, ${named()} ${lost(own)}` : lost(own);
    const per = words.capacity ? ` per 100 ${words.capacity}` : "";
    return `${start}. The best was ${of(best, "")}. Lost: ${losses}${per}.`;
  }

  // Totals up to the round: what was gained, as a share of what foresight has above chance.
  function total() {
    const [game, number] = [picked(state.t) !== undefined, state.picks.length];
    if (state.mode === "blind" && number) return `Choices so far: ${number}. The truth comes when you watch.`;
    if (!open(state.t)) return "";
    const from = game ? state.from : 0;
    const rounds = [...Array(state.t + 1 - from).keys()].map((it) => it + from);
    const sum = (value) => rounds.reduce((whole, t) => whole + value(t), 0) / data.one;
    const chance = sum((t) => data.chance[t]);
    const possible = sum((t) => gain(t, data.best[t])) - chance;
    const part = (name, value) => `${name} ${value.toFixed(2)} (${
      signed(String(possible > 0 ? Math.round((100 * (value - chance)) / possible) : 0))}%)`;
    const all = [part(named(), sum((t) => gain(t, actions()[t])))];
    if (game) all.unshift(part("you", sum((t) => gain(t, picked(t)))));
    return `Gain of ${rounds.length} ${words.period}${rounds.length > 1 ? "s" : ""} (share of the possible gain so far): `
      + `${all.join(", ")}, chance ${chance.toFixed(2)} (0%), foresight ${(chance + possible).toFixed(2)} (100%).`;
  }

  function show() {
    const playing = state.mode !== "watch";
    slider.min = playing && state.picks.length ? state.from : 0;
    slider.max = playing ? frontier() : last;
    slider.value = state.t;
    slider.setAttribute("aria-valuetext", data.rounds[state.t] || `round ${state.t + 1}`);
    find("[data-go='-1']").disabled = state.t <= +slider.min;
    find("[data-go='1']").disabled = state.t >= +slider.max;
    find("[data-play]").disabled = playing;
    root.style.setProperty("--own", algorithms[state.algorithm][2]);
    said.setAttribute("aria-live", timer ? "off" : "polite");
    said.textContent = tell();
    score.textContent = total();
    list.replaceChildren();
    const seen = open(state.t) ? [actions()[state.t], data.best[state.t]] : [];
    const rows = new Set([...Array(shown).keys(), ...seen]);
    rows.forEach(line);
    axis();
  }

  function go(t) {
    state.t = Math.max(+slider.min, Math.min(+slider.max, t));
    show();
  }

  function choose(i) {
    if (!state.picks.length) state.from = state.t;
    state.picks.push(i);
    slider.max = frontier();
    if (state.mode === "blind") go(state.t + 1);
    else show();
    const next = find("[data-go='1']");
    (next.disabled || state.mode === "blind" ? list.querySelectorAll(".who")[i] : next).focus();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    find("[data-play]").textContent = "Play";
  }

  function options(name, texts) {
    const held = control(name).value;
    control(name).replaceChildren(...texts.map(([value, text]) => new Option(text, value)));
    if (texts.some(([value]) => `${value}` === held)) control(name).value = held;
    control(name).parentElement.hidden = texts.length < 2;
  }

  // Reads the controls; another noise or level would let a pupil see more: the game begins again.
  function read() {
    const [noise, level] = [control("noise").value, control("level").value];
    const found = settings.find((it) => it.noise === noise && it.level === level)
      ?? settings.find((it) => it.noise === noise);
    const mode = control("mode").value;
    if (found !== state.setting || (mode !== "watch" && mode !== state.mode)) state.picks = [];
    // The game is over: its last week tells everybody's score.
    if (mode === "watch" && mode !== state.mode && state.picks.length) {
      state.t = state.from + state.picks.length - 1;
    }
    Object.assign(state, { setting: found, mode });
    control("level").value = found.level;
    const sees = { local: "", central: " (curator sees the truth)", none: " (no privacy)" };
    const played = algorithms.map(([label, model], i) => [i, label + sees[model]]);
    options("algorithm", played.filter(([i]) => found.actions[i]));
    state.algorithm = +control("algorithm").value;
    stop();
    show();
  }

  options("noise", [...new Map(settings.map((it) => [it.noise, it.title]))]);
  options("level", [...new Set(settings.map((it) => it.level))].map((it) => [it, it]));
  const noisy = settings.find((it) => it.noisy) ?? settings[0];
  control("level").value = noisy.level;
  control("noise").value = noisy.noise;
  for (const select of root.querySelectorAll("select")) select.addEventListener("change", read);
  for (const button of root.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => (stop(), go(state.t + +button.dataset.go)));
  }
  find("[data-play]").addEventListener("click", () => {
    if (timer) return void (stop(), show());
    if (state.t === last) state.t = 0;
    timer = setInterval(() => (state.t === last ? (stop(), show()) : go(state.t + 1)), 800);
    find("[data-play]").textContent = "Pause";
  });
  slider.addEventListener("input", () => (stop(), go(+slider.value)));
  root.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target.matches("select, input")) return;
    event.preventDefault();
    stop();
    go(state.t + step);
  });
  root.style.setProperty("--high", `${Math.max(13, Math.min(20, 460 / shown))}px`);
  root.style.setProperty("--name", `${Math.max(...data.names.map((it) => it.length)) + 2}ch`);
  root.hidden = false;
  root.parentElement.querySelector(".still").open = false;
  read();
}
