// Results appear while a person types: on the search page in its place, on other pages in a panel below the field. The
// arrow keys move between the results. Without this script, the form leads to the search page.
const form = document.querySelector<HTMLFormElement>("form.search");
const field = form?.querySelector<HTMLInputElement>("input");
let timer = 0;
let last = 0;

function place(): HTMLElement | null {
  return document.querySelector("main #found") ?? document.querySelector("#palette");
}

function openPanel(results: Element) {
  let panel = document.querySelector<HTMLElement>("#palette");
  if (!panel && form && field) {
    panel = document.createElement("div");
    panel.id = "palette";
    panel.setAttribute("role", "region");
    panel.setAttribute("aria-label", form.dataset.found ?? "");
    form.append(panel);
    panel.style.insetBlockStart = `${field.getBoundingClientRect().bottom + 4}px`;
  }
  panel?.replaceChildren(results);
}

function closePanel() {
  document.querySelector("#palette")?.remove();
}

async function find(words: string) {
  const call = ++last;
  if (!form || (words === "" && !document.querySelector("main #found"))) return closePanel();
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams({ query: words }) }).catch(() => null);
  if (!answer?.ok || call !== last) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const results = page.querySelector("#found");
  if (!results || call !== last) return;
  const shown = document.querySelector("main #found");
  if (shown) shown.replaceWith(document.adoptNode(results));
  else openPanel(document.adoptNode(results));
}

field?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => void find(field.value.trim()), 150);
});

addEventListener("keydown", (event) => {
  const shown = place();
  const target = event.target as HTMLElement;
  if (!field || !shown || (target !== field && !shown.contains(target))) return;
  const links = [...shown.querySelectorAll<HTMLElement>("a")];
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step) {
    event.preventDefault();
    (links[links.indexOf(target) + step] ?? (step < 0 ? field : null))?.focus();
  } else if (event.key === "Escape" && shown.id === "palette") {
    event.stopImmediatePropagation();
    closePanel();
    field.focus();
  }
});

// The panel closes when a press is outside of it, or when the focus leaves it.
for (const kind of ["pointerdown", "focusin"])
  addEventListener(kind, (event) => {
    if (!form?.contains(event.target as Node)) closePanel();
  });
