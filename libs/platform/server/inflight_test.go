package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// The kernel buffers a part of an unread answer. The rest waits in the memory of the server, which must be bounded.
func TestLargeUnreadAnswersAreBounded(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20) // larger than the buffers of a connection
	s := startServer(t, Config{AnswerBytesInFlight: len(large) + len(large)/2}, func(s *Server) {
		s.Public.Get("/large", func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderETag, `"a"`)
			return c.Send(large)
		})
		s.Public.Get("/own", func(c *fiber.Ctx) error {
			c.Response().AppendBody(large)
			return nil
		})
		s.Public.Get("/small", func(c *fiber.Ctx) error { return c.SendString("small") })
	})
	url := "http://" + s.PublicAddr().String()
	if _, body := fetchText(t, http.MethodGet, url+"/own", nil); !bytes.Equal(body, large) {
		t.Errorf("an answer in fasthttp's memory: %d bytes", len(body))
	}
	slow, err := net.Dial("tcp", s.PublicAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_ = slow.SetDeadline(time.Now().Add(testkit.MaxWait))
	_, _ = io.WriteString(slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	reader := bufio.NewReader(slow)
	if _, err := reader.Peek(1); err != nil { // the answer has begun
		t.Fatal(err)
	}
	refused, body := fetchText(t, http.MethodGet, url+"/large", nil)
	if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") != "1" ||
		refused.Header.Get("ETag") != "" ||
		!bytes.Contains(body, []byte(`"messageCode":"service_unavailable"`)) {
		t.Errorf("an answer while another client does not read its own: %d %v %.200s", refused.StatusCode,
			refused.Header, body)
	}
	if ok, body := fetchText(t, http.MethodGet, url+"/small", nil); ok.StatusCode != http.StatusOK ||
		string(body) != "small" {
		t.Errorf("a small answer: %d", ok.StatusCode)
	}
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := io.ReadAll(answer.Body); err != nil || !bytes.Equal(read, large) {
		t.Errorf("the slow reader has read %d bytes: %v", len(read), err)
	}
	_ = answer.Body.Close()
	testkit.WaitUntil(t, "once it has read", func(context.Context) error { // the server hears of it in its own time
		again, body := fetchText(t, http.MethodGet, url+"/large", nil)
		if again.StatusCode == http.StatusOK && !bytes.Equal(body, large) {
			t.Fatalf("another answer of %d bytes", len(body))
		}
		return expectOK(again)
	})
}

func expectOK(answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %d", answer.StatusCode)
	}
	return nil
}

// A waiting answer is in memory, too. Beyond the bound for waiting answers, no answer waits.
func TestWaitingAnswersAreBounded(t *testing.T) {
	t.Parallel()
	r := newMemoryBudget(100, telemetry.Discard().Counter("test", "Refused."))
	r.maxWait = testkit.MaxWait
	leave, ok := r.reserve(t.Context(), 1000) // reserves all memory of the budget
	if !ok {
		t.Fatal("no room in an empty one")
	}
	waited := make(chan bool, 1)
	go func() {
		leave, ok := r.reserve(t.Context(), 80)
		waited <- ok
		if ok {
			leave()
		}
	}()
	testkit.WaitUntil(t, "one waits", func(context.Context) error {
		if !r.queue.TryAcquire(1) {
			return nil
		}
		r.queue.Release(1)
		return errors.New("nobody waits")
	})
	if _, ok := r.reserve(t.Context(), 80); ok {
		t.Error("an answer gets memory although another answer uses all of it")
	}
	select {
	case <-waited:
		t.Error("one more has waited, as long as the first")
	default:
	}
	leave()
	if !<-waited {
		t.Error("a waiting request got no place when a place was free")
	}
}

// The write is done when its answer exists, so a 503 would be wrong.
func TestAnswerOfWriteIsNeverRefused(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := startServer(t, Config{AnswerBytesInFlight: len(large)}, func(s *Server) {
		s.Public.Get("/large", func(c *fiber.Ctx) error { return c.Send(large) })
		s.Public.Post("/large", func(c *fiber.Ctx) error { return c.Status(fiber.StatusCreated).Send(large) })
	})
	slow, err := net.Dial("tcp", s.PublicAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_ = slow.SetDeadline(time.Now().Add(testkit.MaxWait))
	_, _ = io.WriteString(slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	if _, err := io.ReadFull(slow, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if answer, body := fetchText(t, http.MethodPost, "http://"+s.PublicAddr().String()+"/large",
		nil); answer.StatusCode != http.StatusCreated || !bytes.Equal(body, large) {
		t.Errorf("the answer of a write: %d", answer.StatusCode)
	}
}

func TestLostConnectionReleasesMemory(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := startServer(t, Config{AnswerBytesInFlight: len(large)}, func(s *Server) {
		s.Public.Get("/large", func(c *fiber.Ctx) error { return c.Send(large) })
	})
	for range 3 {
		lost, err := net.Dial("tcp", s.PublicAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = lost.SetDeadline(time.Now().Add(testkit.MaxWait))
		_, _ = io.WriteString(lost, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
		if _, err := io.ReadFull(lost, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		_ = lost.Close()
	}
	testkit.WaitUntil(t, "the memory of lost connections is given back", func(context.Context) error {
		answer, _ := fetchText(t, http.MethodGet, "http://"+s.PublicAddr().String()+"/large", nil)
		return expectOK(answer)
	})
}

// Slow readers of one business do not use up the memory for other businesses.
func TestBusinessHasShareOfMemory(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := startServer(t, Config{AnswerBytesInFlight: 2*len(large) + len(large)/2}, func(s *Server) {
		s.Public.Get("/of/:slug/large", func(c *fiber.Ctx) error { return c.Send(large) })
	})
	url := "http://" + s.PublicAddr().String() + "/of/"
	slow, err := net.Dial("tcp", s.PublicAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_ = slow.SetDeadline(time.Now().Add(testkit.MaxWait))
	_, _ = io.WriteString(slow, "GET /of/harbor/large HTTP/1.1\r\nHost: h\r\n\r\n")
	if _, err := io.ReadFull(slow, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if answer, _ := fetchText(t, http.MethodGet, url+"harbor/large",
		nil); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second answer of the business: %d", answer.StatusCode)
	}
	if answer, body := fetchText(t, http.MethodGet, url+"other/large", nil); answer.StatusCode != http.StatusOK ||
		!bytes.Equal(body, large) {
		t.Errorf("another business's answer: %d", answer.StatusCode)
	}
}

func TestBusinessShareIsReleased(t *testing.T) {
	t.Parallel()
	r := newMemoryBudget(400, telemetry.Discard().Counter("test", "Refused."))
	r.maxWait = 0
	leave, ok := r.reserveFor(t.Context(), "a", 100)
	if !ok {
		t.Fatal("no room in an empty one")
	}
	if _, ok := r.reserveFor(t.Context(), "a", 1); ok {
		t.Error("a business takes more than its share")
	}
	for _, other := range []string{"b", "c", "d"} {
		if _, ok := r.reserveFor(t.Context(), other, 100); !ok {
			t.Errorf("no room for %s", other)
		}
	}
	leave()
	leave, ok = r.reserveFor(t.Context(), "a", 100)
	if !ok {
		t.Fatal("the memory was not released")
	}
	leave()
	if len(r.shares) != 3 {
		t.Errorf("%d shares are stored, want 3", len(r.shares))
	}
}

// The connection of a slow reader is closed, which releases the memory of its answer.
func TestSlowReaderIsClosed(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := startServer(t, Config{AnswerBytesInFlight: len(large), ReaderBytesPerSecond: 1 << 40}, func(s *Server) {
		s.readSpeed.grace = 0
		s.Public.Get("/large", func(c *fiber.Ctx) error { return c.Send(large) })
	})
	slow, err := net.Dial("tcp", s.PublicAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_ = slow.SetDeadline(time.Now().Add(testkit.MaxWait))
	_, _ = io.WriteString(slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
	if read, err := io.Copy(io.Discard, slow); read >= int64(len(large)) {
		t.Errorf("%d bytes were written to a reader with no time: %v", read, err)
	}
}

func TestLargerAnswerHasMoreTime(t *testing.T) {
	t.Parallel()
	s := minReadSpeed{grace: time.Second, bytesPerSecond: 1000}
	for bytes, want := range map[int]time.Duration{0: time.Second, 2000: 3 * time.Second, 1 << 30: time.Minute} {
		if got := s.maxWriteTime(bytes, time.Minute); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
	if got := (&minReadSpeed{grace: time.Second}).maxWriteTime(1, time.Minute); got != time.Minute {
		t.Errorf("the maximum write time without a minimum speed is %s", got)
	}
}
