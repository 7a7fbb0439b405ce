// A form that changes something shows on the pressed button that it is being sent, and is not sent twice. One that only asks for a page may be.
document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (form.method === "get") return;
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
