"""`python3 -m kzoo serve`: the judge over HTTP, one submission after the other.

    POST /judgements        {"source": "CUDA source", "name": "mine"}   -> 202 {"id": 7, ...}
    GET  /judgements/7      ?wait=SECONDS until it is done              -> 200 {"id": 7, "state", ...}
    GET  /health                                                        -> 200 {"waiting": 0, ...}

Each request but the last has the header `Authorization: Bearer TOKEN`.
"""

from __future__ import annotations

import argparse
import contextlib
import hmac
import json
import os
import queue
import re
import secrets
import signal
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlsplit

from . import _program
from ._sources import Sources
from ._verdict import judge

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_LONGEST_WAIT = 60.0  # of one request for a result
_SILENCE = 10.0  # after which a client that sends nothing is left


@dataclass
class Submission:
    id: int
    name: str
    source: str
    done: threading.Event = field(default_factory=threading.Event)
    state: str = "waiting"  # running, done, failed
    judgement: dict[str, Any] | None = None
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "judgement": self.judgement,
            "error": self.error,
        }


class Refused(Exception):
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Desk:
    """Takes submissions, and keeps what came of the last of them."""

    def __init__(self, longest_queue: int, kept: int) -> None:
        self._lock = threading.Lock()
        self._all: OrderedDict[int, Submission] = OrderedDict()
        self._kept = kept
        self._next = 1
        self.queue: queue.Queue[Submission] = queue.Queue(longest_queue)

    def add(self, name: str, source: str) -> Submission:
        with self._lock:
            submission = Submission(self._next, name, source)
            try:
                self.queue.put_nowait(submission)
            except queue.Full:
                raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "the queue is full; try later") from None
            self._next += 1
            self._all[submission.id] = submission
            while len(self._all) > self._kept and next(iter(self._all.values())).done.is_set():
                self._all.popitem(last=False)
            return submission

    def take(self) -> Submission:
        """Waits for the next one.

        It looks every 50 ms rather than waits on a lock: Python sees a signal between two instructions of the
        main thread, so one that comes just before that thread blocks would not end the program.
        """
        while True:
            try:
                return self.queue.get_nowait()
            except queue.Empty:
                time.sleep(0.05)

    def find(self, number: int) -> Submission:
        with self._lock:
            if number not in self._all:
                raise Refused(HTTPStatus.NOT_FOUND, f"there is no judgement {number}")
            return self._all[number]


class Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "kernel-zoo"
    protocol_version = "HTTP/1.1"
    timeout = _SILENCE

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, act: Any) -> None:
        try:
            status, body = act()
        except Refused as refused:
            status, body = refused.status, {"error": str(refused)}
            self.close_connection = True  # what it still sends is not read
        except (TimeoutError, ConnectionError):
            self.close_connection = True
            return
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def _get(self) -> tuple[HTTPStatus, dict[str, Any]]:
        where = urlsplit(self.path)
        if where.path == "/health":
            return HTTPStatus.OK, {"waiting": self.server.desk.queue.qsize()}
        self._check_token()
        found = re.fullmatch(r"/judgements/(\d{1,15})", where.path)
        if not found:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {where.path}")
        submission = self.server.desk.find(int(found[1]))
        try:
            seconds = float(parse_qs(where.query).get("wait", ["0"])[0])
        except ValueError:
            raise Refused(HTTPStatus.BAD_REQUEST, "wait is a number of seconds") from None
        submission.done.wait(min(max(seconds, 0.0), _LONGEST_WAIT))
        return HTTPStatus.OK, submission.as_json()

    def _post(self) -> tuple[HTTPStatus, dict[str, Any]]:
        self._check_token()
        if self.path != "/judgements":
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {self.path}")
        try:
            size = int(self.headers["Content-Length"])
        except (TypeError, ValueError):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "a Content-Length is needed") from None
        if not 0 <= size <= self.server.most_bytes:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a submission has up to {self.server.most_bytes} bytes",
            )
        body = self.rfile.read(size)
        if len(body) < size:
            raise ConnectionError
        try:
            given = json.loads(body)
            source, name = given["source"], given.get("name", "kernel")
            if not isinstance(source, str) or not isinstance(name, str):
                raise TypeError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise Refused(
                HTTPStatus.BAD_REQUEST, 'expected JSON: {"source": "CUDA source", "name": "mine"}'
            ) from None
        if not _NAME.fullmatch(name):
            raise Refused(HTTPStatus.BAD_REQUEST, "a name has up to 50 letters, digits and '_'")
        return HTTPStatus.ACCEPTED, self.server.desk.add(name, source).as_json()

    def _check_token(self) -> None:
        given = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self.server.token}".encode()):
            raise Refused(HTTPStatus.UNAUTHORIZED, "the token is missing or wrong")

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing: a log with what clients send is nothing for a terminal."""


class Server(ThreadingHTTPServer):
    """At most so many clients at a time; the others wait in the listening socket."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], desk: Desk, token: str, options: Any) -> None:
        super().__init__(address, Handler)
        self.desk = desk
        self.token = token
        self.most_bytes: int = options.most_bytes
        self._places = threading.BoundedSemaphore(options.most_clients)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._places.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of the server's."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _judge(submission: Submission, options: argparse.Namespace) -> None:
    submission.state = "running"
    try:
        with Sources() as sources:
            path = sources.file(submission.source, f"{submission.name}.cu")
            submission.judgement = judge(
                path,
                problems=options.problems,
                tier=options.verify,
                device=options.device,
                baseline=options.baseline,
                device_code_only=options.device_code_only,
                timeout=options.seconds,
                progress=False,
            ).document
            submission.judgement["file"] = f"{submission.name}.cu"
        submission.state = "done"
    except _program.Error as fault:
        submission.error, submission.state = str(fault), "failed"


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m kzoo serve", description="The judge over HTTP; docs/judging.md describes it."
    )
    parser.add_argument("--host", default="127.0.0.1", help="where it listens; default: this machine")
    parser.add_argument("--port", type=int, default=8035, help="0: any; default: 8035")
    parser.add_argument("--token-file", type=Path, help="default: KZOO_TOKEN, else a new one, printed")
    parser.add_argument("--problems", default="quick", help="an experiment; default: quick")
    parser.add_argument("--baseline", help="default: the experiment's")
    parser.add_argument("--device", help="default: the experiment's")
    parser.add_argument("--verify", default="full", help="quick, full or paranoid; default: full")
    parser.add_argument(
        "--device-code-only", action="store_true", help="refuse kernels with host code of their own"
    )
    parser.add_argument("--seconds", type=float, default=900, help="for one submission; default: 900")
    parser.add_argument("--most-bytes", type=int, default=1_000_000, help="of one; default: 1000000")
    parser.add_argument("--most-waiting", type=int, default=1000, help="in the queue; default: 1000")
    parser.add_argument("--most-clients", type=int, default=64, help="at a time; default: 64")
    parser.add_argument("--kept", type=int, default=10_000, help="results; default: the last 10000")
    parser.add_argument("--results", type=Path, help="a file to which each result is added, as a line")
    return parser.parse_args(words)


def _token(options: argparse.Namespace) -> tuple[str, bool]:
    """And whether it is new."""
    given = options.token_file.read_text() if options.token_file else os.environ.get("KZOO_TOKEN", "")
    return (given.strip(), False) if given.strip() else (secrets.token_urlsafe(24), True)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def serve(words: list[str]) -> int:
    options = _options(words)
    token, is_new = _token(options)
    desk = Desk(options.most_waiting, options.kept)
    signal.signal(signal.SIGTERM, _interrupt)
    with contextlib.ExitStack() as stack:
        results = stack.enter_context(options.results.open("a")) if options.results else None
        server = stack.enter_context(Server((options.host, options.port), desk, token, options))
        host, port = server.socket.getsockname()[:2]
        print(f"http://{host}:{port}", flush=True)
        if is_new:
            print(f"token {token}", flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            while True:  # in the main thread, which Ctrl-C interrupts: the program ends with it
                submission = desk.take()
                _judge(submission, options)
                if results is not None:
                    results.write(json.dumps(submission.as_json()) + "\n")
                    results.flush()
                submission.source = ""
                submission.done.set()
        except KeyboardInterrupt:
            return 130
