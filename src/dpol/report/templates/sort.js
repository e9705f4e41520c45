"use strict";
// Tables stay as they are where there is no JavaScript.
function compare(a, b) {
  const [x, y] = [a.dataset.order, b.dataset.order];
  if (x !== undefined && y !== undefined) return x - y;
  return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
}
for (const table of document.querySelectorAll("table.sortable")) {
  const [body, heads] = [table.tBodies[0], [...table.tHead.rows[0].cells]];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows];
      rows.sort((a, b) => sign * compare(a.cells[column], b.cells[column]));
      body.append(...rows);
    });
  });
}
