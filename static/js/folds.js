// Folds: a link into a closed section opens it.
function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details[data-fold]");
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}

reveal();
addEventListener("hashchange", reveal);
