"""Physical actions: performs the out-of-band commands of the tests of appliances with `hearth sim`."""

from buttons import DEVICE
from devices import Bench

# The operational states that the commands to the example robot lead to.
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

    def set(attribute: str, value):
        bench.sim("set", f"{DEVICE}.{attribute}={value}")

    if name == "OperationalStateChange":
        cluster = "ovenCavityOperationalState" if command.get("Device") == "Oven" else "operationalState"
        if command["Operation"] == "OnFault":
            set(f"{cluster}.operationalError", f"errorStateID: {int(command['Param'])}")
        else:
            set(f"{cluster}.operationalState", OPERATIONS[command["Operation"]])
    elif name == "Reset":
        set("rvcOperationalState.operationalError", "errorStateID: 0")
        set("rvcOperationalState.operationalState", 0)
    elif name == "ErrorEvent":
        number = next(number for number, error in ERROR_NUMBERS.items() if error == command["Error"])
        set("rvcOperationalState.operationalError", f"errorStateID: {number}")
    elif name in ROBOT_STATES:
        set("rvcOperationalState.operationalState", ROBOT_STATES[name])
    elif name == "SetRefrigeratorDoorStatus":
        set("door", "open" if command["DoorOpen"] else "closed")
    else:
        return False
    return True
