// Charts: draws what the server put into the page, in the colours of the theme. Plotly is fetched once, when the first
// chart has room to be drawn; a page without charts never asks for it.
const config = { responsive: true, displayModeBar: false };
const drawn = new Set();
let library = null;

function plotly(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { library = null; script.remove(); reject(new Error("the chart library did not load")); };
    document.head.append(script);
  });
  return library;
}

// Figures name their colours as var(--fb-chart-…): the style sheet says what they are today.
function coloured(value, styles) {
  if (Array.isArray(value)) return value.map((part) => coloured(part, styles));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, coloured(part, styles)]));
  }
  const name = typeof value === "string" && /^var\((--fb-chart-[a-z]+)\)$/.exec(value);
  return name ? styles.getPropertyValue(name[1]).trim() : value;
}

// What all charts look like, so that no figure has to say it. A mouse zooms along the x axis, a double click resets;
// on a touch screen axes are fixed, so that a finger that scrolls does not zoom.
const mouse = matchMedia("(pointer: fine)").matches;
const axis = {
  gridcolor: "var(--fb-chart-grid)", linecolor: "var(--fb-chart-grid)", zerolinecolor: "var(--fb-chart-grid)",
  automargin: true, fixedrange: true, title: { standoff: 10 },
};
const template = {
  layout: {
    font: { size: 12, color: "var(--fb-chart-text)" },
    margin: { l: 8, r: 12, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: { ...axis, showgrid: false, fixedrange: !mouse }, yaxis: axis,
    legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom" },
    hoverlabel: { bgcolor: "var(--fb-chart-surface)", bordercolor: "var(--fb-chart-other)", font: { color: "var(--fb-chart-text)" }, align: "left" },
    annotationdefaults: { font: { color: "var(--fb-chart-text)" } },
    dragmode: mouse ? "zoom" : false,
  },
};

function figureOf(place) {
  const source = document.getElementById(place.dataset.chart);
  const { data, layout } = JSON.parse(source.textContent);
  const family = getComputedStyle(place).fontFamily;
  const whole = coloured({ data, layout: { ...layout, template } }, getComputedStyle(document.documentElement));
  whole.layout.font = { family, ...whole.layout.font };
  return whole;
}

// The page that a point is about, where there is one: an address of this site. See `linked` in charts/figure.py.
function addressOf({ customdata, x, y, data }, { base = "", columns, rows }) {
  const part = columns && data.type === "heatmap" ? `${columns[x]}${rows[y]}` : customdata;
  const address = typeof part === "string" ? base + part : "";
  return address.startsWith("/") && !address.startsWith("//") ? address : "";
}

function target(place, points) {
  const meta = place.layout.meta;
  return meta?.linked ? points.map((point) => addressOf(point, meta)).find(Boolean) : "";
}

function follow(place, { points, event }) {
  const address = target(place, points);
  if (!address) return;
  if (event?.ctrlKey || event?.metaKey) window.open(address, "_blank", "noopener");
  else location.assign(address);
}

// The pointer says whether a click leads anywhere.
function listen(place) {
  place.on("plotly_click", (clicked) => follow(place, clicked));
  place.on("plotly_hover", ({ points }) => place.classList.toggle("fb-chart-over", Boolean(target(place, points))));
  place.on("plotly_unhover", () => place.classList.remove("fb-chart-over"));
}

// A button that saves a chart as a picture, on the ground of the page, is shown once there is one.
function offerPicture(place) {
  const { id } = place.closest("figure");
  const button = document.querySelector(`[data-png="${CSS.escape(id)}"]`);
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const link = document.createElement("a");
    link.download = `${id}.png`;
    link.href = await picture(place);
    link.click();
  });
}

// Drawn from SVG as a data: address, since Plotly's own PNG takes blob: images, which our policy does not allow.
async function picture(place, scale = 2) {
  const { data, layout } = figureOf(place);
  layout.paper_bgcolor = getComputedStyle(document.documentElement).getPropertyValue("--fb-chart-surface").trim();
  layout.title = { text: place.closest("figure").querySelector(".fb-chart-title").textContent, x: 0.01, y: 0.97, yanchor: "top" };
  layout.margin = { t: 72 };
  const size = { width: Math.max(place.clientWidth, 800), height: layout.height + 64 };
  const image = new Image();
  image.src = await window.Plotly.toImage({ data, layout }, { ...size, format: "svg" });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: scale * size.width, height: scale * size.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

async function draw(place) {
  try {
    const Plotly = await plotly(place.dataset.plotly);
    if (!place.isConnected) return;
    const { data, layout } = figureOf(place);
    const isNew = !drawn.has(place);
    await Plotly.react(place, data, layout, config);
    if (isNew) listen(place);
    if (isNew) offerPicture(place);
    drawn.add(place);
    place.dataset.drawn = document.documentElement.getAttribute("data-bs-theme");
  } catch (error) {
    place.classList.add("fb-chart-broken");
    console.error(error);
  }
}

// A chart in a closed fold has no width yet: it waits until it has one.
const waiting = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (!contentRect.width) continue;
    waiting.unobserve(target);
    draw(target);
  }
});

function find(root) {
  const places = [...root.querySelectorAll("[data-chart]")];
  if (root.matches?.("[data-chart]")) places.push(root);
  for (const place of places) if (!drawn.has(place)) waiting.observe(place);
}

function forget() {
  for (const place of drawn) {
    if (place.isConnected) continue;
    window.Plotly.purge(place);
    drawn.delete(place);
  }
}

find(document);
document.addEventListener("htmx:load", (event) => { forget(); find(event.target); });
new MutationObserver(() => drawn.forEach(draw))
  .observe(document.documentElement, { attributes: true, attributeFilter: ["data-bs-theme"] });
