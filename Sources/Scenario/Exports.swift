// Tests name attributes by the IDs of `MatterModel`, so that importing `Scenario` is enough.
@_exported public import MatterModel
