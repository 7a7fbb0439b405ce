package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// Usage is the CPU time that the processes have used since their start.
type Usage struct{ Slotmesh, Bare, Postgres, Redis time.Duration }

// subtract returns the CPU time that was used between the earlier reading `v` and the reading `u`.
func (u Usage) subtract(v Usage) Usage {
	return Usage{u.Slotmesh - v.Slotmesh, u.Bare - v.Bare, u.Postgres - v.Postgres, u.Redis - v.Redis}
}

// meter reads the CPU time of the measured processes from /proc. The fields of a meter are process IDs.
type meter struct{ slotmesh, bare, postgres, redis int }

// newMeter returns a meter for the processes with the given IDs. newMeter asks PostgreSQL and Redis for their process
// IDs. For a store on another machine, the CPU time is 0.
func newMeter(ctx context.Context, o Options, slotmesh, bare int) (*meter, error) {
	m := &meter{slotmesh: slotmesh, bare: bare}
	conn, err := pgx.Connect(ctx, o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if s, err := readStat(int(conn.PgConn().PID())); err == nil {
		m.postgres = s.parent // the process of a connection is a child of the listening process
	}
	settings, err := redis.ParseURL(o.RedisURL)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(settings)
	defer func() { _ = client.Close() }()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok {
			m.redis, _ = strconv.Atoi(id)
		}
	}
	return m, nil
}

func (m *meter) read() Usage {
	return Usage{Slotmesh: readCPU(m.slotmesh), Bare: readCPU(m.bare), Postgres: readCPUWithChildren(m.postgres),
		Redis: readCPU(m.redis)}
}

// stat contains values of /proc/<pid>/stat. The field childTime is the CPU time of children that have ended.
type stat struct {
	parent             int
	ownTime, childTime time.Duration
}

// tick is the unit of the times in /proc/<pid>/stat. It is 1/USER_HZ, and USER_HZ is 100 on every Linux that Go
// supports.
const tick = 10 * time.Millisecond

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	// The name of the program may contain spaces and parentheses. Only numbers follow the last parenthesis.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	number := func(i int) time.Duration {
		n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
		return time.Duration(n)
	}
	return stat{
		parent: int(number(1)), ownTime: (number(11) + number(12)) * tick, childTime: (number(13) + number(14)) * tick,
	}, nil
}

func readCPU(pid int) time.Duration {
	s, _ := readStat(pid) // the CPU time of a process that has ended no longer grows
	return s.ownTime
}

// readCPUWithChildren returns the CPU time of a process and of all its children, including children that have ended.
func readCPUWithChildren(pid int) time.Duration {
	s, err := readStat(pid)
	if err != nil {
		return 0
	}
	total := s.ownTime + s.childTime
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		child, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if c, err := readStat(child); err == nil && c.parent == pid {
			total += c.ownTime + c.childTime
		}
	}
	return total
}

// readResident returns the memory of a process in bytes, or 0 if the memory cannot be read.
func readResident(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
