// The hours of a week. A day that is switched on gets the hours of the open day before it, or of the first open day.
document.addEventListener("change", (event) => {
  const box = event.target as HTMLInputElement;
  const day = box.closest<HTMLElement>(".weekday");
  if (!day || box.type !== "checkbox" || !box.checked || !box.closest(".label")) return;
  const times = (of: HTMLElement) => [...of.querySelectorAll<HTMLInputElement>("input[type=time]")];
  if (times(day).some((input) => input.value)) return;
  const open = [...day.parentElement!.querySelectorAll<HTMLElement>(".weekday")].filter((other) => other !== day && times(other).some((input) => input.value) && other.querySelector<HTMLInputElement>(".label input")?.checked);
  const before = open.filter((other) => other.compareDocumentPosition(day) & Node.DOCUMENT_POSITION_FOLLOWING).pop() ?? open[0];
  if (!before) return times(day)[0]?.focus();
  const from = times(before);
  const to = times(day);
  to[0].value = from[0].value;
  to[to.length - 1].value = from[from.length - 1].value;
});
