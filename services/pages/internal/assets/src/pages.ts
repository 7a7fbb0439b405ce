// What makes the pages quicker where the browser runs scripts; each of them works without.
import "../../../../../libs/platform/web/script/sent";
import "./parts/cart";
import "./parts/form";
import "./parts/free";
import "./parts/frame";
import "./parts/month";

// A picture that cannot be loaded leaves an empty place.
const empty = (picture: HTMLImageElement) => {
  picture.src = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
};
document.addEventListener("error", (event) => {
  if (event.target instanceof HTMLImageElement && !event.target.src.startsWith("data:")) empty(event.target);
}, true);
for (const picture of document.querySelectorAll("img")) if (picture.complete && picture.naturalWidth === 0) empty(picture);

// A visitor in another time zone sees the name of the business's zone, and the visitor's own time below each start.
for (const note of document.querySelectorAll<HTMLElement>(".zone")) {
  const clock = (at: Date, timeZone?: string) =>
    new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short", timeZone }).format(at);
  const differs = (at: Date) => clock(at) !== clock(at, note.dataset.zone);
  const starts = "own" in note.dataset ? [...document.querySelectorAll<HTMLTimeElement>(".starts time")] : [];
  const apart = starts.filter((time) => differs(new Date(time.dateTime)));
  for (const time of apart) {
    const shown = document.createElement("span");
    shown.className = "own quiet small";
    shown.textContent = clock(new Date(time.dateTime));
    time.after(" ", shown);
  }
  note.classList.toggle("named", apart.length > 0 || differs(new Date()));
  if (apart.length > 0) note.querySelector("[hidden]")?.removeAttribute("hidden");
}

// The chosen day is in sight.
for (const line of document.querySelectorAll<HTMLElement>(".strip, .people")) {
  const chosen = line.querySelector<HTMLElement>("[aria-current]")?.getBoundingClientRect();
  const box = line.getBoundingClientRect();
  if (chosen && (chosen.left < box.left || chosen.right > box.right)) line.scrollLeft += chosen.left - box.left - 16;
}
