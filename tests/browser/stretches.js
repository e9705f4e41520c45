// Plays each stretch of weeks with perfect foresight, at each level and noise, and prints as JSON the
// address of each game and its shares of the possible gain:
//   node stretches.js <chromium> <page> <step>
// Of the stretches every <step>th is played. The best of all rows that can be clicked is chosen.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, page, step] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const tab = await browser.newPage();
await tab.goto(pathToFileURL(page).href);
const games = await tab.evaluate((every) => {
  const data = JSON.parse(document.getElementById("replay-data").textContent);
  const root = document.getElementById("replay-widget");
  window.confirm = () => true;
  document.body.style.display = "none"; // nothing is laid out between two clicks
  const { rounds, shown, truth, settings, algorithms } = data;
  const found = [];
  settings.forEach(({ mu, noise, actions }, k) => {
    for (let t = k % every; t + 10 <= rounds.length; t += every) {
      const players = algorithms.map(([name]) => name).filter((_, i) => actions[i]);
      const place = { mu, noise, algorithm: players[t % players.length], from: rounds[t], weeks: 10, truth: "end" };
      history.replaceState(null, "", `#game?${new URLSearchParams(place)}`);
      dispatchEvent(new Event("hashchange"));
      for (let s = t; s < t + 10; s++) {
        const buttons = new Map([...root.querySelectorAll("button.who")].map((it) => [it.title, it]));
        const own = truth.slice(s * shown, (s + 1) * shown);
        const best = own.map((_, i) => i).filter((i) => buttons.has(data.names[i])).reduce((a, b) => (own[b] > own[a] ? b : a));
        buttons.get(data.names[best]).click();
      }
      const cards = [...root.querySelectorAll(".result p")].map((it) => [...it.children].map((part) => part.textContent));
      found.push({ ...place, cards, refused: root.querySelector(".refused").textContent });
    }
  });
  return found;
}, +step);
console.log(JSON.stringify(games));
await browser.close();
