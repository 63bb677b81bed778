// A page shows the newest analysis by itself: when one is ready, its content is fetched and put in place of the old, and the
// reader stays where they were. While something is typed, chosen, selected or asked for, it waits; a hidden page waits too.
const LOOK = 60_000;
const AGAIN = 2_000;
let underWay = false;

const status = () => document.getElementById("analysis-status");
const contentOf = (page) => page.querySelector("main");

function changed(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.options) return field.selectedIndex !== Math.max([...field.options].findLastIndex((option) => option.defaultSelected), 0);
  return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
}

function isBusy() {
  const content = contentOf(document);
  const focus = document.activeElement;
  return document.hidden || underWay
    || Boolean(focus && (focus.isContentEditable || focus.matches("input, textarea, select")))
    || !document.getSelection().isCollapsed
    || Boolean(document.querySelector("dialog[open], .htmx-request, main :active"))
    || [...content.querySelectorAll("input, textarea, select")].some(changed);
}

// -- the reader's place ----------------------------------------------------------------------------------------------

// What an element is called, so that its like can be found after the swap: its id, else its kind, words and number.
function keys(content, selector, wordsOf) {
  const seen = new Map();
  return [...content.querySelectorAll(selector)].map((element) => {
    const words = element.id || `${element.closest("[id]")?.id} ${wordsOf(element)}`;
    seen.set(words, (seen.get(words) ?? 0) + 1);
    return [`${words} ${seen.get(words)}`, element];
  });
}

const folds = (content) => keys(content, "details", (fold) => fold.querySelector("summary")?.textContent.trim());
const stops = (content) => keys(content, "a[href], button, summary", (stop) => `${stop.getAttribute("href")} ${stop.textContent.trim()}`);

function place(content) {
  const marks = [...content.querySelectorAll("[id]")].filter((element) => element.getClientRects().length);
  const mark = marks.find((element) => element.getBoundingClientRect().top >= 0);
  return {
    top: scrollY,
    mark: mark && [mark.id, mark.getBoundingClientRect().top],
    open: new Map(folds(content).map(([key, fold]) => [key, fold.open])),
    focus: stops(content).find(([, stop]) => stop === document.activeElement)?.[0],
  };
}

function restore(content, { top, mark, open, focus }) {
  for (const [key, fold] of folds(content)) if (open.has(key)) fold.open = open.get(key);
  if (focus) stops(content).find(([key]) => key === focus)?.[1].focus({ preventScroll: true });
  const found = mark && document.getElementById(mark[0]);
  const by = found && found.getClientRects().length ? scrollY + found.getBoundingClientRect().top - mark[1] : top;
  scrollTo({ top: by, behavior: "instant" });
}

// -- the swap --------------------------------------------------------------------------------------------------------

function run(content) {
  const known = new Set([...document.scripts].filter((script) => !content.contains(script)).map((script) => script.src));
  for (const { src } of content.querySelectorAll("script[src]")) {
    if (known.has(src)) continue;
    known.add(src);
    const script = Object.assign(document.createElement("script"), { src, type: "module" });
    document.head.append(script);
  }
  window.htmx.process(content);
  content.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: content } }));
}

async function refresh() {
  underWay = true;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok || answer.redirected) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = contentOf(page);
    underWay = false;
    if (!fresh || isBusy()) return false;
    const old = contentOf(document);
    const where = place(old);
    const content = document.adoptNode(fresh);
    old.replaceWith(content);
    document.title = page.title;
    run(content);
    restore(content, where);
    return true;
  } catch {
    return false;  // the link to reload stays
  } finally {
    underWay = false;
  }
}

async function look() {
  const line = status();
  if (!line) return;
  if (line.dataset.newer === undefined) return;
  if (!isBusy() && await refresh()) return;
  setTimeout(look, AGAIN);
}

document.addEventListener("htmx:load", (event) => { if (event.target.matches?.("[data-newer]")) look(); });
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.target.id === "analysis-status") event.preventDefault();
});
setInterval(() => {
  const line = status();
  const idle = line && line.dataset.newer === undefined && !line.hasAttribute("hx-get");
  if (idle && !document.hidden) window.htmx.ajax("GET", line.dataset.status, { target: line, swap: "outerHTML" });
}, LOOK);
