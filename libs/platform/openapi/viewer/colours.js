
// The reference uses the colours of the page.
const reference = document.querySelector("rapi-doc");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const paint = () => {
  reference.setAttribute("theme", dark.matches ? "dark" : "light");
  reference.setAttribute("bg-color", dark.matches ? "#121816" : "#ffffff");
  reference.setAttribute("primary-color", dark.matches ? "#6fcbb2" : "#1f6f5c");
};
dark.addEventListener("change", paint);
paint();
