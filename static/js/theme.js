// Light or dark, set before anything is drawn. Follows the system until somebody chooses otherwise.
(() => {
  const key = "flakeboard-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const wanted = () => stored() || (system.matches ? "dark" : "light");
  const show = () => document.documentElement.setAttribute("data-bs-theme", wanted());
  const choose = (theme) => {
    const followsSystem = theme === (system.matches ? "dark" : "light");
    try { followsSystem ? localStorage.removeItem(key) : localStorage.setItem(key, theme); } catch { /* not remembered */ }
    document.documentElement.setAttribute("data-bs-theme", theme);
  };
  show();
  system.addEventListener("change", show);
  addEventListener("storage", (event) => { if (event.key === key) show(); });
  // Paper is white: page and charts are printed in light colours, and shown as before afterwards.
  let shown = null;
  addEventListener("beforeprint", () => {
    shown = document.documentElement.getAttribute("data-bs-theme");
    document.documentElement.setAttribute("data-bs-theme", "light");
  });
  addEventListener("afterprint", () => document.documentElement.setAttribute("data-bs-theme", shown || wanted()));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) {
      choose(document.documentElement.getAttribute("data-bs-theme") === "dark" ? "light" : "dark");
    }
  });
})();
