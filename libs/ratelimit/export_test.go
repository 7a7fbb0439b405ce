package ratelimit

// What tests need to see of the inside.
var (
	NewLocalOf    = newLocal
	NewFallbackOf = newFallback
)

// Keys is the number of keys that are remembered.
func Keys(l *Local) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.windows.Len()
}
