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

// Readers that do not read hold what the kernel does not take; the rest waits in the server's memory, which is bounded.
func TestLargeAnswersThatNobodyReadsAreBounded(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20) // more than a connection's buffers take
	s := start(t, Config{AnswerBytesInFlight: len(large) + len(large)/2}, func(s *Server) {
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
	if _, body := fetch(t, http.MethodGet, url+"/own", nil); !bytes.Equal(body, large) {
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
	refused, body := fetch(t, http.MethodGet, url+"/large", nil)
	if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") != "1" ||
		refused.Header.Get("ETag") != "" ||
		!bytes.Contains(body, []byte(`"messageCode":"service_unavailable"`)) {
		t.Errorf("beside a reader that does not read: %d %v %.200s", refused.StatusCode, refused.Header, body)
	}
	if ok, body := fetch(t, http.MethodGet, url+"/small", nil); ok.StatusCode != http.StatusOK ||
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
		again, body := fetch(t, http.MethodGet, url+"/large", nil)
		if again.StatusCode == http.StatusOK && !bytes.Equal(body, large) {
			t.Fatalf("another answer of %d bytes", len(body))
		}
		return expectOK(again)
	})
}

func expectOK(answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it is answered %d", answer.StatusCode)
	}
	return nil
}

// What waits for room is in memory as well: beyond what may wait nothing does.
func TestOnlySoMuchWaitsForRoom(t *testing.T) {
	t.Parallel()
	r := newRoom(100, telemetry.Discard().Counter("test", "Refused."))
	r.patience = testkit.MaxWait
	leave, ok := r.take(t.Context(), 1000) // counts as all there is
	if !ok {
		t.Fatal("no room in an empty one")
	}
	waited := make(chan bool, 1)
	go func() {
		leave, ok := r.take(t.Context(), 80)
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
	if _, ok := r.take(t.Context(), 80); ok {
		t.Error("there is room beside one that takes all")
	}
	select {
	case <-waited:
		t.Error("one more has waited, as long as the first")
	default:
	}
	leave()
	if !<-waited {
		t.Error("who waited had no room when there was some")
	}
}

// A write is done when its answer is made: to say that the service is away would be untrue.
func TestTheAnswerOfAWriteIsNeverRefused(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := start(t, Config{AnswerBytesInFlight: len(large)}, func(s *Server) {
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
	if answer, body := fetch(t, http.MethodPost, "http://"+s.PublicAddr().String()+"/large",
		nil); answer.StatusCode != http.StatusCreated || !bytes.Equal(body, large) {
		t.Errorf("the answer of a write: %d", answer.StatusCode)
	}
}

func TestALostConnectionGivesItsAnswersMemoryBack(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := start(t, Config{AnswerBytesInFlight: len(large)}, func(s *Server) {
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
		answer, _ := fetch(t, http.MethodGet, "http://"+s.PublicAddr().String()+"/large", nil)
		return expectOK(answer)
	})
}

// Readers of one business's large answers do not use up the room of the others.
func TestOneBusinessTakesAShareOfTheRoom(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := start(t, Config{AnswerBytesInFlight: 2*len(large) + len(large)/2}, func(s *Server) {
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
	if answer, _ := fetch(t, http.MethodGet, url+"harbor/large",
		nil); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second answer of the business: %d", answer.StatusCode)
	}
	if answer, body := fetch(t, http.MethodGet, url+"other/large", nil); answer.StatusCode != http.StatusOK ||
		!bytes.Equal(body, large) {
		t.Errorf("another business's answer: %d", answer.StatusCode)
	}
}

func TestShareOfABusinessIsGivenBack(t *testing.T) {
	t.Parallel()
	r := newRoom(400, telemetry.Discard().Counter("test", "Refused."))
	r.patience = 0
	leave, ok := r.takeOf(t.Context(), "a", 100)
	if !ok {
		t.Fatal("no room in an empty one")
	}
	if _, ok := r.takeOf(t.Context(), "a", 1); ok {
		t.Error("a business takes more than its share")
	}
	for _, other := range []string{"b", "c", "d"} {
		if _, ok := r.takeOf(t.Context(), other, 100); !ok {
			t.Errorf("no room for %s", other)
		}
	}
	leave()
	leave, ok = r.takeOf(t.Context(), "a", 100)
	if !ok {
		t.Fatal("the share was not given back")
	}
	leave()
	if len(r.shares) != 3 {
		t.Errorf("%d shares are kept", len(r.shares))
	}
}

// A reader that is too slow loses its connection, and its answer the memory.
func TestASlowReaderOfALargeAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("slotmesh"), 6<<20)
	s := start(t, Config{AnswerBytesInFlight: len(large), ReaderBytesPerSecond: 1 << 40}, func(s *Server) {
		s.slow.grace = 0
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

func TestALargerAnswerMayTakeLonger(t *testing.T) {
	t.Parallel()
	s := slowness{grace: time.Second, bytesPerSecond: 1000}
	for bytes, want := range map[int]time.Duration{0: time.Second, 2000: 3 * time.Second, 1 << 30: time.Minute} {
		if got := s.within(bytes, time.Minute); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
	if got := (&slowness{grace: time.Second}).within(1, time.Minute); got != time.Minute {
		t.Errorf("without a least speed: %s", got)
	}
}
