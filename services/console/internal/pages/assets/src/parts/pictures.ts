// A chosen picture is uploaded at once, and the buttons of pictures work without loading the page again. The server
// answers with the whole form, of which only the field of the picture is replaced.

const maxBytes = 10 << 20;

async function send(field: HTMLElement, button: string) {
  const form = field.closest("form");
  if (!form || field.ariaBusy === "true") return;
  const chosen = field.querySelector<HTMLInputElement>("input[type=file]");
  if (chosen?.files?.[0] && chosen.files[0].size > maxBytes) return refuse(field, chosen);
  const body = new FormData(form);
  for (const other of form.querySelectorAll<HTMLInputElement>("input[type=file]")) {
    if (other !== chosen) body.delete(other.name);
  }
  body.set("more", button);
  field.ariaBusy = "true";
  try {
    const answer = await fetch(form.action, { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const replaced = page.getElementById(field.id);
    if (!replaced) throw new Error("the answer has no such field");
    field.replaceWith(replaced);
    replaced.querySelector<HTMLElement>("input[type=file]")?.focus();
  } catch {
    field.ariaBusy = null; // the button sends the form without this script
    field.dataset.failed = "yes";
  }
}

// refuse shows that the chosen file is too large, as the server would.
function refuse(field: HTMLElement, chosen: HTMLInputElement) {
  chosen.value = "";
  field.querySelector(".field-error")?.remove();
  const error = document.createElement("p");
  error.className = "field-error";
  error.role = "alert";
  error.textContent = field.dataset.large ?? "";
  chosen.after(error);
}

document.addEventListener("change", (event) => {
  const field = (event.target as HTMLElement).closest<HTMLElement>(".picture-field");
  const input = event.target as HTMLInputElement;
  if (field && input.type === "file" && input.files?.length) void send(field, `${input.name.slice(0, -".file".length)}.upload`);
});

document.addEventListener("click", (event) => {
  const button = (event.target as HTMLElement).closest<HTMLButtonElement>(".picture-field button[name=more]");
  const field = button?.closest<HTMLElement>(".picture-field");
  if (!button || !field || field.dataset.failed) return;
  event.preventDefault();
  void send(field, button.value);
});
