package manifest

import "github.com/slotmesh/slotmesh/libs/values/color"

// checkPage checks the settings of the booking page. White text on the accent color must have a contrast of at
// least 4.5 : 1 (pages.md), no origin may be listed twice, and all translations must be into offered languages.
func (v *validator) checkPage(at *path) {
	if v.m.Page == nil {
		return
	}
	if c, err := color.Parse(string(v.m.Page.Accent)); err == nil {
		if ratio := color.Contrast(c, color.White); ratio < color.MinContrast {
			v.addProblem(at.field("accent"),
				"is %s, on which white text has a contrast of %.1f : 1, below %.1f; write a darker one such as %s",
				c, ratio, color.MinContrast, color.Readable(c, color.White)).
				setCode(CodeContrast, "Color", color.Readable(c, color.White))
		}
	}
	checkUnique(v, at.field("embed_origins"), v.m.Page.EmbedOrigins, "", identity[Origin])
	checkUnique(v, at.field("gallery"), v.m.Page.Gallery, "", identity[PictureID])
	checkTranslations(v, at, v.m.Page.Translations)
}

func (v *validator) checkForm(at *path) {
	checkUnique(v, at, v.m.Form, "key", func(q *Question) Key { return q.Key })
	for i := range v.m.Form {
		q, here := &v.m.Form[i], at.item(i)
		if !v.report.hasFailed(here.field("type")) {
			v.checkQuestionType(here, q)
		}
		v.checkKeys(here.field("services"), q.Services, &v.services)
		v.checkKeys(here.field("events"), q.Events, &v.events)
		v.checkKeys(here.field("rentals"), q.Rentals, &v.rentals)
		checkTranslations(v, here, q.Translations)
	}
}

// checkQuestionType checks the fields that only certain types of questions may have.
func (v *validator) checkQuestionType(at *path, q *Question) {
	options := at.field("options")
	switch {
	case q.Type != "select" && q.Options != nil:
		v.addProblem(options, "goes only with type select, not %s; remove it or set that", q.Type).
			setCode(CodeExcludes, "With", "type")
	case q.Type == "select" && len(q.Options) == 0:
		v.addProblem(options, "is missing; type select needs at least one").setCode(CodeMissing)
	}
	if q.MaxLength != nil && q.MaxAnswerLength() == 0 {
		v.addProblem(at.field("max_length"), "goes only with type text or textarea, not %s; remove it", q.Type).
			setCode(CodeExcludes, "With", "type")
	}
	if q.Consent && q.Type != "checkbox" {
		v.addProblem(at.field("consent"), "goes only with type checkbox, not %s; remove it or set that", q.Type).
			setCode(CodeExcludes, "With", "type")
	}
	checkUnique(v, options, q.Options, "key", func(o *QuestionOption) Key { return o.Key })
	for i := range q.Options {
		checkTranslations(v, options.item(i), q.Options[i].Translations)
	}
}
