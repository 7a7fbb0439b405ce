package ratelimit

// What tests need to see of the inside.
var (
	NewLocalOf    = newLocal
	NewFallbackOf = newFallback
)

// Keys is the number of windows that are remembered.
func Keys(l *Local) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.windows.Len()
}

// Kept is how many requests are remembered.
func Kept(l *Local) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := 0
	for _, w := range l.windows.Values() {
		kept += len(w.accepted)
	}
	if kept != l.kept {
		panic("the sum of the requests kept is wrong")
	}
	return kept
}
