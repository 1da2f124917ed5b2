#!/usr/bin/env python3
"""A channel of your own, standard library only: lines "user<TAB>text", or JSON, on stdin become messages; answers are printed as JSON.
    LARES_URL=ws://127.0.0.1:7717/ws LARES_CHANNEL=mine LARES_CHANNEL_TOKEN=... python3 examples/channel.py
What is not acknowledged is sent again after every break, with the same id; an answer that comes twice is printed once."""
import base64, json, os, socket, sys, threading, time, uuid
from urllib.parse import urlsplit

pending = {}  # id -> message that was sent and is not yet acknowledged, in order
seen = set()  # ids of answers that were printed
link, lock = [None], threading.Lock()

def write(sock, frame):
    data = json.dumps(frame).encode(); n, mask = len(data), os.urandom(4)
    size = bytes([128 | n]) if n < 126 else b"\xfe" + n.to_bytes(2, "big") if n < 65536 else b"\xff" + n.to_bytes(8, "big")
    sock.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

def frames(file, sock):
    while head := file.read(2):
        size = head[1] & 127
        if size > 125: size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
        data, kind = file.read(size), head[0] & 15
        if kind == 9: sock.sendall(b"\x8a\x80" + os.urandom(4))  # a ping wants a pong
        elif kind == 8: return print("closed:", data[2:].decode(), file=sys.stderr)  # it says why: a wrong token, a second program
        else: yield json.loads(data)

def session():
    url, env = urlsplit(os.environ["LARES_URL"]), os.environ
    with socket.create_connection((url.hostname, url.port), 10) as sock, sock.makefile("rb") as file:
        sock.settimeout(90); sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small frames leave at once
        key = base64.b64encode(os.urandom(16)).decode()
        sock.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        while file.readline().strip(): pass
        write(sock, {"type": "req", "id": "1", "method": "connect", "params": {
            "role": "channel", "channelId": env["LARES_CHANNEL"], "token": env["LARES_CHANNEL_TOKEN"]}})
        for frame in frames(file, sock):
            with lock:
                if frame["type"] == "res" and frame["ok"]:
                    link[0] = sock
                    for waiting in pending.values(): write(sock, waiting)
                elif frame["type"] == "ack": pending.pop(frame["id"], None)
                elif frame["type"] == "outbound_message":
                    if frame["id"] not in seen: print(json.dumps(frame), flush=True)
                    seen.add(frame["id"])
                    write(sock, {"type": "ack", "id": frame["id"]})

def listen():
    while True:
        try: session()
        except OSError: pass
        link[0] = time.sleep(0.2)

threading.Thread(target=listen, daemon=True).start()
for line in sys.stdin:
    said = json.loads(line) if line[0] == "{" else dict(zip(("userId", "content"), line.rstrip("\n").split("\t", 1)))
    frame = {"type": "inbound_message", "id": str(uuid.uuid4()), "timestamp": time.time() * 1000, **said}
    with lock:
        pending[frame["id"]] = frame
        try: link[0] and write(link[0], frame)
        except OSError: pass  # it is sent again after the break
