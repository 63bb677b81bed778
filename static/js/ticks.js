// The box above a column of boxes: chooses all of the page. Hidden until there is a script that can make it work.
function find(root) {
  for (const form of root.querySelectorAll("form[data-ticks]")) {
    const all = form.querySelector("[data-tick-all]");
    const boxes = () => [...form.elements].filter((box) => box.type === "checkbox" && box.name);
    if (!all || !all.hidden) continue;
    all.hidden = false;
    all.addEventListener("change", () => { for (const box of boxes()) box.checked = all.checked; });
    form.addEventListener("change", () => {
      const ticked = boxes().filter((box) => box.checked).length;
      all.checked = ticked > 0 && ticked === boxes().length;
      all.indeterminate = ticked > 0 && ticked < boxes().length;
    });
  }
}

find(document);
document.addEventListener("htmx:load", (event) => find(event.target));
