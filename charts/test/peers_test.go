package chart_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// hashText returns the SHA-256 of a text in hexadecimal.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestPeerSecretContainsCallerHashes(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "front-ingress"))
	data := map[string]string{}
	for key, encoded := range lookUp(findObject(t, all, "Secret", release+"-peers"), "data").(map[string]any) {
		value, err := base64.StdEncoding.DecodeString(encoded.(string))
		if err != nil {
			t.Fatal(err)
		}
		data[key] = string(value)
	}
	names := append(slices.Clone(services), "front")
	slices.Sort(names)
	for _, name := range names {
		var want []string
		for _, caller := range names {
			want = append(want, caller+"="+hashText(hashText(data[caller]+"/"+name)))
		}
		got := strings.Split(data[name+"-callers"], ",")
		slices.Sort(got)
		if len(data[name]) < 32 || !slices.Equal(got, want) {
			t.Errorf("%s: a secret of %d characters, callers %v, want %v", name, len(data[name]), got, want)
		}
	}
	if len(data) != 2*len(names) {
		t.Errorf("the Secret has %d keys for %d services", len(data), len(names))
	}
}

func TestPodsGetOnlyOwnCredential(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"trial", "production", "front-ingress", "operator"} {
		secretData := map[string]any{} // the keys of the Secret; none where another makes it
		for _, o := range filterKind(mustRender(t, loadShape(t, shape)), "Secret") {
			if o.name() == release+"-peers" {
				secretData = lookUp(o, "data").(map[string]any)
			}
		}
		for name, pod := range readPods(t, shape) {
			for _, container := range pod.Containers {
				for _, variable := range container.Env {
					from := variable.ValueFrom
					if from == nil || from.SecretKeyRef == nil || !strings.HasSuffix(from.SecretKeyRef.Name, "-peers") {
						continue
					}
					part := container.Name
					if want := map[string]string{"PEER_SECRETS": part,
						"PEER_CALLERS": part + "-callers"}[variable.Name]; from.SecretKeyRef.Key != want {
						t.Errorf("%s: %s of %s is given %s as %s", shape, container.Name, name, from.SecretKeyRef.Key,
							variable.Name)
					}
					if len(secretData) > 0 && secretData[from.SecretKeyRef.Key] == nil {
						t.Errorf("%s: the Secret has no %s", shape, from.SecretKeyRef.Key)
					}
				}
			}
			for _, volume := range pod.Volumes {
				if volume.Secret != nil && strings.HasSuffix(volume.Secret.SecretName, "-peers") {
					t.Errorf("%s: %s mounts the secrets of all services", shape, name)
				}
			}
		}
	}
}
