// Attributes are named by the numbers of `MatterModel`: whoever sets one in a test has them with the scenario.
@_exported public import MatterModel
