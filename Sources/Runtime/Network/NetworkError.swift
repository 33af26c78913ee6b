internal import Glibc
public import MatterProtocol

/// An error in opening sockets.
public enum NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No interface has this name; `existing` lists the available ones.
  case unknownInterface(String, existing: [String])
  /// The interface is down or has no address.
  case unusableInterface(String)
  /// The port is in use on this address.
  case portInUse(MatterProtocol.SocketAddress)
  /// No port is free on all of the addresses.
  case noFreePort
  /// A system call failed.
  case system(operation: String, code: Int32)

  public var description: String {
    switch self {
    case .unknownInterface(let name, let existing):
      "there is no network interface '\(name)'; there are: \(existing.joined(separator: ", ")), and 'all' for all of them"
    case .unusableInterface(let name): "network interface '\(name)' is down or has no address"
    case .portInUse(let address): "UDP port \(address.port) is in use on \(address.ip)"
    case .noFreePort: "no UDP port is free on all addresses of the interfaces chosen"
    case .system(let operation, let code): "\(operation): \(systemMessage(code))"
    }
  }
}

/// Returns the system's text for an error number.
func systemMessage(_ code: Int32) -> String {
  guard let text = strerror(code) else { return "error \(code)" }
  return String(cString: text)
}
