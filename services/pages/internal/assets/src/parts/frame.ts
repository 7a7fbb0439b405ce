// Where another site shows the page in a frame. The browser lets only those do that which the business lists, so the first to say hello
// from outside the frame is one of them, and is told what happens here: it alone, by its origin.

if (window.parent !== window) {
  let host = "";
  const tell = (message: object) => window.parent.postMessage(message, host);
  const root = document.documentElement;
  root.dataset.framed = "yes";

  addEventListener("message", (event) => {
    if (host || event.source !== window.parent || event.data?.type !== "slotmesh:hello") return;
    host = event.origin;
    const fill = event.data.fill ?? {};
    for (const name of ["name", "email", "phone"]) {
      const field = document.querySelector<HTMLInputElement>(`input[name="${name}"]`);
      if (field && !field.value && typeof fill[name] === "string") field.value = fill[name];
    }
    new ResizeObserver(() => tell({ type: "slotmesh:height", height: Math.ceil(root.getBoundingClientRect().height) })).observe(root);
    const told = document.querySelector<HTMLElement>("[data-told]");
    if (told) tell({ type: `slotmesh:${told.dataset.told}`, id: told.dataset.id });
  });

  // A provider's own page refuses to be framed.
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-leaves]")) {
    form.addEventListener("submit", () => { form.target = new FormData(form).get("pay") === "at_door" ? "" : "_top"; });
  }
}
