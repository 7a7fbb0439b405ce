package redisx_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/redisx"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// startServer starts a Redis for the test with these additional arguments and returns its address.
func startServer(t *testing.T, port string, args ...string) string {
	t.Helper()
	return testkit.Serve(t, func(address string) *exec.Cmd {
		_, at, _ := net.SplitHostPort(address)
		all := append([]string{"--" + port, at, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, args...)
		if slices.Contains(args, "--cluster-enabled") {
			all = append(all, "--cluster-port", busPort(at))
		}
		return exec.CommandContext(t.Context(), "redis-server", all...) // the test's own arguments
	})
}

// busPort returns the port on which a cluster node talks with other nodes. Redis's default, 10000 above the node's
// port, may be in the system's range for outgoing connections.
func busPort(at string) string {
	port, _ := strconv.Atoi(at)
	return strconv.Itoa(port - 10000)
}

func openClient(t *testing.T, cfg redisx.Config) redis.UniversalClient {
	t.Helper()
	cfg.Timeout = testkit.MaxWait
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	client, err := redisx.Open(t.Context(), cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func writeFile(t *testing.T, name string, block *pem.Block) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenConnectsOverTLSWithOwnAuthority(t *testing.T) {
	t.Parallel()
	known := httptest.NewTLSServer(nil) // for its certificate, which names 127.0.0.1
	defer known.Close()
	key, err := x509.MarshalPKCS8PrivateKey(known.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := writeFile(t, "cert.pem", &pem.Block{Type: "CERTIFICATE", Bytes: known.Certificate().Raw})
	address := startServer(t, "tls-port", "--port", "0", "--tls-cert-file", certificate, "--tls-key-file",
		writeFile(t, "key.pem", &pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--user", "default", "off", "--user", "slotmesh",
		"on", ">secret", "~*", "&*", "+@all")
	url := "rediss://slotmesh:secret@" + address
	client := openClient(t, redisx.Config{URL: url, CAFile: certificate})
	if err := client.Set(t.Context(), "a", "b", 0).Err(); err != nil {
		t.Error(err)
	}
	untrusting := openClient(t, redisx.Config{URL: url})
	if err := untrusting.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of an unknown authority: %v", err)
	}
}

func TestOpenFindsClusterByOneAddress(t *testing.T) {
	t.Parallel()
	var nodes []redis.UniversalClient
	var addresses []string
	for range 2 {
		// a paused node must not be removed from the cluster
		address := startServer(t, "port", "--cluster-enabled", "yes", "--cluster-node-timeout", "120000")
		addresses = append(addresses, address)
		nodes = append(nodes, openClient(t, redisx.Config{URL: "redis://" + address}))
	}
	for i, node := range nodes {
		if err := node.ClusterAddSlotsRange(t.Context(), i*8192, i*8192+8191).Err(); err != nil {
			t.Fatal(err)
		}
	}
	host, port, _ := net.SplitHostPort(addresses[1])
	if err := nodes[0].Do(t.Context(), "CLUSTER", "MEET", host, port, busPort(port)).Err(); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		testkit.WaitUntil(t, "the nodes agree", func(ctx context.Context) error {
			if info := node.ClusterInfo(ctx).Val(); !strings.Contains(info, "cluster_state:ok") ||
				!strings.Contains(info, "cluster_known_nodes:2") {
				return fmt.Errorf("%s", info)
			}
			return nil
		})
	}
	client := openClient(t, redisx.Config{URL: "redis://" + addresses[0], Cluster: true})
	for i := range 100 {
		if err := client.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, node := range nodes {
		if size := node.DBSize(t.Context()).Val(); size == 0 || size == 100 {
			t.Errorf("node %d has %d of the keys", i, size)
		}
	}
}

func TestOpenFollowsSentinelsToNewPrimary(t *testing.T) {
	t.Parallel()
	first := startServer(t, "port")
	host, port, _ := net.SplitHostPort(first)
	second := startServer(t, "port", "--replicaof", host+" "+port)
	settings := filepath.Join(t.TempDir(), "sentinel.conf")
	watch := fmt.Sprintf("sentinel monitor slotmesh %s %s 1\nsentinel down-after-milliseconds slotmesh 1000\n"+
		// a failover that fails on a slow machine is retried soon
		"sentinel failover-timeout slotmesh 15000\n", host, port)
	if err := os.WriteFile(settings, []byte(watch), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := testkit.Serve(t, func(address string) *exec.Cmd {
		_, at, _ := net.SplitHostPort(address)
		// the test's own arguments
		return exec.CommandContext(t.Context(), "redis-server", settings, "--sentinel", "--port", at, "--bind",
			"127.0.0.1")
	})
	sentinelClient := openClient(t, redisx.Config{URL: "redis://" + sentinel})
	testkit.WaitUntil(t, "the Sentinel knows the replica", func(ctx context.Context) error {
		if known := fmt.Sprint(sentinelClient.Do(ctx, "SENTINEL", "REPLICAS", "slotmesh").Val()); !strings.Contains(known,
			second) {
			return fmt.Errorf("the replicas that the Sentinel knows are %s", known)
		}
		return nil
	})
	client := openClient(t, redisx.Config{URL: "redis://" + sentinel, SentinelMaster: "slotmesh"})
	// The Sentinels consider the stopped primary lost and promote the replica immediately.
	testkit.WaitUntil(t, "a write arrives", func(ctx context.Context) error {
		return client.Set(ctx, "before", "1", 0).Err()
	})
	// The server closes the connection instead of an answer.
	openClient(t, redisx.Config{URL: "redis://" + first}).ShutdownNoSave(t.Context())
	testkit.WaitUntil(t, "writes go on", func(ctx context.Context) error { return client.Set(ctx, "after", "1", 0).Err() })
	if got := openClient(t, redisx.Config{URL: "redis://" + second}).Get(t.Context(), "after").Val(); got != "1" {
		t.Errorf("the other server has the value %q", got)
	}
}

func TestValidateRejectsConflictingSettings(t *testing.T) {
	t.Parallel()
	for names, cfg := range map[string]redisx.Config{
		"REDIS_URL: not":                       {URL: "http://user:hidden@host"},
		"REDIS_URL: leave":                     {URL: "redis://a:6379/3", Cluster: true},
		"REDIS_URL: leave the":                 {URL: "redis://a:6379/3?addr=b:6379"},
		"REDIS_CLUSTER, REDIS_SENTINEL_MASTER": {URL: "redis://a", Cluster: true, SentinelMaster: "m"},
		"REDIS_SENTINEL_MASTER: write":         {URL: "redis://a", SentinelPassword: "hidden"},
		"REDIS_CA_FILE: write rediss://":       {URL: "redis://a", CAFile: "/nowhere"},
		"REDIS_CA_FILE: open /nowhere":         {URL: "rediss://a", CAFile: "/nowhere"},
		"holds no certificate":                 {URL: "rediss://a", CAFile: "kinds_test.go"},
	} {
		cfg.Timeout = time.Second
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), names) || strings.Contains(err.Error(),
			"hidden") {
			t.Errorf("%s: %v", names, err)
		}
	}
	several := redisx.Config{URL: "redis://:pw@a:26379/2?addr=b:26379&addr=c:26379", SentinelMaster: "m",
		Timeout: time.Second}
	if err := several.Validate(); err != nil {
		t.Errorf("Sentinels of a numbered database: %v", err)
	}
}
