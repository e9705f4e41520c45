// Plays the game on a page, and prints as JSON what is seen after each step:
//   node play.js <chromium> <page>[#game?...] <width> <light|dark> <steps> [<picture>]
// Steps: ["choose", name], ["set", control, label], ["click", what], ["press", key], ["slide", round],
// ["answer", whether a score may be lost], ["open", hash], ["axe"], ["print"].
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, address, width, colorScheme, steps, picture] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: +width, height: 900 }, colorScheme });
const tab = await context.newPage();
const found = { seen: [], errors: [], asked: [], axe: [] };
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
    week: label("round"), level: label("level"), algorithm: label("algorithm"),
    rows: all("li").length, bars: all(".truth").length, dots: all("circle").length,
    numbers: all("li .value").map((value) => value.textContent).join(""),
    tags: all(".tags").map((tag) => tag.textContent).join(""),
    names: all("button.who").map((name) => name.title),
    result: all(".result p").map((card) => [...card.children].map((part) => part.textContent)),
    sheet: all(".sheet tr").map((row) => [...row.cells].map((cell) => cell.textContent)),
    sheetShown: it.querySelector(".sheet").checkVisibility(),
    link: it.querySelector("a").hash,
    focus: document.activeElement.textContent,
    small: all("button, select, input, a.playing").filter((one) => one.checkVisibility())
      .filter((one) => !one.matches("a") && (one.offsetHeight < 24 || one.offsetWidth < 24))
      .map((one) => one.outerHTML),
    width: document.documentElement.scrollWidth, top: it.closest("section").getBoundingClientRect().top,
  };
});

const acts = {
  choose: (name) => root.locator(`button.who[title="${name}"]`).click(),
  set: (name, label) => control(name).selectOption({ label }),
  click: (what) => root.getByRole("button", { name: what }).click(),
  press: (key) => tab.keyboard.press(key),
  slide: (round) => root.locator("input").fill(String(round)),
  answer: (may) => { agrees = may; },
  open: (place) => tab.evaluate((it) => { location.hash = it; }, place),
  async axe() {
    await tab.evaluate(axe);
    const { violations, passes } = await tab.evaluate(() => globalThis.axe.run("#replay"));
    found.axe.push([violations.map((it) => `${it.id}: ${it.nodes[0].target.join(" ")}`), passes.map((it) => it.id)]);
  },
  async print() {
    await tab.evaluate(() => { globalThis.print = () => {}; });
    await acts.click("Print the score sheet");
    await tab.emulateMedia({ media: "print" });
    found.printed = { alone: await tab.evaluate(() => document.body.innerText) };
    // The event afterprint ends the printing of the sheet alone.
    found.printed.pages = (await tab.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    found.printed.after = await tab.evaluate(() =>
      document.querySelector("#replay-widget").checkVisibility());
    await tab.emulateMedia({ media: "screen" });
  },
};

found.seen.push(await see());
for (const [act, ...facts] of JSON.parse(steps)) {
  await acts[act](...facts);
  found.seen.push(await see());
}
if (picture) await tab.locator("#replay").screenshot({ path: picture });
console.log(JSON.stringify(found));
await browser.close();
