import { fillFreeTimes } from "./free";

// A service is added to the cart without a jump of the page: the list and the column beside it are replaced in place.
document.addEventListener("click", async (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-cart]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const row = link.closest(".card, .cart")?.id;
  const links = () => [...document.querySelectorAll<HTMLAnchorElement>(`#${row} a`)];
  const place = links().indexOf(link);
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const list = page.querySelector(".groups");
    if (!answer.ok || !list) throw new Error();
    document.querySelector(".groups")?.replaceWith(list);
    document.querySelector(".beside")?.remove();
    document.querySelector(".shop")?.append(page.querySelector(".beside") ?? "");
    fillFreeTimes();
    history.replaceState(history.state, "", link.href.split("#")[0]);
    (links()[place] ?? list.querySelector("a"))?.focus({ preventScroll: true });
  } catch {
    location.href = link.href;
  }
});
