// Adds line numbers to the offer as text, marks the lines with problems, and shows the problem of the line with the
// caret.
const editor = document.querySelector<HTMLElement>(".editor");
const area = editor?.querySelector("textarea");
const numbers = editor?.querySelector<HTMLElement>(".numbers");
const status = document.querySelector<HTMLElement>(".at-line");

if (editor && area && numbers && status) {
  const wrong = new Set((editor.dataset.wrong ?? "").split(" "));
  const said = new Map<string, string>();
  const tell = () => {
    const line = String(area.value.slice(0, area.selectionStart).split("\n").length);
    const sentence = said.get(line) ?? "";
    if (status.textContent !== sentence) status.textContent = sentence;
  };
  for (const link of document.querySelectorAll<HTMLElement>(".problems [data-line]")) {
    const line = link.dataset.line ?? "";
    const sentence = link.closest("li")?.querySelector("p")?.textContent ?? "";
    said.set(line, [said.get(line), sentence].filter(Boolean).join(" "));
    const choose = (event: Event) => {
      event.preventDefault();
      const lines = area.value.split("\n");
      const place = Number(line) - 1;
      const begin = lines.slice(0, place).reduce((length, before) => length + before.length + 1, 0);
      area.focus();
      area.setSelectionRange(begin, begin + (lines[place] ?? "").length);
      area.scrollTop = (area.scrollHeight / lines.length) * (place - 4);
      tell();
    };
    link.addEventListener("click", choose);
    // Enter selects a line on keyup. On keydown, the browser would then replace the line by the Enter.
    link.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    link.addEventListener("keyup", (event) => event.key === "Enter" && choose(event));
  }
  let shown = 0;
  const number = () => {
    const count = area.value.split("\n").length;
    if (count === shown) return;
    shown = count;
    numbers.replaceChildren();
    for (let line = 1; line <= count; line++) {
      const element = wrong.has(String(line)) ? document.createElement("b") : document.createElement("span");
      element.textContent = (wrong.has(String(line)) ? "● " : "") + line + "\n";
      numbers.append(element);
    }
  };
  number();
  area.addEventListener("input", number);
  area.addEventListener("scroll", () => (numbers.scrollTop = area.scrollTop));
  for (const event of ["click", "input", "keyup"]) area.addEventListener(event, tell);
}
