// Folds: on a wide screen all sections of a page are open, so that one can read it through; on a phone most wait to be
// opened. A link into a closed one opens it.
if (matchMedia("(min-width: 1100px)").matches) {
  for (const fold of document.querySelectorAll("details[data-fold]")) fold.open = true;
}

function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details[data-fold]");
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}

reveal();
addEventListener("hashchange", reveal);
