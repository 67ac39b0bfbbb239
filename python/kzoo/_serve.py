"""`python3 -m kzoo serve`: the judge over HTTP; docs/judging.md describes it."""

from __future__ import annotations

import argparse
import asyncio
import base64
import collections
import contextlib
import dataclasses
import hmac
import json
import os
import re
import resource
import secrets
import signal
import socket
import sqlite3
import sys
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import pydantic
import uvicorn
from fastapi import FastAPI, Header, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException as AnyHTTPException

from . import _program
from ._benchmarks import read_problem
from ._compile_triton import Compiling
from ._problem import Problem
from ._solution import Refused, kernel_of, refused
from ._sources import CompiledKernel, Kernel, Sources
from ._store import ENDED, Conflict, Ranked, State, Store, Submission, as_json
from ._verdict import Verdict, judge_files

if pydantic.VERSION.startswith("1."):  # it would not look at names
    raise ImportError(f"pydantic is {pydantic.VERSION}, and 2.7 or later is needed")

_LONGEST_WAIT = 60.0  # of one request for a result, in seconds
_SILENCE = 10.0  # after which a client whose request is not complete is left
_PAUSES = (1, 2, 4, 8, 16)  # between tries where the judge fails
_OPEN = ("/health", "/metrics", "/docs", "/openapi.json")  # without a token
# Refused before it is compiled, after all else is looked at.
_PROBE = json.dumps({"source": "// kzoo: entry=f\n__global__ void f() {}\n"})
_WRONG_OPTIONS, _NO_DEVICE = 2, 3  # exit codes, as those of the program

Number = Annotated[int, Field(ge=0, le=2**53)]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclasses.dataclass(frozen=True)
class Client:
    name: str
    token: str
    most_waiting: int


@dataclasses.dataclass
class Given:
    """A submission: a source, a solution, or a manifest with the code of its kernels."""

    source: Annotated[
        str, Field(description="CUDA source; for a benchmark's problem also Python, with Triton or load_inline")
    ] = ""
    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,49}$")] = "kernel"
    solution: Annotated[
        dict[str, Any] | None, Field(description="of the server's definition, as FlashInfer-Bench has it")
    ] = None
    manifest: Annotated[str, Field(description="TOML, as docs/compiled-kernels.md describes it")] = ""
    code: Annotated[str, Field(description="the manifest's kernel: a cubin, fatbin or PTX, in base64")] = ""

    def __post_init__(self) -> None:
        if [bool(self.source), self.solution is not None, bool(self.manifest)].count(True) != 1:
            raise ValueError("one of source, solution and manifest is given")
        if bool(self.manifest) != bool(self.code):
            raise ValueError("a manifest is given with its code")
        base64.b64decode(self.code, validate=True)
        json.dumps(dataclasses.asdict(self), ensure_ascii=False).encode()  # no lone surrogates


@dataclasses.dataclass
class Batch:
    submissions: Annotated[list[Given], Field(min_length=1, max_length=1000)]


class Misconfigured(Exception):
    """What() says why; the code is that of the process."""

    def __init__(self, why: str, code: int = _WRONG_OPTIONS) -> None:
        super().__init__(why)
        self.code = code


class Desk:
    """Takes submissions, has them judged by a worker for each device, and wakes who waits."""

    def __init__(self, store: Store, options: argparse.Namespace) -> None:
        self.store = store
        self.options = options
        self.stopping = False
        self.statuses: collections.Counter[str] = collections.Counter()
        self.seconds = 0.0
        self._added = asyncio.Event()
        self._ended: dict[int, asyncio.Event] = {}
        self._running: dict[int, threading.Event] = {}

    def add(self, client: Client, given: list[Given], key: str | None) -> list[Submission]:
        waiting = self.store.waiting(client.name)
        if waiting + len(given) > client.most_waiting:
            raise HTTPException(429, f"{waiting} submissions of yours wait; try later")
        if self.store.waiting() + len(given) > self.options.most_waiting:
            raise HTTPException(429, "the queue is full; try later")
        keys = [key if key is None else f"{place} {key}" for place in range(len(given))]
        rows = [(one.name, _text_of(one), of) for one, of in zip(given, keys, strict=True)]
        try:
            added = self.store.add(client.name, rows)
        except Conflict as fault:
            raise HTTPException(409, str(fault)) from None
        self._added.set()
        return added

    async def wait(self, client: Client, number: int, seconds: float) -> Submission:
        found = self.find(client, number)
        if seconds <= 0 or found.state in ENDED or self.stopping:
            return found
        ended = self._ended.setdefault(number, asyncio.Event())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), min(seconds, _LONGEST_WAIT))
        return self.find(client, number)

    def find(self, client: Client, number: int) -> Submission:
        if (found := self.store.find(client.name, number)) is None:
            raise HTTPException(404, f"there is no judgement {number}")
        return found

    def cancel(self, client: Client, number: int) -> Submission:
        if self.find(client, number).state not in ENDED:
            self.store.end(number, "cancelled", None, None)
            self._wake(number)
            if stop := self._running.get(number):
                stop.set()
        return self.find(client, number)

    def stop(self) -> None:
        """What runs is ended, and waits again at the next start."""
        self.stopping = True
        self._added.set()
        for stop in self._running.values():
            stop.set()
        for number in list(self._ended):
            self._wake(number)

    def _wake(self, number: int) -> None:
        if ended := self._ended.pop(number, None):
            ended.set()

    async def work(self, device: str | None, pool: ThreadPoolExecutor) -> None:
        """Judges one submission after the other. Whatever comes of one, the next is judged."""
        while not self.stopping:
            taken = await self._stored(self.store.take)
            if taken is None:
                self._added.clear()
                if not self.stopping:
                    await self._added.wait()
                continue
            number, name, source = taken
            stop = self._running[number] = threading.Event()
            try:
                state, judgement, error = await self._judged(device, pool, name, source, stop)
                await self._end(number, state, judgement, error)
            finally:
                del self._running[number]

    async def _judged(
        self, device: str | None, pool: ThreadPoolExecutor, name: str, source: str, stop: threading.Event
    ) -> tuple[State, dict[str, Any] | None, str | None]:
        loop = asyncio.get_running_loop()
        for pause in (*_PAUSES, None):
            try:
                verdict, may_pass = await loop.run_in_executor(
                    pool, _judge, self.options, device, name, source, stop
                )
            except _program.Error as fault:
                return "failed", None, str(fault)
            except Exception as fault:
                why: str | None = f"{type(fault).__name__}: {fault}"
                judgement = None
            else:
                judgement = verdict.document | {"file": f"{name}.cu"}
                why = None
                if verdict.status != "JUDGE_ERROR" or not may_pass:
                    return "done", judgement, None
            if pause is None or stop.is_set():
                break
            await asyncio.to_thread(stop.wait, pause)
        return ("failed" if judgement is None else "done"), judgement, why

    async def _end(
        self, number: int, state: State, judgement: dict[str, Any] | None, error: str | None
    ) -> None:
        if self.stopping and (judgement is None or judgement["status"] == "JUDGE_ERROR"):
            return
        if self.store.state_of(number) == "running":  # not cancelled
            await self._stored(lambda: self.store.end(number, state, judgement, error))
            await self._stored(lambda: self.store.forget(self.options.kept))
            self.statuses[judgement["status"] if judgement else state] += 1
            self.seconds += judgement["wall_seconds"] if judgement else 0
            self._wake(number)

    async def _stored(self, act: Callable[[], Any]) -> Any:
        """Tries until there is room: what was judged is not lost where a disk is full."""
        while True:
            try:
                return act()
            except sqlite3.Error as fault:
                if self.stopping:
                    return None
                print(f"error: {fault}: {self.options.data}", file=sys.stderr, flush=True)
                await asyncio.sleep(1)


def _text_of(given: Given) -> str:
    """As it is stored."""
    fields = dataclasses.asdict(given)
    return json.dumps({key: value for key, value in fields.items() if value and key != "name"})


def _kernel(
    problem: Problem | None, name: str, given: dict[str, Any], sources: Sources, how: Compiling
) -> Kernel:
    """What the program judges. Raises Refused where nothing is, BadInput where it is malformed."""
    if "manifest" in given:
        file = Path(sources.file(given["manifest"], f"{name}.toml"))
        try:
            code = str(tomllib.loads(given["manifest"])["kernel"])
        except (tomllib.TOMLDecodeError, KeyError) as fault:
            raise Refused("COMPILE_ERROR", "source", f"the manifest names no kernel: {fault}") from None
        if not re.fullmatch(r"\w[\w.-]{0,99}", code, re.ASCII) or code == file.name:
            raise Refused("COMPILE_ERROR", "source", f"'{code}' is no name for a file of kernels")
        (file.parent / code).write_bytes(base64.b64decode(given["code"]))
        return file
    if problem is not None:
        return kernel_of(problem, given.get("solution") or given["source"] + "\n", sources, how)
    if "solution" in given:
        raise Refused("UNSUPPORTED", "submission", "this server has no definition that a solution is of")
    return Path(sources.file(given["source"], f"{name}.cu"))


def _judge(
    options: argparse.Namespace, device: str | None, name: str, source: str, stop: threading.Event
) -> tuple[Verdict, bool]:
    """The verdict, and whether another try may end otherwise where the judge has failed."""
    with Sources() as sources:
        given = json.loads(source)
        try:
            how = Compiling(timeout=options.seconds, stop=stop)
            kernel = _kernel(options.problem, name, given, sources, how)
        except Refused as fault:
            return refused(fault, name, options.verify, device), True
        is_for_gpu = "manifest" in given or isinstance(kernel, CompiledKernel)
        verdict = judge_files(
            [kernel],
            problems=options.problem.problems if options.problem else options.problems,
            tier=options.verify,
            device=device,
            baseline=options.baseline,
            build_args=(),
            device_code_only=options.device_code_only,
            explain=options.explain,
            timeout=options.seconds,
            progress=False,
            stop=stop,
        )[0]
        return verdict, not (is_for_gpu and device == "cpu")


class Gate:
    """Looks at the token and the length of a request before the rest of it is read."""

    def __init__(self, app: Any, clients: list[Client], most_bytes: int) -> None:
        self._app = app
        self._clients = clients
        self._most_bytes = most_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        client = self._client(headers.get(b"authorization", b""))
        if client is None:
            await _refusal(401, "the token is missing or wrong")(scope, receive, send)
            return
        scope.setdefault("state", {})["client"] = client
        if scope["method"] == "POST":
            length = headers.get(b"content-length", b"")
            if not re.fullmatch(rb"\d{1,15}", length):
                await _refusal(411, "a Content-Length is needed")(scope, receive, send)
                return
            if int(length) > self._most_bytes:
                why = f"a request has up to {self._most_bytes} bytes"
                await _refusal(413, why)(scope, receive, send)
                return
            try:
                body = await asyncio.wait_for(_body(receive), _SILENCE)
            except TimeoutError:
                await _refusal(408, f"it took longer than {_SILENCE:g} seconds")(scope, receive, send)
                return
            if body is None:
                return
            receive = _replayed(body, receive)
            headers[b"content-type"] = b"application/json"  # whatever curl calls it
            scope["headers"] = list(headers.items())
        await self._app(scope, receive, send)

    def _client(self, given: bytes) -> Client | None:
        found = None
        for client in self._clients:  # all of them, so that the time tells nothing
            if hmac.compare_digest(given, f"Bearer {client.token}".encode()):
                found = client
        return found


async def _body(receive: Receive) -> bytes | None:
    """None: the client has left."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, rest: Receive) -> Receive:
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return parts.pop() if parts else await rest()

    return receive


def _refusal(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status, {"Connection": "close"})


def _metrics(desk: Desk) -> str:
    counts = desk.store.counts()
    lines = ["# TYPE kzoo_submissions gauge"]
    for state in ("waiting", "running", *ENDED):
        lines.append(f'kzoo_submissions{{state="{state}"}} {counts.get(state, 0)}')
    lines.append("# TYPE kzoo_judgements_total counter")
    for status, count in sorted(desk.statuses.items()):
        lines.append(f'kzoo_judgements_total{{status="{status}"}} {count}')
    lines += ["# TYPE kzoo_judge_seconds_total counter", f"kzoo_judge_seconds_total {desk.seconds:.3f}"]
    return "\n".join(lines) + "\n"


def make_app(desk: Desk) -> FastAPI:
    app = FastAPI(title="kernel-zoo", version=_program.version())

    async def submit(
        given: Given, request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
    ) -> JSONResponse:
        """A submission. The same Idempotency-Key again answers with the same submission."""
        added = desk.add(request.state.client, [given], idempotency_key)
        return JSONResponse(as_json(added[0]), 202)

    async def submit_batch(
        given: Batch, request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
    ) -> JSONResponse:
        """Several submissions: all are taken, or none."""
        added = desk.add(request.state.client, given.submissions, idempotency_key)
        return JSONResponse({"judgements": [as_json(each) for each in added]}, 202)

    async def listed(
        request: Request,
        state: State | None = None,
        after: Number = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> JSONResponse:
        """The client's own, in the order of their ids, without verdicts."""
        found = desk.store.listed(request.state.client.name, state, after, limit)
        return JSONResponse(
            {"judgements": [as_json(dataclasses.replace(each, judgement=None)) for each in found]}
        )

    async def result(
        number: Number, request: Request, wait: Annotated[float, Query(allow_inf_nan=False)] = 0
    ) -> JSONResponse:
        """The submission, after up to `wait` seconds until it has ended."""
        return JSONResponse(as_json(await desk.wait(request.state.client, number, wait)))

    async def cancel(number: Number, request: Request) -> JSONResponse:
        """Ends it, whether it waits or runs."""
        return JSONResponse(as_json(desk.cancel(request.state.client, number)))

    async def ranking() -> JSONResponse:
        """The best verdict on each name, by problem."""
        return JSONResponse({"ranking": [dataclasses.asdict(each) for each in desk.store.ranking()]})

    async def health() -> JSONResponse:
        return JSONResponse({"waiting": desk.store.waiting()})

    async def metrics() -> PlainTextResponse:
        """For Prometheus."""
        return PlainTextResponse(_metrics(desk))

    known: dict[int | str, dict[str, Any]] = {200: {"model": Submission}}
    app.add_api_route("/judgements", submit, methods=["POST"], status_code=202, responses={202: {"model": Submission}})
    app.add_api_route("/judgements/batch", submit_batch, methods=["POST"], status_code=202)
    app.add_api_route("/judgements", listed, methods=["GET"])
    app.add_api_route("/judgements/{number}", result, methods=["GET"], responses=known)
    app.add_api_route("/judgements/{number}", cancel, methods=["DELETE"], responses=known)
    app.add_api_route("/ranking", ranking, methods=["GET"], responses={200: {"model": list[Ranked]}})
    app.add_api_route("/health", health, methods=["GET"])
    app.add_api_route("/metrics", metrics, methods=["GET"])

    async def invalid(request: Request, fault: Exception) -> Response:
        assert isinstance(fault, RequestValidationError)
        places = {".".join(map(str, each["loc"])): each["msg"] for each in fault.errors()}
        return _refusal(400, "; ".join(f"{place}: {why}" for place, why in places.items()))

    async def refused(request: Request, fault: Exception) -> Response:
        return _refusal(getattr(fault, "status_code", 500), str(getattr(fault, "detail", fault)))

    async def full(request: Request, fault: Exception) -> Response:
        return _refusal(507, f"it cannot be stored: {fault}")

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(AnyHTTPException, refused)
    app.add_exception_handler(sqlite3.Error, full)
    return app


async def _leave_silent(server: uvicorn.Server) -> None:
    """Closes connections on which a request has begun and does not go on."""
    seen: dict[Any, tuple[Any, float]] = {}
    while True:
        await asyncio.sleep(1)
        now, still = time.monotonic(), {}
        for connection in list(server.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            if cycle is not None and not cycle.response_complete:
                continue
            before, since = seen.get(connection, (cycle, now))
            still[connection] = (cycle, since if before is cycle else now)
            if now - still[connection][1] > _SILENCE:
                connection.transport.abort()
        seen = still


async def _run(options: argparse.Namespace, listening: socket.socket, store: Store, clients: list[Client]) -> None:
    desk = Desk(store, options)
    config = uvicorn.Config(
        Gate(make_app(desk), clients, options.most_bytes),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=options.most_clients,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)

    def stop() -> None:
        desk.stop()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    with ThreadPoolExecutor(len(options.devices)) as pool:
        workers = [asyncio.create_task(desk.work(device, pool)) for device in options.devices]
        silent = asyncio.create_task(_leave_silent(server))
        await server._serve([listening])  # without its own signal handlers
        desk.stop()
        silent.cancel()
        await asyncio.gather(*workers)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m kzoo serve", description="The judge over HTTP; docs/judging.md describes it."
    )
    parser.add_argument("--host", default="127.0.0.1", help="where it listens; default: this machine")
    parser.add_argument("--port", type=int, default=8035, help="0: any; default: 8035")
    parser.add_argument(
        "--token-file",
        type=Path,
        help="a token, or lines of NAME TOKEN [MOST WAITING]; default: KZOO_TOKEN, else a new token, printed",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("judgements.sqlite"),
        help="where submissions and verdicts are kept; default: judgements.sqlite",
    )
    parser.add_argument("--problems", default="quick", help="an experiment; default: quick")
    parser.add_argument(
        "--benchmark",
        type=Path,
        help="instead: a problem of KernelBench (.py), a task.yml of gpu-mode, or a definition (.json)",
    )
    parser.add_argument("--workloads", type=Path, help="of the definition (.jsonl)")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        help="of the benchmark's problem: a precision that is enough, such as tf32",
    )
    parser.add_argument("--baseline", help="default: the experiment's")
    parser.add_argument(
        "--device", help="cuda:0,cuda:1, or cpu,cpu: a worker for each; default: the experiment's"
    )
    parser.add_argument("--verify", default="full", help="quick, full or paranoid; default: full")
    parser.add_argument(
        "--device-code-only", action="store_true", help="refuse kernels with host code of their own"
    )
    parser.add_argument(
        "--explain", action="store_true", help="search a wrong kernel's memory accesses, too"
    )
    parser.add_argument("--seconds", type=float, default=900, help="for one submission; default: 900")
    parser.add_argument("--most-bytes", type=int, default=1_000_000, help="of a request; default: 1000000")
    parser.add_argument("--most-waiting", type=int, default=1000, help="in the queue; default: 1000")
    parser.add_argument("--most-clients", type=int, default=1000, help="at a time; default: 1000")
    parser.add_argument("--kept", type=int, default=100_000, help="results; default: the last 100000")
    options = parser.parse_args(words)
    if options.allow and options.benchmark is None:
        parser.error("--allow is for a --benchmark; an experiment says it itself: allow = [...]")
    options.devices = options.device.split(",") if options.device else [None]
    gpus = ["cuda:0" if name == "cuda" else name for name in options.devices if name != "cpu"]
    if len(set(gpus)) < len(gpus):
        parser.error("--device names a GPU twice: two judges on it disturb each other's verdicts")
    return options


def _clients(options: argparse.Namespace) -> tuple[list[Client], bool]:
    """And whether the token is new."""
    text = os.environ.get("KZOO_TOKEN", "")
    if options.token_file:
        try:
            text = options.token_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise Misconfigured(f"--token-file cannot be read: {fault}") from None
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return [Client("", secrets.token_urlsafe(24), options.most_waiting)], True
    if len(lines) == 1 and (len(lines[0]) != 2 or not options.token_file):
        return [Client("", text.strip(), options.most_waiting)], False
    clients = []
    for words in lines:
        quota = words[2] if len(words) == 3 else str(options.most_waiting)
        if not 2 <= len(words) <= 3 or not quota.isdecimal():
            raise Misconfigured("--token-file: each line is NAME TOKEN, or NAME TOKEN MOST_WAITING")
        clients.append(Client(words[0], words[1], int(quota)))
    if len({client.name for client in clients}) < len(clients):
        raise Misconfigured("--token-file: two lines have the same name")
    return clients, False


def _check(options: argparse.Namespace) -> None:
    """Judges what is refused at once, so that a wrong setting is known before the first client."""
    for device in options.devices:
        try:
            verdict, _ = _judge(options, device, "probe", _PROBE, threading.Event())
        except _program.NoSuchDevice as fault:
            raise Misconfigured(str(fault), _NO_DEVICE) from None
        except (_program.Error, OSError) as fault:
            raise Misconfigured(str(fault)) from None
        if verdict.status == "JUDGE_ERROR":
            raise Misconfigured(verdict.reason)


def _problem(options: argparse.Namespace) -> Problem | None:
    if options.benchmark is None:
        return None
    try:
        return read_problem(options.benchmark, options.workloads, allow=options.allow)
    except (_program.Error, OSError) as fault:
        raise Misconfigured(str(fault)) from None


def _listen(options: argparse.Namespace) -> socket.socket:
    try:
        return socket.create_server((options.host, options.port), backlog=1024)
    except (OSError, OverflowError) as fault:
        raise Misconfigured(f"it cannot listen at {options.host}:{options.port}: {fault}") from None


def _open(file: Path) -> Store:
    try:
        return Store(file)
    except BlockingIOError:
        raise Misconfigured(f"another server uses {file}; give this one its own: --data") from None
    except (OSError, sqlite3.Error) as fault:
        raise Misconfigured(f"{file} cannot be used: {fault}", 5) from None


def serve(words: list[str]) -> int:
    options = _options(words)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        options.problem = _problem(options)
        clients, is_new = _clients(options)
        _check(options)
        with contextlib.closing(_open(options.data)) as store, _listen(options) as listening:
            host, port = listening.getsockname()[:2]
            print(f"http://{host}:{port}", flush=True)
            if is_new:
                print(f"token {clients[0].token}", flush=True)
            asyncio.run(_run(options, listening, store, clients))
    except Misconfigured as fault:
        print(fault if "error: " in str(fault) else f"error: {fault}", file=sys.stderr)
        return fault.code
    return 130
