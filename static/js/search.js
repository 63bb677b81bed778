// The search box: "/" leads to it, arrows walk through what was looked at lately, Escape leaves it.
const box = document.querySelector("[data-search]");

function writing(element) {
  return element.isContentEditable || element.matches("input, textarea, select");
}

function lines() {
  return [box, ...box.closest("search").querySelectorAll(".fb-recent a")];
}

function step(event, by) {
  const all = lines();
  const at = all.indexOf(document.activeElement);
  const next = all[at + by];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

if (box) {
  document.querySelector("[data-search-key]").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !writing(event.target)) {
      event.preventDefault();
      box.focus();
      box.select();
    }
  });
  box.closest("search").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(event, 1);
    else if (event.key === "ArrowUp") step(event, -1);
    else if (event.key === "Escape") document.activeElement.blur();
  });
}
