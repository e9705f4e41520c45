"use strict";
// Adds a search field and a button per kind of verdict above each table with data-filter.
for (const table of document.querySelectorAll("table[data-filter]")) {
  const view = VIEWS.get(table);
  const marks = [...table.querySelectorAll("[data-verdict]")].map((it) => it.dataset.verdict);
  const rows = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
  const bar = Object.assign(document.createElement("div"), { className: "filter" });
  const search = Object.assign(document.createElement("input"), { type: "search" });
  const label = document.createElement("label");
  label.append("Find ", search);
  const group = document.createElement("span");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Verdict");
  const count = document.createElement("output");
  let chosen = "all";

  function update() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (row) => {
      const text = row.textContent.toLowerCase();
      const mark = row.querySelector("[data-verdict]")?.dataset.verdict;
      return (chosen === "all" || mark === chosen) && words.every((it) => text.includes(it));
    };
    view.matches = words.length || chosen !== "all" ? matches : null;
    view.show();
    const left = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
    count.textContent = `${left} of ${rows} ${table.dataset.filter}`;
    for (const it of group.children) it.setAttribute("aria-pressed", it.textContent === chosen);
  }
  for (const mark of new Set(["all", ...marks])) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: mark });
    button.addEventListener("click", () => update((chosen = mark)));
    group.append(button);
  }
  search.addEventListener("input", update);
  bar.append(label, group, count);
  table.closest(".scroll").before(bar);
  update();
}
