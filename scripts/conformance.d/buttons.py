"""A hand at buttons: the out-of-band commands that TC_SWTCH sends to the SDK's all-clusters app, as `hearth sim press`."""

from devices import Bench

DEVICE = "Device"


def press(bench: Bench, command: dict) -> bool:
    """Does what the command says; False if it is not about buttons."""
    name, position = command.get("Name"), str(command.get("ButtonId", 1))
    if name == "SimulateMultiPress":
        arguments = ["short", "--position", position, "--count", str(command["MultiPressNumPresses"]),
                     "--hold", f"{command['MultiPressPressedTimeMillis']}ms",
                     "--gap", f"{command['MultiPressReleasedTimeMillis']}ms"]
    elif name == "SimulateLongPress":
        # When a press is long is the device's own affair.
        arguments = ["long", "--position", position, "--hold", f"{command['LongPressDurationMillis']}ms"]
    elif name == "SimulateLatchPosition":
        arguments = ["latch", "--position", str(command["PositionId"])]
    elif name == "SimulateSwitchIdle":
        arguments = ["up"]
    else:
        return False
    bench.sim("press", DEVICE, *arguments)
    return True
