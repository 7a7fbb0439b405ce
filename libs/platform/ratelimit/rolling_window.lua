-- Exact rolling windows (semantics.md §8) of one request, which is asked about by one limit after the other. It passes a limit where all
-- windows of its client have room, and then counts in all of them; else it counts in none, and the limits after it are not asked.
--   KEYS  lists of the accepted requests' times, oldest first, at most N of them: those of the first limit, then of the next
--   ARGV  of each limit in turn: how many of the lists are its own, the window in microseconds, N of each of its lists
-- Answers {wait, left, reset} in microseconds of each limit that was asked: wait is 0 where the request passes, else the time until one
-- would; left is how many more would pass now, reset the time until the oldest that counts no longer does, both of the list with the least left.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function at(key, i) return tonumber(redis.call('LINDEX', key, i)) end

-- Drops what is a window old, and returns how many are left and the oldest of them. Mostly nothing or little is: the search
-- begins at the old end and doubles its steps.
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

-- Asks one limit, whose lists begin after the given number of KEYS and their N after the given number of ARGV.
local function ask(lists, keys, ns, window)
  local wait, left, reset = 0, math.huge, window
  for i = 1, lists do
    local key, n = KEYS[keys + i], tonumber(ARGV[ns + i])
    local count, oldest = live(key, window)
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
  if wait > 0 then return wait, 0, wait end
  for i = 1, lists do
    -- %.0f because Lua turns numbers of this size into text with 14 digits only.
    redis.call('RPUSH', KEYS[keys + i], string.format('%.0f', now))
    redis.call('PEXPIRE', KEYS[keys + i], math.ceil(window / 1000) + 1000) -- what counts, the times say; expiry goes by a coarser clock
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
