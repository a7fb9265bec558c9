"""The document to begin with: sound as it stands, and every choice in it explained."""

STARTER = """\
// A loopwatch configuration. Comments and trailing commas are read.
// Check it with `loopwatch config check FILE`; `loopwatch config schema` prints a schema for your editor.
{
  "preset": "my first run", // a label that is recorded with every run; it arms nothing

  // The first agent is the root, which the run starts.
  "agents": [
    {
      "id": "implementer",
      "name": "Implementer", // for people: messages begin with it
      "modelSlot": "primary", // or "modelId": the model itself, without a slot

      // Whether this agent's replies are watched for loops. An armed detector writes all five knobs.
      "loopDetection": {
        "enabled": true,
        "windowWords": 256, // the lookback, in words
        "repeatThreshold": 32, // a word that occurs more often than this in the window offends
        "minOffenders": 2, // so many different offenders saturate the window
        "minSaturatedRun": 3000, // so many words in a row, all of them saturated, are a loop
        "maxResponseChars": 250000, // a reply longer than this is abandoned; 0: no ceiling

        // Further rules see more, and sooner: exact repetition, recycled wording, endless white space.
        // "rules": ["cycle", "phrases", "blank"],
        // "channels": ["content", "reasoning", "tools"], // what is watched; the default is content alone
        // "retryWith": { "temperature": 0.7 }, // what the retry after a loop asks differently
        // "stopOnSameLoop": true, // a second loop at the same place ends the retries
        // "shadow": true, // record what would trip, abandon nothing
      },

      // How its steps are watched for going in circles; absent: as here. maxStepLoops (below) ends a run.
      // "steps": { "preset": "balanced", "waitingTools": [], "counts": { "waiting": 60 } },

      "capabilities": [
        // { "id": "shell" }, { "id": "files" }, { "id": "spawn" }, { "id": "responses-as-code" },
      ],
    },
  ],

  // The models by the names of their slots.
  "slots": {
    "primary": {
      "model": "gpt-5.4-mini",
      "apiKeyEnv": "OPENAI_API_KEY", // the variable that holds the key, never the key itself
      // "baseUrl": "https://openrouter.ai/api/v1", // absent: $OPENAI_BASE_URL, else OpenAI's own
      // "request": { "temperature": 0.2, "max_tokens": 8192 }, // further fields of each request
    },
  },

  "limits": {
    "maxParallel": 4, // agents at work at the same time
    "replayMaxBytes": 268435456, // size of the journal at which it stops recording: 256 MiB

    // Ceilings. One that is absent is not armed.
    "maxConsecutiveErrors": 5, // error turns in a row
    "maxErrorRate": 0.2, // share of error turns …
    "errorRateWindow": 50, // … among so many of the most recent ones
    // "maxTurns": 200,
    // "maxRuntimeSecs": 3600,
    // "maxCost": 5.0, // US dollars
    // "maxStepLoops": 3, // times that an agent is seen repeating its steps

    // The clocks and retries of a model call, here with their defaults.
    "modelCallTimeoutSecs": 900, // one attempt in all
    "modelStreamIdleSecs": 60, // without progress
    "maxModelRetries": 10, // after the first attempt
    "modelRetryMaxDelaySecs": 60, // longest wait between two attempts
  },
}
"""
