package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The types of questions. Each comment below describes the customer's answer to a question of the type.
const (
	QuestionText     = "text"     // one line of text
	QuestionTextarea = "textarea" // several lines of text
	QuestionNumber   = "number"
	QuestionSelect   = "select"   // the key of one of the options
	QuestionCheckbox = "checkbox" // true or false
	QuestionDate     = "date"     // YYYY-MM-DD
	QuestionPhone    = "phone"
)

// Consents is the name of the member of form_data that holds the customer's
// consents. The member is an object with the keys of the consent questions as names.
const Consents = "_consent"

// Question is a question to a customer on the booking page. The customer
// answers it to book a service, to buy tickets or to reserve a rental.
type Question struct {
	Key       string           `json:"key"`
	Label     Label            `json:"label"`
	Type      string           `json:"type"`
	Required  bool             `json:"required"`
	MaxLength int              `json:"max_length,omitempty"` // in characters; for text and textarea
	Options   []QuestionOption `json:"options,omitempty"`    // for select
	// ServiceIDs, EventIDs and RentalIDs list the services, events and rentals for which
	// the question is asked. If all three are empty, the question is asked for everything.
	ServiceIDs []uuid.UUID `json:"service_ids"`
	EventIDs   []uuid.UUID `json:"event_ids,omitempty"`
	RentalIDs  []uuid.UUID `json:"rental_ids,omitempty"`
	Consent    bool        `json:"consent,omitempty"` // for a checkbox: the answer is stored under [Consents]
}

// QuestionOption is one of the possible answers to a question of the type select.
type QuestionOption struct {
	Key   string `json:"key"`
	Label Label  `json:"label"`
}

// Label is a text in the default language of the business, with its translations by language.
type Label struct {
	Text         string            `json:"text"`
	Translations map[string]string `json:"translations,omitempty"`
}

// In returns the text in a language. If there is no translation, it returns the text in the default language.
func (l Label) In(language string) string {
	if translated, ok := l.Translations[language]; ok {
		return translated
	}
	return l.Text
}

// Questions returns the questions to a customer who books the given services, events or rentals, in the owner's order.
func (o *Snapshot) Questions(itemIDs ...uuid.UUID) []Question {
	var questions []Question
	for _, q := range o.Form {
		of := slices.Concat(q.ServiceIDs, q.EventIDs, q.RentalIDs)
		if len(of) == 0 || slices.ContainsFunc(itemIDs, func(id uuid.UUID) bool { return slices.Contains(of, id) }) {
			questions = append(questions, q)
		}
	}
	return questions
}

// CheckAnswers returns the answers that are stored for a customer who books the given
// services, events or rentals. The argument `answers` holds the answers in the request.
//
// For the booking page, the result contains only the answers to the business's questions (pages.md),
// each in the form that its question requires. For all other actors, the result is `answers`, unchanged.
//
// If the business enforces its form, a booking with an API key must answer the required questions. It
// need not answer consents, because a client with an API key cannot give consents. Fault:
// invalid_parameter, which names the first question whose answer is missing or invalid.
func (o *Snapshot) CheckAnswers(by actor.Actor, answers map[string]any, itemIDs ...uuid.UUID) (map[string]any, error) {
	questions, isPage := o.Questions(itemIDs...), by.Kind == actor.Page
	if !isPage && (by.Kind != actor.APIKey || !o.FormEnforceAPI) {
		return answers, nil
	}
	if !isPage {
		questions = slices.DeleteFunc(questions, func(q Question) bool { return !q.Required || q.Consent })
	}
	valid, fieldErrors := Answers(questions, answers)
	if len(fieldErrors) > 0 {
		return nil, fault.New(fault.InvalidParameter, fieldErrors[0].Error())
	}
	if !isPage {
		return answers, nil
	}
	return valid, nil
}

// FieldError is the reason why an answer is invalid.
type FieldError string

// The reasons why an answer is invalid.
const (
	FieldMissing      FieldError = "missing"
	FieldUnticked     FieldError = "unticked"
	WrongType         FieldError = "type"
	FieldTooLong      FieldError = "too_long"
	WrongCharacter    FieldError = "character"
	WrongNumber       FieldError = "number"
	WrongOption       FieldError = "option"
	WrongDate         FieldError = "date"
	FieldInvalidPhone FieldError = "phone"
)

// AnswerError is an invalid answer to a question, with the reason.
// As an error, it names the question and describes a valid answer.
type AnswerError struct {
	Question Question
	Wrong    FieldError
}

// Error returns an English sentence. The sentence contains the label of the question in the default language.
func (w AnswerError) Error() string {
	says := map[FieldError]string{
		FieldMissing:      "needs an answer",
		FieldUnticked:     "must be ticked",
		WrongType:         "takes text",
		FieldTooLong:      fmt.Sprintf("takes at most %d characters", w.Question.MaxLength),
		WrongCharacter:    "holds a character that cannot be shown; send plain text",
		WrongNumber:       "takes a number of at most 40 digits",
		WrongOption:       "takes one of its options by key: " + strings.Join(w.Question.optionKeys(), ", "),
		WrongDate:         "takes a date, YYYY-MM-DD",
		FieldInvalidPhone: "takes a telephone number",
	}[w.Wrong]
	if w.Question.Type == QuestionCheckbox && w.Wrong == WrongType {
		says = "takes true or false"
	}
	return fmt.Sprintf("form_data.%s: %q %s.", w.Question.Key, w.Question.Label.Text, says)
}

// Answers validates answers to questions. The values of the argument `values` are
// JSON values with numbers as [json.Number]. Answers returns the valid answers in
// the form of form_data, and the invalid answers in the order of the questions.
//
// It ignores blank answers and answers to other questions. A page that was
// opened before the owner changed the form can still send such answers.
func Answers(questions []Question, values map[string]any) (map[string]any, []AnswerError) {
	valid, agreed := map[string]any{}, map[string]any{}
	consents, _ := values[Consents].(map[string]any)
	var fieldErrors []AnswerError
	for _, q := range questions {
		from, to := values, valid
		if q.Consent {
			from, to = consents, agreed
		}
		answer, fault := q.read(from[q.Key])
		switch {
		case fault != "":
			fieldErrors = append(fieldErrors, AnswerError{q, fault})
		case answer != nil:
			to[q.Key] = answer
		}
	}
	if len(agreed) > 0 {
		valid[Consents] = agreed
	}
	return valid, fieldErrors
}

// read returns the answer as form_data stores it. It returns nil for a blank answer.
func (q Question) read(value any) (any, FieldError) {
	if text, ok := value.(string); ok {
		value = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) // browsers send a line break as CR LF
	}
	if value == nil || value == "" {
		if q.Required && q.Type == QuestionCheckbox {
			return nil, FieldUnticked
		}
		if q.Required {
			return nil, FieldMissing
		}
		return nil, ""
	}
	switch q.Type {
	case QuestionCheckbox:
		ticked, ok := value.(bool)
		switch {
		case !ok:
			return nil, WrongType
		case q.Required && !ticked:
			return nil, FieldUnticked
		}
		return ticked, ""
	case QuestionNumber:
		return readNumber(value)
	}
	text, ok := value.(string)
	if !ok {
		return nil, WrongType
	}
	return text, q.checkText(text)
}

// readNumber returns the number in a JSON number or in a string.
func readNumber(value any) (any, FieldError) {
	const maxNumber = 40
	var number string
	switch v := value.(type) {
	case json.Number:
		number = v.String()
	case string:
		number = v
	}
	if len(number) > maxNumber || !json.Valid([]byte(number)) || strings.Trim(number, "-.0123456789") != "" {
		return nil, WrongNumber
	}
	return json.Number(number), ""
}

func (q Question) checkText(text string) FieldError {
	switch q.Type {
	case QuestionSelect:
		if !slices.Contains(q.optionKeys(), text) {
			return WrongOption
		}
		return ""
	case QuestionDate:
		if _, err := timespan.ParseDate(text); err != nil {
			return WrongDate
		}
		return ""
	case QuestionPhone:
		if !phone.Valid(text) {
			return FieldInvalidPhone
		}
		return ""
	}
	lines := q.Type == QuestionTextarea
	switch {
	case utf8.RuneCountInString(text) > q.MaxLength:
		return FieldTooLong
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && (!lines || r != '\n' && r != '\r' && r != '\t')
	}):
		return WrongCharacter
	}
	return ""
}

func (q Question) optionKeys() []string {
	keys := make([]string, len(q.Options))
	for i, o := range q.Options {
		keys[i] = o.Key
	}
	return keys
}
