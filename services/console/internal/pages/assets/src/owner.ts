// What makes the owner's pages quicker where the browser runs scripts; each of them works without.

// A form that is being sent shows it on its button, and is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (form.method === "get") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  form.querySelector("[type=submit]")?.setAttribute("aria-busy", "true");
});

// Who comes back by the browser's button finds the form as it was, ready to be sent.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
    form.querySelector("[type=submit]")?.removeAttribute("aria-busy");
  }
});

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
