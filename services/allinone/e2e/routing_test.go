package e2e

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// The tests of this file check the statements that PostgreSQL gets from booking, rental and notifications in tests that
// call [checkRouting]. Each statement must be routable by business_id alone (services/booking/docs/sharding.md). For
// each table with the column business_id, it must request the rows of one business, which a parameter names.
// PostgreSQL's plan of the statement shows the requested rows.

// shardedServices are the services whose tables are sharded by business_id.
var shardedServices = []string{"booking", "rental", "notifications"}

// crossBusiness are the statements that request rows of many businesses, or of a business that the caller does not
// know. The field `has` is a part of the text that no other statement contains, with one space between words. The file
// sharding.md has the reason for each `name`.
var crossBusiness = []struct{ name, has string }{
	{"An API key's hash", "FROM api_keys WHERE hash = $1"},
	{"A link's hash", "WHERE link_hash = $1"},
	{"A calendar's token", "FROM calendar_feeds WHERE token_hash = $1"},
	{"A provider's reference", "WHERE provider = $1 AND account = $2 AND reference = $3"},
	{"Whether an offer and a key still count",
		"AND EXISTS (SELECT FROM api_keys WHERE business_id = $3 AND id = $4 AND revoked_at IS NULL)"},
	{"Charges that rental asks for", "AS asked (business_id, id) JOIN payments"},
	{"The feed of events", "FROM events WHERE position > $1 ORDER BY position LIMIT $2"},
	{"The feed of events", "SELECT position, pruned, EXISTS (SELECT FROM events WHERE events.position IS NULL)"},
	{"The feed of events", "UPDATE events SET position = (SELECT position FROM event_feed)"},
	{"The feed of events", "UPDATE event_feed SET pruned = gone.last"},
	{"Charges that are due", "UPDATE payments SET due_at = $1::timestamptz + least("},
	{"Charges that are due", "FROM payments WHERE status = 'creating' AND due_at <= $1"},
	{"Charges that are due", "FROM reservations WHERE (payment->>'status' IN ('creating', 'open', 'cancelling')"},
	{"Charges that are due", "FROM payments AS p WHERE subject_kind = 'reservation' AND news_told < news"},
	{"Charges that are due", "UPDATE payments AS p SET news_told = least(noted.news, p.news)"},
	{"What is old", "DELETE FROM made_writes WHERE made_at <= least(clock_timestamp(), $1)"},
	{"What is old", "DELETE FROM customer_sign_ins WHERE expires_at <= $1"},
	{"What is old", "DELETE FROM address_changes WHERE told_at <= $1"},
	{"What is old", "DELETE FROM refused_writes WHERE refused_at <= clock_timestamp()"},
	{"What is old", "DELETE FROM idempotency_records WHERE expires_at <= $1"},
	{"What is old",
		"DELETE FROM messages WHERE (business_id, id) IN (SELECT business_id, id FROM messages WHERE created_at < $1 LIMIT $2)"},
	{"What is old",
		"DELETE FROM webhook_deliveries WHERE (business_id, id) IN (SELECT business_id, id FROM webhook_deliveries WHERE created_at < $1 LIMIT $2)"},
	{"What is old",
		"UPDATE webhook_endpoints SET lane = NULL, lane_until = '-infinity' WHERE lane IS NOT NULL AND lane_until <"},
	{"Businesses with something due", "WITH RECURSIVE found AS"},
	{"Businesses with something due", "SELECT DISTINCT business_id FROM messages"},
	{"Businesses with something due", "SELECT DISTINCT business_id FROM reservations"},
	{"Businesses with something due", "FROM offer_versions WHERE followed < version AND business_id > $1"},
	{"Businesses with something due", "FROM address_changes WHERE told_at IS NULL ORDER BY requested_at"},
	{"Businesses with something due", "FROM reservations WHERE counted AND status IN ('returned', 'cancelled')"},
	{"What a page of events leads to",
		"INSERT INTO message_events (business_id, event_id, subject_id, sequence, event) SELECT * FROM unnest("},
	{"What a page of events leads to", "FROM (SELECT DISTINCT unnest($1::uuid[]) AS id) AS b"},
	{"What a page of events leads to", "FROM webhook_endpoints WHERE business_id = ANY($1) AND active"},
	{"What a page of events leads to", ") SELECT n.business_id, n.endpoint_id"},
	{"Occupied time", "FROM occupied_time WHERE business_id = (SELECT $1::uuid)"},
	{"Whether the tables are there", "SELECT FROM bookings LIMIT 0"},
	{"Whether the tables are there", "SELECT FROM reservations LIMIT 0"},
}

// unshardedTables are the tables without business_id, which stay on one node. The tables of River, river_*, stay on
// that node, too.
var unshardedTables = []string{
	"booking.event_feed", "booking.goose_db_version", "booking.migration_texts", "notifications.feeds",
	"notifications.goose_db_version",
	"notifications.migration_texts", "rental.event_feed", "rental.goose_db_version", "rental.migration_texts",
}

// checkedStatements are the statements that any test has checked, with their services.
var checkedStatements sync.Map

// checkRouting records all statements of the sharded services of a Slotmesh, and checks them at the end of the test.
// Pass it to [start] after the option that sets the database.
func checkRouting(t *testing.T) func(*allinone.Config) {
	t.Helper()
	return func(cfg *allinone.Config) { cfg.DatabaseURL = recordStatements(t, cfg.DatabaseURL) }
}

// recordStatements returns the URL of a proxy of a database. The proxy records statements, and the test's cleanup
// checks them.
func recordStatements(t testing.TB, databaseURL string) string {
	t.Helper()
	var mu sync.Mutex
	seen := make(map[[2]string]bool) // keys: service and text of a statement
	note := func(service, text string) {
		mu.Lock()
		defer mu.Unlock()
		seen[[2]string{service, text}] = true
	}
	parsed, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(parsed.Host, parsed.Port)
	t.Cleanup(func() { // after all connections have ended
		if len(seen) == 0 {
			t.Error("no statement was seen")
		}
		for statement := range seen {
			if _, isKnown := checkedStatements.LoadOrStore(statement, true); !isKnown {
				checkStatement(t, databaseURL, statement[0], statement[1])
			}
		}
	})
	link := testkit.LinkTo(t, network, address, func(near, far net.Conn) (func(), func()) {
		return func() { _ = relayStatements(near, far, note) }, func() { _, _ = io.Copy(near, far) }
	})
	host, port, err := net.SplitHostPort(link.Address)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("host", host)
	query.Set("port", port)
	query.Set("sslmode", "disable")
	at.Host, at.RawQuery = "", query.Encode()
	return at.String()
}

// startup is the code of PostgreSQL's protocol 3.0 in the first message of a session.
const startup = 3 << 16

// relayStatements forwards the messages of a client to PostgreSQL. It passes the statements of a sharded service to
// `note`.
func relayStatements(near io.Reader, far io.Writer, note func(service, text string)) error {
	from, to := bufio.NewReader(near), bufio.NewWriter(far)
	first, err := relayMessage(from, to, 0)
	if err != nil {
		return err
	}
	service := ""
	if len(first) > 4 && binary.BigEndian.Uint32(first) == startup {
		parameters := strings.Split(string(first[4:]), "\x00")
		if i := slices.Index(parameters, "application_name"); i >= 0 {
			service = strings.TrimPrefix(parameters[i+1], "slotmesh-")
		}
	}
	if !slices.Contains(shardedServices, service) {
		if err := to.Flush(); err != nil {
			return err
		}
		_, err := io.Copy(far, from)
		return err
	}
	for {
		if from.Buffered() == 0 {
			if err := to.Flush(); err != nil {
				return err
			}
		}
		kind, err := from.ReadByte()
		if err != nil {
			return err
		}
		if err := to.WriteByte(kind); err != nil {
			return err
		}
		body, err := relayMessage(from, to, kind)
		switch {
		case err != nil:
			return err
		case kind == 'P': // Parse: name and text of a prepared statement
			_, text, _ := strings.Cut(string(body), "\x00")
			text, _, _ = strings.Cut(text, "\x00")
			note(service, text)
		case kind == 'Q': // Query
			note(service, strings.TrimSuffix(string(body), "\x00"))
		}
	}
}

// relayMessage forwards the rest of a message. It returns the body of a message that begins a session or contains a
// statement.
func relayMessage(from *bufio.Reader, to *bufio.Writer, kind byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	if _, err := to.Write(head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:])) - int64(len(head))
	if kind != 0 && kind != 'P' && kind != 'Q' {
		_, err := io.CopyN(to, from, size)
		return nil, err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(from, body); err != nil {
		return nil, err
	}
	_, err := to.Write(body)
	return body, err
}

// checkStatement checks that a statement can be routed by business_id, or that it is an exception in [crossBusiness].
// An exception that is not needed is an error, too.
func checkStatement(t testing.TB, databaseURL, service, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.MaxWait)
	defer cancel()
	p, err := explain(ctx, databaseURL, service, text)
	if err != nil {
		t.Errorf("%s sent a statement that cannot be planned: %v\n%s", service, err, text)
		return
	}
	unrouted := p.findUnrouted()
	for _, of := range crossBusiness {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), of.has) {
			continue
		}
		if len(unrouted) == 0 {
			t.Errorf("%s: this statement is listed as an exception, but is routed by business_id (%s)\n%s", service, of.name,
				text)
		}
		return
	}
	if len(unrouted) > 0 {
		t.Errorf("%s: a statement cannot be routed by business_id alone, for %s\n%s\nIts plan:\n%s",
			service, strings.Join(unrouted, ", "), text, strings.Join(p.conditions, "\n"))
	}
}

func TestPlanFindsUnroutedStatements(t *testing.T) {
	t.Parallel()
	databaseURL := databaseTemplate.Copy(t, "routed")
	for text, right := range map[string]bool{
		`SELECT total FROM bookings WHERE business_id = $1 AND id = $2`:                                                                                  true,
		`SELECT total FROM bookings WHERE id = $1`:                                                                                                       false,
		`SELECT total FROM bookings WHERE business_id = $1 OR id = $2`:                                                                                   false,
		`SELECT total FROM bookings WHERE business_id <> $1 AND id = $2`:                                                                                 false,
		`SELECT total FROM bookings WHERE business_id = ANY ($1) AND id = $2`:                                                                            false,
		`SELECT total FROM bookings WHERE business_id = (SELECT $1::uuid)`:                                                                               false,
		`SELECT amount FROM bookings b JOIN payments p ON p.business_id = b.business_id AND p.subject_id = b.id WHERE b.business_id = $1`:                true,
		`SELECT amount FROM bookings b JOIN payments p ON p.subject_id = b.id WHERE b.business_id = $1`:                                                  false,
		`SELECT amount FROM bookings b JOIN payments p ON p.subject_id = b.id WHERE b.business_id = $1 AND p.business_id = $2`:                           false,
		`SELECT (SELECT amount FROM payments p WHERE p.business_id = $1 AND p.subject_id = b.id) FROM bookings b WHERE business_id = $1`:                 true,
		`SELECT (SELECT amount FROM payments p WHERE p.business_id = b.business_id AND p.subject_id = b.id) FROM bookings b WHERE business_id = $1`:      false,
		`INSERT INTO event_sales (business_id, event_id, sold) VALUES ($1, $2, 0)`:                                                                       true,
		`INSERT INTO event_sales (business_id, event_id, sold) SELECT $1, e, 0 FROM unnest($2::uuid[]) AS e ORDER BY e`:                                  true,
		`INSERT INTO event_sales (business_id, event_id, sold) SELECT b, $1, 0 FROM unnest($2::uuid[]) AS b`:                                             false,
		`UPDATE tickets SET status = $2 WHERE id IN (SELECT id FROM tickets WHERE business_id = $1)`:                                                     false,
		`WITH gone AS (DELETE FROM payments WHERE business_id = $1 RETURNING *) DELETE FROM tickets t USING gone WHERE t.business_id = gone.business_id`: true,
		`WITH gone AS (DELETE FROM payments WHERE business_id = $1 RETURNING *) DELETE FROM tickets t USING gone WHERE t.id = gone.subject_id`:           false,
		`SELECT position FROM event_feed`: true, // event_feed is not sharded
	} {
		p, err := explain(t.Context(), databaseURL, "booking", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if unrouted := p.findUnrouted(); (len(unrouted) == 0) != right {
			t.Errorf("%s: routed is %t, for %q, of this plan:\n%s", text, !right, unrouted,
				strings.Join(p.conditions, "\n"))
		}
	}
}

func TestUnroutedTablesAndStatementsAreDocumented(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), databaseTemplate.Copy(t, "routed"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	rows, err := conn.Query(t.Context(), `SELECT c.oid::regclass::text FROM pg_class c
		WHERE relkind IN ('r', 'p') AND relnamespace::regnamespace::text = ANY ($1) AND relname NOT LIKE 'river\_%'
		  AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'business_id' AND attnotnull)
		ORDER BY 1`, shardedServices)
	if err != nil {
		t.Fatal(err)
	}
	without, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(unshardedTables, without); diff != "" {
		t.Errorf("the tables without business_id differ: -want, +got\n%s", diff)
	}
	inputs.Checkout()
	document, err := os.ReadFile("../../booking/docs/sharding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(document), "| statement | why it is right |\n|---|---|\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var written, named []string
	for line := range strings.Lines(list) {
		written = append(written, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	for _, of := range crossBusiness {
		named = append(named, of.name)
	}
	if diff := cmp.Diff(slices.Compact(named), written); diff != "" {
		t.Errorf("sharding.md has other exceptions than this test: -test, +document\n%s", diff)
	}
}

// step is a node of a plan, as EXPLAIN (VERBOSE, FORMAT JSON) writes it.
type step struct {
	Type      string `json:"Node Type"`
	Operation string
	Schema    string
	Relation  string `json:"Relation Name"`
	Alias     string
	Parent    string `json:"Parent Relationship"`
	Subplan   string `json:"Subplan Name"`
	CTE       string `json:"CTE Name"`
	Output    []string
	IndexCond string `json:"Index Cond"`
	Recheck   string `json:"Recheck Cond"`
	Filter    string
	Hash      string `json:"Hash Cond"`
	Merge     string `json:"Merge Cond"`
	Join      string `json:"Join Filter"`
	Plans     []step
}

// listAliases returns the aliases of a step and of all steps below it.
func (s step) listAliases() []string {
	all := []string{s.Alias}
	for _, next := range s.Plans {
		all = append(all, next.listAliases()...)
	}
	return all
}

// plan has the tables that a statement requests, and the conditions on their business_id. It is the same for all values
// of the parameters.
type plan struct {
	tables map[string]int    // tables with business_id, as "schema.table", and the index of that column
	asked  map[string]string // table of each alias in the statement
	// by alias: the parameters, such as "$1", and other aliases that its business_id is equal to
	same       map[string][]string
	conditions []string
}

// utility matches statements that use no sharded table.
var utility = regexp.MustCompile(`(?i)^\s*(copy "river_|begin|commit|rollback|savepoint|release|set|reset|listen|unlisten|notify|deallocate|discard|--|;|$)`)

// maxLeading is the number of unused parameters that [plan.prepare] adds before the parameters of a statement.
const maxLeading = 1000

// explain returns PostgreSQL's plan of a statement for any values of the parameters.
func explain(ctx context.Context, databaseURL, service, text string) (*plan, error) {
	p := &plan{tables: make(map[string]int), asked: make(map[string]string), same: make(map[string][]string)}
	if utility.MatchString(text) {
		return p, nil
	}
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := p.prepare(ctx, conn, service, text); err != nil {
		return nil, err
	}
	return p, nil
}

// prepare reads which tables have business_id, and reads the plan of the statement.
func (p *plan) prepare(ctx context.Context, conn *pgx.Conn, service, text string) error {
	rows, err := conn.Query(ctx,
		`SELECT attrelid::regclass::text, attnum FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE attname = 'business_id' AND relkind = 'r' AND relnamespace::regnamespace::text = ANY ($1)`, shardedServices)
	if err != nil {
		return err
	}
	var (
		table  string
		column int
	)
	if _, err := pgx.ForEachRow(rows, []any{&table, &column},
		func() error { p.tables[table] = column - 1; return nil }); err != nil {
		return err
	}
	for _, setting := range []string{"search_path = " + service + ", public", "plan_cache_mode = force_generic_plan"} {
		if _, err := conn.Exec(ctx, "SET "+setting); err != nil {
			return err
		}
	}
	// A plan calls computed values $0, $1 and so on, like parameters. Higher numbers for the parameters distinguish
	// them from computed values.
	moved := placeholder.ReplaceAllStringFunc(text, func(name string) string {
		number, _ := strconv.Atoi(name[1:]) // the expression matches digits only
		return fmt.Sprintf("$%d", number+maxLeading)
	})
	statement, err := conn.PgConn().Prepare(ctx, "judged", moved, slices.Repeat([]uint32{pgtype.TextOID}, maxLeading))
	if err != nil {
		return err
	}
	execute := "EXECUTE judged (NULL" + strings.Repeat(", NULL", len(statement.ParamOIDs)-1) + ")"
	var read []byte
	if err := conn.QueryRow(ctx, "EXPLAIN (VERBOSE, FORMAT JSON, COSTS OFF) "+execute).Scan(&read); err != nil {
		return err
	}
	var whole []struct{ Plan step }
	if err := json.Unmarshal(read, &whole); err != nil {
		return err
	}
	if len(whole) != 1 {
		return errors.New("not one plan")
	}
	p.read(whole[0].Plan, nil)
	return nil
}

// read collects the tables and the conditions of a step and of the steps below it. The argument `own` has the aliases
// of the subquery that contains the step, or is nil. PostgreSQL runs such a subquery for each outer row, so that a
// condition on the outer row does not route the subquery.
func (p *plan) read(s step, own []string) {
	if strings.HasPrefix(s.Subplan, "SubPlan") {
		own = s.listAliases()
	}
	var below step // the step whose rows this step reads
	for _, next := range s.Plans {
		p.read(next, own)
		if next.Parent == "Outer" || next.Parent == "Subquery" {
			below = next
		}
	}
	if name, ok := strings.CutPrefix(s.Subplan, "CTE "); ok {
		p.passOn("CTE "+name, s.Output)
	}
	table := s.Schema + "." + s.Relation
	column, held := p.tables[table]
	switch {
	case s.Type == "ModifyTable" && s.Operation == "Insert" && held:
		p.asked[s.Alias] = table
		p.addInsert(s.Alias, column, below)
	case s.Type == "CTE Scan" || s.Type == "WorkTable Scan":
		p.same[s.Alias] = append(p.same[s.Alias], "CTE "+s.CTE)
	case s.Type == "Subquery Scan":
		p.passOn(s.Alias, below.Output)
	case held && s.Type != "ModifyTable": // a step below a ModifyTable reads the rows that change
		p.asked[s.Alias] = table
	}
	for _, condition := range []string{s.IndexCond, s.Recheck, s.Filter, s.Hash, s.Merge, s.Join} {
		if condition != "" {
			p.conditions = append(p.conditions, s.Alias+": "+condition)
			p.addCondition(condition, own)
		}
	}
}

// addInsert records the value that becomes business_id of the inserted rows. The output of a subquery has column names,
// which may hide a parameter, so inserts continues with the step below a subquery. The column has the same index there,
// because business_id is the first column of all tables and lists.
func (p *plan) addInsert(alias string, column int, from step) {
	for {
		p.conditions = append(p.conditions, alias+" gets: "+strings.Join(from.Output, ", "))
		if column < len(from.Output) {
			p.addEqual(alias, from.Output[column])
		}
		if from.Type != "Subquery Scan" || len(p.same[alias]) > 0 {
			return
		}
		from = from.Plans[0]
	}
}

var (
	placeholder = regexp.MustCompile(`\$\d+`)
	businessID  = regexp.MustCompile(`^"?([^"]+)"?\.business_id$`)
	// named matches a parameter or a constant. The numbers $0 to $999 are computed values.
	named = regexp.MustCompile(`^(\$\d{4,}|'[0-9a-f-]{36}')$`)
)

// passOn records the business of the rows that a common table expression or a subquery returns. That business is in a
// column business_id, or it is a parameter or constant in the first column.
func (p *plan) passOn(name string, output []string) {
	if len(output) > 0 && named.MatchString(output[0]) {
		p.addEqual(name, output[0])
	}
	for _, column := range output {
		if businessID.MatchString(column) {
			p.addEqual(name, column)
		}
	}
}

// addEqual records that business_id of an alias is equal to business_id of another alias, or to a parameter or
// constant.
func (p *plan) addEqual(alias, to string) {
	to = strings.TrimSuffix(stripParentheses(to), "::uuid")
	if of := businessID.FindStringSubmatch(to); of != nil {
		p.same[alias] = append(p.same[alias], of[1])
		p.same[of[1]] = append(p.same[of[1]], alias)
	} else if named.MatchString(to) {
		p.same[alias] = append(p.same[alias], to)
	}
}

// addCondition records the equalities of business_id in a condition. It reads all parts that AND connects and no part
// of an OR, because a part of an OR may be false.
func (p *plan) addCondition(text string, own []string) {
	parts := splitWords(stripParentheses(text), " AND ")
	if len(parts) > 1 {
		for _, part := range parts {
			p.addCondition(part, own)
		}
		return
	}
	sides := splitWords(parts[0], " = ")
	if len(sides) != 2 {
		return
	}
	for i, side := range sides {
		of := businessID.FindStringSubmatch(side)
		if of == nil {
			continue
		}
		if other := businessID.FindStringSubmatch(sides[1-i]); other == nil || own == nil || slices.Contains(own,
			of[1]) && slices.Contains(own, other[1]) {
			p.addEqual(of[1], sides[1-i])
		}
	}
}

// stripParentheses removes the parentheses around the whole expression.
func stripParentheses(text string) string {
	for strings.HasPrefix(text, "(") && findClosingParenthesis(text) == len(text)-1 {
		text = text[1 : len(text)-1]
	}
	return text
}

// findClosingParenthesis returns the index of the parenthesis that closes the first parenthesis of the text.
func findClosingParenthesis(text string) int {
	depth, quoted := 0, false
	for i, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// splitWords splits an expression at a word outside of parentheses and quotes.
func splitWords(text, word string) []string {
	depth, quoted, from := 0, false, 0
	var parts []string
	for i, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], word):
			parts, from = append(parts, text[from:i]), i+len(word)
		}
	}
	return append(parts, text[from:])
}

// findUnrouted returns the tables that a statement requests without a business_id of a parameter or constant. It also
// reports a statement that requests rows of more than one business.
func (p *plan) findUnrouted() []string {
	var tables []string
	all := make(map[string]bool)
	for alias, table := range p.asked {
		names := p.listNames(alias)
		if len(names) == 0 {
			tables = append(tables, table+" "+alias)
		}
		for _, name := range names {
			all[name] = true
		}
	}
	if len(all) > 1 {
		tables = append(tables, fmt.Sprint("more than one business: ", slices.Sorted(maps.Keys(all))))
	}
	slices.Sort(tables)
	return tables
}

// listNames returns the parameters and constants that business_id of an alias is equal to, also through other aliases.
func (p *plan) listNames(alias string) []string {
	var names []string
	reached := map[string]bool{alias: true}
	for next := []string{alias}; len(next) > 0; next = next[1:] {
		for _, to := range p.same[next[0]] {
			switch {
			case reached[to]:
				continue
			case to[0] == '$' || to[0] == '\'':
				names = append(names, to)
			default:
				next = append(next, to)
			}
			reached[to] = true
		}
	}
	return names
}
