import { fillFreeTimes } from "./free";

// A service is added to the cart without a jump of the page: the list is replaced in place.
document.addEventListener("click", async (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-cart]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const row = link.closest(".card")?.id ?? "";
  const place = [...document.querySelectorAll(`#${row} a`)].indexOf(link);
  try {
    const answer = await fetch(link.href);
    const list = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".groups");
    if (!answer.ok || !list) throw new Error();
    document.querySelector(".groups")?.replaceWith(list);
    fillFreeTimes();
    history.replaceState(history.state, "", link.href.split("#")[0]);
    document.querySelectorAll<HTMLAnchorElement>(`#${row} a`)[place]?.focus({ preventScroll: true });
  } catch {
    location.href = link.href;
  }
});
