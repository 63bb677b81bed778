// Copy buttons: hidden until there is a script that can make them work.
function reveal(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  const label = button.textContent;
  await navigator.clipboard.writeText(source.textContent.trim());
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});

reveal(document);
document.addEventListener("htmx:load", (event) => reveal(event.target));
