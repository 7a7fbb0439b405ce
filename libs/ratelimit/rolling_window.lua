-- One exact rolling window (semantics.md §8).
--   KEYS[1]  list of the accepted requests' times, oldest first, at most N of them
--   ARGV[1]  N
--   ARGV[2]  window in microseconds
-- Answers 0 where the request passes, else the microseconds until one would.
local key, n, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Only the Nth newest acceptance decides: while it is younger than the window, N lie in it.
local nth = tonumber(redis.call('LINDEX', key, -n) or nil)
if nth then
  local age = now - nth
  if age < 0 then
    redis.call('DEL', key) -- Redis's clock was set back; what it wrote before means nothing now
  elseif age < window then
    return window - age
  end
end

-- %.0f because Lua turns numbers of this size into text with 14 digits only.
redis.call('RPUSH', key, string.format('%.0f', now))
redis.call('LTRIM', key, -n, -1)
redis.call('PEXPIRE', key, math.ceil(window / 1000))
return 0
