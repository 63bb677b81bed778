"""Network, on the loopback interface: a server that is unwell at times, one that is not there yet, a port in use."""

import http.client
import http.server
import random
import socket
import threading
import time

from jitter import jitter


class Handler(http.server.BaseHTTPRequestHandler):
    unwell = 0.3

    def do_GET(self):
        self.send_response(503 if jitter(0, 1) < self.unwell else 200)
        self.end_headers()

    def log_message(self, *given):
        pass


class Well(Handler):
    unwell = 0.0


def status_of(handler):
    server = http.server.HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        connection.request("GET", "/")
        status = connection.getresponse().status
        connection.close()
    finally:
        thread.join()
        server.server_close()
    return status


def serve(listener, delay):
    time.sleep(delay)
    listener.listen()


def connect(delay):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=serve, args=(listener, delay))
    thread.start()
    time.sleep(0.012)
    client = socket.socket()
    try:
        client.connect(listener.getsockname())
    finally:
        client.close()
        thread.join()
        listener.close()


def take_port(taken):
    """Bind one of ten ports, of which some are taken."""
    held = [socket.socket() for _ in range(10)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held[taken:]:
        each.close()
    own = socket.socket()
    try:
        own.bind(("127.0.0.1", random.choice(ports)))
    finally:
        own.close()
        for each in held:
            each.close()


def test_status():
    assert status_of(Handler) == 200


def test_status_stable():
    assert status_of(Well) == 200


def test_connect():
    connect(jitter(0, 0.02))


def test_connect_stable():
    connect(0)


def test_port():
    take_port(taken=3)


def test_port_stable():
    take_port(taken=0)
