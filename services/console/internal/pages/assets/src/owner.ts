import "../../../../../../libs/platform/web/script/sent";
import "./parts/booking";
import "./parts/calendar";
import "./parts/copy";
import "./parts/first";
import "./parts/hours";
import "./parts/order";
import "./parts/pictures";
import "./parts/search";
import "./parts/text";
import "./parts/words";

// Scripts that make the owner's pages faster to use. Each page works without scripts.

// "/" and Ctrl-K focus the search. On a phone, they open its page. Escape closes an open menu, then the booking beside the
// list.
addEventListener("keydown", (event) => {
  const typing = (event.target as HTMLElement).closest("input, select, textarea");
  const search = document.querySelector<HTMLInputElement>("#search");
  if (search && ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey)))) {
    event.preventDefault();
    if (!search.checkVisibility()) document.querySelector<HTMLAnchorElement>(".find")?.click();
    search.focus();
    search.select();
  } else if (event.key === "Escape") {
    const menu = document.querySelector<HTMLDetailsElement>(".menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    } else if (!typing) document.querySelector<HTMLAnchorElement>(".drawer .close")?.click();
  }
});

// A menu closes when a press is outside of it, or when the focus leaves it.
for (const kind of ["pointerdown", "focusin"])
  addEventListener(kind, (event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>(".menu[open]"))
      if (!menu.contains(event.target as Node)) menu.open = false;
  });

// Elements that need a script are visible only with scripts.
document.documentElement.dataset.script = "yes";
document.addEventListener("click", (event) => {
  if ((event.target as HTMLElement).closest(".print")) print();
});
