package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// custom is what the tests look at of a Business or APIKey.
type custom struct {
	Status struct {
		Version    int
		Problems   []struct{ Path string }
		Conditions []struct{ Type, Status, Reason string }
	}
}

// becomes waits until the condition Ready of an object has a reason.
func (c cluster) becomes(t *testing.T, object, reason string) custom {
	t.Helper()
	var o custom
	soon(t, object+" becomes "+reason, func() error {
		o = custom{}
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

// asObjects shows a business that is an object: published, booked with the key of a Secret, refused with its problems,
// and not removed while a customer is expected, unless its deletion is forced.
func (c cluster) asObjects(t *testing.T, main front) {
	const slug = "objects"
	var spec []string
	for line := range strings.Lines(salon(slug, 1)) {
		if !strings.HasPrefix(line, "apiVersion:") && !strings.HasPrefix(line, "kind:") {
			spec = append(spec, "  "+line)
		}
	}
	business := "apiVersion: slotmesh.io/v1\nkind: Business\nmetadata: {name: objects}\nspec:\n" + strings.Join(spec,
		"")
	c.apply(t,
		business+
			"---\napiVersion: slotmesh.io/v1\nkind: APIKey\nmetadata: {name: website}\nspec: {business: objects, scope: write}\n")
	if first := c.becomes(t, "business/objects", "Published"); first.Status.Version != 1 {
		t.Errorf("%+v", first.Status)
	}
	c.becomes(t, "apikey/website", "Ready")
	if table := strings.Fields(c.kubectl(t, "get", "businesses", "--no-headers")); len(table) < 5 || table[1] != slug ||
		table[3] != "True" {
		t.Errorf("kubectl get businesses prints %q", table)
	}
	var secret struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(c.kubectl(t, "get", "secret", "website", "--output", "json")),
		&secret); err != nil {
		t.Fatal(err)
	}
	soon(t, "the business is booked with the key of the Secret", func() error {
		free, err := main.free(t.Context(), slug)
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
	if bad := c.becomes(t, "business/objects", "Invalid"); len(bad.Status.Problems) != 1 ||
		bad.Status.Problems[0].Path != "timezone" || bad.Status.Version != 1 {
		t.Errorf("%+v", bad.Status)
	}
	if _, err := c.try(t.Context(), []byte(business+"  colour: blue\n"), "kubectl", "--namespace", namespace, "apply",
		"--filename", "-"); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("a field that no manifest has: %v", err)
	}
	c.kubectl(t, "delete", "business/objects", "--wait=false")
	c.becomes(t, "business/objects", "BookingsAhead")
	c.kubectl(t, "delete", "apikey/website", "--timeout", eventually.String())
	c.kubectl(t, "annotate", "business/objects", "slotmesh.io/deletion=force")
	c.kubectl(t, "wait", "business/objects", "--for=delete", "--timeout", eventually.String())
	a, err := main.send(t.Context(), http.MethodGet, "/api/public/"+slug+"/info", nil, nil)
	if err != nil || a.status != http.StatusNotFound {
		t.Errorf("the business that was removed answers %v, %v", a, err)
	}
}
