// Opens a page in Chromium at one width and colour scheme, and prints what it sees as JSON:
//   node check.js <chromium> <page> <width> <light|dark> [<picture>]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, page, width, colorScheme, picture] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: +width, height: 900 }, colorScheme });
const tab = await context.newPage();
const found = { console: [], requests: [] };
tab.on("console", (message) => found.console.push(message.text()));
tab.on("pageerror", (error) => found.console.push(String(error)));
tab.on("request", (request) => found.requests.push(request.url().split(":")[0]));
await tab.goto(pathToFileURL(page).href);

found.first = await tab.evaluate(() => document.querySelector("figure").getBoundingClientRect().top);
// The end of the first figure, the length of the page in screens, and its visible words.
found.end = await tab.evaluate(() => document.querySelector(".plot")?.getBoundingClientRect().bottom);
found.screens = await tab.evaluate(() => document.documentElement.scrollHeight / innerHeight);
// The texts of closed lists are not visible.
found.words = await tab.evaluate(() => {
  const words = (it) => it.innerText.split(/\s+/).filter(Boolean).length;
  const lists = [...document.querySelectorAll("select")].filter((it) => it.checkVisibility());
  return words(document.body) - lists.reduce((sum, it) => sum + words(it), 0);
});
found.width = await tab.evaluate(() => document.documentElement.scrollWidth);
// Open folded parts, which count too.
await tab.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
found.widthOpen = await tab.evaluate(() => document.documentElement.scrollWidth);
found.background = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
found.figures = await tab.evaluate(() =>
  [...document.querySelectorAll(".panel")].filter((it) => it.checkVisibility()).map((it) => {
    const image = it.querySelector("img");
    return [it.clientWidth, it.scrollWidth, image.getBoundingClientRect().width, image.naturalWidth, it.tabIndex, it.matches(".more")];
  }));
// Each header of a table, in the middle of which the page is scrolled to, is above all rows.
found.covered = await tab.evaluate(() =>
  [...document.querySelectorAll(".block table")].filter((it) => it.checkVisibility()).flatMap((table) => {
    scrollTo(0, scrollY + table.getBoundingClientRect().top + table.offsetHeight / 2);
    return [...table.tHead.rows[0].cells].filter((head) => head.checkVisibility()).filter((head) => {
      const { left, right, top, bottom } = head.getBoundingClientRect();
      const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return (left + right) / 2 < innerWidth && !head.contains(seen);
    }).map((head) => head.textContent);
  }));
await tab.evaluate(() => scrollTo(0, 0));
found.lost = await tab.evaluate(() =>
  [...document.querySelectorAll("img")].filter((it) => !it.complete || !it.naturalWidth).length);
found.anchors = await tab.evaluate(() =>
  [...document.querySelectorAll("a[href^='#']:not([href*='?'])")].filter(
    (it) => !document.getElementById(it.getAttribute("href").slice(1))).length);
if (picture) await tab.screenshot({ path: picture, fullPage: true });

await tab.evaluate(axe);
const results = await tab.evaluate(() => globalThis.axe.run(document));
found.violations = results.violations.map(
  (it) => `${it.id}: ${it.nodes.length} (${it.nodes[0].target.join(" ")})`);
found.passes = results.passes.map((it) => it.id);

// Three clicks: ascending, descending, and back. In a table with groups, each row gets their labels.
found.sorted = await tab.evaluate(() => {
  const table = document.querySelector("[aria-label^='Every system at every level'] table");
  if (!table) return null;
  const head = table.tHead.rows[0].cells[0];
  return [0, 1, 2].map(() => {
    head.querySelector("button").click();
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const texts = rows.map((row) => row.cells[0].textContent.trim());
    return [texts, head.getAttribute("aria-sort"), new Set(rows.map((it) => it.cells.length)).size];
  });
});

await tab.reload();

// The filter of the ledger: by verdict, also sorted, by words, and back.
const ledger = "[aria-label='All rows of the ledger'] table";
if (await tab.locator(ledger).count()) {
  found.filter = await tab.evaluate((own) => {
    const table = document.querySelector(own);
    const bar = table.closest(".block").querySelector(".filter");
    const [search, [all, verdict]] = [bar.querySelector("input"), bar.querySelectorAll("button")];
    const state = () => ({
      marks: [...table.querySelectorAll("tbody tr")].map((row) => row.querySelector("[data-verdict]")?.dataset.verdict ?? ""),
      count: bar.querySelector("output").textContent,
      labels: new Set([...table.querySelectorAll("tbody tr")].map((row) => row.cells.length)).size,
      pressed: [...bar.querySelectorAll("[aria-pressed=true]")].map((it) => it.textContent),
    });
    const steps = [state()];
    verdict.click();
    steps.push(state());
    table.tHead.querySelector("button").click();
    steps.push(state());
    search.value = "no such words";
    search.dispatchEvent(new Event("input"));
    steps.push(state());
    search.value = "";
    all.click();
    [0, 1].forEach(() => table.tHead.querySelector("button").click());
    return [...steps, state()];
  }, ledger);
}
console.log(JSON.stringify(found));
await browser.close();
