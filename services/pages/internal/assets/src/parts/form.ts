// The form that books, if the page has one.
const token = document.querySelector<HTMLInputElement>('form[method="post"] input[name="token"]');

// The address keeps the token of a form that was not sent yet: going back to it shows the same form, which books only once.
if (token && "new" in token.dataset) {
  const here = new URL(location.href);
  here.searchParams.set("form", token.value);
  history.replaceState(history.state, "", here);
}
