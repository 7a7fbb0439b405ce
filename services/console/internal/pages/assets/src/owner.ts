import "../../../../../../libs/platform/web/script/sent";
import "./parts/calendar";
import "./parts/copy";
import "./parts/first";
import "./parts/pictures";
import "./parts/text";
import "./parts/words";

// Scripts that make the owner's pages faster to use. Each page works without scripts.

// "/" and Ctrl-K focus the search. Escape closes the booking beside the list.
addEventListener("keydown", (event) => {
  const typing = (event.target as HTMLElement).closest("input, select, textarea");
  const search = document.querySelector<HTMLInputElement>("#search");
  if (search && ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey)))) {
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "Escape" && !typing) {
    document.querySelector<HTMLAnchorElement>(".drawer .close")?.click();
  }
});

// Elements that need a script are visible only with scripts.
document.documentElement.dataset.script = "yes";
document.addEventListener("click", (event) => {
  if ((event.target as HTMLElement).closest(".print")) print();
});
