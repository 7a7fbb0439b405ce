package limits

// Names are the names of the table's rows.
func Names() []string {
	var names []string
	for _, l := range (&Config{}).table() {
		names = append(names, l.name)
	}
	for _, l := range (&Config{}).longer() {
		names = append(names, l.Name)
	}
	return names
}
