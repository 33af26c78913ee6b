public import HomeModel
package import MatterController
internal import MatterProtocol
public import Runtime

extension HomeError {
  /// Creates the error of a failed operation, with a message for users.
  // With a default value in the other initializer instead, overload resolution would prefer the one for any error.
  package init(_ error: ControllerError) { self.init(error, searched: nil) }

  /// Creates the error of a failed operation.
  /// - Parameter searched: the network interfaces that were searched; nil if none were.
  package init(_ error: ControllerError, searched: InterfaceSelection?) {
    var (code, message) = Self.codeAndMessage(error)
    var hint = Self.hint(error)
    if let searched, error.isNotFound {
      message += " (searched: \(searched.words))"
      if searched == .loopback { hint = "--interface NAME, or all, searches others" }
    }
    // The cause of an error status is the status itself, without the wrapper of the controller.
    if case .status(let status) = error {
      self.init(code, message, cause: StatusError(status))
    } else {
      self.init(code, message, cause: error)
    }
    self.hint = hint
  }

  /// Returns the remedy with options of the command line.
  private static func hint(_ error: ControllerError) -> String? {
    switch error {
    case .timedOut, .asleep: "--timeout allows more time"
    case .attestation(let failure):
      failure.isForTests
        ? "`hearth home trust test` accepts test devices, --allow-unverified this one"
        : "--trust DIR adds trusted roots, --allow-unverified commissions it anyway"
    case .otherProduct: "--allow-unverified commissions it anyway"
    case .handshake(.refused(let report)) where report.code == .noSharedTrustRoots:
      "`hearth remove DEVICE --force` removes it"
    case .commissioningFailed(.discover, .timedOut): nil
    case .commissioningFailed(.connectByPasscode, .handshake(.refused(let report)))
    where report.code == .invalidParameter:
      "`hearth share` opens that of a home of Hearth"
    case .commissioningFailed(_, let cause): hint(cause)
    default: nil
    }
  }

  private static func codeAndMessage(_ error: ControllerError) -> (Code, String) {
    switch error {
    case .unknownNode(let node):
      (.notFound, "node \(node.rawValue) is not in the fabric of this home; pair it again")
    case .notFound:
      (.notFound, "no such device found; check that it is on, in commissioning mode, and on the same network")
    case .unreachable: (.unreachable, "unreachable (no answer, not found); check that it is on and on this network")
    case .handshake(let error): codeAndMessage(error)
    case .wrongPasscode: (.accessDenied, "wrong passcode for the device")
    case .connectionLost: (.unreachable, "the connection was lost; the request may or may not have been carried out")
    case .unacknowledged: (.unreachable, "no answer; the request may or may not have been carried out")
    case .timedOut: (.timedOut, "timed out")
    case .asleep(let longest):
      (.timedOut, "asleep for up to \(TimeText.text(longest)); press its button, or allow more time")
    case .noResponse: (.timedOut, "the device accepted the request, but did not answer in time")
    case .busy: (.refused, "the device is busy (BUSY); try again")
    case .canceled: (.interrupted, "canceled")
    case .status(let status): codeAndMessage(status)
    case .interaction(let error): (.internalError, "the device's answer can't be read: \(error)")
    case .unexpectedResponse(let text): (.refused, "unexpected answer of the device: \(text)")
    case .commissioning(let error, let text):
      (.refused, "the device refused: \(error)\(text.isEmpty ? "" : " (\(text))")")
    case .operationalCredentials(let status, let text):
      (.refused, "the device refused: \(status)\(text.isEmpty ? "" : " (\(text))")")
    case .attestation(let failure):
      (.refused, "attestation failed: \(failure.explanation) (\(failure))")
    case .otherProduct(let expected, let found):
      (.refused, "the code is for \(expected), but the device is \(found); check the code")
    case .certificate(let text): (.internalError, "a certificate can't be read or created: \(text)")
    case .invalidRequest(let text): (.badArguments, text)
    case .commissioningFailed(.discover, .notFound), .commissioningFailed(.discover, .timedOut):
      (
        .notFound,
        "no commissionable device matches this code; check that it is on and its window open (step discover)"
      )
    case .commissioningFailed(_, .canceled): (.interrupted, "canceled")
    case .commissioningFailed(.connectByPasscode, .handshake(.refused(let report)))
    where report.code == .invalidParameter:
      (
        .commissioningFailed,
        "commissioning failed at step connectByPasscode: the device does not accept new controllers (\(report.code)); "
          + "if it is in a home already, open its commissioning window there"
      )
    case .commissioningFailed(let step, let cause):
      (.commissioningFailed, "commissioning failed at step \(step.rawValue): \(codeAndMessage(cause).1)")
    }
  }

  private static func codeAndMessage(_ error: HandshakeError) -> (Code, String) {
    switch error {
    case .refused(let report) where report.code == .noSharedTrustRoots:
      (.accessDenied, "the device no longer knows this fabric; remove it and pair it again")
    case .refused(let report): (.unreachable, "the device refused a session: \(report.code)")
    case .busy: (.refused, "the device is busy (BUSY); try again")
    case .timedOut: (.unreachable, "unreachable (no answer); check that it is on and on this network")
    case .wrongPasscode: (.accessDenied, "wrong passcode for the device")
    case .invalidMessage(let text): (.unreachable, "no session was established: \(text)")
    case .untrusted(let text): (.accessDenied, "the device's certificate is not trusted: \(text)")
    case .noResources: (.unreachable, "too many sessions are open")
    }
  }

  /// - Parameter cluster: the cluster that defines the cluster-specific status.
  private static func codeAndMessage(_ status: Status, of cluster: ClusterID? = nil) -> (Code, String) {
    var text = "\(status)"
    if let code = status.clusterCode, let name = cluster.flatMap({ ElementNames.clusterStatus(code, of: $0) }) {
      text = "\(name) (\(status.code), cluster status \(code))"
    }
    return switch status.code {
    case .unsupportedAccess, .accessRestricted: (.accessDenied, "the device denies access: \(text)")
    default: (.refused, "the device refused: \(text)")
    }
  }

  /// Creates an error for a request that the device refused.
  /// - Parameter cluster: the cluster of the request, for the names of cluster-specific statuses.
  public init(_ status: Status, of cluster: ClusterID? = nil) {
    let (code, message) = Self.codeAndMessage(status, of: cluster)
    self.init(code, message, cause: StatusError(status))
  }

  /// Creates the error of a controller that can't start.
  package init(opening error: any Error) {
    switch error {
    case let known as HomeError: self = known
    case let network as NetworkError:
      switch network {
      case .unknownInterface, .unusableInterface: self.init(.badArguments, "\(network)", cause: network)
      default: self.init(.internalError, "\(network)", cause: network)
      }
    case let controller as ControllerError: self.init(controller)
    case let discovery as ServiceDiscovery.Failure: self.init(.badArguments, "\(discovery)", cause: discovery)
    default: self.init(.internalError, "\(error)", cause: error)
    }
  }
}

extension ControllerError {
  /// Whether no address of the device was found.
  fileprivate var isNotFound: Bool {
    switch self {
    case .notFound, .unreachable, .commissioningFailed(.discover, .notFound),
      .commissioningFailed(.discover, .timedOut):
      true
    default: false
    }
  }
}

extension InterfaceSelection {
  /// A description of the searched interfaces for an error.
  public var words: String {
    switch self {
    case .loopback: "loopback only"
    case .all: "all interfaces"
    case .named(let names): names.joined(separator: ", ")
    }
  }
}
