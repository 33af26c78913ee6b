package import HomeModel
package import MatterProtocol

/// The options of a request's caller. The owner of the home applies them instead of its own.
package struct RequestOptions: Hashable, Sendable, Codable {
  /// The timeout of each message exchange with a device; nil: that of the owner.
  package var timeout: Duration?
  /// The address of the addressed device, for a new session with it.
  package var address: SocketAddress?
  /// Known addresses of devices, for new sessions with them.
  package var addresses: [NodeID: SocketAddress]?

  package init(
    timeout: Duration? = nil, address: SocketAddress? = nil, addresses: [NodeID: SocketAddress]? = nil
  ) {
    (self.timeout, self.address, self.addresses) = (timeout, address, addresses)
  }

  /// The options of the request that the current task performs.
  @TaskLocal static var current = RequestOptions()

  /// Returns the options that a client with this role may set; nil: a caller in this process. Only owners may set addresses,
  /// to which this process sends.
  func limited(to role: HomeRole?) -> RequestOptions {
    guard let role else { return self }
    let timeout = HomeRequest.allowed(timeout, to: role)
    return role == .owner
      ? RequestOptions(timeout: timeout, address: address, addresses: addresses) : RequestOptions(timeout: timeout)
  }
}
