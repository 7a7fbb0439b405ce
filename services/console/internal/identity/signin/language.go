package signin

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// chooseLanguage stores the language in which the signed-in person sees the pages and gets mails. The language must be
// one of the languages of the pages.
func (p *Pages) chooseLanguage(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	chosen := form.Get("language")
	if !slices.Contains(p.texts.Languages(), chosen) {
		return fault.New(fault.InvalidParameter, "The pages do not speak this language; choose one of the list.")
	}
	if err := p.accounts.ChooseLanguage(c.UserContext(), SignedInPerson(c), chosen); err != nil {
		return err
	}
	return c.Redirect("/account?done=language", fiber.StatusSeeOther)
}
