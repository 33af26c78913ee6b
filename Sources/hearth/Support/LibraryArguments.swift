public import ArgumentParser
public import HearthHome
public import Runtime
public import VirtualDevices

// Enumerations of the libraries as arguments of commands.

extension HomeRole: ExpressibleByArgument {}
extension ServiceDiscovery.Mode: ExpressibleByArgument {}
extension ControlRequest.Power: ExpressibleByArgument {}

/// A type of change as a command line flag.
extension SampleType: EnumerableFlag {
  /// Returns the help text of the flag.
  public static func help(for value: Self) -> ArgumentHelp? {
    switch value {
    case .attribute: "Observe attribute values."
    case .event: "Observe events."
    case .connectivity: "Observe the connectivity of devices and its reason."
    case .topology: "Observe devices, rooms and names."
    case .all: "Observe all changes."
    }
  }
}
