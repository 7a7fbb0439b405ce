package limits

// Names returns the names of all limits.
func Names() []string {
	var names []string
	for _, l := range (&Config{}).minuteLimits() {
		names = append(names, l.name)
	}
	for _, l := range (&Config{}).longerLimits() {
		names = append(names, l.Name)
	}
	return names
}
