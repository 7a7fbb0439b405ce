package ratelimit

// These functions give the tests access to unexported parts.
var (
	NewSizedLocal        = newLocal
	NewFallbackWithRetry = newFallback
)

// CountKeys returns the number of recorded windows.
func CountKeys(l *Local) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.windows.Len()
}

// CountTimes returns the number of recorded requests.
func CountTimes(l *Local) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := 0
	for _, w := range l.windows.Values() {
		kept += len(w.accepted)
	}
	if kept != l.timeCount {
		panic("the sum of the requests kept is wrong")
	}
	return kept
}
