internal import Foundation
internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import NIOCore

// The certificates of invited clients, and the access entries for their tags. Matter Core § 6.6.2.1.2.
extension HomeController {
  /// The times to wait for a device that gets an access entry, or a changed one. If it answers later, it gets the entry with
  /// its next session. A client waits 3 s for a new certificate.
  private static let additionTimeout = Duration.seconds(2), revocationTimeout = Duration.seconds(5)

  /// Issues a certificate to a client, and has the devices grant the privilege of its role to the tag of the certificate.
  /// - Parameters:
  ///   - request: a PKCS#10 signing request (DER).
  ///   - role: the role of the client; nil: a caller in this process.
  /// - Throws: ``HomeError`` `badArguments` for a malformed request, or without a role; `refused` during a revocation.
  func certify(_ request: [UInt8], for role: HomeRole?) async throws(HomeError) -> ClientCredentials {
    guard let role else { throw HomeError(.badArguments, "this process has the certificate of the home's controller") }
    // The request may be that of the client that is being revoked.
    guard revocations == 0 else { throw HomeError(.refused, "an invitation is being revoked; try again") }
    let tag = ClientTag.identifier(of: role)
    let issued = try change { engine, now throws(ControllerError) in
      try engine.certify(request, tag: tag, privilege: role.directRole.privilege, at: now)
    }
    await updateAccess(within: Self.additionTimeout)
    return ClientCredentials(
      root: Data(issued.rootCertificate), intermediate: issued.intermediateCertificate.map { Data($0) },
      certificate: Data(issued.certificate), epochKey: Data(issued.epochKey),
      nodes: dispatcher.value.perform { engine, _ in engine.holders(ofTag: tag) })
  }

  /// Revokes an invitation, and all certificates of its role. The remaining clients of the role get new ones.
  /// - Returns: the client, and the names of the devices that accept the certificates until they can be reached again.
  /// - Throws: ``HomeError`` if there is no such invitation; also if only the certificates can't be revoked.
  func revoke(_ name: String) async throws(HomeError) -> (client: InvitedClient, pending: [String]) {
    revocations += 1
    defer { revocations -= 1 }
    let clients = try await withDatabase { try $0.clients() }
    let known = clients.first { HomeNames.same($0.name, name) }
    let others = clients.filter { !HomeNames.same($0.name, name) }.map(\.role)
    // Before the invitation: if the process ends in between, it can be revoked again. The invitation is revoked also if this
    // fails.
    var failure = known.flatMap { revokeCertificates(of: [$0.role], keptBy: others) }
    let client = try await withDatabase { try $0.revoke(name) }
    // The role of a damaged entry was unknown.
    if known == nil { failure = revokeCertificates(of: HomeRole.allCases, keptBy: others) }
    do { try await server?.loadInvitations() } catch { failure = error }
    await updateAccess(within: Self.revocationTimeout)
    if let failure { throw failure }
    return (client, dispatcher.value.perform { engine, _ in engine.nodesWithPendingAccess }.map { self.name(of: $0) })
  }

  /// - Parameter others: the roles of the remaining clients.
  /// - Returns: the last failure.
  private func revokeCertificates(of roles: [HomeRole], keptBy others: [HomeRole]) -> HomeError? {
    var failure: HomeError?
    let kept = Set(others.map { ClientTag.identifier(of: $0) })
    for tag in Set(roles.map { ClientTag.identifier(of: $0) }) {
      do throws(HomeError) {
        try change { engine, _ throws(ControllerError) in
          try engine.revokeCertificates(tag: tag, isLast: !kept.contains(tag))
        }
      } catch { failure = error }
    }
    return failure
  }

  /// Writes missing access entries to the devices, except those that can't be reached now.
  private func updateAccess(within limit: Duration) async {
    let isFollowing = isFollowing
    let nodes = dispatcher.value.perform { engine, _ in
      engine.nodesWithPendingAccess.filter { !isFollowing || engine.isConnected($0) }
    }
    await withTaskGroup(of: Void.self) { tasks in
      for node in nodes { tasks.addTask { await self.updateAccess(of: node, within: limit) } }
    }
  }

  private func updateAccess(of node: NodeID, within limit: Duration) async {
    let timeout = min(timeout, limit)
    do throws(HomeError) {
      _ = try await run("a change of its access control list", node) { engine, _, now in
        engine.updateAccess(node, timeout: timeout, at: now)
      }
    } catch {
      options.logger.info(
        "a device has no access entry for invited clients yet", metadata: ["node": "\(node)", "error": "\(error)"])
    }
  }

  func noteFullAccessList(_ node: NodeID) {
    options.logger.warning(
      "\(name(of: node)): its access control list is full; invited clients reach it through the hub only")
  }
}
