package allinone

import (
	"bufio"
	"os"
	"strings"
)

// newInstallPrompt returns a function that reports whether a command may install packages. The function asks the person
// at the terminal. If there is no terminal, only the settings decide.
func newInstallPrompt(cfg Config, in *os.File, say func(line string)) func(label string) bool {
	return func(label string) bool {
		if cfg.allowsInstall() {
			return true
		}
		if info, err := in.Stat(); cfg.Install == "no" || err != nil || info.Mode()&os.ModeCharDevice == 0 {
			return false
		}
		say("Slotmesh needs packages that are not on this machine. Run `" + label + "` now? [y/N]")
		answer, _ := bufio.NewReader(in).ReadString('\n')
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes"
	}
}
