internal import Glibc
public import HomeModel
package import Logging
internal import Runtime

/// The directory of the persistent state, with a subdirectory for each subject.
public struct StateDirectory: Hashable, Sendable {
  /// The path of the directory, without a trailing slash.
  public var root: String

  public init(_ root: String) {
    self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
  }

  /// The environment variable with the path of the directory.
  package static let variable = "HEARTH_STATE"

  /// Returns `$HEARTH_STATE`, which is set for delivery commands, else `$XDG_STATE_HOME/hearth`, else
  /// `~/.local/state/hearth`.
  /// - Throws: `badArguments` if the environment has none of them.
  public static func standard(environment: [String: String]) throws(HomeError) -> StateDirectory {
    if let state = environment[variable], !state.isEmpty {
      guard state.hasPrefix("/") else {
        throw HomeError(.badArguments, "\(variable) is “\(state)”; expected a path that begins with /")
      }
      return StateDirectory(state)
    }
    // A relative XDG path is to be ignored, says its specification.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return StateDirectory(state + "/hearth") }
    if let home = environment["HOME"], home.hasPrefix("/") { return StateDirectory(home + "/.local/state/hearth") }
    throw HomeError(.badArguments, "neither XDG_STATE_HOME nor HOME is set; use --state DIR")
  }

  /// The directory of the home's database and of its owner's lock.
  public var home: String { root + "/home" }
  /// The file with the lock of the process that owns the home.
  package var ownerLock: String { home + "/owner" }
  /// The home's database: names, rooms and last values, and the keys, fabric and nodes of the controller.
  public var database: String { home + "/home.sqlite" }

  /// The root of the home that a database is of.
  package static func root(ofDatabase path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
  }
  /// One directory for each virtual device, by its unique id.
  public var devices: String { root + "/devices" }
  /// The directory of one virtual device.
  public func device(_ uniqueID: String) -> String { devices + "/" + uniqueID }
  /// Runtime files of running processes, such as fleets.
  public var run: String { root + "/run" }
  /// The socket of the home's hub.
  public var hubSocket: String { run + "/hub.sock" }
  /// The files of the hub, and those of a client that has joined one.
  package var hub: String { root + "/hub" }
  /// The certificate of the hub (PEM), created at its first start.
  package var hubCertificate: String { hub + "/certificate.pem" }
  /// The private key of the hub (PEM), created at its first start.
  package var hubKey: String { hub + "/key.pem" }
  /// The invitation of the hub that this state directory has joined.
  package var invitation: String { hub + "/invitation" }
  /// The certificate authorities (PEM) of the hub that this state directory has joined, if they are not those of the system.
  package var authorities: String { hub + "/authorities.pem" }
  /// The credentials with which this state directory reaches the devices of the hub that it has joined.
  package var membership: String { hub + "/membership" }
  /// The registry through which processes of this host find each other without multicast.
  public var responders: String { run + "/responders" }

  /// Checks that the directory can have a home of its own, and that no other user can change it: the permissions of the
  /// root, ``home``, ``run`` and the files of the hub.
  /// - Parameter logger: logs warnings, each once in this process.
  /// - Throws: `internalError` if a directory is insecure, `badArguments` if it has joined a hub.
  package func check(_ logger: Logger? = nil) throws(HomeError) {
    for directory in [root, home, run, hub] {
      do throws(StoreError) { try DirectoryCheck.check(directory, logger: logger) } catch {
        throw HomeError(error)
      }
    }
    guard access(invitation, F_OK) != 0 else {
      throw HomeError(
        .badArguments,
        "\(root) has joined a hub and has no home of its own; run this command on the machine of the hub, or choose "
          + "another --state")
    }
  }
}
