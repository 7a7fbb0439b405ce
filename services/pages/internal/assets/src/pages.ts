// What makes the pages quicker where the browser runs scripts; each of them works without.
import "./parts/frame";
import "./parts/month";

// A form that is being sent shows it on its button, and is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  event.submitter?.setAttribute("aria-busy", "true");
});

// Who comes back by the browser's button finds the form as it was, ready to be sent.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
  }
});

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
