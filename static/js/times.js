// Times: how long ago for the last week, or the clock time for the last day where a list is read by it; then the local
// date, with its year where that is another one; a narrow column has the day alone. The exact moment stays in the title.
const steps = [[60, "second"], [60, "minute"], [24, "hour"], [7, "day"]];
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const thisYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const dayThisYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function dateWords(moment, dayAlone) {
  const isThisYear = moment.getFullYear() === new Date().getFullYear();
  if (dayAlone) return (isThisYear ? dayThisYear : day).format(moment);
  return (isThisYear ? thisYear : local).format(moment);
}

function words(moment, dayAlone) {
  let amount = (moment - Date.now()) / 1000;
  if (Math.abs(amount) < 10) return "just now";
  for (const [size, unit] of steps) {
    if (Math.abs(amount) < size) return ago.format(Math.round(amount), unit);
    amount /= size;
  }
  return dateWords(moment, dayAlone);
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

function clockWords(moment) {
  const age = Date.now() - moment;
  if (age < 0 || age > 86_400_000) return dateWords(moment, false);
  const today = moment.toDateString() === new Date().toDateString();
  return `${today ? "" : "yesterday "}${clock.format(moment)}`;
}

function show(root) {
  for (const time of root.querySelectorAll("time[data-when]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    time.dataset.utc ??= time.title;
    time.title = `${time.dataset.utc} (${local.format(moment)} here)`;
    time.textContent = time.dataset.when === "clock" ? clockWords(moment) : words(moment, time.dataset.when === "day");
  }
}

show(document);
setInterval(() => show(document), 30_000);
document.addEventListener("htmx:load", (event) => show(event.target));
