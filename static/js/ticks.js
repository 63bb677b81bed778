// The box above a column of boxes: chooses all of the page. Hidden until there is a script that can make it work.
for (const form of document.querySelectorAll("form[data-ticks]")) {
  const all = form.querySelector("[data-tick-all]");
  const boxes = () => [...form.elements].filter((one) => one.type === "checkbox" && one.name);
  if (!all) continue;
  all.hidden = false;
  all.addEventListener("change", () => { for (const box of boxes()) box.checked = all.checked; });
  form.addEventListener("change", () => {
    const ticked = boxes().filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && ticked < boxes().length;
  });
}
