// The first free times and the free places come after the page. The lines for them are there before.
let texts: Promise<Record<string, string>> | undefined;

export const fillFreeTimes = async () => {
  const lines = document.querySelectorAll<HTMLElement>(".free");
  const address = document.querySelector<HTMLElement>("[data-free]")?.dataset.free;
  if (lines.length === 0 || !address) return;
  texts ??= fetch(address).then((answer) => (answer.ok ? answer.json() : {})).catch(() => ({}));
  const known = await texts;
  for (const line of lines) line.textContent = known[line.id] ?? "";
};
fillFreeTimes();
