#!/bin/sh
# Any program that can change its base URL, guarded: here curl, before a provider of your choice.
#   OPENAI_API_KEY=sk-… examples/guard_any_program.sh https://api.openai.com/v1 gpt-4o-mini
set -eu
upstream=$1 model=$2 port=${PORT:-8701}

loopwatch proxy --upstream "$upstream" --port "$port" --no-log &
proxy=$!
trap 'kill $proxy' EXIT
until curl -sf "http://127.0.0.1:$port/healthz" >/dev/null; do sleep 0.1; done

curl -sSN "http://127.0.0.1:$port/v1/chat/completions" \
  -H "Authorization: Bearer ${OPENAI_API_KEY:-none}" -H 'Content-Type: application/json' \
  -d "{\"model\": \"$model\", \"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": \"Why is the sky blue?\"}]}"
