// The preview of a message follows the text while a person types. Without this script, its button shows the preview.
const form = document.querySelector<HTMLFormElement>("form[data-preview]");
const button = document.querySelector<HTMLButtonElement>("#preview-button");
let timer = 0;

form?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => button && form.requestSubmit(button), 500);
});
