package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// customObject contains the fields of a Business or an APIKey that the tests read.
type customObject struct {
	Status struct {
		Version    int
		Problems   []struct{ Path string }
		Conditions []struct{ Type, Status, Reason string }
	}
}

// waitForReason waits until the condition Ready of an object has this reason.
func (c cluster) waitForReason(t *testing.T, object, reason string) customObject {
	t.Helper()
	var o customObject
	waitFor(t, object+" becomes "+reason, func() error {
		o = customObject{}
		if err := json.Unmarshal([]byte(c.kubectl(t, "get", object, "--output", "json")), &o); err != nil {
			return err
		}
		for _, condition := range o.Status.Conditions {
			if condition.Type == "Ready" && condition.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("%+v", o.Status)
	})
	return o
}

// checkObjects tests a business that is a Kubernetes object. It is published, booked with the key in a Secret, and
// refused with its problems. It is not removed before its bookings are over, unless the deletion is forced.
func (c cluster) checkObjects(t *testing.T, main frontClient) {
	const slug = "objects"
	var spec []string
	for line := range strings.Lines(newSalonManifest(slug, 1)) {
		if !strings.HasPrefix(line, "apiVersion:") && !strings.HasPrefix(line, "kind:") {
			spec = append(spec, "  "+line)
		}
	}
	business := "apiVersion: slotmesh.io/v1\nkind: Business\nmetadata: {name: objects}\nspec:\n" + strings.Join(spec,
		"")
	c.apply(t,
		business+
			"---\napiVersion: slotmesh.io/v1\nkind: APIKey\nmetadata: {name: website}\nspec: {business: objects, scope: write}\n")
	if first := c.waitForReason(t, "business/objects", "Published"); first.Status.Version != 1 {
		t.Errorf("%+v", first.Status)
	}
	c.waitForReason(t, "apikey/website", "Ready")
	if table := strings.Fields(c.kubectl(t, "get", "businesses", "--no-headers")); len(table) < 5 || table[1] != slug ||
		table[3] != "True" {
		t.Errorf("kubectl get businesses prints %q", table)
	}
	var secret struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(c.kubectl(t, "get", "secret", "website", "--output", "json")),
		&secret); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the business is booked with the key of the Secret", func() error {
		free, err := main.listFree(t.Context(), slug)
		if err != nil || len(free) == 0 {
			return errors.Join(err, fmt.Errorf("%d appointments are free", len(free)))
		}
		a, err := main.book(t.Context(), slug, string(secret.Data["key"]), free[0])
		if err != nil || a.status != http.StatusCreated {
			return fmt.Errorf("%v: %w", a, err)
		}
		return nil
	})
	c.apply(t, strings.Replace(business, "Europe/Lisbon", "Europe/Lisboa", 1))
	if bad := c.waitForReason(t, "business/objects", "Invalid"); len(bad.Status.Problems) != 1 ||
		bad.Status.Problems[0].Path != "timezone" || bad.Status.Version != 1 {
		t.Errorf("%+v", bad.Status)
	}
	if _, err := c.tryRun(t.Context(), []byte(business+"  colour: blue\n"), "kubectl", "--namespace", namespace,
		"apply",
		"--filename", "-"); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("a field that no manifest has: %v", err)
	}
	c.kubectl(t, "delete", "business/objects", "--wait=false")
	c.waitForReason(t, "business/objects", "BookingsAhead")
	c.kubectl(t, "delete", "apikey/website", "--timeout", waitTimeout.String())
	c.kubectl(t, "annotate", "business/objects", "slotmesh.io/deletion=force")
	c.kubectl(t, "wait", "business/objects", "--for=delete", "--timeout", waitTimeout.String())
	a, err := main.send(t.Context(), http.MethodGet, "/api/public/"+slug+"/info", nil, nil)
	if err != nil || a.status != http.StatusNotFound {
		t.Errorf("the business that was removed answers %v, %v", a, err)
	}
}
