internal import Foundation
public import HomeModel
public import HomeStore
internal import HomeControl
internal import Runtime
internal import Synchronization
public import Logging

// The invitation that a state directory has joined.
extension HubInvitation {
  /// Whether an invitation is stored.
  public static func isStored(in state: StateDirectory) -> Bool {
    FileManager.default.fileExists(atPath: state.invitation)
  }

  /// Returns the stored invitation; nil if none is stored.
  /// - Throws: `HomeError` `internalError` if it is damaged.
  public static func stored(in state: StateDirectory) throws(HomeError) -> HubInvitation? {
    guard let data = try Files.read(state.invitation) else { return nil }
    do throws(HomeError) {
      return try HubInvitation(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
    } catch {
      throw HomeError(
        .internalError, "\(state.invitation) is damaged: \(error.message); run `hearth hub leave` and join again")
    }
  }

  /// Stores the invitation and its credentials in place of other ones, accessible by the user only.
  /// - Parameters:
  ///   - authorities: a file with the authorities of the addresses that are URLs, which is copied.
  ///   - membership: the credentials for the devices, if there are any.
  package func store(
    in state: StateDirectory, authorities: String? = nil, membership: ClientMembership? = nil
  ) throws(HomeError) {
    let copy = try authorities.map { (path) throws(HomeError) in
      guard let data = try Files.read(path) else { throw HomeError(.badArguments, "\(path): no such file") }
      return data
    }
    try Files.makeDirectory(state.hub)
    try Files.locked(state.hub) { () throws(HomeError) in
      if let copy {
        try Files.replace(state.authorities, withSecret: copy)
      } else {
        try Self.removeFile(state.authorities)
      }
      // Those of the former invitation.
      try Self.removeFile(state.membership)
      try membership?.store(in: state)
      try Files.replace(state.invitation, withSecret: Data("\(self)\n".utf8))
    }
  }

  /// Removes the stored invitation.
  public static func remove(from state: StateDirectory) throws(HomeError) {
    // Another process may be storing new credentials.
    try Files.locked(state.hub) { () throws(HomeError) in
      try removeFile(state.invitation)
      try removeFile(state.authorities)
      try removeFile(state.membership)
    }
  }

  private static func removeFile(_ path: String) throws(HomeError) {
    do { try FileManager.default.removeItem(atPath: path) } catch CocoaError.fileNoSuchFile {
      // It is not stored.
    } catch {
      throw HomeError(.internalError, "\(path) can't be removed: \(error.localizedDescription)", cause: error)
    }
  }
}

extension HubClient.Options {
  /// The options of an invited client.
  /// - Parameter authorities: a file with the authorities of the addresses that are URLs; nil: those of the system.
  public init(_ invitation: HubInvitation, authorities: String? = nil, logger: Logger) {
    self.init(routes: invitation.addresses.map { HubRoute($0) }, name: invitation.name, logger: logger)
    token = invitation.token
    trust = HubTrust(fingerprint: invitation.fingerprint, authorities: authorities)
    home = invitation.home
  }

  /// The options of the invitation that a state directory has joined; nil if it has joined none.
  public init?(joinedIn state: StateDirectory, logger: Logger) throws(HomeError) {
    guard let invitation = try HubInvitation.stored(in: state) else { return nil }
    let hasAuthorities = FileManager.default.fileExists(atPath: state.authorities)
    self.init(invitation, authorities: hasAuthorities ? state.authorities : nil, logger: logger)
    do throws(HomeError) {
      guard let membership = try ClientMembership.stored(in: state) else { return }
      guard membership.identity == invitation.home else {
        Self.warnOnce("\(state.membership): belongs to another home and is not used; join the hub again", logger)
        return
      }
      var controller = HomeController.Options(state: state, logger: logger)
      controller.interfaces =
        membership.interfaces.isEmpty ? .loopback : InterfaceSelection(names: membership.interfaces)
      direct = HubClient.DirectAccess(membership: membership, role: invitation.role, controller: controller) {
        membership in
        do throws(HomeError) { try membership.update(in: state) } catch { logger.warning("\(error)") }
      }
    } catch {
      // The client uses the hub only.
      Self.warnOnce("\(error)", logger)
    }
  }

  private static let warnings = Mutex<Set<String>>([])

  /// Logs a warning once in a process, because a command may open the home several times.
  private static func warnOnce(_ text: String, _ logger: Logger) {
    if warnings.withLock({ $0.insert(text).inserted }) { logger.warning("\(text)") }
  }
}
