"""gunicorn's worker with threads for requests instead of connections.

One that has said nothing waits outside of the threads; one that stops in the middle of a request loses its thread
after `WEB_SILENCE_SECONDS`, and others take leave of it. So a few hundred of them hold web up for a while, not for
good."""

import selectors
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.conf import settings
from gunicorn.workers.gthread import TConn, ThreadWorker

_CLOSERS = 4


class Worker(ThreadWorker):
    def init_process(self) -> None:
        self._closers = ThreadPoolExecutor(_CLOSERS)
        super().init_process()

    def enqueue_req(self, conn: TConn) -> None:
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        seconds = settings.WEB_SILENCE_SECONDS
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + seconds
        conn.close = partial(self._close, conn)
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _close(self, conn: TConn, graceful: bool = False) -> None:
        """gunicorn waits for the other end to go, for two seconds: not in the thread that takes all connections."""
        if graceful and self.alive:
            self._closers.submit(TConn.close, conn, graceful=True)
        else:
            TConn.close(conn)
