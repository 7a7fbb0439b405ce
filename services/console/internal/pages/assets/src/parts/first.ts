// The first form of a business suggests the browser's time zone.
const zone = document.querySelector<HTMLInputElement>("form[data-first] [name=timezone]");
if (zone && !zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
