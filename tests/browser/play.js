// Plays the game on a page, and prints as JSON what is seen after each step:
//   node play.js <chromium> <page>[#game?...] <width> <light|dark> <steps> [<picture>]
// Steps: ["choose", name], ["set", control, label], ["click", what],
// ["play"] from the first screen, ["answer", whether a score may be lost], ["open", hash].
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, address, width, colorScheme, steps, picture] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: +width, height: 900 }, colorScheme });
const tab = await context.newPage();
const found = { seen: [], errors: [], asked: [] };
let agrees = true;
tab.on("pageerror", (error) => found.errors.push(String(error)));
tab.on("console", (message) => found.errors.push(message.text()));
tab.on("dialog", (dialog) => {
  found.asked.push(dialog.message());
  return agrees ? dialog.accept() : dialog.dismiss();
});
const [file, hash] = address.split("#");
await tab.goto(pathToFileURL(file).href + (hash ? `#${hash}` : ""));
const root = tab.locator("#replay-widget");
const control = (name) => root.locator(`[data-control=${name}]`);

const see = () => root.evaluate((it) => {
  const text = (selector) => it.querySelector(selector).textContent;
  const all = (selector) => [...it.querySelectorAll(selector)];
  const label = (name) => it.querySelector(`[data-control=${name}]`).selectedOptions[0].text;
  return {
    told: text(".said"), score: text(".score"), refused: text(".refused"),
    week: label("round"), level: label("level"), opponent: label("algorithm"), hash: location.hash,
    bound: text(".bound"), whiskers: all(".whisker").length,
    bars: all(".truth").length,
    numbers: all("li .value").map((value) => value.textContent).join(""),
    tags: all(".tags").map((tag) => tag.textContent).join(""),
    result: all(".result p").map((card) => [...card.children].map((part) => part.textContent)),
    sheet: all(".sheet tr").map((row) => [...row.cells].map((cell) => cell.textContent)),
    sheetShown: it.querySelector(".sheet").checkVisibility(),
    top: it.closest("section").getBoundingClientRect().top,
    rows: all("li").map((row) => row.getBoundingClientRect().top + scrollY)[0],
    play: [document.querySelector(".play").textContent, document.querySelector(".play").offsetTop],
  };
});

const acts = {
  choose: (name) => root.locator(`button.who[title="${name}"]`).click(),
  set: (name, label) => control(name).selectOption({ label }),
  play: () => tab.locator(".play").click(),
  click: (what) => root.getByRole("button", { name: what }).click(),
  answer: (may) => { agrees = may; },
  open: (place) => tab.evaluate((it) => { location.hash = it; }, place),
};

found.seen.push(await see());
for (const [act, ...facts] of JSON.parse(steps)) {
  await acts[act](...facts);
  found.seen.push(await see());
}
if (picture) await tab.locator("#replay").screenshot({ path: picture });
console.log(JSON.stringify(found));
await browser.close();
