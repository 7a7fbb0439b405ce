// The preview of a message follows the text while a person types. Without this script, its button shows the preview.
const form = document.querySelector<HTMLFormElement>("form[data-preview]");
const button = document.querySelector<HTMLButtonElement>("#preview-button");
let timer = 0;

form?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => button && form.requestSubmit(button), 500);
});

// Each preview gets a new frame. The first document of a frame adds no entry to the browser's history, but each further
// document does.
form?.addEventListener("submit", (event) => {
  const frame = document.querySelector<HTMLIFrameElement>("iframe[name=preview]");
  if (!frame || event.submitter !== button) {
    return;
  }
  const next = frame.cloneNode() as HTMLIFrameElement;
  next.removeAttribute("src");
  frame.replaceWith(next);
});
