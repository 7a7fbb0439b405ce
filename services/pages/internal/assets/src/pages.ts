// What makes the pages quicker where the browser runs scripts; each of them works without.
import "../../../../../libs/platform/web/script/sent";
import "./parts/form";
import "./parts/frame";
import "./parts/month";

// A picture that is not there leaves an empty frame, not a broken one.
for (const picture of document.querySelectorAll<HTMLImageElement>("img")) {
  const empty = () => { picture.src = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"; };
  picture.addEventListener("error", empty, { once: true });
  if (picture.complete && picture.naturalWidth === 0) empty();
}

// Who lives in another time zone sees their own time beside the business's.
const zone = document.querySelector<HTMLElement>("[data-zone]");
if (zone) {
  const clock = (at: Date, timeZone?: string) =>
    new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short", timeZone }).format(at);
  for (const time of document.querySelectorAll<HTMLTimeElement>(".starts time")) {
    const at = new Date(time.dateTime);
    const own = clock(at);
    if (own === clock(at, zone.dataset.zone)) continue;
    const shown = document.createElement("span");
    shown.className = "own quiet small";
    shown.textContent = own;
    time.after(" ", shown);
    zone.querySelector("[hidden]")?.removeAttribute("hidden");
  }
}
