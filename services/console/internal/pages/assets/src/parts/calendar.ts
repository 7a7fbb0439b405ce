// The calendar with a pointer. Dragging a booking moves it to another time or member. Dragging over free time books it,
// and pressing it opens a menu.
// A drop sends a form; the server decides, and the page that it returns shows the result. A finger drags only after it
// has rested, so that it can also scroll.

const calendar = document.querySelector<HTMLElement>(".calendar");
const form = document.querySelector<HTMLFormElement>("#drop");
const bookings = form?.action; // the common address of bookings
const step = 5; // minutes
const rest = 350; // milliseconds for which a finger rests before it drags
const menuStep = 15; // minutes; the menu of an empty time rounds down to this step
const edge = 40; // pixels; a drag near the edge of the calendar scrolls the calendar
const slack = 6; // pixels; a shorter movement is not a drag

interface Drag {
  box: HTMLElement | null; // the dragged booking; null for free time
  from: HTMLElement; // the column in which the drag began
  shadow: HTMLElement;
  grabbed: number; // minutes from the box's start to the pointer
  length: number; // minutes
  start: number; // minute at which the selected free time begins
  to?: { column: HTMLElement; minute: number };
}

const first = Number(calendar?.dataset.first);
const last = Number(calendar?.dataset.last);
const pad = (n: number) => String(n).padStart(2, "0");
const clock = (minute: number) => `${pad(Math.floor(minute / 60) % 24)}:${pad(minute % 60)}`;
const snap = (minute: number) => Math.round(minute / step) * step;
const height = (column: HTMLElement) => column.getBoundingClientRect().height;
const minuteAt = (column: HTMLElement, y: number) => first + ((y - column.getBoundingClientRect().top) / height(column)) * (last - first);

let drag: Drag | null = null;
let waiting = 0; // the timer of a resting finger
let pressed: { x: number; y: number; target: Element; mouse: boolean } | null = null;
let dragged = false; // true if the click after the drag must be ignored

function begin(x: number, y: number) {
  const target = pressed!.target;
  const column = target.closest<HTMLElement>(".slots");
  const box = target.closest<HTMLElement>(".box");
  if (!column || (box && !box.dataset.booking)) return;
  const shadow = document.createElement("div");
  shadow.className = "shadow";
  const at = minuteAt(column, pressed!.y);
  if (box) {
    const place = box.getBoundingClientRect();
    const top = minuteAt(column, place.top);
    drag = { box, from: column, shadow, grabbed: at - top, length: (place.height / height(column)) * (last - first), start: 0 };
    box.classList.add("dragged");
  } else {
    drag = { box, from: column, shadow, grabbed: 0, length: 0, start: snap(at) };
  }
  document.documentElement.classList.add("dragging");
  move(x, y);
}

function move(x: number, y: number) {
  if (!drag) return;
  const under = document.elementsFromPoint(x, y).find((e) => e.matches(".slots")) as HTMLElement | undefined;
  const column = drag.box ? under ?? drag.to?.column ?? drag.from : drag.from;
  const at = minuteAt(column, y);
  const from = drag.box ? Math.max(first, Math.min(snap(at - drag.grabbed), last - step)) : Math.min(drag.start, snap(at));
  const until = drag.box ? from + drag.length : Math.max(drag.start + step, snap(at));
  drag.to = { column, minute: Math.max(from, first) };
  const share = (minutes: number) => `${(100 * minutes) / (last - first)}%`;
  drag.shadow.style.insetBlockStart = share(from - first);
  drag.shadow.style.blockSize = share(Math.min(until, last) - from);
  drag.shadow.textContent = clock(from);
  scroll(x, y);
  if (drag.shadow.parentElement !== column) column.append(drag.shadow);
}

// scroll moves the calendar while a drag is near one of its edges.
function scroll(x: number, y: number) {
  const { top, bottom, left, right } = calendar!.getBoundingClientRect();
  calendar!.scrollBy(x > right - edge ? 12 : x < left + edge ? -12 : 0, y > bottom - edge ? 12 : y < top + edge ? -12 : 0);
}

// openMenu opens the menu of an empty time. A key press on free time follows its link instead.
function openMenu(event: MouseEvent) {
  const target = event.target as Element;
  const column = target.closest<HTMLElement>(".slots");
  const menu = document.querySelector<HTMLElement>("#slot-menu");
  if (!column || !menu?.showPopover || event.detail === 0 || target.closest(".box")) return;
  event.preventDefault();
  const minute = Math.floor(minuteAt(column, event.clientY) / menuStep) * menuStep;
  const { date, staff } = column.dataset as Record<string, string>;
  const hour = { date, staff_id: staff, from: clock(minute), to: clock(Math.min(minute + 60, 24 * 60 - 1)) };
  const choices: Record<string, Record<string, string>> = { time: { date, staff, time: clock(minute) }, hour, day: { date, staff_id: staff } };
  menu.querySelector("p")!.textContent = clock(minute);
  for (const link of menu.querySelectorAll<HTMLAnchorElement>("a[data-with]")) {
    const address = new URL(link.href);
    for (const [name, value] of Object.entries(choices[link.dataset.with!])) address.searchParams.set(name, value);
    link.href = address.href;
  }
  menu.showPopover();
  menu.style.left = `${Math.max(8, Math.min(event.clientX, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(event.clientY, innerHeight - menu.offsetHeight - 8))}px`;
  menu.querySelector("a")!.focus();
}

function drop() {
  const { box, from, to } = drag!;
  stop();
  dragged = true;
  if (!to) return;
  const date = to.column.dataset.date!;
  if (!box) {
    location.href = `${calendar!.dataset.new}&${new URLSearchParams({ date, time: clock(to.minute), staff: to.column.dataset.staff! })}`;
    return;
  }
  const [seenDate, seenTime] = box.dataset.seen!.split(" ");
  if (to.column === from && date === seenDate && clock(to.minute) === seenTime.slice(0, 5)) return;
  const say = (name: string, value: string) => ((form!.elements.namedItem(name) as HTMLInputElement).value = value);
  say("date", date);
  say("time", clock(to.minute));
  say("staff", to.column.dataset.staff || box.dataset.staff!);
  say("seen", box.dataset.seen!);
  form!.action = `${bookings}${box.dataset.booking}/drop`;
  sessionStorage.setItem("calendar", JSON.stringify([scrollY, calendar!.scrollLeft, calendar!.scrollTop]));
  box.setAttribute("aria-busy", "true");
  form!.requestSubmit();
}

function stop() {
  clearTimeout(waiting);
  drag?.shadow.remove();
  drag?.box?.classList.remove("dragged");
  document.documentElement.classList.remove("dragging");
  drag = null;
  pressed = null;
}

if (calendar && form) {
  const place = sessionStorage.getItem("calendar");
  if (place) {
    sessionStorage.removeItem("calendar");
    const [down, across, inside] = JSON.parse(place);
    calendar.scrollTo({ left: across, top: inside, behavior: "instant" });
    scrollTo({ top: down, behavior: "instant" });
  }
  calendar.addEventListener("pointerdown", (event) => {
    const target = event.target as Element;
    if (!event.isPrimary || event.button !== 0 || !target.closest(".slots")) return;
    const mouse = event.pointerType === "mouse";
    pressed = { x: event.clientX, y: event.clientY, target, mouse };
    dragged = false;
    if (!mouse) waiting = window.setTimeout(() => begin(event.clientX, event.clientY), rest);
  });
  addEventListener("pointermove", (event) => {
    if (drag) return move(event.clientX, event.clientY);
    if (!pressed || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < slack) return;
    if (pressed.mouse) begin(event.clientX, event.clientY);
    else stop(); // the finger scrolls
  });
  addEventListener("pointerup", () => (drag ? drop() : stop()));
  addEventListener("pointercancel", stop);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drag) {
      stop();
      dragged = true;
    }
  });
  calendar.addEventListener("dragstart", (event) => event.preventDefault()); // prevents that the browser drags a link
  calendar.addEventListener("touchmove", (event) => { if (drag) event.preventDefault(); }, { passive: false });
  calendar.addEventListener("contextmenu", (event) => { if (pressed && !pressed.mouse) event.preventDefault(); });
  calendar.addEventListener("click", (event) => { dragged ? event.preventDefault() : openMenu(event); dragged = false; }, true);
}

// Choosing a date or a location shows it at once.
for (const input of document.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-submits]")) {
  input.addEventListener("change", () => input.form!.requestSubmit());
}

// The calendar begins at the current time.
const now = calendar?.querySelector<HTMLElement>(".now");
if (calendar && now && !calendar.scrollTop) calendar.scrollTo({ top: now.offsetTop - calendar.clientHeight / 3, behavior: "instant" });
