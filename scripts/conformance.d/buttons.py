"""Physical actions: performs the out-of-band commands of TC_SWTCH and TC_BRBINFO_3_2 with `hearth sim`."""

from devices import Bench

DEVICE = "Device"


def switch_on(bench: Bench, endpoint: int) -> list[str]:
    """Returns the arguments of `hearth sim press` for the switch on an endpoint."""
    behind = [entry for entry in bench.listing()["bridged"] if entry["endpoint"] <= endpoint]
    if not behind:
        return [DEVICE]
    # Several buttons are on the endpoints after that of the device.
    switch = max(behind, key=lambda entry: entry["endpoint"])
    return [switch["name"], *(["--button", str(endpoint - switch["endpoint"])] if switch["buttons"] else [])]


def press(bench: Bench, command: dict) -> bool:
    """Performs the command; returns False if it is unknown."""
    name, position = command.get("Name"), str(command.get("ButtonId", 1))
    if name == "SimulateConfigurationVersionChange" and bench.kind == "bridge":
        version = f"{DEVICE}.{bench.endpoint}.bridgedDeviceBasicInformation.configurationVersion"
        bench.sim("set", f"{version}={int(bench.sim('get', version)) + 1}")
        return True
    if name == "SimulateMultiPress":
        arguments = ["short", "--position", position, "--count", str(command["MultiPressNumPresses"]),
                     "--hold", f"{command['MultiPressPressedTimeMillis']}ms",
                     "--gap", f"{command['MultiPressReleasedTimeMillis']}ms"]
    elif name == "SimulateLongPress":
        # The device determines the duration of a long press.
        arguments = ["long", "--position", position, "--hold", f"{command['LongPressDurationMillis']}ms"]
    elif name == "SimulateLatchPosition":
        arguments = ["latch", "--position", str(command["PositionId"])]
    elif name == "SimulateSwitchIdle":
        arguments = ["up"]
    else:
        return False
    bench.sim("press", *switch_on(bench, command["EndpointId"]), *arguments)
    return True
