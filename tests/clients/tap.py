"""A hook that keeps what a client really sends, and answers by a plan:  tap.py LOG PLAN [EVENT]

LOG gets one JSON line for each call: the event's name, the document on standard input, and what was answered. PLAN is a JSON
list of answers, of which the first that fits is given:

    {"event": "PreToolUse", "says": "REGEX over the document", "reply": {…}, "stderr": "…", "code": 0}

Needs nothing but the standard library: it is started by clients, in their environment.
"""

import json
import re
import sys


def main(log: str, plan: str, event: str = "") -> int:
    """Record one call, answer it, and return the exit code."""
    raw = sys.stdin.buffer.read().decode("utf-8", "replace")
    document = json.loads(raw) if raw.strip() else {}
    event = document.get("hook_event_name") or event
    with open(plan, encoding="utf-8") as file:
        answers = json.load(file)
    fits = [one for one in answers if one["event"] == event and re.search(one.get("says", ""), raw)]
    answer = fits[0] if fits else {}
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps({"event": event, "sent": document, "answered": answer}, ensure_ascii=False) + "\n")
    sys.stderr.write(answer.get("stderr", ""))
    if "reply" in answer:
        sys.stdout.write(json.dumps(answer["reply"]))
    return int(answer.get("code", 0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
