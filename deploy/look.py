#!/usr/bin/env python3
"""Looks at a dashboard as people do, in a real browser (Debian: chromium-driver).

    DIADEM_STATUS_TOKEN=$(head -1 keys/status/status.token) python3 deploy/look.py https://host:7228/ PICTURE.png WORD...

Succeeds once the page is live and shows every word, within half a minute, and leaves a picture of it. Certificates are not looked at: this
is for runs that end today.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

OPTIONS = {"args": ["--headless", "--no-sandbox", "--window-size=1280,1690"]}
SHOWN = "return [document.getElementById('link').textContent, document.body.innerText]"


def main(page: str, picture: str, *words: str) -> int:
    """The exit code: 0 if the page is live and shows the words."""
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        try:
            line = next(line for line in driver.stdout if "successfully on port " in line)
            address = "http://127.0.0.1:" + line.split("on port ")[1].strip().rstrip(".")

            def ask(path: str, body: dict | None = None, method: str = "POST") -> object:
                data = None if method != "POST" else json.dumps(body or {}).encode()
                request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"}, method=method)
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)["value"]

            wished = {"browserName": "chrome", "acceptInsecureCerts": True, "goog:chromeOptions": OPTIONS}
            session = "/session/" + ask("/session", {"capabilities": {"alwaysMatch": wished}})["sessionId"]
            token = os.environ.get("DIADEM_STATUS_TOKEN")
            ask(session + "/url", {"url": f"{page}?token={token}" if token else page})
            until = time.monotonic() + 30
            missing = list(words)
            while time.monotonic() < until:
                link, text = ask(session + "/execute/sync", {"script": SHOWN, "args": []})
                missing = [word for word in words if word not in text]
                if link == "live" and not missing:
                    break
                time.sleep(0.2)
            pathlib.Path(picture).write_bytes(base64.b64decode(ask(session + "/screenshot", method="GET")))
            ask(session, method="DELETE")
        finally:
            driver.terminate()
    if link != "live" or missing:
        print(f"the dashboard says {link!r} and does not show {', '.join(missing) or 'more'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
