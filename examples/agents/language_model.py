"""Puts each position to a language model, through a command that reads the prompt, or an OpenAI-style URL.

    A="process:python examples/agents/language_model.py 'llm -m NAME'?seconds=300"
    cardai match hearts --games 4 --seats "$A,duck,duck,duck"
With a URL such as http://localhost:8080/v1 for the command, MODEL and OPENAI_API_KEY are read."""

import json
import os
import re
import subprocess
import sys
import urllib.request


def reply_to(prompt: str) -> str:
    target = sys.argv[1]
    if not target.startswith("http"):
        return subprocess.run(target, shell=True, input=prompt, capture_output=True, text=True, check=True).stdout
    content = {"model": os.environ.get("MODEL"), "messages": [{"role": "user", "content": prompt}]}
    head = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    request = urllib.request.Request(f"{target}/chat/completions", json.dumps(content).encode(), head)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


rules, told = "", {}
for message in map(json.loads, sys.stdin):
    if message["type"] == "hello":
        rules, answer = message["rules"], {"cardai": 1, "name": "language model", "tables": 1}
    elif message["type"] == "move":
        seen = told.setdefault(message.get("table"), [])
        seen += [f"p{event['seat']}: {event['text']}" for event in message.get("told", [])]
        moves = [f"{number}: {words}" for number, words in enumerate(message["moves"])]
        parts = [rules, "So far:", *seen, f"You are p{message['seat']}:", message["view"], "Your moves:", *moves]
        reply = reply_to("\n".join([*parts, "End your answer with the number of your move."]))
        numbers = re.findall(r"\d+", reply)
        answer = {"move": int(numbers[-1])} if numbers else {"error": f"the model answered {reply[:200]!r}"}
    else:
        continue
    print(json.dumps({"id": message["id"], **answer}), flush=True)
