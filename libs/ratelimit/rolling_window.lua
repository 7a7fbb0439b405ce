-- Exact rolling windows of one client (semantics.md §8): a request passes where all of them have room, and then counts in
-- all of them; else it counts in none.
--   KEYS[i]    list of the accepted requests' times, oldest first, at most N of them
--   ARGV[1]    window in microseconds
--   ARGV[1+i]  N of the i-th list
-- Answers {wait, left, reset} in microseconds: wait is 0 where the request passes, else the time until one would; left is
-- how many more would pass now, reset the time until the oldest that counts no longer does, both of the list with the least left.
local window = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function at(key, i) return tonumber(redis.call('LINDEX', key, i)) end

-- Drops what is a window old, and returns how many are left and the oldest of them. Mostly nothing or little is: the search
-- begins at the old end and doubles its steps.
local function live(key)
  local length = redis.call('LLEN', key)
  if length == 0 then return 0, now end
  local oldest = at(key, 0)
  if now - oldest < window then return length, oldest end
  local old, new = 0, 1
  while new < length and now - at(key, new) >= window do old, new = new, new * 2 end
  new = math.min(new, length)
  while new - old > 1 do
    local middle = math.floor((old + new) / 2)
    if now - at(key, middle) >= window then old = middle else new = middle end
  end
  redis.call('LTRIM', key, new, -1)
  if new == length then return 0, now end
  return length - new, at(key, 0)
end

local wait, left, reset = 0, math.huge, window
for i, key in ipairs(KEYS) do
  local n = tonumber(ARGV[i + 1])
  local count, oldest = live(key)
  if count >= n then
    local age = now - at(key, -n) -- of the Nth newest: once it is a window old, N-1 are left
    if age < 0 then
      redis.call('DEL', key) -- Redis's clock was set back; what it wrote before means nothing now
      count, oldest = 0, now
    else
      wait = math.max(wait, window - age)
    end
  end
  if n - count - 1 < left then
    left, reset = n - count - 1, math.min(window, window - (now - oldest))
  end
end
if wait > 0 then return {wait, 0, wait} end

for _, key in ipairs(KEYS) do
  -- %.0f because Lua turns numbers of this size into text with 14 digits only.
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1000) -- what counts, the times say; expiry goes by a coarser clock
end
return {0, left, reset}
