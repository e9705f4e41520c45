"use strict";
// Makes tables sortable by their headers.
const COLLATOR = new Intl.Collator("en", { numeric: true });
const VIEWS = new WeakMap(); // by table: rows that match, sort order, and a function that shows them

// The number at the start of a cell; NaN without one.
function order(cell) {
  if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
  const text = cell.textContent.trim().replace(/^[≤≥=] /, "").replace("∞", "Infinity");
  return parseFloat(text.replace("−", "-").replaceAll(",", ""));
}

function compare(a, b) {
  const [x, y] = [order(a), order(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) {
    return Number.isNaN(x) - Number.isNaN(y) || COLLATOR.compare(a.textContent, b.textContent);
  }
  return x === y ? 0 : x - y; // infinities too
}

// All rows in one body, each with the labels of its group.
function flattened(bodies) {
  const flat = document.createElement("tbody");
  for (const body of bodies) {
    const held = []; // labels that span further rows: column, cell, rows
    for (const row of body.rows) {
      const copy = row.cloneNode(true);
      for (const it of held.filter((it) => it.rows-- > 0)) {
        const label = it.cell.cloneNode(true);
        copy.insertBefore(label, copy.cells[it.column] ?? null);
      }
      for (const cell of [...copy.cells]) {
        if (cell.rowSpan > 1) held.push({ column: cell.cellIndex, cell, rows: cell.rowSpan - 1 });
        cell.rowSpan = 1;
        if (cell.scope === "rowgroup") cell.querySelector(".note")?.remove();
        if (cell.scope) cell.scope = "row";
      }
      copy.classList.remove("next");
      flat.append(copy);
    }
  }
  return flat;
}

for (const table of document.querySelectorAll(".block table")) {
  const [bodies, heads] = [[...table.tBodies], [...table.tHead.rows[0].cells]];
  const view = { matches: null, column: 0, sign: 0 };
  view.show = () => {
    for (const body of [...table.tBodies]) body.remove();
    if (!view.matches && !view.sign) return void table.append(...bodies);
    const flat = flattened(bodies);
    const rows = [...flat.rows].filter(view.matches ?? (() => true));
    if (view.sign) rows.sort((a, b) => view.sign * compare(a.cells[view.column], b.cells[view.column]));
    flat.replaceChildren(...rows);
    table.append(flat);
  };
  VIEWS.set(table, view);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Ascending, descending, then the order of the page.
      const sign = { ascending: -1, descending: 0 }[head.getAttribute("aria-sort")] ?? 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (sign) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      Object.assign(view, { column, sign });
      view.show();
    });
  });
}
