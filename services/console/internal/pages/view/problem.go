package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// problemSentences maps the codes of problems to the ids of message texts. Forms use the same message texts for invalid
// inputs.
var problemSentences = map[manifest.Code]string{
	manifest.CodeMissing: form.RequiredValue,
	manifest.CodeNumber:  form.InvalidAmount,
}

// ProblemSentence returns the id of the message text about a problem with the given code. If the code is unknown, it
// returns the id of a general message text.
func ProblemSentence(code manifest.Code) string {
	if sentence, has := problemSentences[code]; has {
		return sentence
	}
	if slices.Contains(manifest.Codes(), code) {
		return "problem_" + string(code)
	}
	return "problem_other"
}

// Problem returns a message text about an invalid value of the offer in the reader's language. The message text
// explains what is wrong and what would be right. The message text contains the labels of fields and the names of
// objects, instead of the keys of both. The argument `fields` has the fields of the whole offer.
func (p *Page) Problem(fields document.Fields, problem manifest.Problem) string {
	params := maps.Clone(problem.Params)
	if params == nil {
		params = map[string]string{}
	}
	if with, has := params["With"]; has {
		params["With"] = p.labelField(with)
	}
	if list, has := params["Fields"]; has {
		names := strings.Fields(list)
		for i, name := range names {
			names[i] = p.labelField(name)
		}
		params["Fields"] = strings.Join(names, ", ")
	}
	if value, has := params["Value"]; has && problem.Code == manifest.CodeTwice {
		last := problem.Path[strings.LastIndexByte(problem.Path, '.')+1:]
		field, _, _ := strings.Cut(last, "[")
		params["Value"], _ = p.replaceKeys(fields, field, value).(string)
	}
	if problem.Code == manifest.CodeForeignLanguage {
		params["Under"] = p.say("offer_translations")
	}
	sentence := p.Words.Fill(ProblemSentence(problem.Code), params)
	if meant, has := params["Meant"]; has {
		sentence += " " + p.Words.With("problem_meant", "Meant", meant)
	}
	return sentence
}
