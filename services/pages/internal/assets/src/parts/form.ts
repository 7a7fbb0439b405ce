// The form that books, if the page has one.
const token = document.querySelector<HTMLInputElement>('form[method="post"] input[name="token"]');

// The address keeps the token of a form that was not sent yet: going back to it shows the same form, which books only once.
if (token && "new" in token.dataset) {
  const here = new URL(location.href);
  here.searchParams.set("form", token.value);
  history.replaceState(history.state, "", here);
}

// Another language keeps what was typed: the form goes along, and is shown again.
for (const link of document.querySelectorAll<HTMLAnchorElement>(".languages a")) {
  link.addEventListener("click", (event) => {
    if (!token?.form || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const copy = document.createElement("form");
    copy.method = "post";
    copy.action = link.href;
    const add = (name: string, value: string) => {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      field.value = value;
      copy.append(field);
    };
    for (const [name, value] of new FormData(token.form)) if (typeof value === "string") add(name, value);
    add("stay", "yes");
    document.body.append(copy);
    copy.submit();
    copy.remove();
  });
}
