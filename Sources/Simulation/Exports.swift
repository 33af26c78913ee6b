// `Runtime` declares the link conditions, for the host's own network and for a simulated one. Tests of a home get them
// with the simulation.
@_exported public import Runtime
// `MatterProtocol` declares time and addresses.
@_exported public import MatterProtocol
