package allinone

import (
	"errors"
	"syscall"
)

// statusUnsynchronised is the bit STA_UNSYNC of adjtimex(2).
const statusUnsynchronised = 0x40

// checkClockSync returns an error if the kernel knows that no program keeps the machine's clock synchronised.
func checkClockSync() error {
	var state syscall.Timex
	if _, err := syscall.Adjtimex(&state); err != nil {
		return nil //nolint:nilerr // some containers forbid the call, and the clock is then the host's
	}
	if state.Status&statusUnsynchronised != 0 {
		return errors.New("no program synchronises the clock of this machine")
	}
	return nil
}
