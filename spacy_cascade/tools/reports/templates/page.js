"use strict";
// Sorts tables by a column; filters the mistakes by label and sorts them by cost. Without scripts
// the page shows the same, in the order in which it was written.

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending" && column > 0;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => row.cells[column].textContent.trim();
      const number = (row) => parseFloat(text(row).replaceAll(",", "").replace("–", "-1"));
      const compare = (a, b) => {
        const difference = column > 0 ? number(a) - number(b) : NaN;
        return Number.isNaN(difference) ? text(a).localeCompare(text(b)) : difference;
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
      table.tBodies[0].append(...rows);
    });
  });
}

const form = document.querySelector("form.choices");
if (form) {
  form.hidden = false;
  form.addEventListener("change", () => {
    const { value: label, selectedOptions } = form.elements.label;
    const order = form.elements.order.value;
    for (const list of document.querySelectorAll("[data-list]")) {
      const rows = [...list.querySelectorAll("[data-labels]")];
      rows.sort((a, b) => b.dataset[order] - a.dataset[order]);
      let shown = 0;
      for (const row of rows) {
        row.hidden = shown >= list.dataset.most || (label && !JSON.parse(row.dataset.labels).includes(label));
        shown += row.hidden ? 0 : 1;
        row.parentNode.append(row);
      }
      const status = document.querySelector(`[data-of="${list.dataset.list}"]`);
      const all = label ? selectedOptions[0].dataset[list.dataset.list] : status.dataset.n;
      status.textContent = `Shown: ${shown} of ${Number(all).toLocaleString("en")}${label ? ` with ${label}` : ""}.`;
      list.querySelectorAll("[aria-sort]").forEach((head) => head.removeAttribute("aria-sort"));
    }
  });
}
