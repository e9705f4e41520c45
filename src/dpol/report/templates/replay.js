"use strict";
{
  const data = JSON.parse(document.getElementById("replay-data").textContent);
  const root = document.getElementById("replay-widget");
  const find = (selector) => root.querySelector(selector);
  const [slider, said, score, sheet, list] = ["input", ".said", ".score", ".sheet", "ol"].map(find);
  const control = (name) => find(`[data-control=${name}]`);
  const { words, shown, algorithms, settings } = data;
  const [truth, uniform] = [data.truth, data.uniform].map((all) => all.map((it) => it / data.fine));
  const unseen = new Map(); // gains of chosen experts without a row
  for (let at = 0; at < data.unseen.length; at += 3) {
    unseen.set(`${data.unseen[at]} ${data.unseen[at + 1]}`, data.unseen[at + 2] / data.fine);
  }
  const last = data.rounds.length - 1;
  const PAST = 4; // earlier rounds shown before a choice
  const LENGTH = Math.min(10, last + 1); // of a game
  // `truth`: when it is shown, at the `end` of a game or after `each` choice. `refused`: why a link starts no game.
  // `game`: its first round, its length, and the choices so far.
  const state = {
    t: 0, setting: settings[data.start[0]], algorithm: data.start[1],
    truth: "end", game: null, timer: null, refused: "",
  };

  const gain = (t, i) => (i < shown ? truth[t * shown + i] : unseen.get(`${t} ${i}`));
  const signed = (text) => text.replace(/^-/, "−").replace(/^−0$/, "0");
  const number = (value) => signed(words.capacity
    ? ((100 * value) / data.one).toFixed(0) : String(+(value / data.one).toPrecision(2)));
  // Names that begin with the same four words or more as another one, cut after the first word.
  const words_of = data.names.map((name) => name.split(/\s*[–—-]\s*|\s+/));
  const brief = words_of.map((own, i) => {
    const alike = Math.max(0, ...words_of.map((other, k) => {
      const differs = own.findIndex((word, at) => word !== other[at]);
      return k === i || differs < 0 ? 0 : differs;
    }));
    return alike < 4 ? data.names[i] : [own[0], "…", ...own.slice(Math.min(alike, own.length - 1))].join(" ");
  });
  const actions = () => state.setting.actions[state.algorithm];
  const named = () => algorithms[state.algorithm][0];
  const upper = (text) => text[0].toUpperCase() + text.slice(1);
  const over = () => !!state.game && state.game.picks.length === state.game.weeks;
  const playing = () => !!state.game && !over();
  const picked = (t) => state.game?.picks[t - state.game.from];
  const open = (t) => !playing() || (state.truth === "each" && picked(t) !== undefined);
  const called = (t) => data.rounds[t] || String(t + 1);
  const counted = (n) => `${n} ${words.period}${n === 1 ? "" : "s"}`;
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

  // Draws a noisy gain, with the whisker of its noise if wanted.
  function dot(svg, t, i, faded, whisker) {
    const value = (state.setting.noisy ?? truth)[t * shown + i];
    const { halves } = state.setting;
    if (whisker && halves) {
      const half = halves.length > last + 1 ? halves[t * shown + i] : halves[t];
      const [x1, x2] = [where(value - half), where(value + half)];
      draw(svg, "line", { x1: `${x1}%`, x2: `${x2}%`, y1: "50%", y2: "50%", class: "whisker" });
    }
    const x = Math.max(1, Math.min(99, where(value)));
    const off = x === where(value) ? "" : "off";
    draw(svg, "circle", { cx: `${x}%`, cy: "50%", r: 3.5 - faded / 2, class: off, opacity: 1 - faded / 5 });
  }

  // Writes the line of an expert: its name (a button before a choice), its gains, its marks.
  function line(i) {
    const [t, mine] = [state.t, picked(state.t)];
    const [seen, waits] = [open(t), playing() && mine === undefined];
    const it = write(list, "li", "line", "");
    const who = write(it, waits && i < shown ? "button" : "span", "who", brief[i]);
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

  // Tells the choices of a round.
  function tell() {
    const { t } = state;
    const mine = picked(t);
    const when = data.rounds[t] ? `${upper(words.period)} of ${data.rounds[t]}` : `Round ${t + 1}`;
    const gained = open(t) && mine !== undefined ? ` (${number(gain(t, mine))})` : "";
    const you = mine === undefined ? "" : ` You chose ${data.names[mine]}${gained}.`;
    if (!open(t)) {
      const kind = state.setting.noisy ? "with noise" : "without noise";
      const see = t ? `Large dot: last ${words.period}, ${kind}. Small dots: earlier.` : "Nothing is known yet.";
      const place = `${upper(words.period)} ${t - state.game.from + 1} of ${state.game.weeks}: ${called(t)}.`;
      return `${place}${you || ` Which ${words.entity} will be best? Click its name. ${see}`}`;
    }
    const [own, best] = [actions()[t], data.best[t]];
    const of = (i, unit) => `${data.names[i]} (${words.capacity ? "" : "gain "}${number(gain(t, i))}${unit})`;
    const start = `${when}.${you} ${named()} chose `
      + of(own, words.capacity && ` of 100 ${words.capacity}`);
    const lost = (i) => {
      const loss = gain(t, best) - gain(t, i);
      return loss && number(loss) === "0" ? "less than 1" : number(loss);
    };
    if (own === best && !you) return `${start}, the best choice.`;
    const losses = you ? `you ${lost(mine)}, ${named()} ${lost(own)}` : lost(own);
    const per = words.capacity ? ` per 100 ${words.capacity}` : "";
    return `${start}. The best was ${of(best, "")}. Lost: ${losses}${per}.`;
  }

  const span = (from, to) => [...Array(to - from).keys()].map((it) => it + from);
  const amount = (value, digits) => signed(words.capacity
    ? ((100 * value) / data.one).toFixed(digits) : String(+(value / data.one).toPrecision(3)));

  // The gains of all in some rounds, with shares: 0 for uniform random, 100% for the oracle.
  function gains(rounds) {
    const sum = (value) => rounds.reduce((whole, t) => whole + value(t), 0);
    const [chance, best] = [sum((t) => uniform[t]), sum((t) => gain(t, data.best[t]))];
    const all = [["algorithm", named(), sum((t) => gain(t, actions()[t]))], ["uniform", "at random", chance], ["best", "best", best]];
    if (picked(rounds[0]) !== undefined) all.unshift(["you", "you", sum((t) => gain(t, picked(t)))]);
    return all.map(([kind, name, value]) => {
      const share = best > chance ? Math.round((100 * (value - chance)) / (best - chance)) : 0;
      return { kind, name, amount: amount(value, 0), exact: amount(value, 1), share: `${signed(String(share))}%` };
    });
  }

  // Tells the totals up to the round.
  function total() {
    const { game, t } = state;
    if (playing() && !game.picks.length) return `To start with another ${words.period}, choose it above.`;
    if (playing() && state.truth === "end") return `Choices so far: ${game.picks.length} of ${game.weeks}. The truth is shown at the end.`;
    if (!open(t)) return "";
    const rounds = span(picked(t) === undefined ? 0 : game.from, t + 1);
    const parts = gains(rounds).map((it) => `${it.name} ${it.amount} (${it.share})`);
    const [what, unit] = words.capacity ? [upper(words.count), `, per 100 ${words.capacity}`] : ["Gain", ""];
    return `${what} in ${counted(rounds.length)}${unit} (share of the possible gain): ${parts.join(", ")}.`;
  }

  // Writes the result of a game and the score sheet, which can also be printed empty.
  function tabulate() {
    const { game } = state;
    sheet.hidden = !over();
    sheet.replaceChildren();
    if (!game) return;
    const rounds = span(game.from, game.from + game.weeks);
    const [result, table] = [write(sheet, "div", "result", ""), write(sheet, "table", "", "")];
    const [caption, head, body, foot] = [table.createCaption(), table.createTHead(), table.createTBody(), table.createTFoot()];
    const titles = [words.period, `your ${words.entity}`, "you", named(), "at random", "best"];
    const row = (parent, cells) => {
      const it = write(parent, "tr", "", "");
      cells.forEach((text, k) => write(it, k && parent !== head ? "td" : "th", "", text));
      if (parent === foot) it.cells[0].colSpan = 2;
      const headed = titles.slice(titles.length - cells.length);
      it.querySelectorAll("td").forEach((cell, k) => { cell.dataset.header = headed[k + 1]; });
    };
    const four = (texts) => (texts.length ? texts : ["", "", "", ""]);
    caption.textContent = `${counted(game.weeks)} from ${called(game.from)}, ${state.setting.level}, ${state.setting.title}`
      + (words.capacity ? `: ${words.count} per 100 ${words.capacity}` : "");
    row(head, titles);
    for (const t of rounds) {
      const mine = picked(t);
      const numbers = mine !== undefined && open(t) ? gains([t]).map((it) => it.exact) : [];
      row(body, [called(t), mine === undefined ? "" : data.names[mine], ...four(numbers)]);
    }
    const all = over() ? gains(rounds) : [];
    row(foot, ["sum", ...four(all.map((it) => it.exact))]);
    row(foot, ["share of the possible gain", ...four(all.map((it) => it.share))]);
    for (const { kind, name, amount, share } of all) {
      const it = write(result, "p", kind, "");
      write(it, "span", "", name);
      write(it, "strong", "", amount);
      write(it, "span", "", `${share} of the possible gain`);
    }
  }

  // The first and the last round that can be shown now.
  function range() {
    if (!playing()) return [0, last];
    const { from, weeks, picks } = state.game;
    return picks.length ? [from, Math.min(from + picks.length, from + weeks - 1)] : [0, last + 1 - weeks];
  }

  const played = (setting) => algorithms.map((_, i) => i).filter((i) => setting.actions[i]);
  // The address of a game, or else of a round.
  function link({ setting, algorithm, truth, t }, game) {
    const { mu, noise } = setting;
    const place = { mu, noise, algorithm: algorithms[algorithm][0], from: called(game ? game.from : t) };
    return `#${game ? "game" : "week"}?${new URLSearchParams({ ...place, ...(game && { weeks: game.weeks, truth }) })}`;
  }

  function show() {
    const { t, setting, game } = state;
    [slider.min, slider.max] = range();
    slider.value = t;
    slider.setAttribute("aria-valuetext", data.rounds[t] || `round ${t + 1}`);
    for (const [name, value] of Object.entries({ round: t, noise: setting.noise, level: setting.level, truth: state.truth })) {
      control(name).value = value;
    }
    const sees = { local: "", central: " (curator sees the truth)", none: " (no privacy)" };
    options("algorithm", played(setting).map((i) => [i, algorithms[i][0] + sees[algorithms[i][1]]]));
    control("algorithm").value = state.algorithm;
    find("[data-go='-1']").disabled = t <= +slider.min;
    find("[data-go='1']").disabled = t >= +slider.max;
    find("[data-do=play]").disabled = playing();
    find("[data-do=play]").textContent = state.timer ? "Pause" : "Play";
    find("[data-do=end]").disabled = !playing();
    for (const it of root.querySelectorAll(".playing")) it.hidden = !game;
    find("a").href = link(state, game);
    find(".bound")?.replaceChildren(setting.bar);
    find(".key .whisker")?.toggleAttribute("hidden", !setting.halves);
    find(".refused").textContent = state.refused;
    root.classList.toggle("game", !!game);
    root.style.setProperty("--own", algorithms[state.algorithm][2]);
    said.setAttribute("aria-live", state.timer ? "off" : "polite");
    said.textContent = tell();
    score.textContent = total();
    tabulate();
    list.replaceChildren();
    const seen = open(t) ? [actions()[t], data.best[t]] : [];
    new Set([...Array(shown).keys(), ...seen]).forEach(line);
    axis();
  }

  function go(t) {
    const [low, high] = range();
    state.t = Math.max(low, Math.min(high, t));
    if (playing() && !state.game.picks.length) state.game.from = state.t;
    show();
    history.replaceState(null, "", link(state, state.game));
  }

  function choose(i) {
    const { game, t } = state;
    game.picks.push(i);
    if (state.truth === "each" || over()) show();
    else go(t + 1);
    (over() ? sheet : state.truth === "each" ? find("[data-go='1']") : list.querySelectorAll(".who")[i]).focus();
  }

  // Asks before a score is lost.
  const agreed = (question) => !state.game?.picks.length
    || confirm(`You will lose your choices of ${counted(state.game.picks.length)}. ${question}`);

  // Another noise or level would reveal more, so the same rounds start again.
  function start({ setting, from, weeks, algorithm = state.algorithm, truth = state.truth }) {
    state.algorithm = setting.actions[algorithm] ? algorithm : played(setting)[0];
    Object.assign(state, { setting, truth, refused: "", game: weeks ? { from, weeks, picks: [] } : null, t: from });
    go(from);
  }

  // Reads a link as `link` writes it: #game?mu=1&noise=isotropic&algorithm=rw-meta&from=2021-10-01&weeks=10&truth=end
  function parse(hash) {
    const [kind, query = ""] = hash.slice(1).split("?");
    const given = new URLSearchParams(query);
    const keys = ["mu", "noise", "algorithm", "from", ...(kind === "game" ? ["weeks", "truth"] : [])];
    const refuse = (text) => { throw new RangeError(text); };
    for (const it of given.keys()) if (!keys.includes(it)) refuse(`${it} is unknown`);
    // The index of the value of a key among all possible values.
    const place = (name, all) => {
      const values = given.getAll(name);
      if (values.length !== 1) refuse(values.length ? `${name} is given more than once` : `${name} is missing`);
      if (all.includes(values[0])) return all.indexOf(values[0]);
      const some = all.length > 6 ? [all[0], all[1], "...", all.at(-1)] : all;
      return refuse(`${name}=${values[0]} is not one of ${some.join(", ")}`);
    };
    const mus = [...new Set(settings.map((it) => it.mu))];
    const level = settings.filter((it) => it.mu === mus[place("mu", mus)]);
    const setting = level[place("noise", level.map((it) => it.noise))];
    const players = played(setting);
    const algorithm = players[place("algorithm", players.map((i) => algorithms[i][0]))];
    const from = place("from", span(0, last + 1).map(called));
    if (kind !== "game") return { setting, algorithm, from };
    const weeks = 1 + place("weeks", span(1, last + 2 - from).map(String));
    return { setting, algorithm, from, weeks, truth: ["end", "each"][place("truth", ["end", "each"])] };
  }

  // Ten weeks in which as much is to gain as in half of all, or more, and each best choice has a row.
  // No two of them hold more than 40% of it, and the best single choice keeps least: the leader changes.
  function stretch() {
    const all = span(0, last + 2 - LENGTH).map((from) => {
      const rounds = span(from, from + LENGTH);
      const possible = rounds.map((t) => gain(t, data.best[t]) - uniform[t]);
      const whole = possible.reduce((sum, it) => sum + it, 0);
      const [first, second = 0] = possible.sort((a, b) => b - a);
      const kept = (i) => rounds.reduce((sum, t) => sum + gain(t, i) - uniform[t], 0) / (whole || 1);
      const hidden = rounds.filter((t) => data.best[t] >= shown).length;
      const rank = [hidden, Math.max((first + second) / (whole || 1), 0.4), Math.max(...span(0, shown).map(kept))];
      return { from, whole, rank };
    });
    const stakes = all.map((it) => it.whole).sort((a, b) => a - b);
    const worth = all.filter((it) => it.whole >= stakes[Math.floor(all.length / 2)]);
    const before = (one, two) => {
      const k = one.findIndex((it, at) => it !== two[at]);
      return k >= 0 && one[k] < two[k];
    };
    return worth.reduce((old, it) => (before(it.rank, old.rank) ? it : old)).from;
  }

  function follow() {
    if (!/^#(game|week)\b/.test(location.hash)) return;
    stop();
    try {
      const place = parse(location.hash);
      if (agreed(place.weeks ? "Start this game?" : "Leave this game?")) start(place);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      state.refused = `This link leads nowhere: ${error.message}. An example: `
        + `${link(state, { from: 0, weeks: LENGTH })}`;
      show();
    }
    root.closest("section").scrollIntoView();
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
  }

  function options(name, texts) {
    control(name).replaceChildren(...texts.map(([value, text]) => new Option(text, value)));
    control(name).parentElement.hidden = texts.length < 2;
  }

  // Changes the noise or the level, and keeps the other if there is such a setting.
  function set(name, value) {
    const { game, t, setting } = state;
    const other = name === "noise" ? "level" : "noise";
    const all = settings.filter((it) => it[name] === value);
    const next = all.find((it) => it[other] === setting[other]) ?? all[0];
    if (agreed(`Play the same ${words.period}s at ${next.level}, ${next.title}?`)) start({ setting: next, from: game?.from ?? t, weeks: game?.weeks });
  }

  const changes = {
    level: (it) => set("level", it),
    noise: (it) => set("noise", it),
    algorithm: (it) => { state.algorithm = +it; go(state.t); },
    truth: (it) => { state.truth = it; go(state.t); },
    round: (it) => go(+it),
  };

  const acts = {
    start() {
      if (agreed("Start another game?")) start({ setting: state.setting, from: stretch(), weeks: LENGTH });
    },
    end() {
      const { from, picks } = state.game;
      state.game = picks.length ? { from, weeks: picks.length, picks } : null;
      go(picks.length ? from + picks.length - 1 : state.t);
    },
    print() {
      const { classList } = document.documentElement;
      classList.add("sheet-only");
      addEventListener("afterprint", () => classList.remove("sheet-only"), { once: true });
      print();
    },
    play() {
      if (state.t === last) state.t = 0;
      state.timer = setInterval(() => {
        if (state.t >= last - 1) stop();
        go(state.t + 1);
      }, 800);
      show();
    },
  };

  options("round", span(0, last + 1).map((t) => [t, called(t)]));
  options("noise", [...new Map(settings.map((it) => [it.noise, it.title]))]);
  options("level", [...new Set(settings.map((it) => it.level))].map((it) => [it, it]));
  for (const select of root.querySelectorAll("select")) {
    select.addEventListener("change", () => (stop(), changes[select.dataset.control](select.value), show()));
  }
  for (const button of root.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => (stop(), go(state.t + +button.dataset.go)));
  }
  for (const button of root.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => {
      const ran = state.timer;
      stop();
      if (ran && button.dataset.do === "play") show();
      else acts[button.dataset.do]();
    });
  }
  slider.addEventListener("input", () => (stop(), go(+slider.value)));
  root.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target.matches("select, input")) return;
    event.preventDefault();
    stop();
    go(state.t + step);
  });
  root.style.setProperty("--high", `${Math.max(13, Math.min(20, 460 / shown))}px`);
  root.style.setProperty("--name", `${Math.max(...brief.map((it) => it.length)) + 2}ch`);
  root.hidden = false;
  const first = document.querySelector(".play");
  for (const it of [first, find("[data-do=start]")]) it.textContent = `Play ${counted(LENGTH)}`;
  first.hidden = false;
  first.addEventListener("click", () => {
    stop();
    acts.start();
    root.closest("section").scrollIntoView();
    list.querySelector(".who").focus({ preventScroll: true });
  });
  show();
  addEventListener("hashchange", follow);
  follow();
}
