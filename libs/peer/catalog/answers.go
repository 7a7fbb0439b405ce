package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Answer is an answer of a customer to a question of the business. Of a question that is no longer asked Question has the key alone.
type Answer struct {
	Question Question
	Value    any // a JSON value, numbers as [json.Number]
}

// AnswersIn returns the answers in form_data, in the order of the questions; those to questions that are no longer asked come last.
func (o *Offer) AnswersIn(formData json.RawMessage) []Answer {
	var given map[string]any
	if unmarshalNumbers(formData, &given) != nil {
		return nil
	}
	consents, _ := given[Consents].(map[string]any)
	var answers []Answer
	for _, q := range o.Form {
		from := given
		if q.Consent {
			from = consents
		}
		if value, ok := from[q.Key]; ok {
			answers = append(answers, Answer{q, value})
			delete(from, q.Key)
		}
	}
	delete(given, Consents)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		answers = append(answers, Answer{Question{Key: key, Label: Label{Text: key}}, given[key]})
	}
	return answers
}

// Text is the answer as a text of one language; yes and no are what stands for a ticked box and one that is not.
func (a Answer) Text(language, yes, no string) string {
	switch v := a.Value.(type) {
	case bool:
		if v {
			return yes
		}
		return no
	case string:
		for _, o := range a.Question.Options {
			if o.Key == v {
				return o.Label.In(language)
			}
		}
		return v
	}
	text, err := json.Marshal(a.Value)
	if err != nil {
		return ""
	}
	return string(text)
}

func unmarshalNumbers(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
