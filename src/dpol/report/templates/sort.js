"use strict";
// Tables stay as they are where there is no JavaScript.
const COLLATOR = new Intl.Collator("en", { numeric: true });

// The number that a cell begins with, if it does.
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

// All rows in one body, where each has the labels of its group.
function flattened(bodies) {
  const flat = document.createElement("tbody");
  for (const body of bodies) {
    const held = []; // labels that reach further down: column, cell, rows
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
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Up, down, and back to the order of the page.
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const direction = next === undefined ? "ascending" : next;
      for (const other of heads) other.removeAttribute("aria-sort");
      for (const body of [...table.tBodies]) body.remove();
      if (!direction) return void table.append(...bodies);
      head.setAttribute("aria-sort", direction);
      const [flat, sign] = [flattened(bodies), direction === "ascending" ? 1 : -1];
      const rows = [...flat.rows];
      rows.sort((a, b) => sign * compare(a.cells[column], b.cells[column]));
      flat.append(...rows);
      table.append(flat);
    });
  });
}
