// A program in JavaScript or TypeScript logs its calls by itself: one POST, whatever made the call.
//   LOOPWATCH_KEY=lw_… node examples/track-calls.mjs
// To have replies guarded as well, point the vendor's SDK at `loopwatch proxy` (port 8701).
import { randomUUID } from "node:crypto";

const endpoint = process.env.LOOPWATCH_URL ?? "http://127.0.0.1:8700";

export async function logCalls(calls) {
  const response = await fetch(`${endpoint}/api/v1/calls`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": process.env.LOOPWATCH_KEY ?? "" },
    body: JSON.stringify(calls),
  });
  if (!response.ok) throw new Error(`the calls were not logged: HTTP ${response.status}`);
  return response.json(); // { accepted, rejected: [{ index, reason }] }
}

// What OpenAI's SDK answers has these figures in `response.usage`.
const usage = { prompt_tokens: 1200, completion_tokens: 80, prompt_tokens_details: { cached_tokens: 1000 } };

console.log(
  await logCalls([
    {
      eventId: randomUUID(), // the same when the same call is sent again: it counts once
      at: new Date().toISOString(),
      userId: "u1",
      feature: "research",
      plan: "pro",
      provider: "openai",
      requestModel: "gpt-4o-mini",
      inputTokens: usage.prompt_tokens,
      cacheReadInputTokens: usage.prompt_tokens_details.cached_tokens,
      outputTokens: usage.completion_tokens,
    },
  ]),
);
