"""Checks a device that Hearth's controller commissions and shares with the SDK's controller."""

import asyncio
import json
import os
import shutil
import subprocess

from checks_fabrics import locked_out, toggles
from harness import FRESH, check, expect, expect_equal


class Hearth:
    """Hearth's controller with a temporary home."""

    def __init__(self, target):
        self.hearth = target.processes.hearth
        self.state = os.path.join(os.path.dirname(target.processes.state), "sharing-home")
        shutil.rmtree(self.state, ignore_errors=True)

    async def run(self, *arguments, status: int = 0):
        """Runs a command; returns its data, or its error if it must fail with an exit status."""
        line = [self.hearth, *map(str, arguments), "--interface", "veth-b", "--state", self.state, "--json"]
        print("$", *line, flush=True)
        process = await asyncio.create_subprocess_exec(
            *line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=None)
        output, _ = await asyncio.wait_for(process.communicate(), 20)
        print(output.decode(errors="replace").rstrip()[:2000], flush=True)
        expect_equal(process.returncode, status, f"exit status of {arguments}")
        document = json.loads(output)
        return document["data"] if status == 0 else document["error"]


@check("commissioned and shared by Hearth, joined by the SDK with the printed code, which Hearth removes", state=FRESH,
       limit=60, once=True)
async def shared_by_us(target):
    hearth = Hearth(target)
    await hearth.run("pair", target.qr, "--name", "beach house")
    try:
        expect_equal((await hearth.run("share", "beach house", "--status"))["window"], "windowNotOpen", "window")
        shared = await hearth.run("share", "beach house", "--for", "3m")
        expect_equal((await hearth.run("share", "beach house", "--status"))["window"], "enhancedWindowOpen", "window")
        error = await hearth.run("share", "beach house", status=8)
        expect("BUSY" in error["message"], f"the error is {error}")
        node_b = await target.b.commission_by_code(shared["code"]["qrCode"])
        await toggles(target.b, node_b, target.endpoint)
        await hearth.run("on", "beach house")

        fabrics = await hearth.run("fabrics", "beach house")
        expect_equal([entry["isOurs"] for entry in fabrics], [True, False], "fabrics, ours first")
        guest = fabrics[1]
        expect_equal((guest["fabricID"], guest["nodeID"]), ("2", str(node_b)), "the SDK's fabric and node")
        entries = await hearth.run("acl", "list", "beach house")
        expect_equal([entry["privilege"] for entry in entries], ["administer"], "our access control list")
        await hearth.run("acl", "revoke", "beach house", 1, status=2)
        await hearth.run("fabrics", "remove", "beach house", fabrics[0]["index"], status=2)
        await hearth.run("fabrics", "remove", "beach house", guest["index"])
        await locked_out(target.b, node_b)
        expect_equal(len(await hearth.run("fabrics", "beach house")), 1, "fabrics afterward")

        # A closed window accepts no controller.
        await hearth.run("share", "beach house")
        await hearth.run("share", "beach house", "--revoke")
        expect_equal((await hearth.run("share", "beach house", "--status"))["window"], "windowNotOpen", "window")
        error = await hearth.run("share", "beach house", "--revoke", status=8)
        expect("WINDOW_NOT_OPEN" in error["message"], f"the error is {error}")
        # A basic window, with the passcode of the device.
        expect_equal((await hearth.run("share", "beach house", "--basic"))["code"], None, "code of a basic window")
        node_b = await target.b.commission_by_passcode(target.passcode, target.discriminator)
        await toggles(target.b, node_b, target.endpoint)
        await target.b.unpair(node_b)
    finally:
        await hearth.run("remove", "beach house")
