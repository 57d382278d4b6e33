"""A player in plain Python, without cardai: plays a random one of the moves that use the fewest cards.

cardai match hearts --seats 'process:python examples/agents/plain.py,duck,duck,duck'
"""

import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"cardai": 1, "name": "plain", "wants": ["picks"]}
    elif message["type"] == "move":  # "picks" names the pieces that each legal move uses
        picks = message.get("picks", [[]] * message["count"])
        fewest = min(len(picked) for picked in picks)
        answer = {"move": random.choice([i for i, picked in enumerate(picks) if len(picked) == fewest])}
    else:
        continue  # "begin", "end" and whatever later versions tell need no answer
    print(json.dumps({"id": message["id"], **answer}), flush=True)
