import "../../../../../../libs/platform/web/script/sent";
import "./parts/calendar";
import "./parts/copy";
import "./parts/first";
import "./parts/text";

// What makes the owner's pages quicker where the browser runs scripts; each of them works without.

// "/" and Ctrl-K lead to the search; Escape closes the booking beside the list.
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

// What needs a script is seen where there is one.
document.documentElement.dataset.script = "yes";
document.addEventListener("click", (event) => {
  if ((event.target as HTMLElement).closest(".print")) print();
});
