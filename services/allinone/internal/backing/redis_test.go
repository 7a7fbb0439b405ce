package backing

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestRedisInProcessExpiresKeys runs a script like the rate limiter's, which needs TIME and the expiry of keys.
func TestRedisInProcessExpiresKeys(t *testing.T) {
	t.Parallel()
	s := &Stores{}
	if err := s.startRedisInProcess(); err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	options, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	stranger := redis.NewClient(&redis.Options{Addr: options.Addr})
	defer stranger.Close()
	if err := stranger.FlushAll(t.Context()).Err(); err == nil {
		t.Error("Redis answers a client without the password")
	}
	script := redis.NewScript(`local t = redis.call('TIME')
redis.call('ZADD', KEYS[1], t[1] * 1000000 + t[2], 'a')
redis.call('PEXPIRE', KEYS[1], 500)
return tonumber(t[1])`)
	seconds, err := script.Run(t.Context(), client, []string{"window"}).Int64()
	if err != nil {
		t.Fatal(err)
	}
	if drift := time.Since(time.Unix(seconds, 0)).Abs(); drift > time.Minute {
		t.Errorf("its TIME is %s off", drift)
	}
	for client.Exists(t.Context(), "window").Val() != 0 {
		if t.Context().Err() != nil {
			t.Fatal("the key does not expire")
		}
	}
}
