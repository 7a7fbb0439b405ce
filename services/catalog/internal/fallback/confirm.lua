-- The last known version of one business.
--   KEYS[1]  hash of `version` and `text`; an empty text says that the versions before are superseded, and no more
--   ARGV[1]  a version that was the newest, or one before which all are superseded
--   ARGV[2]  how long it may be served from now on, in milliseconds
--   ARGV[3]  its text; left out where the caller has none at hand
-- A version never replaces a newer one. Answers 0 where the text is missing, else 1.
local version, text = tonumber(ARGV[1]), ARGV[3]
local known = redis.call('HMGET', KEYS[1], 'version', 'text')
local newest = tonumber(known[1] or 0)
if newest > version then return 1 end
if newest < version or not known[2] or known[2] == '' then
  if not text then return 0 end
  redis.call('HSET', KEYS[1], 'version', version, 'text', text)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
