"""The calls for a client of the Model Context Protocol, over standard input and output."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
INSTALLED = importlib.util.find_spec("mcp") is not None
sys.path.insert(0, f"{DATA}/kernel-zoo/mcp")  # where ./zoo setup --mcp puts it

MINE = (ROOT / "sdk" / "template" / "mine.cu").read_text()
PROBLEMS = "[problem]\nsizes = [16]\n"


class Mcp(unittest.TestCase):
    @unittest.skipIf(INSTALLED, "mcp is installed")
    def test_without_the_package_it_says_how_to_get_it(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "XDG_DATA_HOME": "/none"}
        command = [sys.executable, "-m", "kzoo", "mcp"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("./zoo setup --mcp", ran.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mcp"), "mcp is not installed: ./zoo setup --mcp")
    def test_a_client_judges_explains_and_compares(self) -> None:
        with tempfile.TemporaryDirectory(prefix="a b é ") as cache:
            asyncio.run(self.talk(cache))

    async def talk(self, cache: str) -> None:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": cache}
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "kzoo", "mcp"], env=dict(environment)
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            listed = await session.list_tools()
            self.assertEqual([tool.name for tool in listed.tools], ["judge", "explain", "compare"])

            async def call(name: str, **arguments: Any) -> Any:
                given = arguments | {"problems": PROBLEMS, "device": "cpu"}
                return await session.call_tool(name, given)

            judged = (await call("judge", source=MINE, tier="quick")).structured_content
            self.assertEqual(judged["status"], "PASSED", judged)
            explained = (
                await call("explain", source="__global__ void f() {}\n")
            ).structured_content
            self.assertEqual(explained["check"], "source", explained)
            compared = await call("compare", sources=["naive:8x8", "naive:16x16"])
            self.assertIn("naive:8x8", compared.content[0].text)
            refused = await session.call_tool("judge", {"source": MINE, "problems": "nosuch"})
            self.assertIn("nosuch", refused.content[0].text)


if __name__ == "__main__":
    unittest.main()
