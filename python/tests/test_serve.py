"""The service: many clients at once, some of which misbehave; restarts; a full disk. KZOO_RUNNER names
the program."""

import base64
import ctypes
import http.client
import importlib.util
import json
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
DATA = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
INSTALLED = importlib.util.find_spec("fastapi") is not None
sys.path.append(f"{DATA}/kernel-zoo/serve")  # where ./zoo setup --serve puts it

TOKEN = "a token of this test"
MOST_BYTES = 100_000
BARE = "__global__ void f() {}\n"  # refused before it is compiled
MINE = (ROOT / "sdk" / "template" / "mine.cu").read_text()
HANGS = MINE.replace("float sum = 0;", "float sum = 0; while (true) sum += 1;")
TF32 = """// kzoo: entry=f precision=tf32 layouts=nt grid=N,M block=1 arguments=N,K,A,B,C
__global__ void f(int N, int K, const float* A, const float* B, float* C) {
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[blockIdx.y * K + k] * B[blockIdx.x * K + k];
  C[blockIdx.y * N + blockIdx.x] = sum;
}
"""
TRITON = """import torch, triton, triton.language as tl
@triton.jit
def f(a, b, c, N, K):
    tl.store(c, 0.0)
def run(A, B):
    C = torch.empty((A.shape[0], 20), device=A.device)
    f[(1,)](A, B, C, 20, 24)
    return C
"""
EXPERIMENT = """plugins = ["serial"]
[problem]
sizes = [16]
[timing]
rounds = 2
min_samples = 2
max_seconds = 0.1
[verify]
timeout_seconds = 60
"""
CACHE = tempfile.TemporaryDirectory(prefix="a b é ")
unittest.addModuleCleanup(CACHE.cleanup)
RUNNING = ("waiting", "running")


class Base(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory(prefix="a b é ")
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)
        (self.folder / "token").write_text(TOKEN + "\n")
        (self.folder / "gemm.toml").write_text(EXPERIMENT)

    def popen(self, *options: str, **more: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "kzoo", "serve", "--port", "0", "--token-file", "token"]
        command += ["--problems", "gemm.toml", "--verify", "quick", "--device", "cpu"]
        command += ["--most-bytes", str(MOST_BYTES), *options]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "XDG_CACHE_HOME": CACHE.name,
        }
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True, **more
        )



    def refused(self, *options: str) -> tuple[int, str]:
        server = self.popen(*options, stderr=subprocess.PIPE)
        out, err = server.communicate(timeout=60)
        self.assertEqual(out, "")
        self.assertIn("error: ", err)
        self.assertNotIn("Traceback", err)
        return server.returncode, err


class Packages(Base):
    @unittest.skipIf(INSTALLED, "FastAPI is installed")
    def test_without_them_it_says_how_to_get_them(self) -> None:
        with mock.patch.dict(os.environ, XDG_DATA_HOME=str(self.folder)):
            code, err = self.refused()
        self.assertEqual(code, 2)
        self.assertIn("./zoo setup --serve", err)


@unittest.skipUnless(importlib.util.find_spec("uvicorn"), "FastAPI is not installed: ./zoo setup --serve")
class Service(Base):
    def start(self, *options: str, **more: Any) -> None:
        self.server = self.popen(*options, **more)
        assert self.server.stdout is not None
        self.addCleanup(self.stop, self.server)
        self.port = int(self.server.stdout.readline().rpartition(":")[2])

    def stop(self, server: subprocess.Popen[str]) -> int:
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
        assert server.stdout is not None
        try:
            return server.wait(60)
        finally:
            server.kill()
            server.stdout.close()

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()

    def ask(
        self, method: str, path: str, body: Any = None, token: str = TOKEN, key: str = ""
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {})
        try:
            text = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, text, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def submit(self, name: str, source: str = BARE, **more: str) -> tuple[int, dict[str, Any]]:
        return self.ask("POST", "/judgements", {"source": source, "name": name}, **more)

    def result(self, number: int) -> dict[str, Any]:
        while True:
            status, found = self.ask("GET", f"/judgements/{number}?wait=30")
            self.assertEqual(status, 200, found)
            if found["state"] not in RUNNING:
                return found

    def running(self, number: int) -> None:
        while self.ask("GET", f"/judgements/{number}")[1]["state"] == "waiting":
            time.sleep(0.02)


class Clients(Service):
    def test_several_at_once_of_which_some_misbehave(self) -> None:
        self.start()
        taken: dict[int, str] = {}
        faults: list[object] = []

        def behaves(client: int) -> None:
            try:
                for turn in range(4):
                    name = f"kernel_{client}_{turn}"
                    status, answer = self.submit(name)
                    assert status == 202, answer
                    taken[answer["id"]] = name
            except BaseException as fault:
                faults.append(fault)

        def sends_too_much() -> None:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                client.sendall(
                    f"POST /judgements HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
                    "Content-Length: 1000000000\r\n\r\n".encode()
                )
                try:
                    answer = client.recv(100)
                    for _ in range(1000):
                        client.sendall(b"x" * 1_000_000)
                    faults.append("a gigabyte was read")
                except OSError:
                    if b" 413 " not in answer:
                        faults.append(answer)

        def sends_garbage() -> None:
            surrogate = b'{"source": "\\ud800", "name": "x"}'
            for body in (
                b"\xff\x00 garbage", b"[" * 50_000, b'{"source": 1}', b'{"source": "x", "name": "../x"}',
                b'{"source": "x", "name": "x\\n"}', b"", surrogate,
            ):  # fmt: skip
                status, answer = self.ask("POST", "/judgements", body)
                if status != 400 or "error" not in answer:
                    faults.append((body, status, answer))
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                client.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
                client.recv(1000)

        # One hangs in the middle of its submission, many before the end of its headers, without a
        # token, and many wait for a result.
        hanging = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(70)]
        for client in hanging:
            client.sendall(b"GET /judgements HTTP/1.1\r\nHost: ")
        hanging.append(socket.create_connection(("127.0.0.1", self.port)))
        hanging[-1].sendall(
            f"POST /judgements HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Length: 50\r\n\r\n{".encode()
        )
        status, slow = self.submit("slow", HANGS)
        self.assertEqual((status, slow["id"]), (202, 1))
        polls = [threading.Thread(target=self.result, args=(1,)) for _ in range(64)]
        clients = [threading.Thread(target=behaves, args=(client,)) for client in range(5)]
        clients += [threading.Thread(target=act) for act in (sends_too_much, sends_garbage)]
        for client in polls + clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(faults, [])
        self.assertEqual(sorted(taken), list(range(2, 22)))
        start = time.monotonic()
        status, found = self.ask("GET", "/health")
        self.assertEqual(found, {"waiting": 20})
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(self.ask("DELETE", "/judgements/1")[1]["state"], "cancelled")
        for client in polls:
            client.join()
        for number, name in taken.items():
            found = self.result(number)
            self.assertEqual((found["name"], found["judgement"]["status"]), (name, "COMPILE_ERROR"))
            self.assertIn(name, found["judgement"]["reason"])
        for client in hanging:
            with client:
                client.settimeout(30)
                client.recv(1000)  # it is left
        self.assertEqual(self.stop(self.server), 130)

    def test_submissions_to_a_benchmark(self) -> None:
        files = ROOT / "python" / "tests" / "definitions"
        options = ["--benchmark", str(files / "projection.json"), "--workloads", str(files / "projection.jsonl")]
        self.assertIn("tf99", self.refused(*options, "--allow", "tf99")[1])
        self.start(*options, "--allow", "tf32")
        solution = json.loads((files / "projection_solution.json").read_text())
        solution["spec"] |= {"entry_point": "a.py::run", "language": "triton"}
        text = "def run(A, B):\n    return A @ B.T\n"
        solution["sources"].append({"path": "a.py", "content": text})
        code = base64.b64encode(b"no kernel").decode()
        for body, status, words in (
            ({"source": text}, "UNSUPPORTED", "line 2: A @ B.T: PyTorch would compute it"),
            ({"solution": solution}, "UNSUPPORTED", "line 2: A @ B.T"),
            ({"manifest": 'kernel = "../x"', "code": code}, "COMPILE_ERROR", "is no name for a file"),
            ({"manifest": 'kernel = "x.cubin"', "code": code}, "COMPILE_ERROR", "kernel.toml"),
        ):
            with self.subTest(words):
                accepted, answer = self.ask("POST", "/judgements", body)
                self.assertEqual(accepted, 202, answer)
                judgement = self.result(answer["id"])["judgement"]
                self.assertEqual(judgement["status"], status, judgement)
                self.assertIn(words, judgement["reason"])
        found = self.result(self.submit("low", TF32)[1]["id"])["judgement"]
        self.assertEqual((found["status"], found["precisions"]), ("PASSED", ["tf32"]), found)
        start = time.monotonic()
        ptx = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 c) { ret; }\n"
        launch = 'kernel = "f.ptx"\nentry = "f"\ngrid = [1]\nblock = 32\narguments = ["C"]\n'
        body = {"manifest": launch, "code": base64.b64encode(ptx).decode()}
        found = self.result(self.ask("POST", "/judgements", body)[1]["id"])["judgement"]
        self.assertEqual(found["status"], "JUDGE_ERROR", found)
        self.assertLess(time.monotonic() - start, 25)  # it is not tried again: no GPU will come
        self.assertEqual(self.ask("POST", "/judgements", {"source": "x", "solution": {}})[0], 400)
        self.assertEqual(self.ask("POST", "/judgements", {"manifest": "x"})[0], 400)

    def test_a_kernel_that_compiles_without_end_is_cancelled(self) -> None:
        program = self.folder / "program"
        real = shlex.quote(os.environ.get("KZOO_RUNNER") or str(ROOT / "build/release/bin/runner"))
        program.write_text(f'#!/bin/sh\n[ $1 = __compiler ] && exec sleep 600\nexec {real} "$@"\n')
        program.chmod(0o700)
        files = ROOT / "python" / "tests" / "definitions"
        options = ["--benchmark", str(files / "projection.json"), "--workloads", str(files / "projection.jsonl")]
        with mock.patch.dict(os.environ, KZOO_RUNNER=str(program)):
            self.start(*options)
        first, second = (self.submit("slow", TRITON)[1]["id"] for _ in range(2))
        self.running(first)
        self.assertEqual(self.ask("DELETE", f"/judgements/{first}")[1]["state"], "cancelled")
        self.running(second)
        self.assertEqual(self.stop(self.server), 130)

    def test_a_signal_that_another_thread_takes_ends_it(self) -> None:
        self.start()
        self.assertEqual(self.result(self.submit("x")[1]["id"])["state"], "done")
        main = self.server.pid
        others = {int(name) for name in os.listdir(f"/proc/{main}/task")} - {main}
        send = ctypes.CDLL(None).tgkill
        self.assertTrue(any(send(main, thread, signal.SIGTERM) == 0 for thread in others))
        self.assertEqual(self.server.wait(20), 130)

    def test_limits_tokens_and_quotas(self) -> None:
        (self.folder / "token").write_text(f"ann {'a' * 20} 2\nbob {'b' * 20}\n")
        ann, bob = "a" * 20, "b" * 20
        self.start("--most-waiting", "4")
        self.assertEqual(self.ask("GET", "/judgements", token="another")[0], 401)
        self.assertEqual(self.ask("GET", "/judgements/1", token="")[0], 401)
        self.assertEqual(self.ask("GET", "/judgements/1", token=ann)[0], 404)
        self.assertEqual(self.ask("GET", "/nothing", token=ann)[0], 404)
        self.assertEqual(self.submit("large", "x" * MOST_BYTES, token=ann)[0], 413)
        first = self.submit("slow", HANGS, token=ann)[1]["id"]
        while self.ask("GET", f"/judgements/{first}", token=ann)[1]["state"] == "waiting":
            time.sleep(0.02)
        second = self.submit("x", token=ann, key="k")[1]["id"]
        self.assertEqual(self.submit("x", token=ann, key="k"), (202, self.ask("GET", f"/judgements/{second}", token=ann)[1]))
        self.assertEqual(self.submit("y", token=ann, key="k")[0], 409)
        batch = {"submissions": [{"source": BARE}, {"source": BARE}]}
        self.assertEqual(self.ask("POST", "/judgements/batch", batch, ann)[0], 429)  # all or none
        status, found = self.ask("POST", "/judgements/batch", batch, bob)
        self.assertEqual((status, [each["id"] for each in found["judgements"]]), (202, [3, 4]))
        self.assertEqual(self.submit("z", token=ann)[0], 202)
        self.assertEqual(self.submit("z", token=bob)[0], 429)
        listed = self.ask("GET", "/judgements?state=waiting&after=1", token=ann)[1]["judgements"]
        self.assertEqual([each["id"] for each in listed], [2, 5])
        self.assertEqual(self.ask("GET", "/judgements/2", token=bob)[0], 404)
        self.assertEqual(self.ask("DELETE", "/judgements/1", token=bob)[0], 404)
        self.assertEqual(self.ask("DELETE", "/judgements/2", token=ann)[1]["state"], "cancelled")
        self.assertEqual(self.ask("DELETE", "/judgements/1", token=ann)[1]["state"], "cancelled")
        found = self.ask("GET", "/judgements/5?wait=60", token=ann)[1]
        self.assertEqual(found["state"], "done")
        self.assertEqual(self.ask("GET", "/openapi.json")[0], 200)

    def test_the_judge_takes_too_long(self) -> None:
        self.start("--seconds", "0.3")
        found = self.result(self.submit("slow", HANGS)[1]["id"])
        self.assertEqual(found["state"], "failed")
        self.assertIn("longer than 0.3 seconds", found["error"])


class Lasting(Service):
    def test_what_was_submitted_outlives_the_service(self) -> None:
        self.start()
        first = self.submit("first")[1]["id"]
        before = self.result(first)
        slow, later = self.submit("slow", HANGS)[1]["id"], self.submit("later")[1]["id"]
        self.running(slow)
        self.kill()
        # The program that judged ends with it.
        self.start()
        self.assertEqual(self.result(first), before)
        self.running(slow)
        self.assertEqual(self.ask("DELETE", f"/judgements/{slow}")[1]["state"], "cancelled")
        self.assertIn("later", self.result(later)["judgement"]["reason"])
        self.assertEqual(self.submit("next")[1]["id"], later + 1)

    def test_a_full_disk_ends_nothing(self) -> None:
        self.start()
        taken = [self.submit("first", MINE)[1]["id"]]
        self.running(taken[0])
        size = (self.folder / "judgements.sqlite-wal").stat().st_size
        hard = resource.RLIM_INFINITY
        resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (size, hard))
        self.assertEqual(self.submit("none", "//" + "x" * 50_000)[0], 507)
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        time.sleep(1)
        resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        taken.append(self.submit("second")[1]["id"])
        found = [self.result(number) for number in taken]
        self.assertEqual([each["state"] for each in found], ["done", "done"])
        self.assertEqual(found[0]["judgement"]["status"], "PASSED")


class Settings(Service):
    def test_wrong_ones_are_known_before_the_first_client(self) -> None:
        for words, code, why in (
            (["--problems", "nosuch"], 2, "nosuch"),
            (["--baseline", "nosuch:one"], 2, "names no plugin"),
            (["--allow", "tf32"], 2, "--allow is for a --benchmark"),
            (["--device", "cuda,cuda:0"], 2, "--device names a GPU twice"),
            (["--token-file", "none"], 2, "--token-file cannot be read"),
            (["--data", "none/judgements.sqlite"], 5, "none/judgements.sqlite"),
            (["--port", "1000000"], 2, "it cannot listen"),
        ):
            with self.subTest(words):
                found, err = self.refused(*words)
                self.assertEqual(found, code)
                self.assertIn(why, err)
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):
            self.assertEqual(self.refused("--device", "cuda")[0], 3)
        self.start()
        self.assertIn("another server uses judgements.sqlite", self.refused()[1])
        self.assertIn("in use", self.refused("--data", "other", "--port", str(self.port))[1])


class Ranking(unittest.TestCase):
    def test_the_best_verdict_on_each_name_counts(self) -> None:
        from kzoo._store import Store

        def verdict(speedup: float, low: float, high: float, clock: str = "gpu") -> dict[str, Any]:
            problem = {"problem": {"name": "64"}, "clock": clock, "speedup": speedup}
            return {"status": "PASSED", "problems": [problem | {"speedup_interval": [low, high]}]}

        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder) / "s")
            for owner, name, judgement in (
                ("ann", "x", verdict(1.5, 1.4, 1.6)),
                ("ann", "x", verdict(1.2, 1.1, 1.3)),
                ("bob", "x", verdict(1.35, 1.2, 1.45)),
                ("bob", "y", verdict(1.1, 1.05, 1.15)),
                ("bob", "z", verdict(9, 8, 10, "simulator")),
                ("bob", "z", verdict(9, 8, 10) | {"status": "REWARD_HACK"}),
            ):
                number = store.add(owner, [(name, "", None)])[0].id
                store.end(number, "done", judgement, None)
            found = [(one.rank, one.owner, one.name, one.id, one.tie) for one in store.ranking()]
            store.close()
        self.assertEqual(
            found, [(1, "ann", "x", 1, False), (2, "bob", "x", 3, True), (3, "bob", "y", 4, False)]
        )


if __name__ == "__main__":
    unittest.main()
