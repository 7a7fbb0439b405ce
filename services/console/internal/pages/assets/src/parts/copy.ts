// "Copy" takes a text away whole. Where the browser gives no clipboard, as by http from another machine, the text is selected to be copied by hand.
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
