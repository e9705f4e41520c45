// Asks the answer's figure, and prints as JSON what is seen after each step:
//   node ask.js <chromium> <page> <width> <light|dark> <steps> [<picture>]
// Steps: ["press", key] on the slider, ["hover", line, level], ["click", line, level], ["leave"],
// ["open", hash].
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, page, width, colorScheme, steps, picture] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const view = { viewport: { width: +width, height: 900 }, colorScheme };
const [file, hash] = page.split("#");
const address = pathToFileURL(file).href + (hash ? `#${hash}` : "");
const tab = await (await browser.newContext(view)).newPage();
const found = { seen: [], errors: [] };
tab.on("pageerror", (error) => found.errors.push(String(error)));
tab.on("console", (message) => found.errors.push(message.text()));
await tab.goto(address);
const root = tab.locator("#answer-widget");

const see = () => root.evaluate((it) => ({
  lead: document.querySelector(".lead").textContent,
  slider: it.querySelector("input").getAttribute("aria-valuetext"),
  told: it.querySelector("svg").getAttribute("aria-label").split(": ").slice(1).join(": ").split("; "),
  numbers: [...it.querySelectorAll(".number")].map((text) => [text.textContent, text.getBoundingClientRect().y]),
  hash: location.hash,
  ends: [...it.querySelectorAll(".plot g text")].map((text) => [text.textContent, text.getBoundingClientRect().y]),
  tip: it.querySelector(".tip").checkVisibility() ? it.querySelector(".tip").textContent : "",
  dim: it.querySelectorAll(".plot .dim").length,
}));

// The place of a point: of the line of this number at the level of this number.
const place = async (line, level) => {
  const box = await root.locator(".plot g").nth(line).locator("circle").nth(level).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
};

const acts = {
  press: (key) => root.locator("input").press(key),
  hover: async (line, level) => tab.mouse.move(...await place(line, level)),
  click: async (line, level) => tab.mouse.click(...await place(line, level)),
  open: (hash) => tab.evaluate((it) => { location.hash = it; }, hash),
  leave: () => tab.mouse.move(0, 0),
};

found.seen.push(await see());
for (const [act, ...facts] of JSON.parse(steps)) {
  await acts[act](...facts);
  found.seen.push(await see());
}
if (picture) await tab.screenshot({ path: picture });

// On paper and without JavaScript, the figure of the run stands in its place.
const parts = ["#answer-widget", "#figure-privacy-utility .panel img"];
const shown = (it) => parts.map(
  (selector) => it.evaluate((name) => document.querySelector(name).checkVisibility(), selector));
found.screen = await Promise.all(shown(tab));
await tab.emulateMedia({ media: "print" });
found.print = await Promise.all(shown(tab));
found.folded = await tab.evaluate(() =>
  [...document.querySelectorAll(":not(.config, .long) > table, details:not(.config, .long) > :not(summary, .files)")].filter((it) => !it.checkVisibility()).length);
const bare = await (await browser.newContext({ ...view, javaScriptEnabled: false })).newPage();
await bare.goto(address);
found.bare = await Promise.all(["#answer-widget", "#figure-privacy-utility .panel img", ".lead"].map(
  (selector) => bare.locator(selector).isVisible()));
console.log(JSON.stringify(found));
await browser.close();
