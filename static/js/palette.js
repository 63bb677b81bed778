// The command palette: Ctrl-K or Cmd-K opens a dialog that reaches pages, projects, tests and actions by keyboard.
// The server says what fits; actions of the page itself are its elements with data-command.
const dialog = document.getElementById("palette");
const input = document.getElementById("palette-text");
const list = document.getElementById("palette-list");
const count = document.getElementById("palette-count");
const opener = document.querySelector("[data-palette-open]");
let asked = null;
let waiting = 0;

function commands(text) {
  const typed = text.toLowerCase().split(/\s+/);
  const here = [...document.querySelectorAll("[data-command]")].filter((element) => !element.disabled);
  return here
    .filter((element) => typed.every((word) => element.dataset.command.toLowerCase().includes(word)))
    .map((element) => ({ label: element.dataset.command, detail: "", state: "", run: () => element.click() }));
}

function element(name, classes, text) {
  const made = document.createElement(name);
  made.className = classes;
  if (text) made.textContent = text;
  return made;
}

function option(entry, number) {
  const made = element("div", "fb-palette-option");
  made.id = `palette-${number}`;
  made.role = "option";
  made.ariaSelected = "false";
  made.append(element("bdi", "fb-palette-label", entry.label));
  if (entry.state) made.append(element("span", `fb-state fb-state-${entry.state}`, entry.state));
  if (entry.detail) made.append(element("bdi", "fb-dim", entry.detail));
  made.addEventListener("click", () => open(entry));
  made.addEventListener("mousemove", () => choose(made));
  made.entry = entry;
  return made;
}

function show(groups) {
  let number = 0;
  const parts = groups.filter((group) => group.entries.length).map((group, at) => {
    const part = element("div", "");
    part.role = "group";
    const label = element("p", "fb-dim", group.label);
    label.id = `palette-group-${at}`;
    part.setAttribute("aria-labelledby", label.id);
    part.append(label, ...group.entries.map((entry) => option(entry, number++)));
    return part;
  });
  list.replaceChildren(...parts);
  input.ariaExpanded = String(number > 0);
  const cut = groups.some((group) => group.more);
  const all = `${number} result${number === 1 ? "" : "s"}`;
  count.textContent = cut ? `The first ${number}: type more to find others` : number ? all : "Nothing found";
  choose(list.querySelector("[role=option]"));
}

function choose(next) {
  list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  if (!next) return input.removeAttribute("aria-activedescendant");
  next.ariaSelected = "true";
  input.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = [...list.querySelectorAll("[role=option]")];
  const at = all.findIndex((each) => each.ariaSelected === "true");
  if (all.length) choose(all[(at + by + all.length) % all.length]);
}

function open(entry) {
  dialog.close();
  if (entry.run) entry.run();
  else location.assign(entry.address);
}

async function ask() {
  asked?.abort();
  asked = new AbortController();
  const text = input.value.trim();
  const query = new URLSearchParams({ q: text, project: dialog.dataset.project });
  try {
    const answer = await fetch(`${dialog.dataset.palette}?${query}`, { signal: asked.signal });
    const { groups } = answer.ok ? await answer.json() : { groups: [] };
    show([...groups.slice(0, 1), { label: "On this page", entries: commands(text) }, ...groups.slice(1)]);
  } catch (error) {
    if (error.name !== "AbortError") show([{ label: "On this page", entries: commands(text) }]);
  }
}

function toggle() {
  if (dialog.open) return dialog.close();
  input.value = "";
  dialog.showModal();
  ask();
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  toggle();
});
input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 120); });
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});
input.form.addEventListener("submit", (event) => {
  const chosen = list.querySelector("[aria-selected=true]");
  if (!chosen) return;  // the search page says why nothing was found
  event.preventDefault();
  open(chosen.entry);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
if (opener) {
  opener.hidden = false;
  opener.addEventListener("click", toggle);
}
