// The first form of a business guesses the time zone from the browser, and the country and the currency from the time
// zone. A chosen country changes the currency and, if needed, the time zone.
const first = document.querySelector<HTMLFormElement>("form[data-first]");
if (first) {
  const field = (name: string) => first.elements.namedItem(name) as HTMLInputElement;
  const [zone, country, currency] = ["timezone", "country", "currency"].map(field);
  const zones = [...first.querySelectorAll<HTMLOptionElement>("#zones option")];
  const fill = (option?: HTMLOptionElement) => {
    if (option?.dataset.currency) currency.value = option.dataset.currency;
  };
  if (first.dataset.first === "true" && !zone.value) {
    zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
    const here = zones.find((option) => option.value === zone.value);
    if (here?.dataset.country) country.value = here.dataset.country;
    fill(here);
  }
  country.addEventListener("change", () => {
    const there = zones.filter((option) => option.dataset.country === country.value);
    if (!there.length) return;
    if (!there.some((option) => option.value === zone.value)) zone.value = there.length === 1 ? there[0].value : "";
    fill(there[0]);
  });
}
