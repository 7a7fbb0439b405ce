// Passkeys, which browsers support only in scripts. The server sends the data to be signed. The page's form sends the
// signature of the device.

type Json = Record<string, any>;

const bytes = (text: string) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (of: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(of))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const named = (list: Json[] | undefined) => list?.map((one) => ({ ...one, id: bytes(one.id) }));

// answer asks the device for a signature. The device asks the user.
async function answer(asked: Json): Promise<Json> {
  const options: Json = { ...asked, challenge: bytes(asked.challenge), excludeCredentials: named(asked.excludeCredentials), allowCredentials: named(asked.allowCredentials) };
  if (asked.user) options.user = { ...asked.user, id: bytes(asked.user.id) };
  const made = (asked.user
    ? await navigator.credentials.create({ publicKey: options as PublicKeyCredentialCreationOptions })
    : await navigator.credentials.get({ publicKey: options as PublicKeyCredentialRequestOptions })) as PublicKeyCredential;
  const from = made.response as AuthenticatorAttestationResponse & AuthenticatorAssertionResponse;
  const response: Json = { clientDataJSON: text(from.clientDataJSON) };
  if (asked.user) {
    response.attestationObject = text(from.attestationObject);
    response.transports = from.getTransports?.() ?? [];
  } else {
    response.authenticatorData = text(from.authenticatorData);
    response.signature = text(from.signature);
    if (from.userHandle) response.userHandle = text(from.userHandle);
  }
  return { id: made.id, rawId: text(made.rawId), type: made.type, response, clientExtensionResults: {} };
}

async function send(form: HTMLFormElement): Promise<string> {
  const value = (name: string) => form.elements.namedItem(name) as HTMLInputElement | null;
  const typed = document.querySelector<HTMLInputElement>("#f-email");
  const email = value("email");
  if (email && typed) email.value = typed.value;
  try {
    const begun = await fetch(form.dataset.begin!, { method: "POST", body: new URLSearchParams({ email: email?.value ?? "" }) });
    const told: Json = await begun.json();
    if (!begun.ok) return told.message ?? form.dataset.failed;
    value("credential")!.value = JSON.stringify(await answer(told.publicKey));
  } catch {
    return form.dataset.failed!; // the user cancelled, or the device has no passkey
  }
  form.submit();
  return "";
}

for (const form of document.querySelectorAll<HTMLFormElement>("form.passkey")) {
  const says = form.querySelector<HTMLElement>("[role=alert]")!;
  const button = form.querySelector("button")!;
  form.hidden = !window.PublicKeyCredential;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    says.hidden = true;
    const wrong = await send(form);
    if (!wrong) return;
    button.ariaBusy = "false";
    says.textContent = wrong;
    says.hidden = false;
  });
}
