// What another site includes to show the booking page of a business within its own (README.md, Embedding):
//
//   <script src="…/embed.js" data-slug="harbor" data-mode="inline" async></script>
//
// It runs beside code that it does not know, so it leaves nothing behind but what it shows, and hears its own frame alone.
{
  const script = document.currentScript as HTMLScriptElement;
  const set = script.dataset;
  const home = new URL(script.src).origin;
  const base = script.src.replace(/\/embed\.js.*/, "");

  // The frame as high as its page says. What is to stand in the form goes by message, never by the address, which is logged.
  const frame = (): HTMLIFrameElement => {
    const shown = document.createElement("iframe");
    const address = new URL(`${base}/b/${encodeURIComponent(set.slug ?? "")}`);
    if (set.lang) address.searchParams.set("lang", set.lang);
    shown.src = address.href;
    shown.title = set.title || "Booking";
    shown.style.cssText = "display:block;width:100%;height:640px;border:0;color-scheme:light dark";
    let heard = false;
    shown.addEventListener("load", () => {
      const { name, email, phone } = set;
      shown.contentWindow?.postMessage({ type: "slotmesh:hello", fill: { name, email, phone } }, home);
      setTimeout(() => {
        if (!heard) console.warn(`Slotmesh: ${location.origin} may not show this page; add it to page.embed_origins`);
      }, 5000);
    });
    addEventListener("message", (event) => {
      if (event.source !== shown.contentWindow || event.origin !== home) return;
      heard = true;
      if (event.data?.type === "slotmesh:height") shown.style.height = `${Number(event.data.height)}px`;
    });
    return shown;
  };

  // The page above everything else: a dialog of the browser's, which keeps the focus and closes with Escape.
  let dialog: HTMLDialogElement | undefined;
  const open = () => {
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.style.cssText = "width:min(44rem,100%);max-width:100%;max-height:100%;padding:0;border:0;border-radius:12px;overflow:auto";
      const close = document.createElement("button");
      close.textContent = "×";
      close.setAttribute("aria-label", set.close || "Close");
      close.style.cssText = "position:sticky;float:right;top:8px;margin:8px;width:44px;height:44px;border:0;border-radius:50%;font:24px/1 system-ui;cursor:pointer";
      close.onclick = () => dialog?.close();
      dialog.append(close, frame());
      document.body.append(dialog);
    }
    dialog.showModal();
  };

  if (set.mode === "button") {
    const button = document.createElement("button");
    button.textContent = set.label || "Book now";
    button.style.cssText =
      "position:fixed;inset:auto 20px 20px auto;z-index:9999;min-height:48px;padding:0 24px;border:0;border-radius:24px;font:600 16px system-ui;cursor:pointer;color:#fff;background:" +
      (set.color || "#1f4fd8");
    button.onclick = open;
    document.body.append(button);
  } else if (set.mode === "popup") {
    document.addEventListener("click", (event) => {
      const pressed = (event.target as Element).closest<HTMLElement>("[data-slotmesh-open]");
      if (!pressed || (pressed.dataset.slotmeshOpen || set.slug) !== set.slug) return;
      event.preventDefault();
      open();
    });
  } else {
    script.after(frame());
  }
}
