package manifest

import "testing"

func TestTimezoneIsKnownToClients(t *testing.T) {
	t.Parallel()
	var zone Timezone
	if err := zone.UnmarshalText([]byte("America/Vancouver")); err != nil || zone != "America/Vancouver" {
		t.Errorf("%s, %v", zone, err)
	}
	for _, name := range []string{"", "Local", "localtime", "posixrules", "right/Europe/Lisbon", "posix/Europe/Lisbon",
		"Factory", "Europe/lisbon"} {
		if err := zone.UnmarshalText([]byte(name)); err == nil {
			t.Errorf("%q is a time zone", name)
		}
	}
}
