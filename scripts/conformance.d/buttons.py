"""A hand at buttons and behind a bridge: the out-of-band commands of TC_SWTCH and TC_BRBINFO_3_2, as `hearth sim`."""

from devices import Bench

DEVICE = "Device"
# On endpoint 2 of conformance-data/bridge.yaml.
VERSION = "Dimmable.bridgedDeviceBasicInformation.configurationVersion"


def press(bench: Bench, command: dict) -> bool:
    """Does what the command says; False if it is about something else."""
    name, position = command.get("Name"), str(command.get("ButtonId", 1))
    if name == "SimulateConfigurationVersionChange" and bench.kind == "bridge":
        bench.sim("set", f"{VERSION}={int(bench.sim('get', VERSION)) + 1}")
        return True
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
