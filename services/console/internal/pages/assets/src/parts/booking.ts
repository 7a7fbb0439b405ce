// The form for a new booking. A press on a free start fills in the date and the time; another service, member or
// location shows other starts. Without scripts, the same buttons send the form.

const starts = document.querySelector<HTMLElement>(".starts");
const fields = starts?.closest("form")?.elements;
const input = (name: string) => fields?.namedItem(name) as HTMLInputElement | null;

starts?.addEventListener("click", (event) => {
  const chip = (event.target as Element).closest<HTMLButtonElement>("button.chip");
  if (!chip) return;
  event.preventDefault();
  const [date, time] = chip.value.split(" ");
  input("date")!.value = date;
  input("time")!.value = time;
  input("session")?.remove(); // the session of another start
  for (const other of starts.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  chip.setAttribute("aria-current", "true");
});
for (const name of ["service", "staff", "location"]) {
  input(name)?.addEventListener("change", () => starts!.closest("form")!.requestSubmit(starts!.querySelector<HTMLButtonElement>(".refresh")));
}
