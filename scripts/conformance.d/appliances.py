"""Performs the out-of-band commands of the tests of appliances with `hearth sim`."""

from devices import DEVICE, Bench

# The operational state of the robot after each command to the example app.
ROBOT_STATES = {"Docked": 66, "Charging": 65, "ChargerFound": 65, "Charged": 66}
OPERATIONS = {"Start": "running", "Resume": "running", "Pause": "paused", "Stop": "stopped"}
ERRORS = ["NoError", "UnableToStartOrResume", "UnableToCompleteOperation", "CommandInvalidInState"]
ROBOT_ERRORS = ["FailedToFindChargingDock", "Stuck", "DustBinMissing", "DustBinFull", "WaterTankEmpty", "WaterTankMissing",
                "WaterTankLidOpen", "MopCleaningPadMissing", "BatteryLow", "CannotReachTargetArea", "DirtyWaterTankFull",
                "DirtyWaterTankMissing", "WheelsJammed", "BrushJammed", "NavigationSensorObscured"]
ERROR_NUMBERS = dict(enumerate(ERRORS)) | dict(enumerate(ROBOT_ERRORS, 64))


def perform(bench: Bench, command: dict) -> bool:
    """Performs the command; returns False if it is unknown."""
    name = command.get("Name")

    def set_attribute(attribute: str, value):
        bench.sim("set", f"{DEVICE}.{attribute}={value}")

    if name == "OperationalStateChange":
        cluster = "ovenCavityOperationalState" if command.get("Device") == "Oven" else "operationalState"
        if command["Operation"] == "OnFault":
            set_attribute(f"{cluster}.operationalError", f"errorStateID: {int(command['Param'])}")
        else:
            set_attribute(f"{cluster}.operationalState", OPERATIONS[command["Operation"]])
    elif name == "Reset":
        set_attribute("rvcOperationalState.operationalError", "errorStateID: 0")
        set_attribute("rvcOperationalState.operationalState", 0)
    elif name == "ErrorEvent":
        number = next(number for number, error in ERROR_NUMBERS.items() if error == command["Error"])
        set_attribute("rvcOperationalState.operationalError", f"errorStateID: {number}")
    elif name in ROBOT_STATES:
        set_attribute("rvcOperationalState.operationalState", ROBOT_STATES[name])
    elif name == "SetRefrigeratorDoorStatus":
        set_attribute("door", "open" if command["DoorOpen"] else "closed")
    else:
        return False
    return True
