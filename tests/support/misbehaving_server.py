"""A web server that misbehaves as it is told, for the tests of `data get`.

    misbehaving_server.py LOG ROOT... [--tls CERTIFICATE KEY]
    misbehaving_server.py --mute

GET /BEHAVIOUR/FILE answers with ROOT/FILE in the way that BEHAVIOUR names (the methods below). Prints the port of the
loopback address that it listens on, and ends when its standard input does. LOG gets a line a request: the path and the
Range that was asked for. With --mute it takes connections of any kind, and never says a word.
"""
import http.server
import os
import socket
import ssl
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        with lock, open(log, "a") as file:
            file.write(f"{self.path} {self.headers.get('Range', '-')}\n")
        self.close_connection = True
        behaviour, _, rest = self.path.lstrip("/").partition("/")
        self.rest = rest
        self.body = b""
        for root in roots:
            path = os.path.join(root, rest)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    self.body = file.read()
        try:
            getattr(self, "be_" + behaviour)()
        except (BrokenPipeError, ConnectionResetError):
            pass

    def start(self):
        """The first byte that is asked for."""
        wanted = self.headers.get("Range")
        return int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0

    def head(self, code, size, **headers):
        self.send_response(code)
        if size is not None:
            self.send_header("Content-Length", str(size))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()

    def send(self, most=None, body=None):
        """Announces all that was asked for, and sends at most so many bytes of it."""
        body = self.body if body is None else body
        start = self.start()
        if start >= len(body) > 0:
            self.head(416, 0, Content_Range=f"bytes */{len(body)}")
            return
        size = len(body) - start
        if start > 0:
            self.head(206, size, Content_Range=f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.head(200, size)
        self.wfile.write(body[start : start + size if most is None else start + most])
        self.wfile.flush()

    def be_right(self):
        if self.body:
            self.send()
        else:
            self.be_missing()

    def be_cut(self):
        """Breaks off in the middle the first time, sends the rest when asked for it."""
        self.send(None if self.start() > 0 else len(self.body) // 2)

    def be_crumbs(self):
        """Breaks off after a hundred bytes, whatever was asked for."""
        self.send(100)

    def be_norange(self):
        self.head(200, len(self.body))
        self.wfile.write(self.body)

    def be_otherrange(self):
        self.head(206, len(self.body), Content_Range=f"bytes 0-{len(self.body) - 1}/{len(self.body)}")
        self.wfile.write(self.body)

    def be_norest(self):
        """Says that there is nothing to resume; sends the whole when asked for it."""
        if self.start() > 0:
            self.head(416, 0)
        else:
            self.send()

    def be_missing(self):
        self.head(404, 9)
        self.wfile.write(b"not here\n")

    def be_broken(self):
        self.head(500, 0)

    def be_empty(self):
        self.head(200, 0)

    def be_wrong(self):
        self.send(body=bytes(b ^ 1 for b in self.body))

    def be_pointer(self):
        self.send(body=b"version 1\nsize 12345\n")

    def be_endless(self):
        self.head(200, None)
        while True:
            self.wfile.write(b"x" * 65536)

    def be_stall(self):
        """Never gets beyond the middle."""
        self.send(max(0, len(self.body) // 2 - self.start()))
        time.sleep(3600)

    def be_silent(self):
        time.sleep(3600)

    def be_slow(self):
        self.head(200, len(self.body))
        for byte in self.body:
            self.wfile.write(bytes([byte]))
            time.sleep(0.002)

    def be_redirect(self):
        self.head(302, 0, Location="/right/" + self.rest)

    def be_circle(self):
        self.head(302, 0, Location=self.path)

    def be_elsewhere(self):
        self.head(302, 0, Location="ftp://127.0.0.1/" + self.rest)

    def be_downgrade(self):
        self.head(302, 0, Location="http://127.0.0.1:1/" + self.rest)


arguments = sys.argv[1:]
if arguments == ["--mute"]:
    mute = socket.create_server(("127.0.0.1", 0))
    print(mute.getsockname()[1], flush=True)
    sys.stdin.read()
    sys.exit()
tls = None
if "--tls" in arguments:
    at = arguments.index("--tls")
    tls = arguments[at + 1 : at + 3]
    del arguments[at : at + 3]
log, *roots = arguments
lock = threading.Lock()
http.server.ThreadingHTTPServer.daemon_threads = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
