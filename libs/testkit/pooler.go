package testkit

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// PooledSchema returns the settings of [PostgresSchema] for a connection through a
// PgBouncer in transaction mode. The PgBouncer has thirty server connections per
// role. The schema has its own role, and migrations connect to PostgreSQL directly.
//
// To use TLS, a test can change sslmode in the URL to verify-full. The URL already names the file with the certificate
// of the authority.
func PooledSchema(t testing.TB, prefix string) postgres.Config {
	t.Helper()
	cfg := PostgresSchema(t, prefix)
	cfg.MigrationsURL, cfg.Pooled = cfg.URL, true
	role := "role_" + cfg.Schema
	Administer(t, cfg.MigrationsURL, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { // runs before the schema is dropped
		Administer(t, cfg.MigrationsURL, "DROP OWNED BY "+role)
		Administer(t, cfg.MigrationsURL, "DROP ROLE "+role)
	})
	cfg.URL = UserURL(t, pgbouncer(t, cfg.MigrationsURL), role)
	return cfg
}

// UserURL returns the URL of a database with another user and without a password.
func UserURL(t testing.TB, databaseURL, user string) string {
	t.Helper()
	at, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = nil
	query := at.Query()
	query.Set("user", user)
	at.RawQuery = query.Encode()
	return at.String()
}

// poolerConfig is the configuration of PgBouncer. All clients of a role share thirty server connections.
const poolerConfig = `[databases]
* = host=%[1]s port=%[2]d
[pgbouncer]
listen_addr = %[3]s
listen_port = %[4]s
unix_socket_dir =
auth_type = trust
auth_user = %[5]s
auth_query = SELECT usename, NULL FROM pg_shadow WHERE usename = $1
auth_file = %[6]s
pool_mode = transaction
default_pool_size = 30
max_client_conn = 2000
client_tls_sslmode = allow
client_tls_cert_file = %[7]s/certificate
client_tls_key_file = %[7]s/key
`

// pgbouncer starts a PgBouncer for the database, and returns the URL of the database with the address of the PgBouncer.
// PgBouncer refuses to run as root, and needs access to the socket of the database. It therefore runs as the owner of
// the socket's folder.
func pgbouncer(t testing.TB, databaseURL string) string {
	t.Helper()
	server, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	program := findDebianProgram(t, "pgbouncer", "pgbouncer")
	dir, err := os.MkdirTemp("", "pgbouncer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	authority := testCertificate(t, dir)
	users := filepath.Join(dir, "users")
	write(t, users, fmt.Sprintf("%q \"\"\n", server.User))
	address := Serve(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		settings := filepath.Join(dir, "pgbouncer.ini")
		write(t, settings, fmt.Sprintf(poolerConfig, server.Host, server.Port, host, port, server.User, users, dir))
		cmd := exec.CommandContext(t.Context(), program, settings)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: socketOwner(server.Host)}
		return cmd
	})
	// The parameter `sslrootcert` has an effect only with TLS.
	return "postgres://" + address + "/" + server.Database + "?connect_timeout=60&sslmode=disable&sslrootcert=" +
		authority
}

// testCertificate writes the self-signed certificate of package httptest and the private key to `dir`. The files have
// the names certificate and key. The certificate is valid for 127.0.0.1. testCertificate returns the path of the
// certificate, which is also the certificate of its authority.
func testCertificate(t testing.TB, dir string) string {
	t.Helper()
	known := httptest.NewTLSServer(nil)
	defer known.Close()
	key, err := x509.MarshalPKCS8PrivateKey(known.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	at := filepath.Join(dir, "certificate")
	write(t, at, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: known.Certificate().Raw})))
	return at
}

// socketOwner returns the owner of a path, as the credential with which a program can run. It returns nil if the path
// does not exist, or if this process does not run as root.
func socketOwner(path string) *syscall.Credential {
	info, err := os.Stat(path)
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	// The file must be readable for another user, as which PgBouncer runs. The only secret in the files is the public
	// test key of package httptest.
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
