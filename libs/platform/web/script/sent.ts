// When a form with method POST is sent, its button shows that it is being sent, and the form cannot be sent again.
// Forms with method GET, and forms whose answer a frame shows, can be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (form.method === "get" || event.submitter?.hasAttribute("formtarget")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  event.submitter?.setAttribute("aria-busy", "true");
});

// If the user returns with the browser's back button, the form can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
  }
});
