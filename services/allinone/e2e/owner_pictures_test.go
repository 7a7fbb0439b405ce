package e2e

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// chooseFileScript chooses a file in the input for the logo, as a person does.
const chooseFileScript = `(() => {
	const gif = atob("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==");
	const bytes = Uint8Array.from(gif, (c) => c.charCodeAt(0));
	const chosen = new DataTransfer();
	chosen.items.add(new File(CONTENT, "logo.gif"));
	const input = document.querySelector('[name="logo.file"]');
	input.files = chosen.files;
	input.dispatchEvent(new Event("change", { bubbles: true }));
	return true;
})()`

// chooseFile chooses a file in the input for the logo. The argument `content` is a JavaScript expression.
func chooseFile(v *visitor.Visitor, content string) {
	visitor.Eval[bool](v, strings.Replace(chooseFileScript, "CONTENT", content, 1))
}

// TestOwnersUploadPictureInABrowser chooses a file in the form of the business. The form shows the picture at once and
// keeps the other inputs. It explains refused files. The saved picture is on the owner's page and on the booking page.
func TestOwnersUploadPictureInABrowser(t *testing.T) {
	t.Parallel()
	p := &pages{platform: sharePlatform(t), chromium: visitor.Open(t)}
	o := p.openBusiness(t, "pictured")
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/offer/business"))
	v.FillElement(`[name="name"]`, "Pictured Hair")
	chooseFile(v, `["no picture"]`)
	v.ExpectText("This file is not a picture.")
	chooseFile(v, `[new Uint8Array(11 << 20)]`)
	v.ExpectText("This file is larger than 10 MB.")
	v.Check()
	chooseFile(v, `[bytes]`)
	v.ExpectElement(`.preview img`)
	if shown := visitor.Eval[string](v, `document.querySelector('[name="name"]').value`); shown != "Pictured Hair" {
		t.Errorf("after the upload, the name is %q", shown)
	}
	v.Press("Save")
	v.ExpectText("Customers see it now")
	v.ExpectElement(`.preview img`)
	v.Check()
	loaded := `document.querySelector(".preview img").decode().then(() => true, () => false)`
	if !visitor.Eval[bool](v, loaded) {
		t.Error("the host of the owner's pages does not serve the picture")
	}
	if text := o.offerText(t); !strings.Contains(text, "logo: ") || !strings.Contains(text, "Pictured Hair") {
		t.Errorf("the manifest:\n%s", text)
	}
	v.Go(p.PublicURL + "/b/" + o.slug)
	v.ExpectElement(`.front .logo`)
}
