-- Checks one request against one or more limits with exact rolling windows (semantics.md §8), one after the other.
-- A limit allows the request if every window of the client allows it. The request then counts in all of these windows.
-- If a limit refuses the request, it counts in none of its windows, and the script does not check the following limits.
--
--   KEYS  lists of the times of accepted requests, oldest first, with at most N times each; in the order of the limits
--   ARGV  for each limit: the number of its lists, its window in microseconds, and N of each of its lists
--
-- Returns {wait, left, reset} for each checked limit. wait is 0 if the limit allows the request, otherwise the time
-- until it would, in microseconds. left is the number of further requests that would pass now. reset is the time until
-- the oldest counted request expires, in microseconds. left and reset are those of the list with the smallest left.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function at(key, i) return tonumber(redis.call('LINDEX', key, i)) end

-- Drops the times that are at least one window old. Returns the number of remaining times and the oldest of them.
-- Usually few times are that old, so the search begins with the oldest one and doubles its steps.
local function live(key, window)
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

-- Checks one limit. Its lists begin after the index keys in KEYS, and their N after the index ns in ARGV.
local function ask(lists, keys, ns, window)
  local wait, left, reset = 0, math.huge, window
  for i = 1, lists do
    local key, n = KEYS[keys + i], tonumber(ARGV[ns + i])
    local count, oldest = live(key, window)
    if count >= n then
      local age = now - at(key, -n) -- age of the Nth newest time; when it is a window old, N-1 times remain
      if age < 0 then
        redis.call('DEL', key) -- Redis's clock was set back, which makes earlier times meaningless
        count, oldest = 0, now
      else
        wait = math.max(wait, window - age)
      end
    end
    if n - count - 1 < left then
      left, reset = n - count - 1, math.min(window, window - (now - oldest))
    end
  end
  if wait > 0 then return wait, 0, wait end
  for i = 1, lists do
    -- %.0f because Lua turns numbers of this size into text with 14 digits only.
    redis.call('RPUSH', KEYS[keys + i], string.format('%.0f', now))
    -- The stored times decide what counts. The key expires a second later, because expiry uses a coarser clock.
    redis.call('PEXPIRE', KEYS[keys + i], math.ceil(window / 1000) + 1000)
  end
  return 0, left, reset
end

local answers, keys, args = {}, 0, 0
while args < #ARGV do
  local lists, window = tonumber(ARGV[args + 1]), tonumber(ARGV[args + 2])
  local wait, left, reset = ask(lists, keys, args + 2, window)
  table.insert(answers, wait)
  table.insert(answers, left)
  table.insert(answers, reset)
  if wait > 0 then break end
  keys, args = keys + lists, args + 2 + lists
end
return answers
