// "Copy" copies a whole text. If the browser provides no clipboard, for example over HTTP from another machine, the
// text is selected, so that the user can copy it.
document.addEventListener("click", async (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>("[data-copy]");
  const text = button && document.getElementById(button.dataset.copy ?? "");
  if (!button || !text) return;
  try {
    await navigator.clipboard.writeText(text.textContent ?? "");
    button.textContent = button.dataset.copied ?? "";
  } catch {
    getSelection()?.selectAllChildren(text);
  }
});
