-- One batch: add calls to the windows of some users and sum them, all at once.
--
-- KEYS: a hash for each user. ARGV[1]: 1 to fill the windows anew, 0 to add to them.
-- ARGV[2]: JSON, for each user {after, revision, {{at, fresh, cached, cost, unpriced}, ...}}.
--
-- A hash holds the sums (n, f, c, m, u), the revision (r) and the moment up to which calls have been
-- taken out (a); beside it, in KEY .. ":z", each call with its figures, by time. Answers the sums of
-- each user, or nothing where the revision is not the one before this batch's, or where the window has
-- become longer than what is kept.
local anew = ARGV[1] == "1"
local asked = cjson.decode(ARGV[2])
local answers = {}
for i, key in ipairs(KEYS) do
  local after, revision, added = asked[i][1], asked[i][2], asked[i][3]
  local order = key .. ":z"
  local sums = { 0, 0, 0, 0, 0 }
  local known = false
  if anew then
    redis.call("DEL", key, order)
    known = true
  else
    local kept = redis.call("HMGET", key, "n", "f", "c", "m", "u", "r", "a")
    if kept[6] and tonumber(kept[6]) == revision - 1 and tonumber(kept[7]) <= after then
      known = true
      for j = 1, 5 do
        sums[j] = tonumber(kept[j])
      end
      local gone = redis.call("ZRANGEBYSCORE", order, "-inf", after)
      for _, member in ipairs(gone) do
        local _, f, c, m, u = unpack(cjson.decode(member))
        sums[1] = sums[1] - 1
        sums[2] = sums[2] - f
        sums[3] = sums[3] - c
        sums[4] = sums[4] - m
        sums[5] = sums[5] - u
      end
      redis.call("ZREMRANGEBYSCORE", order, "-inf", after)
    end
  end
  if known then
    for number, call in ipairs(added) do
      local at = call[1]
      if at > after then
        local member = string.format('["%.0f-%d",%.0f,%.0f,%.0f,%.0f]',
          revision, number, call[2], call[3], call[4], call[5])
        redis.call("ZADD", order, string.format("%.0f", at), member)
        sums[1] = sums[1] + 1
        for j = 2, 5 do
          sums[j] = sums[j] + call[j]
        end
      end
    end
    local fields = {}
    for j = 1, 5 do
      fields[j] = string.format("%.0f", sums[j])
    end
    redis.call("HSET", key, "n", fields[1], "f", fields[2], "c", fields[3], "m", fields[4], "u", fields[5],
      "r", string.format("%.0f", revision), "a", string.format("%.0f", after))
    redis.call("EXPIRE", key, 86400)
    redis.call("EXPIRE", order, 86400)
    answers[i] = fields
  else
    answers[i] = {}
  end
end
return answers
