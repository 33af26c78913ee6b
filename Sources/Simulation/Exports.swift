// Links are described in the words of `Runtime`, for the host's own network and for one that is simulated: whoever tests a home has them
// with the simulation.
@_exported public import Runtime
// So are time and addresses, in the words of `MatterProtocol`: a test may want to reckon with them.
@_exported public import MatterProtocol
