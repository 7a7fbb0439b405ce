// Dragging an object of the offer by its handle changes its place in the list. The buttons beside the handle do the same
// without a pointer. A drop sends the form of the object; the server decides.

let dragged: { row: HTMLElement; after: Element | null; pointer: number } | null = null;

const isSibling = (element: Element | null): element is HTMLElement => !!element?.querySelector(".grip");

function release() {
  dragged?.row.classList.remove("dragged-row");
  const last = dragged;
  dragged = null;
  return last;
}

document.addEventListener("pointerdown", (event) => {
  const grip = (event.target as Element).closest<HTMLElement>(".grip");
  const row = grip?.closest<HTMLElement>(".row");
  if (!grip || !row || !event.isPrimary || event.button !== 0) return;
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  dragged = { row, after: row.nextElementSibling, pointer: event.pointerId };
  row.classList.add("dragged-row");
});

document.addEventListener("pointermove", (event) => {
  if (!dragged || event.pointerId !== dragged.pointer) return;
  const { row } = dragged;
  const middle = (of: Element) => of.getBoundingClientRect().top + of.getBoundingClientRect().height / 2;
  for (let before = row.previousElementSibling; isSibling(before) && event.clientY < middle(before); before = row.previousElementSibling) before.before(row);
  for (let after = row.nextElementSibling; isSibling(after) && event.clientY > middle(after); after = row.nextElementSibling) after.after(row);
});

document.addEventListener("pointerup", (event) => {
  if (!dragged || event.pointerId !== dragged.pointer) return;
  const { row, after } = release()!;
  if (row.nextElementSibling === after) return;
  const form = row.querySelector<HTMLFormElement>(".moves")!;
  const next = row.nextElementSibling?.querySelector<HTMLInputElement>("[name=key]");
  for (const [name, value] of [["to", "before"], ["before", next?.value ?? ""]]) {
    const input = document.createElement("input");
    [input.type, input.name, input.value] = ["hidden", name, value];
    form.append(input);
  }
  form.submit();
});

function cancel() {
  const last = release();
  if (last) last.row.parentElement!.insertBefore(last.row, last.after);
}
document.addEventListener("pointercancel", cancel);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && dragged) cancel();
});
