package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Answer is a customer's answer to a question of the business. If the business no longer asks
// the question, only the Key and the Label of Question are set, and the label is the key.
type Answer struct {
	Question Question
	Value    any // JSON value; numbers are [json.Number]
}

// AnswersIn returns the answers in `formData`. The answers are in the order of the business's
// questions. After them come the answers to questions that the business no longer asks, sorted by key.
func (o *Snapshot) AnswersIn(formData json.RawMessage) []Answer {
	var values map[string]any
	if unmarshalNumbers(formData, &values) != nil {
		return nil
	}
	consents, _ := values[Consents].(map[string]any)
	var answers []Answer
	for _, q := range o.Form {
		from := values
		if q.Consent {
			from = consents
		}
		if value, ok := from[q.Key]; ok {
			answers = append(answers, Answer{q, value})
			delete(from, q.Key)
		}
	}
	delete(values, Consents)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		answers = append(answers, Answer{Question{Key: key, Label: Label{Text: key}}, values[key]})
	}
	return answers
}

// Text returns the answer as text in one language of the business. The argument
// `yes` is the text for a ticked checkbox, `no` is the text for an unticked one.
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
