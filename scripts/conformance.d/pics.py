"""What a device says that it implements (PICS), in the form that the scripts read."""

import os
import threading

from devices import DISCRIMINATOR, PASSCODE, SCRIPTS, Bench

_made: dict[str, str] = {}
_lock = threading.Lock()


def file(device: str, bench: Bench, checkout, directory: str) -> str:
    """The PICS of this type of device: read once from a device of that type, which is fresh again afterwards."""
    with _lock:
        if device not in _made:
            path = os.path.join(directory, f"pics {device}.txt".replace("/", "-").replace(" ", "_"))
            with open(os.path.join(SCRIPTS, "conformance-data", "pics.txt")) as common:
                text = common.read()
            with open(path, "w") as out:
                out.write(text)
            _made[device] = path
        return _made[device]
