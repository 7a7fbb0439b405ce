// The first form of a business begins with the zone that the browser is in.
const zone = document.querySelector<HTMLInputElement>("form[data-first] [name=timezone]");
if (zone && !zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
