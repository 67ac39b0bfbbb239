"""The service: many clients at once, some of which misbehave. KZOO_RUNNER names the program.

KZOO_JUDGEMENTS=200 has five clients submit so many kernels that are compiled and judged, and prints how long
it took. Without it they are 20, and refused before they are compiled.
"""

import ctypes
import http.client
import json
import os
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

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a token of this test"
MOST_BYTES = 100_000
CLIENTS = 5
JUDGEMENTS = int(os.environ.get("KZOO_JUDGEMENTS", "20"))
COMPILED = "KZOO_JUDGEMENTS" in os.environ
BARE = "__global__ void f() {}\n"  # refused before it is compiled
MINE = (ROOT / "sdk" / "template" / "mine.cu").read_text()
EXPERIMENT = """plugins = ["serial"]
[problem]
sizes = [16]
[timing]
rounds = 2
min_samples = 2
max_seconds = 0.1
"""


class Service(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory(prefix="a b é ")
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)
        (self.folder / "token").write_text(TOKEN + "\n")
        (self.folder / "gemm.toml").write_text(EXPERIMENT)

    def start(self, *options: str) -> None:
        command = [sys.executable, "-m", "kzoo", "serve", "--port", "0", "--token-file", "token"]
        command += ["--problems", "gemm.toml", "--verify", "quick", "--device", "cpu"]
        command += ["--most-bytes", str(MOST_BYTES), "--results", "results.jsonl", *options]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        self.server = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self.server.stdout is not None
        self.addCleanup(self.stop)
        self.port = int(self.server.stdout.readline().rpartition(":")[2])

    def stop(self) -> int:
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        assert self.server.stdout is not None
        try:
            return self.server.wait(60)
        finally:
            self.server.kill()
            self.server.stdout.close()

    def ask(
        self, method: str, path: str, body: bytes | None = None, token: str = TOKEN
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def submit(self, name: str, source: str = BARE) -> tuple[int, dict[str, Any]]:
        return self.ask("POST", "/judgements", json.dumps({"source": source, "name": name}).encode())

    def result(self, number: int) -> dict[str, Any]:
        while True:
            status, found = self.ask("GET", f"/judgements/{number}?wait=30")
            self.assertEqual(status, 200)
            if found["state"] in ("done", "failed"):
                return found


class Clients(Service):
    def test_eight_at_once_of_which_three_misbehave(self) -> None:
        self.start()
        taken: dict[int, str] = {}
        faults: list[object] = []

        def behaves(client: int) -> None:
            try:
                for turn in range(JUDGEMENTS // CLIENTS):
                    name = f"kernel_{client}_{turn}"
                    status, answer = self.submit(name, MINE if COMPILED else BARE)
                    assert status == 202, answer
                    taken[answer["id"]] = name
            except BaseException as fault:
                faults.append(fault)

        def sends_too_much() -> None:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                client.sendall(
                    f"POST /judgements HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n"
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
            for body in (b"\xff\x00 garbage", b"[" * 50_000, b'{"source": 1}', b'{"source": "x", "name": "../x"}'):
                status, _ = self.ask("POST", "/judgements", body)
                if status != 400:
                    faults.append((body, status))
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                client.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
                client.recv(1000)

        # One hangs in the middle of its submission, until the end of the test.
        hanging = socket.create_connection(("127.0.0.1", self.port))
        hanging.sendall(
            f"POST /judgements HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Length: 50\r\n\r\n{".encode()
        )
        clients = [threading.Thread(target=behaves, args=(client,)) for client in range(CLIENTS)]
        clients += [threading.Thread(target=act) for act in (sends_too_much, sends_garbage)]
        start = time.monotonic()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        submitted = time.monotonic() - start
        self.assertEqual(faults, [])
        self.assertEqual(sorted(taken), list(range(1, JUDGEMENTS + 1)))
        for client in range(CLIENTS):  # each one's in its own order
            turns = [int(name.rpartition("_")[2]) for _, name in sorted(taken.items())
                     if name.startswith(f"kernel_{client}_")]  # fmt: skip
            self.assertEqual(turns, list(range(JUDGEMENTS // CLIENTS)))

        for number, name in taken.items():
            found = self.result(number)
            self.assertEqual(found["name"], name)
            judged = found["judgement"]
            self.assertEqual(judged["status"], "PASSED" if COMPILED else "COMPILE_ERROR")
            self.assertIn(name, judged["problems"][0]["kernel"] if COMPILED else judged["reason"])
        took = time.monotonic() - start
        hanging.close()
        status, last = self.submit("mine", MINE)
        self.assertEqual((status, last["id"]), (202, JUDGEMENTS + 1))
        judged = self.result(last["id"])["judgement"]
        self.assertEqual(judged["status"], "PASSED", judged["reason"])
        self.assertEqual(judged["problems"][0]["kernel"], "mine:16x16")

        self.assertEqual(self.stop(), 130)
        lines = [json.loads(line) for line in (self.folder / "results.jsonl").read_text().splitlines()]
        self.assertEqual([line["id"] for line in lines], list(range(1, JUDGEMENTS + 2)))
        if COMPILED:
            seconds = sorted(line["judgement"]["wall_seconds"] for line in lines)
            print(f"{JUDGEMENTS} judgements: submitted in {submitted:.1f} s, judged in {took:.1f} s; "
                  f"one takes {seconds[0]:.2f} to {seconds[-1]:.2f} s, "
                  f"half of them {seconds[len(seconds) // 2]:.2f} s or less")  # fmt: skip

    def test_a_signal_that_another_thread_takes_ends_it(self) -> None:
        self.start()
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        main = self.server.pid
        others = {int(name) for name in os.listdir(f"/proc/{main}/task")} - {main}
        send = ctypes.CDLL(None).tgkill  # not 0: that thread has ended, with its client
        self.assertTrue(any(send(main, thread, signal.SIGTERM) == 0 for thread in others))
        self.assertEqual(self.server.wait(20), 130)

    def test_limits_and_tokens(self) -> None:
        self.start("--most-waiting", "1", "--seconds", "0.2")
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        self.assertEqual(self.ask("POST", "/judgements", b"{}", "another")[0], 401)
        self.assertEqual(self.ask("GET", "/judgements/1", token="")[0], 401)
        self.assertEqual(self.ask("GET", "/judgements/1")[0], 404)
        self.assertEqual(self.ask("GET", "/nothing")[0], 404)
        self.assertEqual(self.submit("large", "x" * MOST_BYTES)[0], 413)
        answers = [self.submit(f"kernel_{index}", MINE) for index in range(12)]
        taken = [answer["id"] for status, answer in answers if status == 202]
        self.assertEqual({status for status, _ in answers}, {202, 429})
        self.assertEqual(taken, list(range(1, len(taken) + 1)))
        for number in taken:
            found = self.result(number)
            self.assertEqual(found["state"], "failed")
            self.assertIn("longer than 0.2 seconds", found["error"])


if __name__ == "__main__":
    unittest.main()
