package letter

// MarkAsTest returns a letter whose subject line says, in the language of the letter, that the message is a test. The
// letter has no calendar entry, because a sample must not appear in a calendar.
func MarkAsTest(l Letter) (Letter, error) {
	w, err := findWords(l.Language, "", "")
	if err != nil {
		return Letter{}, err
	}
	l.Subject = w.With("test_subject", "Subject", l.Subject)
	l.Calendar, l.Method = nil, ""
	return l, w.Fault()
}
