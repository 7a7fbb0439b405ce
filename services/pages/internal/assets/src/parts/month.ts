// The month as a grid, as the ARIA Authoring Practices have it: Tab reaches one day, arrow keys lead from it to the others, Home and End to
// the ends of its week, Page Up and Page Down to the months beside, as do arrows over the month's ends. Without scripts, free days are links.

const grid = document.querySelector<HTMLElement>(".month table");
if (grid) {
  const days = [...grid.querySelectorAll<HTMLElement>(".day")];
  const [year, month] = grid.dataset.month!.split("-").map(Number);
  const first = Number(grid.dataset.first); // past days are not shown
  const whole = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "full", timeZone: "UTC" });
  grid.setAttribute("role", "grid");
  // What has the focus: the link of a free day, the cell of another.
  const stops = days.map((day, i) => {
    const cell = day.parentElement!;
    cell.setAttribute("aria-selected", String(day.classList.contains("chosen")));
    if (day.getAttribute("aria-current") !== "date") day.removeAttribute("aria-current"); // which is said as selected now
    const stop = day.matches("a") ? day : cell;
    if (stop === cell) {
      cell.setAttribute("aria-disabled", "true");
      cell.setAttribute("aria-label", `${whole.format(Date.UTC(year, month - 1, first + i))}, ${grid.dataset.none}`);
    }
    stop.tabIndex = -1;
    return stop;
  });
  const which = (selector: string) => days.findIndex((day) => day.matches(selector));
  let at = [which(".chosen"), which("a"), which(".today"), 0].find((i) => i >= 0)!;
  stops[at].tabIndex = 0;
  const enter = (to: number) => {
    stops[at].tabIndex = -1;
    at = to;
    stops[at].tabIndex = 0;
    stops[at].focus();
  };
  // In the month beside, the focus goes on from this day, which counts from the end where it is negative.
  const turn = (rel: string, day: number) => {
    const link = document.querySelector<HTMLAnchorElement>(`.month a[rel=${rel}]`);
    if (link) location.assign(`${link.href}#day${day}`);
  };
  const came = /^#day(-?\d+)$/.exec(location.hash);
  if (came) {
    const day = Number(came[1]);
    enter(day > 0 ? Math.min(Math.max(day - first, 0), days.length - 1) : Math.max(days.length + day, 0));
  }
  const forward = getComputedStyle(grid).direction === "rtl" ? -1 : 1;
  const steps: Record<string, number> = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: 7, ArrowUp: -7 };
  const row = () => [...stops[at].closest("tr")!.querySelectorAll<HTMLElement>(".day")].map((day) => days.indexOf(day));
  const step = (to: number) => {
    if (to < 0) turn("prev", to);
    else if (to >= days.length) turn("next", to - days.length + 1);
    else enter(to);
  };
  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key in steps) step(at + steps[event.key]);
    else if (event.key === "Home") enter(row()[0]);
    else if (event.key === "End") enter(row().at(-1)!);
    else if (event.key === "PageUp") turn("prev", first + at);
    else if (event.key === "PageDown") turn("next", first + at);
    else if (event.key === " ") stops[at].click();
    else return;
    event.preventDefault();
  });
}
