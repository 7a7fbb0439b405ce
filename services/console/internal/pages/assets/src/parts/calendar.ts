// The calendar with a pointer. Dragging a booking moves it to another time or member. Dragging over free time books it.
// A drop sends a form; the server decides, and the page that it returns shows the result. A finger drags only after it
// has rested, so that it can also scroll.

const calendar = document.querySelector<HTMLElement>(".calendar");
const form = document.querySelector<HTMLFormElement>("#drop");
const bookings = form?.action; // the common address of bookings
const step = 5; // minutes
const rest = 350; // milliseconds for which a finger rests before it drags
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
  if (drag.shadow.parentElement !== column) column.append(drag.shadow);
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
  sessionStorage.setItem("calendar", JSON.stringify([scrollY, calendar!.scrollLeft]));
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
    const [down, across] = JSON.parse(place);
    calendar.scrollLeft = across;
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
  calendar.addEventListener("click", (event) => { if (dragged) event.preventDefault(); dragged = false; }, true);
}
